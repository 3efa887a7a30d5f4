"""Whatever is killed, and whenever: nothing recorded is lost, the next run resumes, and no process stays behind."""
import json
import os
import pathlib
import random
import signal
import time

import program

SCENARIO = program.SCENARIOS / "linear_cross_entropy.yaml"
RUNS = 1_500


def names(folder):
    """What is whole in the folder: temporary names count for nothing."""
    try:
        return {name for name in os.listdir(folder) if not name.startswith(".tmp-")}
    except FileNotFoundError:
        return set()


class KillTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.random = random.Random(3)

    def fuzz(self, *flags):
        return self.start("fuzz", SCENARIO, "--runs", RUNS, "--seed", 1, "--no-run", "--json", "--out", self.out,
                          *flags)

    def wait_until(self, condition, what, running, patience=60.0):
        until = time.monotonic() + patience
        while not (seen := condition()):
            if running.is_over():
                return None
            self.assertLess(time.monotonic(), until, f"no {what} within {patience} s")
            time.sleep(0.01)
        return seen

    def recorded(self):
        """Findings and corpus as (path, content), and the signatures of what waits or was set aside."""
        files = {}
        for part in ("findings", "corpus"):
            for path in (self.out / part).rglob("*"):
                if path.is_file() and not any(p.startswith(".") for p in path.relative_to(self.out).parts):
                    files[str(path.relative_to(self.out))] = path.read_bytes()
        return files, names(self.out / "candidates"), names(self.out / "unconfirmed")

    def check_nothing_lost(self, before):
        files, candidates, unconfirmed = before
        for path, content in files.items():
            self.assertTrue((self.out / path).is_file(), f"{path} is gone")
            self.assertEqual((self.out / path).read_bytes(), content, path)
        # An examined candidate is a finding now or was set aside; an interrupted or suspect one may turn out harmless.
        kept = names(self.out / "candidates") | names(self.out / "unconfirmed")
        for name in candidates:
            signature = name.rsplit("-", 1)[0]
            if name not in kept and signature.startswith("device_assert"):
                self.assertIn(signature, names(self.out / "findings"), f"candidate {name} is gone")
        self.assertLessEqual(unconfirmed, names(self.out / "unconfirmed"))

    def check_complete(self):
        """One more run to the end: it finds what the scenario expects, and nothing is left to do."""
        ended = self.run_program("fuzz", SCENARIO, "--runs", RUNS, "--seed", 1, "--no-run", "--expect", "--json",
                                 "--out", self.out)
        summary = ended.json()
        self.assertEqual((summary["waiting"], summary["interrupted"], summary["problems"]), (0, False, []), str(ended))
        self.assertEqual(names(self.out / "candidates"), set())
        left = [str(path) for path in self.out.rglob(".tmp-*")]
        self.assertEqual(left, [], "half-written files are cleared")
        for folder in (self.out / "findings").iterdir():
            finding = json.loads((folder / "finding.json").read_text())
            self.assertIn(finding["signature"]["verdict"], ("device_assert",), "a killed process is no finding")
        return summary

    def workers_of_engine(self, running):
        """(engine, its workers): a worker's parent is the zygote, which has the same name and is no worker."""
        processes = running.processes()
        engine = next((p for p in processes.values() if p.is_engine), None)
        if not engine:
            return None, []
        workers = [p for p in processes.values() if p.name == "dsafuzz-worker"
                   and program.is_below(processes, p, engine.pid) and p.parent != engine.pid]
        return engine, workers

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_worker(self):
        running = self.fuzz("--expect")
        killed = 0
        for _ in range(5):
            workers = self.wait_until(lambda: self.workers_of_engine(running)[1], "worker", running)
            if not workers:
                break
            time.sleep(self.random.uniform(0, 0.2))
            for worker in workers:
                self.kill(worker.pid)
                killed += 1
        ended = running.wait(120)
        self.assertEqual(running.orphans(), [])
        self.assertGreater(killed, 0, str(ended))
        self.assertEqual(ended.code, 0, str(ended))
        summary = ended.json()
        self.assertEqual(summary["scenarios"][0]["executions"], RUNS, str(ended))
        self.assertEqual(summary["problems"], [], str(ended))
        self.check_complete()

    def test_zygote(self):
        running = self.fuzz("--expect")
        engine, _ = self.wait_until(lambda: (found := self.workers_of_engine(running))[1] and found, "worker", running)
        processes = running.processes()
        for process in processes.values():
            if process.parent == engine.pid:
                self.kill(process.pid)
        ended = running.wait(120)
        self.assertEqual(running.orphans(), [])
        # The engine without its zygote gives up or is started anew; either way the campaign says so and ends in order.
        self.assertIn(ended.code, (0, 1, 3), str(ended))
        self.check_complete()

    def test_engine(self):
        running = self.fuzz("--expect")
        engine, _ = self.wait_until(lambda: (found := self.workers_of_engine(running))[1] and found, "worker", running)
        time.sleep(self.random.uniform(0, 0.5))
        self.kill(engine.pid)
        ended = running.wait(120)
        self.assertEqual(running.orphans(), [])
        self.assertEqual(ended.code, 0, str(ended))
        self.assertTrue(any("signal 9" in problem for problem in ended.json()["problems"]), str(ended))
        self.check_complete()

    def test_supervisor_at_many_moments(self):
        whole = lambda part: lambda: names(self.out / part)
        moments = [("start", lambda: True), ("engine", None), ("engine", None), ("candidate", whole("candidates")),
                   ("staging", lambda: list((self.out / "findings").glob(".*")) or names(self.out / "findings")),
                   ("finding", whole("findings"))]
        for what, condition in moments:
            with self.subTest(moment=what):
                running = self.fuzz()
                self.wait_until(condition or (lambda: self.workers_of_engine(running)[1]), what, running)
                time.sleep(self.random.uniform(0, 0.4))
                self.kill(running.pid)
                running.wait(30)
                self.assertEqual(running.orphans(), [], what)
                before = self.recorded()
                self.resume_shortly()
                self.check_nothing_lost(before)
        before = self.recorded()
        self.check_complete()
        self.check_nothing_lost(before)

    def resume_shortly(self):
        """The next run takes the folder over, and examines what waits before anything else."""
        ended = self.run_program("fuzz", SCENARIO, "--runs", 1, "--no-run", "--json", "--out", self.out, code=None)
        self.assertIn(ended.code, (0, 1), str(ended))
        self.assertEqual(ended.json()["problems"], [], str(ended))

    def test_supervisor_while_a_reproducer_runs(self):
        # A killed program cannot remove its temporary files: they go to the test's folder.
        running = self.start("fuzz", SCENARIO, "--runs", 100, "--seed", 1, "--out", self.out,
                             extra_environment={"TMPDIR": str(self.folder)})
        own = ("dsafuzz", "dsafuzz-worker")
        self.wait_until(lambda: [p for p in running.processes().values() if p.words and p.name not in own
                                 and p.pid != running.pid], "reproducer", running)
        self.kill(running.pid)
        running.wait(30)
        self.assertEqual(running.orphans(), [])
        self.check_complete()

    def test_ctrl_c(self):
        running = self.start("fuzz", SCENARIO, "--seconds", 300, "--seed", 1, "--runs", 10_000_000, "--no-run",
                             "--json", "--out", self.out)
        # With a number of runs, candidates are examined after the search: so they are still there when it is stopped.
        self.wait_until(lambda: names(self.out / "candidates"), "candidate", running)
        # As a terminal does it: to the whole foreground group.
        os.killpg(running.pid, signal.SIGINT)
        ended = running.wait(60)
        self.assertEqual(running.orphans(), [])
        self.assertEqual(ended.code, 0, str(ended))  # no finding yet
        summary = ended.json()
        self.assertTrue(summary["interrupted"], str(ended))
        self.assertGreaterEqual(summary["waiting"], 1, str(ended))
        self.assertGreater(summary["scenarios"][0]["executions"], 0)
        before = self.recorded()
        self.assertGreaterEqual(len(before[1]), 1)
        self.check_complete()
        self.check_nothing_lost(before)

    def test_sigterm_is_ctrl_c(self):
        running = self.start("fuzz", SCENARIO, "--seconds", 300, "--no-run", "--json", "--out", self.out)
        self.wait_until(lambda: names(self.out / "findings"), "finding", running)
        running.send(signal.SIGTERM)
        ended = running.wait(60)
        self.assertEqual(running.orphans(), [])
        self.assertEqual(ended.code, 1, str(ended))
        self.assertTrue(ended.json()["interrupted"])

    def test_ctrl_c_twice_ends_at_once(self):
        running = self.start("fuzz", SCENARIO, "--seconds", 300, "--no-run", "--out", self.out)
        self.wait_until(lambda: self.workers_of_engine(running)[1], "worker", running)
        engine, _ = self.workers_of_engine(running)
        os.kill(engine.pid, signal.SIGSTOP)  # it cannot stop in good order now
        running.send(signal.SIGINT)
        time.sleep(0.5)
        running.send(signal.SIGINT)
        ended = running.wait(10)
        self.assertEqual(ended.code, 130, str(ended))
        self.assertEqual(running.orphans(), [])
        self.check_complete()

    def test_one_campaign_a_folder(self):
        first = self.start("fuzz", SCENARIO, "--seconds", 300, "--no-run", "--out", self.out)
        self.wait_until(lambda: self.workers_of_engine(first)[1], "worker", first)
        second = self.run_program("fuzz", SCENARIO, "--runs", 1, "--no-run", "--out", self.out, code=3)
        self.assertIn(str(first.pid), second.err)  # the process that holds it is named
        self.assertEqual(len(second.err.splitlines()), 1, second.err)
        first.send(signal.SIGINT)
        first.wait(60)
        self.assertEqual(first.orphans(), [])


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
