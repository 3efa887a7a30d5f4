"""`dsafuzz import`: tensors that people have become a case with the same contents, and no file of theirs is ever run.

The files are made by tests/scenarios/import_files.py with the Python that has torch.
"""
import os
import shutil
import subprocess
import tempfile

import program

PYTHON = os.environ.get("DSAFUZZ_PYTHON", str(program.ROOT / ".venv/bin/python"))
CALL = ("--op", "aten::cross_entropy_loss", "--arg", "input=logits", "--arg", "target=labels")
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"


class ImportTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.mkdtemp(prefix="dsafuzz-test-")
        cls.addClassCleanup(shutil.rmtree, cls.files, ignore_errors=True)
        subprocess.run([PYTHON, program.pathlib.Path(__file__).parent / "import_files.py", cls.files], check=True)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.files, self.folder, dirs_exist_ok=True)

    def import_(self, *arguments, code=0):
        ended = self.run_program("import", *arguments, code=code, cwd=self.folder)
        self.assertFalse((self.folder / "owned").exists(), f"{arguments} has run what is in the file")
        return ended

    def refused(self, *arguments, says, code=2):
        with self.subTest(arguments):
            ended = self.import_(*arguments, code=code)
            self.assertEqual((ended.out, len(ended.err.splitlines())), ("", 1), str(ended))
            self.assertIn(says, ended.err)
            self.assertLess(len(ended.err), 800)

    def test_a_case_file_is_checked_and_written_canonically(self):
        loose = "{case: x, tensors: {t: {shape: [2], fill: [1.0, 2]}}, steps: ['y = aten::relu( t )']}"
        ended = self.import_(self.write("loose.yaml", loose))
        self.assertEqual(ended.out, "case: x\nseed: 0\ntensors:\n  t: {shape: [2], dtype: float32, fill: [1.0, 2]}\n"
                                    "steps:\n  - y = aten::relu(t)\n")
        self.assertEqual(self.import_(self.write("again.yaml", ended.out)).out, ended.out)
        self.refused(self.write("bad.yaml", loose.replace("relu( t )", "relu(")), says="bad.yaml:1")
        self.refused("loose.yaml", "--op", "aten::relu", says="loose.yaml")
        self.refused("loose.yaml", "good.npz", says="alone")

    def test_the_case_shows_the_bug_and_reduces(self):
        for words in (("good.pt", *CALL), ("logits.npy", "labels.npy", *CALL),
                      ("good.npz", "--op", "torch.nn.functional.cross_entropy", "--arg", "input=logits", "--arg",
                       "target=labels", "--set", "reduction=mean", "--set", "ignore_index=-100")):
            with self.subTest(words):
                self.import_(*words, "--out", "case.yaml")
                rows = self.run_program("replay", self.folder / "case.yaml", "--json", code=1).json_lines()
                self.assertEqual(rows[0]["signature"], SIGNATURE)
        ended = self.import_("good.npz", *CALL, "--reduce", "--out", "found", code=1)
        self.assertIn("labels: {shape: [1], dtype: int64, fill: 1}", ended.out)
        self.assertEqual(len(list((self.folder / "found" / "findings").glob("device_assert-*/repro.py"))), 1)

    def test_users_functions_have_their_own_order(self):
        """torch.nn.functional.embedding(input, weight) is aten::embedding(weight, indices)."""
        words = ("good.npz", "--op", "torch.nn.functional.embedding")
        for arguments in (("labels", "logits"), ("input=labels", "weight=logits")):
            ended = self.import_(*words, "--arg", arguments[0], "--arg", arguments[1])
            self.assertIn("aten::embedding(indices=labels, weight=logits)", ended.out)

    def test_what_cannot_be_imported_is_refused_in_one_line(self):
        """What a file may hold is import_tensors_test.py's subject; here is what people see."""
        os.mkfifo(self.folder / "pipe.npz")
        for file, says in (("evil.pt", "evil.pt: it holds something else than tensors (posix.system)"),
                           ("wide.npz", "1048576"), ("missing.npz", "not a file"), ("pipe.npz", "not a file"),
                           ("good.txt", "of no kind")):
            self.refused(file, *CALL, says=says)
        for words, says in (((), "--op"), (("--op", "aten::relu"), "--arg"),
                            (("--op", "aten::no_such_operator", "--arg", "logits"), "aten::no_such_operator"),
                            (("--op", "aten::relu", "--arg", "logits, labels"), "not one argument"),
                            (("--op", "aten::relu", "--arg", "logits) + f("), "not one argument"),
                            ((*CALL, "--set", "mean"), "no name"), ((*CALL, "--set", "reduction="), "not one argument"),
                            ((*CALL, "--name", "../x"), "scenario name"), ((*CALL, "--reduce"), "--out")):
            self.refused("good.npz", *words, says=says)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
