"""scripts/cluster's slices and its driver without Ray: what a slice takes in and gives, and what the driver does with
slices that are lost, refused or fail. Usage: cluster_driver_test.py ROOT
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
from dsafuzz_cluster import bundle, collector, driver, exchange, plan, worker_set  # noqa: E402

STUB = pathlib.Path(__file__).with_name("cluster_stub.py")
CASE = "corpus/one/0123456789abcdef"


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class Slice(Folders):
    """worker_set.run_slice with the stub for dsafuzz: what it takes in, gives, and gives again."""

    def setUp(self):
        super().setUp()
        self.stub = shutil.copy(STUB, self.folder / "stub")
        self.way = exchange.ObjectStore()
        self.way.fetch = lambda reference: reference

    def run_slice(self, number, stored=(), offers=(), node="0a1b2c3d4e5f"):
        order = {"run": "r", "shard": 0, "number": number, "seconds": 0.1, "seed": number, "device": "vcuda", "jobs": 1,
                 "program": [str(self.stub)], "scenarios": {"one": b"scenario: one\n"}, "arguments": [],
                 "work": str(self.folder / "work"), "tries": 0, "stored": {f"s00-{node[:8]}": list(stored)}}
        return bundle.unpack(worker_set.run_slice(order, list(offers), self.way, node))

    def test_gives_what_is_new_until_it_is_stored(self):
        facts, files = self.run_slice(0)
        self.assertEqual((facts["executions"], facts["problem"], facts["instance"]), (10, "", "s00-0a1b2c3d"))
        self.assertEqual([path.split("/")[0] for path in files], ["corpus", "findings", "findings"])
        _, second = self.run_slice(1)
        self.assertLess(set(files), set(second), "nobody has said that the first was stored")
        _, third = self.run_slice(2, stored=[1])
        self.assertEqual(set(third) & set(second), set())
        self.assertEqual(len(third), 3)

    def test_takes_in_what_others_found_and_does_not_give_it_back(self):
        offers = [("o1-one", "s01-aaaaaaaa", bundle.pack({}, {CASE: b"theirs"})),
                  ("o2-", "s00-0a1b2c3d", b"its own is not even opened")]
        facts, files = self.run_slice(0, offers=offers)
        self.assertNotIn(CASE, files)
        self.assertGreater(facts["fetched_bytes"], 0)
        log = [json.loads(line) for line in (self.folder / "stub.log").read_text().splitlines()]
        self.assertEqual(log[-1]["had"], ["0123456789abcdef"])
        self.assertEqual(self.run_slice(1, offers=offers)[0]["fetched_bytes"], 0, "once is enough")

    def test_a_run_of_last_week_is_forgotten(self):
        old, recent = self.folder / "work" / "old", self.folder / "work" / "recent"
        for path, days in ((old, 8), (recent, 1)):
            (path / "s00-0a1b2c3d").mkdir(parents=True)
            os.utime(path, (time.time() - days * 86400,) * 2)
        self.run_slice(0)
        self.assertEqual((old.exists(), recent.exists()), (False, True))

    def test_a_program_that_fails_is_a_fact(self):
        (self.folder / "break-s00-0a1b2c3d").touch()
        self.assertEqual(self.run_slice(0)[0]["problem"], "exit code 3: dsafuzz: broken once")
        self.stub = self.folder / "missing"
        self.assertRegex(self.run_slice(1)[0]["problem"], "^exit code 3: .*missing: No such file")
        self.stub = "/bin/true"
        self.assertEqual(self.run_slice(2)[0]["problem"], "/bin/true has said nothing of its search")


class FakeRay:
    """Runs a task when its result is asked for, on nodes in turn; `answers` are used up first: each an exception, bytes
    instead of the task's own, or None for its own. A shard in `broken` never answers."""

    broken = ()

    class exceptions:
        class RayError(Exception):
            pass

    class cloudpickle:
        register_pickle_by_value = staticmethod(lambda module: None)

    def __init__(self, answers):
        self.answers, self.orders, self.node = list(answers), [], 0

    def remote(self, **resources):
        self.resources = resources
        ray = self

        class Task:
            def options(self, **options):
                return self

            def remote(self, *arguments):
                ray.orders.append(arguments)
                return len(ray.orders) - 1

        def make(function):
            ray.function = function
            return Task()

        return make

    def wait(self, references, num_returns, timeout):
        return references[:1], references[1:]

    def get(self, reference):
        if isinstance(reference, bytes):
            return reference
        answer = self.answers.pop(0) if self.answers else None
        if self.orders[reference][0]["shard"] in self.broken:
            answer = self.exceptions.RayError()
        if isinstance(answer, Exception):
            raise answer
        return answer or self.function(*self.orders[reference])

    def nodes(self):
        return []

    def get_runtime_context(self):
        self.node += 1
        return self

    def get_node_id(self):
        return f"{self.node % 2:08x}feed"


class Driver(Folders):
    def drive(self, answers, stop=lambda: False, program=None, broken=()):
        ray, self.said = FakeRay(answers), []
        ray.broken = broken
        way = exchange.ObjectStore()
        way.offer, way.fetch = lambda name, data: data, lambda reference: reference
        keeper = collector.Collector(self.folder / f"out{len(list(self.folder.iterdir()))}")
        self.addCleanup(keeper.close)
        stub = shutil.copy(STUB, self.folder / "stub")
        order = {"run": keeper.out.name, "device": "vcuda", "jobs": 1, "program": [str(program or stub)],
                 "work": str(self.folder / "work"), "arguments": []}
        scenarios = {"one": b"scenario: one\n"}
        planned = plan.make_plan(scenarios, 2, 0.1, 0.05, 1)
        worker_set.PAUSE = 0.0
        result = driver.Driver(ray, planned, order, scenarios, way, keeper, self.said.append, stop).run()
        return result, keeper, ray

    def test_what_is_lost_or_refused_is_ordered_again(self):
        lost = FakeRay.exceptions.RayError("the node died")
        bad = bundle.pack({"instance": "../x"}, {})
        for name, answers, losses in (("nothing", [], 0), ("a node", [lost], 1), ("twice", [None, lost, lost], 2),
                                      ("rubbish", [b"rubbish"], 0), ("no checked form", [bad], 0)):
            with self.subTest(name):
                result, keeper, ray = self.drive(answers)
                self.assertEqual((result.slices, result.lost, result.given_up), (4, losses, []), self.said)
                self.assertEqual(keeper.finding_count(), 4)
                self.assertEqual(len(ray.orders), 4 + len([a for a in answers if a]))
                self.assertEqual(ray.resources, {"max_retries": 0, "num_cpus": 2})

    def test_a_set_that_never_works_is_given_up_and_the_others_go_on(self):
        result, keeper, _ = self.drive([], broken=(1,))
        self.assertEqual(result.given_up, ["set 1, slice 1 of 2: lost (RayError)"])
        self.assertIn("given up after 5 tries", "\n".join(self.said))
        self.assertEqual((result.slices, keeper.finding_count()), (2, 2))
        result, keeper, _ = self.drive([], program="/bin/false")
        self.assertEqual(len(result.given_up), 2)
        self.assertEqual(keeper.finding_count(), 0)

    def test_what_is_too_much_for_a_bundle_is_offered_in_parts(self):
        files = {**{f"corpus/one/{i:016x}": b"12" for i in range(7)},
                 **{f"findings/a{i}/{name}": b"1" for i in range(3) for name in "xyz"}}
        parts = driver._parts_of(files, most=3)
        self.assertEqual([len(part) for part in parts], [3, 3, 4, 3, 3], "a finding's files stay together")
        self.assertEqual({k: v for part in parts for k, v in part.items()}, files)
        self.assertEqual(len(driver._parts_of(files, size=4)), 5)

    def test_a_later_run_begins_with_what_was_found(self):
        result, keeper, _ = self.drive([])
        for part in keeper.parts():
            shutil.copytree(pathlib.Path(part) / "corpus", keeper.out / "corpus", dirs_exist_ok=True)
        keeper.close()
        again = collector.Collector(keeper.out)
        self.addCleanup(again.close)
        self.assertEqual(len(again.start_files({"one"})["one"]), 4)
        self.assertEqual(again.start_files({"one"}), {}, "once")

    def test_stopping_waits_for_what_runs(self):
        result, keeper, ray = self.drive([], stop=lambda: len(self.said) > 0)
        self.assertTrue(result.interrupted)
        self.assertEqual((result.slices, len(ray.orders), keeper.finding_count()), (2, 2, 2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
