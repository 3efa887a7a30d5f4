"""scripts/cluster on a Ray cluster of two nodes on this machine: work spreads with nodes, a killed node loses no recorded
finding, and the command does all of it from plan to report. A stub stands for dsafuzz, whose work is waiting, so that
two nodes are twice one on any machine. Usage: cluster_ray_test.py ROOT
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
# Ray reads these when it is imported. The last one keeps it on the loopback address, as on other systems.
os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
try:
    import ray
    import ray.cluster_utils
except ImportError:
    ray = None
import cluster_stub  # noqa: E402
from dsafuzz_cluster import collector, driver, exchange, plan, worker_set  # noqa: E402

SCENARIOS = {"one": b"scenario: one\n", "two": b"scenario: two\n"}


@unittest.skipIf(ray is None, "Ray is not installed (requirements-more.txt)")
class TwoNodes(unittest.TestCase):
    def test_on_two_nodes(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.stub = pathlib.Path(shutil.copy(pathlib.Path(cluster_stub.__file__), self.folder / "stub"))
        self.cluster = ray.cluster_utils.Cluster(
            initialize_head=True, connect=False,
            head_node_args={"num_cpus": 2, "include_dashboard": False, "node_ip_address": "127.0.0.1",
                            "object_store_memory": 100 << 20})
        self.addCleanup(self.cluster.shutdown)
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="error")
        self.addCleanup(ray.shutdown)
        with self.subTest("work spreads with nodes"):
            self.work_spreads()
        with self.subTest("a killed node loses nothing recorded"):
            self.killed_node_loses_nothing()
        with self.subTest("from plan to report"):
            self.command_does_all()

    def add_node(self):
        self.second = self.cluster.add_node(num_cpus=2, include_dashboard=False, node_ip_address="127.0.0.1",
                                            object_store_memory=100 << 20)
        self.cluster.wait_for_nodes()

    def log(self):
        return [json.loads(line) for line in (self.folder / "stub.log").read_text().splitlines()]

    def drive(self, name, planned, way=None):
        """Runs the plan; returns (the driver's result, its collector, what the stub did meanwhile)."""
        keeper = collector.Collector(self.folder / name)
        self.addCleanup(keeper.close)
        said = len(self.log()) if (self.folder / "stub.log").exists() else 0
        order = {"run": name, "device": "vcuda", "jobs": 1, "program": [str(self.stub)],
                 "work": str(self.folder / "work"), "arguments": []}
        result = driver.Driver(ray, planned, order, SCENARIOS, way or exchange.ObjectStore(), keeper,
                               lambda words: print(f"{name}: {words}", file=sys.stderr)).run()
        return result, keeper, self.log()[said:]

    def most_at_once(self, log):
        steps = [(row["time"], 1 if row["what"] == "begin" else -1) for row in log]
        at_once, most = 0, 0
        for _, step in sorted(steps):
            at_once += step
            most = max(most, at_once)
        return most

    def work_spreads(self):
        planned = plan.make_plan(["one"], 2, 2, 1, seed=3)
        one, _, log = self.drive("one-node", planned)
        self.assertEqual(self.most_at_once(log), 1, "a node with two CPUs has room for one worker set")
        others = cluster_stub.name_of("case", planned.engine_seed(planned.shards[0], 0), 0, "one")
        self.assertIn(others, log[-1]["had"], "the second set's second slice began with what the first had found")
        self.add_node()
        two, keeper, log = self.drive("two-nodes", planned)
        self.assertEqual(self.most_at_once(log), 2)
        self.assertEqual((one.executions, two.executions), (400, 400), "the plan decides how much is done")
        self.assertEqual(len({name[4:] for name in map(os.path.basename, keeper.parts())}), 2, "two nodes have worked")
        print(f"400 throttled executions: {one.seconds:.1f} s on one node, {two.seconds:.1f} s on two", file=sys.stderr)

    def killed_node_loses_nothing(self):
        node = self.second.node_id
        planned = plan.make_plan(SCENARIOS, 2, 4, 2, seed=7)
        worker_set.PAUSE = 0.2  # the stub ends at once
        killed = []

        def kill():
            # In the middle of the second slice there: one is recorded, one is lost.
            while not killed:
                begun = [row for row in self.log() if row["what"] == "begin" and f"-{node[:8]}/" in row["out"]
                         and "/lost-node/" in row["out"]]
                if len(begun) == 2:
                    killed.append(begun[1])
                    self.cluster.remove_node(self.second, allow_graceful=False)
                time.sleep(0.05)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        result, keeper, log = self.drive("lost-node", planned)
        killer.join(10)
        self.assertEqual(result.lost, 1)
        self.assertEqual(result.given_up, [])
        slices = [json.loads(line) for line in (keeper.folder / "slices.jsonl").read_text().splitlines()]
        self.assertEqual(sorted((row["shard"], row["number"]) for row in slices), [(0, 0), (0, 1), (1, 0), (1, 1)])
        self.assertIn(node[:8], {row["node"][:8] for row in slices}, "what the node had recorded is there")
        expected = {name for shard in planned.shards for number in range(2)
                    for name in cluster_stub.findings_of(planned.engine_seed(shard, number), 2)}
        kept = {path.name for part in keeper.parts() for path in (pathlib.Path(part) / "findings").iterdir()}
        self.assertEqual(kept, expected, "recorded ones are kept, those of the lost slice are found again")
        self.assertFalse(pathlib.Path(f"/proc/{killed[0]['pid']}").exists(), "the search ended with its node")

    def command_does_all(self):
        for name, content in SCENARIOS.items():
            (self.folder / f"{name}.yaml").write_bytes(content)
        out = self.folder / "out"
        words = [ROOT / "scripts" / "cluster", self.folder / "one.yaml", self.folder / "two.yaml", "--out", out,
                 "--seconds", "1", "--sets", "2", "--seed", "7", "--address", self.cluster.address, "--program",
                 self.stub, "--work", self.folder / "work", "--shared", self.folder / "shared", "--report", out / "page.html"]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60,
                               env={**os.environ, "DSAFUZZ_PYTHON": sys.executable})
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("plan of seed 7: 2 worker sets, 1 slice of 1 s", ended.stdout)
        self.assertIn("200 executions", ended.stdout)
        self.assertEqual(len(list((out / "findings").iterdir())), 2, ended.stdout)
        self.assertIn("2 findings in", ended.stdout)
        merged = [row for row in self.log() if row["what"] == "merge"]
        self.assertEqual([len(row["parts"]) for row in merged], [2])
        self.assertEqual(list((out / "cluster" / "parts").iterdir()), [])
        self.assertEqual((out / "page.html").read_text(), "the page")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
