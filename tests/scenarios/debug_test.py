"""`dsafuzz debug` and `dsafuzz fidelity` as a user runs them: on vcuda for real; NVIDIA's tools, which need a GPU, as
fakes on PATH that print a recorded log and write down how they were called."""
import os
import pathlib
import shutil

import program

LOGS = program.ROOT / "corpus" / "logs"
REGRESSIONS = program.ROOT / "corpus" / "regressions"
ASSERT = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"
# The label is wrong in the second step; the third is innocent.
LATE = """\
case: late_error
shapes: {batch: 2, classes: 3}
tensors:
  labels: {shape: [batch], dtype: int64, fill: 1, set: {1: 3}}
  logits: {shape: [batch, classes], dtype: float32, fill: 0}
steps:
  - scaled = aten::mul(logits, 2.0)
  - loss = aten::cross_entropy_loss(scaled, labels)
  - more = aten::mul(loss, 2.0)
"""
HEALTHY = LATE.replace(", set: {1: 3}", "")
# From scenarios/custom_*.yaml, with the smallest size at which each fault shows.
FAULTS = {
    "memcheck": ("dsafuzz::scale_without_bounds_check(input, 2.0)", 1, "invalid_global", "scale_without_bounds_check"),
    "racecheck": ("dsafuzz::sum_without_atomics(input)", 2, "race", "sum_without_atomics"),
    "initcheck": ("dsafuzz::scale_in_stages_unfinished(input, 2.0)", 65, "uninit", "read_stage_kernel"),
    "synccheck": ("dsafuzz::block_sums_early_exit(input)", 1, "divergent", "block_sums_early_exit"),
}
FAULTY = """\
case: custom_fault
seed: 7
shapes: {{count: {count}}}
tensors:
  input: {{shape: [count], dtype: float32, fill: randn}}
steps:
  - out = {step}
"""
FAKE = """\
#!/bin/sh
# Its last call: words, and the variables that decide how a case runs.
printf '%s\\n' "$@" >> "{record}"
env | grep -E '^(CUDA|TORCH|PYTORCH)_' | sort >> "{record}"
cat "{log}"
exit {code}
"""


class DebugTest(program.ProgramTest):
    def debug(self, the_case, tool, *more, code=1, **options):
        ended = self.run_program("debug", the_case, "--tool", tool, "--out", self.folder / "out", "--json", *more,
                                 code=code, deadline=300, **options)
        return ended.json()

    def problem(self, *arguments, code=3, says="", **options):
        ended = self.run_program(*arguments, "--out", self.folder / "out", code=code, deadline=120, **options)
        self.assertEqual(ended.out, "")
        self.assertEqual(len(ended.err.splitlines()), 1, ended.err)
        self.assertIn(says, ended.err)
        return ended.err

    def late(self):
        return self.write("late.yaml", LATE)

    def fake(self, name, log, code=0):
        """An environment in which the tool `name` is a fake that prints a recorded log."""
        folder = self.folder / "tools"
        folder.mkdir(exist_ok=True)
        record = self.folder / f"{name}.called"
        tool = folder / name
        tool.write_text(FAKE.format(record=record, log=LOGS / (log + ".log"), code=code))
        tool.chmod(0o755)
        return record, {"PATH": f"{folder}:{os.environ['PATH']}"}

    # --- the virtual device ---------------------------------------------------------------------------------------

    def test_blocking_shows_the_late_error_beside_the_true_one(self):
        seen = self.debug(self.late(), "blocking")
        self.assertEqual((seen["verdict"], seen["signature"]), ("device_assert", ASSERT))
        late, true = seen["surfaced"]
        self.assertEqual((true["operator"], true["step"]), ("aten::cross_entropy_loss", 1))
        self.assertIn("cross_entropy", true["source"])
        # It is only noticed by what comes later.
        self.assertNotEqual(late["operator"], "aten::cross_entropy_loss")
        self.assertGreater(late["frame"]["line"], true["frame"]["line"])
        self.assertIn("CUDA_LAUNCH_BLOCKING=1", seen["runs"][1]["environment"])
        self.assertNotIn("CUDA_LAUNCH_BLOCKING=1", seen["runs"][0]["environment"])
        self.assertEqual(seen["first_fault"]["thread"], [1, 0, 0])
        self.assertIn("labels[1] is 3", seen["cause"])

    def test_a_healthy_case_is_no_finding(self):
        seen = self.debug(self.write("healthy.yaml", HEALTHY), "blocking", code=0)
        self.assertEqual((seen["verdict"], seen["first_fault"]), ("ok", None))

    def test_stacks_lead_from_the_launch_to_the_operator(self):
        seen = self.debug(self.late(), "stacks")
        functions = [frame["function"] or "" for frame in seen["stack"]]
        self.assertTrue(any("nll_loss" in f or "cross_entropy" in f for f in functions), functions)
        self.assertEqual(seen["surfaced"][0]["operator"], "aten::cross_entropy_loss")

    def test_dsa_says_what_pytorch_would(self):
        seen = self.debug(self.late(), "dsa")
        for line in ("1 CUDA device-side assertion failures were found on GPU #0!",
                     "  GPU assertion failure message = t >= 0 && t < n_classes",
                     "  Device function containing assertion = nll_loss_forward_reduce_cuda_kernel_2d",
                     "  Thread ID that failed assertion = [1,0,0]"):
            self.assertIn(line, seen["dsa"].splitlines())
        self.assertTrue(any("TORCH_USE_CUDA_DSA=1" in note for note in seen["notes"]))

    def test_each_sanitizer_sees_its_fault(self):
        for tool, (step, count, fault, kernel) in FAULTS.items():
            with self.subTest(tool=tool):
                the_case = self.write(f"{tool}.yaml", FAULTY.format(step=step, count=count))
                seen = self.debug(the_case, tool)
                self.assertEqual(seen["verdict"], "memory_fault")
                self.assertIn(fault, seen["first_fault"]["fault"].lower() + seen["signature"].lower())
                self.assertIn(kernel, seen["first_fault"]["kernel"])
                self.assertIn("dsafuzz", seen["surfaced"][0]["source"])

    @program.unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_stops_in_the_failing_thread(self):
        seen = self.debug(self.late(), "cuda-gdb")
        self.assertEqual((seen["verdict"], seen["signature"]), ("device_assert", ASSERT))
        kernel = [frame for frame in seen["stack"] if frame["kernel"]][0]
        self.assertIn("nll_loss_forward_reduce_cuda_kernel_2d", kernel["function"])
        self.assertTrue(kernel["file"].endswith("nll_loss.cu"), kernel)
        self.assertIn("ASSERT", kernel["source"])
        # labels[1] is 3, of 3 classes.
        self.assertEqual((kernel["arguments"]["n_classes"], kernel["arguments"]["ignore_index"]), ("3", "-100"))
        self.assertEqual(kernel["locals"]["t"], "3")
        text = self.run_program("debug", self.late(), "--tool", "cuda-gdb", "--out", self.folder / "out", code=1,
                                deadline=300).out
        self.assertIn("the failing thread, block [0,0,0], thread [1,0,0]:", text)
        self.assertRegex(text, r"\n +arguments: .*\bn_classes = 3, .*\n +locals: .*\bt = 3\b")

    @program.unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_a_python_that_is_a_script_is_looked_behind(self):
        python = self.folder / "python3"
        python.write_text(f'#!/bin/sh\nexec "{os.environ["DSAFUZZ_PYTHON"]}" "$@"\n')
        python.chmod(0o755)
        seen = self.debug(self.late(), "cuda-gdb", extra_environment={"DSAFUZZ_PYTHON": str(python)})
        self.assertEqual((seen["verdict"], seen["signature"]), ("device_assert", ASSERT))

    @program.unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_shows_the_index_and_the_element_at_fault(self):
        cases = {"index_select_negative": ({"srcSelectDimSize"}, {"srcIndex"}),
                 "custom_kernel_use_after_free": ({"x", "n", "sum"}, {"i"})}
        for name, (arguments, locals_) in cases.items():
            with self.subTest(case=name):
                seen = self.debug(REGRESSIONS / name / "case.yaml", "cuda-gdb")
                kernel = [frame for frame in seen["stack"] if frame["kernel"]][0]
                self.assertLessEqual(arguments, set(kernel["arguments"]), kernel)
                self.assertLessEqual(locals_, set(kernel["locals"]), kernel)

    @program.unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_sees_a_healthy_case_end(self):
        seen = self.debug(self.write("healthy.yaml", HEALTHY), "cuda-gdb", code=0)
        self.assertEqual((seen["verdict"], seen["stack"]), ("ok", []))

    @program.unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_a_core_dump_is_written_and_opened(self):
        seen = self.debug(self.late(), "coredump")
        core = pathlib.Path(seen["core"])
        self.assertEqual(core.read_bytes()[:4], b"\x7fELF")
        # The second run's frames come from the dump.
        kernels = [frame["function"] for frame in seen["stack"] if frame["kernel"]]
        self.assertGreaterEqual(len([k for k in kernels if "nll_loss_forward_reduce" in k]), 2, seen["stack"])
        core.unlink()

    def test_without_gdb_it_says_how_to_get_it(self):
        bare = self.folder / "bare"
        bare.mkdir()
        for name in ("bash", "env", "dirname", "readlink"):
            (bare / name).symlink_to(shutil.which(name))
        self.problem("debug", self.late(), "--tool", "cuda-gdb", says="apt-get install gdb",
                     extra_environment={"PATH": str(bare)})

    # --- a GPU ----------------------------------------------------------------------------------------------------

    def test_compute_sanitizer_is_called_and_read(self):
        record, environment = self.fake("compute-sanitizer", "e02_memcheck_2024_two_line_frames")
        seen = self.debug(self.late(), "memcheck", "--device", "cuda:1", extra_environment=environment)
        words = record.read_text().splitlines()
        self.assertEqual(words[:2], ["--tool", "memcheck"])
        self.assertEqual(words[words.index("--target-processes") + 1], "all")
        self.assertTrue(any(w.endswith("program.py") for w in words))
        self.assertIn("cuda:1", words)
        for variable in ("CUDA_LAUNCH_BLOCKING=1", "PYTORCH_NO_CUDA_MEMORY_CACHING=1",
                         "PYTORCH_ALLOC_CONF=expandable_segments:False"):
            self.assertIn(variable, words)
        self.assertEqual(seen["verdict"], "memory_fault")
        self.assertEqual(seen["first_fault"]["kind"], "sanitizer_memcheck")

    def test_the_wheels_compute_sanitizer_is_found(self):
        record, _ = self.fake("compute-sanitizer", "e02_memcheck_2024_two_line_frames")
        wheel = self.folder / "venv" / "lib" / "python3.11" / "site-packages" / "nvidia" / "cu13" / "bin"
        wheel.mkdir(parents=True)
        (self.folder / "tools" / "compute-sanitizer").rename(wheel / "compute-sanitizer")
        python = str(self.folder / "venv" / "bin" / "python")
        self.debug(self.late(), "memcheck", "--device", "cuda", extra_environment={"DSAFUZZ_PYTHON": python})
        self.assertIn(python, record.read_text().splitlines())

    def test_its_other_tools_are_asked_for_by_name(self):
        for tool, log, kind in (("racecheck", "e14_racecheck_analysis", "sanitizer_racecheck"),
                                ("synccheck", "e18_synccheck", "sanitizer_synccheck")):
            with self.subTest(tool=tool):
                record, environment = self.fake("compute-sanitizer", log)
                record.unlink(missing_ok=True)
                seen = self.debug(self.late(), tool, "--device", "cuda", extra_environment=environment)
                self.assertEqual(record.read_text().splitlines()[:2], ["--tool", tool])
                self.assertEqual(seen["first_fault"]["kind"], kind)

    def test_a_clean_sanitizer_is_no_finding(self):
        _, environment = self.fake("compute-sanitizer", "e26_clean")
        seen = self.debug(self.write("healthy.yaml", HEALTHY), "memcheck", "--device", "cuda", code=0,
                          extra_environment=environment)
        self.assertIsNone(seen["first_fault"])

    def test_a_sanitizer_that_never_saw_the_program_is_no_finding(self):
        _, environment = self.fake("compute-sanitizer", "e24_no_driver_observed", code=255)
        self.problem("debug", self.late(), "--tool", "memcheck", "--device", "cuda",
                     says="could not watch" if program.HAS_GPU else "cannot run here: Found no NVIDIA driver",
                     extra_environment=environment)

    def test_cuda_gdb_is_driven_by_a_script(self):
        record, environment = self.fake("cuda-gdb", "f02_gdb_illegal_address")
        seen = self.debug(self.late(), "cuda-gdb", "--device", "cuda", extra_environment=environment)
        words = record.read_text().splitlines()
        script = pathlib.Path(words[words.index("-x") + 1]).read_text()
        for command in ("run", "info locals", "info cuda kernels"):
            self.assertIn(command, script.splitlines())
        self.assertIn("--batch", words)
        self.assertEqual(seen["first_fault"]["block"], [20917, 0, 0])
        self.assertEqual(seen["first_fault"]["kernel"], "cell_fill")

    @program.unittest.skipIf(program.HAS_GPU, "there is a GPU")
    def test_without_a_gpu_it_says_so(self):
        for tool in ("blocking", "stacks", "dsa", "coredump"):
            with self.subTest(tool=tool):
                self.problem("debug", self.late(), "--tool", tool, "--device", "cuda:0", says="dsafuzz doctor")

    @program.unittest.skipIf(os.path.exists("/usr/local/cuda/bin/compute-sanitizer"), "compute-sanitizer is there")
    def test_without_compute_sanitizer_it_says_how_to_get_it(self):
        if shutil.which("compute-sanitizer"):
            self.skipTest("compute-sanitizer is there")
        # No wheels beside an interpreter that does not exist.
        self.problem("debug", self.late(), "--tool", "memcheck", "--device", "cuda:0",
                     says="pip install nvidia-cuda-sanitizer-api",
                     extra_environment={"DSAFUZZ_PYTHON": str(self.folder / "no" / "bin" / "python")})

    def test_usage_errors(self):
        late = self.late()
        self.problem("debug", late, "--tool", "nonsense", code=2, says="blocking, stacks")
        self.problem("debug", late, "--tool", "stacks", "--device", "cpu", code=2, says="--device")
        self.problem("debug", self.folder / "none.yaml", "--tool", "stacks", code=2, says="none.yaml")


class FidelityTest(program.ProgramTest):
    NAMES = ("cross_entropy_classic_minimal", "gather_index_equals_size", "control_empty_batch",
             "index_select_wraps_32_bits_is_silent")

    def corpus(self):
        folder = self.folder / "corpus"
        for name in self.NAMES:
            shutil.copytree(REGRESSIONS / name, folder / name, dirs_exist_ok=True)
        return folder

    def test_a_device_agrees_with_its_equal(self):
        out = self.run_program("fidelity", self.corpus(), "--devices", "vcuda,vcuda:1").out
        self.assertIn("4 cases compared: no difference", out)

    def test_the_cpu_refuses_what_stops_a_device(self):
        seen = self.run_program("fidelity", self.corpus(), "--devices", "vcuda,cpu", "--json", "-", code=1).json()
        self.assertEqual(seen["compared"], 4)
        lost = {d["case"]: d["b"] for d in seen["differences"] if d["change"] == "assert_lost"}
        self.assertEqual(set(lost), {"cross_entropy_classic_minimal", "gather_index_equals_size"})
        for answer in lost.values():
            self.assertIn("host_reject", answer)
        self.assertNotIn("control_empty_batch", [d["case"] for d in seen["differences"]])

    def test_three_devices_are_compared_in_pairs(self):
        ended = self.run_program("fidelity", self.corpus(), "--devices", "vcuda,vcuda:1,cpu", "--json", "-", code=1)
        seen = ended.json()
        self.assertEqual((seen["format"], seen["version"]), ("dsafuzz-fidelity", 1))
        self.assertEqual(seen["devices"], ["vcuda", "vcuda:1", "cpu"])
        names = [(c["a"].split(": ")[0], c["b"].split(": ")[0]) for c in seen["comparisons"]]
        self.assertEqual(names, [("vcuda", "vcuda:1"), ("vcuda", "cpu"), ("vcuda:1", "cpu")])
        self.assertEqual(seen["comparisons"][0]["differences"], [])
        for comparison in seen["comparisons"][1:]:
            lost = {d["case"] for d in comparison["differences"] if d["change"] == "assert_lost"}
            self.assertEqual(lost, {"cross_entropy_classic_minimal", "gather_index_equals_size"})
        self.assertNotIn("still_atens", seen)

    def test_the_kernels_of_dsafuzz_on_a_gpu_are_not_searched(self):
        case = REGRESSIONS / "cross_entropy_classic_minimal" / "case.yaml"
        for command in (["fuzz", program.SCENARIOS / "linear_cross_entropy.yaml"], ["reduce", case], ["emit", case],
                        ["debug", case, "--tool", "stacks"]):
            ended = self.run_program(*command, "--device", "cuda:0:own", code=2)
            self.assertIn("dsafuzz: --device: 'cuda:0:own' runs dsafuzz's kernels in the place of PyTorch's", ended.err)

    @program.unittest.skipIf(program.HAS_GPU, "there is a GPU")
    def test_a_replay_names_whose_kernels_were_to_run(self):
        ended = self.run_program("replay", REGRESSIONS / "cross_entropy_classic_minimal" / "case.yaml", "--device",
                                 "cuda:0:own", code=3)
        self.assertIn("setup_failed on cuda:0:own", ended.out)

    @program.unittest.skipIf(program.HAS_GPU, "there is a GPU")
    def test_without_the_device_it_says_so(self):
        ended = self.run_program("fidelity", self.corpus(), code=3)
        self.assertIn("cuda:0", ended.err)
        self.assertIn("not there", ended.err)
        self.assertEqual(ended.out, "")

    def test_usage_errors(self):
        for devices in ("vcuda", "vcuda,cpu,vcuda:1,cuda", "vcuda,gpu", "vcuda,vcuda:own", "vcuda,cuda:0:own:own"):
            ended = self.run_program("fidelity", self.corpus(), "--devices", devices, code=2)
            self.assertIn("dsafuzz: --device", ended.err)


if __name__ == "__main__":
    program.unittest.main()
