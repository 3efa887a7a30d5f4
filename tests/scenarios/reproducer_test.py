"""The emitted files run the way a user runs them: 1 the bug shows, 0 it does not, 125 it cannot be run here."""
import os
import subprocess
import sys

import program

# As in the classic report: the smallest bad label. CMake hands over where things are.
CASE = """\
case: linear_cross_entropy
seed: 0
shapes: {batch: 1, classes: 1}
tensors:
  labels: {shape: [batch], dtype: int64, fill: 1}
  logits: {shape: [batch, classes], dtype: float32, fill: 0}
steps:
  - loss = aten::cross_entropy_loss(logits, labels)
"""
PYTHON = os.environ.get("DSAFUZZ_PYTHON", str(program.ROOT / ".venv" / "bin" / "python"))
TORCH = os.environ.get("DSAFUZZ_TEST_TORCH_DIR", "")
LIBRARY = os.environ.get("DSAFUZZ_VCUDA_LIBRARY", "")
CXX = os.environ.get("DSAFUZZ_TEST_CXX", "clang++-19")
ASSERT_LINE = ("/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: "
               "block: [0,0,0], thread: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.")


class ReproducerTest(program.ProgramTest):
    def emitted(self):
        """The folder of a finding that `emit` wrote for CASE, not run by it."""
        ended = self.run_program("emit", self.write("case.yaml", CASE), "--no-run", "--out", self.folder / "out",
                                 code=1)
        return program.pathlib.Path(ended.out.strip())

    def run_reproducer(self, words, code):
        variables = {"PYTHONPATH": str(program.ROOT / "kernels" / "python"), "DSAFUZZ_VCUDA_LIBRARY": LIBRARY,
                     "CUDA_LAUNCH_BLOCKING": "1"}
        running = program.Running(words, cwd=self.folder, extra_environment=variables)
        self._started.append(running)
        ended = running.wait(120)
        self.assertEqual(ended.code, code, f"{words}: {ended}")
        return ended.out + ended.err

    def test_python(self):
        script = self.emitted() / "repro.py"
        on_cpu = self.run_reproducer([PYTHON, script, "cpu"], 0)
        self.assertIn("IndexError: Target 1 is out of bounds.", on_cpu)
        self.assertIn("does not show", on_cpu)
        on_vcuda = self.run_reproducer([PYTHON, script, "vcuda"], 1)
        self.assertIn(ASSERT_LINE, on_vcuda)
        self.assertIn("device-side assert triggered", on_vcuda)
        self.assertIn("the bug shows", on_vcuda)
        self.assertIn("cannot run on nonsense", self.run_reproducer([PYTHON, script, "nonsense"], 125))
        if program.HAS_GPU:
            self.run_reproducer([PYTHON, script], 1)
        else:
            self.assertIn("cannot run on cuda", self.run_reproducer([PYTHON, script], 125))

    def test_python_with_the_label_corrected(self):
        script = self.emitted() / "repro.py"
        text = script.read_text()
        self.assertEqual(text.count("torch.tensor([1]"), 1, text)
        fixed = self.write("fixed.py", text.replace("torch.tensor([1]", "torch.tensor([0]"))
        for device in ("cpu", "vcuda"):
            said = self.run_reproducer([PYTHON, fixed, device], 0)
            self.assertIn(f"{device}: returned", said)

    def test_cpp(self):
        folder = self.emitted()
        build = self.folder / "build"
        for words in (["cmake", "-S", folder, "-B", build, f"-DTORCH_DIR={TORCH}", f"-DCMAKE_CXX_COMPILER={CXX}"],
                      ["cmake", "--build", build]):
            done = subprocess.run(words, capture_output=True, text=True, timeout=280)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("warning:", done.stdout + done.stderr)
        repro = build / "repro"
        on_cpu = self.run_reproducer([repro, "cpu"], 0)
        self.assertIn("Target 1 is out of bounds.", on_cpu)
        on_vcuda = self.run_reproducer([repro, "vcuda"], 1)
        self.assertIn(ASSERT_LINE, on_vcuda)
        self.assertIn("device-side assert triggered", on_vcuda)
        self.run_reproducer([repro, "nonsense"], 125)
        if not program.HAS_GPU:
            self.run_reproducer([repro, "cuda"], 125)

    def test_cmake_without_libtorch_says_what_is_missing(self):
        done = subprocess.run(["cmake", "-S", self.emitted(), "-B", self.folder / "b", f"-DCMAKE_CXX_COMPILER={CXX}"],
                              capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TORCH_DIR", done.stderr)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
