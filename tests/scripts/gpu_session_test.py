"""scripts/gpu_session: its steps by name, skipped aloud without a GPU, and what it makes of steps that pass, fail,
hang or print nonsense. Usage: gpu_session_test.py GPU_SESSION
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(sys.argv[1]).resolve()
STEPS = ["gpu", "build", "doctor", "tests", "fidelity", "sanitizer", "cuda_gdb", "replays", "benchmark", "devices",
         "record"]


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_session", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_session", loader))
    sys.modules["gpu_session"] = module
    loader.exec_module(module)
    return module


gpu_session = load()


def campaign(device, problems=(), findings=()):
    return json.dumps({"problems": list(problems), "devices": [device], "findings": list(findings)})


class GpuSession(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def run_script(self, *words, **variables):
        return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **variables})

    def steps(self, *steps, gpus=1):
        return gpu_session.run_steps(list(steps), self.folder, gpus, "" if gpus else "no GPU", lambda _: None)

    def test_a_dry_run_names_each_step_and_command(self):
        done = self.run_script("--dry-run", "--device", "cuda:1")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines if not line.startswith(" ")][:-1], STEPS)
        for words in ("scripts/setup", "ctest --test-dir build/", "dsafuzz fidelity", "--tool memcheck",
                      "--tool racecheck", "--tool initcheck", "--tool synccheck", "--tool cuda-gdb", "dsafuzz doctor",
                      "--device cuda:1", "--devices cuda:1,cuda:0"):
            self.assertIn(words, done.stdout)

    def test_everything_fits_into_ten_minutes(self):
        steps = gpu_session.plan("out", "cuda:0")
        self.assertEqual([step.name for step in steps if not step.counts], ["build"])
        self.assertLess(sum(step.limit for step in steps if step.counts), gpu_session.BUDGET_SECONDS)
        self.assertLess(gpu_session.BUDGET_SECONDS, 600)

    def test_building_takes_no_time_from_the_checks(self):
        step = gpu_session.Step
        with unittest.mock.patch.object(gpu_session, "BUDGET_SECONDS", 6):
            results = self.steps(step("build", "", [["sleep", "1.5"]], 10, counts=False),
                                 step("check", "", [["true"]], 5),
                                 step("slow", "", [["sleep", "1.5"]], 5), step("late", "", [["true"]], 5))
        self.assertEqual([done.state for done in results], ["passed", "passed", "passed", "skipped"])
        self.assertIn("no time left of 6 s", results[3].reason)

    def test_fidelity_takes_the_own_kernels_along_where_there_are_any(self):
        with unittest.mock.patch.object(gpu_session, "ROOT", self.folder), \
                unittest.mock.patch.object(gpu_session, "find_program", return_value=None):
            self.assertEqual(gpu_session.fidelity_devices("cuda:1", "dev"), "vcuda,cuda:1")
            (self.folder / "build" / "dev" / "lib").mkdir(parents=True)
            (self.folder / "build" / "dev" / "lib" / "libdsafuzz_kernels_on_cuda.so").touch()
            self.assertEqual(gpu_session.fidelity_devices("cuda:1", "dev"), "vcuda,cuda:1:own,cuda:1")

    def test_what_the_steps_name_is_there(self):
        for step in gpu_session.plan("out", "cuda:0"):
            for words in step.commands:
                for word in words:
                    if word.startswith(("corpus/", "scenarios/", "scripts/")):
                        self.assertTrue((SCRIPT.parent.parent / word).exists(), word)

    def test_without_a_gpu_each_step_is_skipped_aloud(self):
        if os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg"):
            self.skipTest("this machine has a GPU")
        done = self.run_script("--out", str(self.folder / "out"))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        for number, name in enumerate(STEPS, 1):
            self.assertIn(f"[{number}/{len(STEPS)}] {name}: skipped: no NVIDIA GPU", done.stdout)
        self.assertIn(f"Summary: {len(STEPS)} skipped", done.stdout)
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertEqual((summary["gpus"], summary["exit_code"]), (0, 3))
        self.assertEqual([step["name"] for step in summary["steps"]], STEPS)
        self.assertTrue(all(step["state"] == "skipped" and step["reason"] for step in summary["steps"]))

    def test_a_driver_without_gpus_gives_its_own_reason(self):
        smi = self.folder / "nvidia-smi"
        smi.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
        smi.chmod(0o755)
        done = self.run_script("--out", str(self.folder / "out"), PATH=f"{self.folder}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("gpu: skipped: nvidia-smi sees no GPU: No devices were found", done.stdout)

    def test_usage(self):
        done = self.run_script("--only", "gpu,nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'nonsense' is not a step", done.stderr)
        for device in ("vcuda", "cuda", "cuda:", "cuda:0,cuda:1"):
            self.assertIn("is not a GPU", self.run_script("--dry-run", "--device", device).stderr)
        (self.folder / "file").write_text("")
        self.assertEqual(self.run_script("--out", str(self.folder / "file" / "below")).returncode, 2)

    def test_states(self):
        step = gpu_session.Step
        results = self.steps(
            step("good", "", [["true"], ["echo", "said"]], 10),
            step("allowed", "", [["sh", "-c", "exit 1"]], 10, good=(0, 1)),
            step("each", "", [["false"], ["true"]], 10, each=(1, 0)),
            step("bad", "", [["sh", "-c", "exit 3"]], 10),
            step("absent", "", [["no-such-program"]], 10),
            step("pair", "", [["true"]], 10, needs=("two gpus",)),
            step("tool", "", [["true"]], 10, needs=("gpu", "no-such-tool")),
            step("odd", "", [["echo", "no json"]], 10, read=gpu_session.rates))
        self.assertEqual([(done.name, done.state) for done in results],
                         [("good", "passed"), ("allowed", "passed"), ("each", "passed"), ("bad", "failed"),
                          ("absent", "failed"), ("pair", "skipped"), ("tool", "skipped"), ("odd", "failed")])
        self.assertEqual(results[5].reason, "this machine has one GPU")
        self.assertEqual(results[6].reason, "no-such-tool is not installed")
        self.assertIn("exit code 3", results[3].reason)
        self.assertIn("said", (self.folder / "good.log").read_text())
        self.assertEqual(gpu_session.exit_code(results), 1)
        self.assertEqual(gpu_session.exit_code(results[:3]), 0)
        self.assertEqual(gpu_session.exit_code(results[5:7]), 3)

    def test_a_step_that_hangs_is_ended_with_its_children(self):
        began = time.monotonic()
        mark = self.folder / "child"
        done, = self.steps(gpu_session.Step("slow", "", [["sh", "-c", f"sleep 60 & echo $! > {mark}; wait"]], 1))
        self.assertEqual(done.state, "timed_out")
        self.assertLess(time.monotonic() - began, 20)
        child = pathlib.Path("/proc", mark.read_text().strip(), "cmdline")
        until = time.monotonic() + 10
        while child.exists() and child.read_bytes() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(child.exists() and child.read_bytes(), "the child lives on")

    def test_after_a_failed_build_nothing_is_run(self):
        step = gpu_session.Step
        results = self.steps(step("build", "", [["false"]], 10), step("later", "", [["true"]], 10))
        self.assertEqual([done.state for done in results], ["failed", "skipped"])
        self.assertEqual(results[1].reason, "the build failed")
        results = self.steps(step("build", "", [["sleep", "9"]], 0.2), step("later", "", [["true"]], 10))
        self.assertEqual(results[1].reason, "the build took too long; run scripts/setup first")

    def test_tools_are_found_where_dsafuzz_finds_them(self):
        tool = self.folder / "bin" / "cuda-gdb"
        tool.parent.mkdir()
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {"CUDA_HOME": str(self.folder)}):
            self.assertEqual(gpu_session.missing(("cuda-gdb",), 1, ""), "")
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertIn("pip install nvidia-cuda-sanitizer-api", gpu_session.missing(("compute-sanitizer",), 1, ""))

    def test_rates(self):
        healthy = {"executions": 1000, "seconds": 10.0, "spares_taken": 0, "spares_ready": 0}
        # 10 s, of which 100 runs took 10 ms each: 9 s are the price of 20 contexts.
        failing = {"executions": 100, "seconds": 10.0, "spares_taken": 20, "spares_ready": 5}
        self.assertEqual(gpu_session.rates([campaign(healthy), campaign(failing)]),
                         {"executions_per_second": 100.0, "executions_per_second_failing": 10.0, "contexts_lost": 20,
                          "seconds_for_a_lost_context": 0.45, "spare_hit_rate": 0.25})
        with self.assertRaises(ValueError):
            gpu_session.rates([campaign(healthy, ["an engine was lost"]), campaign(failing)])

    def test_recorded(self):
        lines = "\n".join(json.dumps({"file": f"a/{name}", "verdict": verdict, "error": "CUDA error", "log": "line\n"})
                          for name, verdict in (("one", "device_assert"), ("two", "ok")))
        facts = gpu_session.recorder(self.folder / "recorded")([lines])
        self.assertEqual(facts, {"recorded": {"one": "device_assert", "two": "ok"}})
        self.assertEqual((self.folder / "recorded" / "one.log").read_text(), "line\nCUDA error\n")
        self.assertNotIn("log", json.loads((self.folder / "recorded" / "two.json").read_text()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
