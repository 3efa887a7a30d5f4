"""`dsafuzz import`: tensors that people have become a case with the same contents, and no file of theirs is ever run.

The files are made by tests/scenarios/import_files.py with the Python that has torch.
"""
import os
import subprocess
import zipfile

import program

PYTHON = os.environ.get("DSAFUZZ_PYTHON", str(program.ROOT / ".venv/bin/python"))
CALL = ("--op", "aten::cross_entropy_loss", "--arg", "input=logits", "--arg", "target=labels")
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"


class ImportTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        subprocess.run([PYTHON, program.pathlib.Path(__file__).parent / "import_files.py", self.folder], check=True)

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

    def test_every_dtype_and_value_is_kept(self):
        """import_files.py knows what it has written, and compares with what the case says, element for element."""
        for file in ("all.npz", "all.pt"):
            names = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
            names += ["bfloat16", "expanded", "transposed"] if file == "all.pt" else []
            self.import_(file, "--op", "dsafuzz::none", "--arg", f"[{', '.join(names)}]", "--out", "all.yaml")
            shown = self.run_program("show", self.folder / "all.yaml", "--json").json()
            told = {t["name"]: (t["dtype"], t["shape"], t["values"]) for t in shown["tensors"]}
            expected = program.json.loads((self.folder / "expected.json").read_text())
            for name in names:
                with self.subTest(file=file, tensor=name):
                    self.assertEqual(list(told[name]), expected[name])
        text = (self.folder / "all.yaml").read_text()
        self.assertIn("layout: expanded", text)
        self.assertIn("layout: transposed", text)

    def test_the_case_shows_the_bug_and_reduces(self):
        for words in (("good.npz", *CALL), ("good.pt", *CALL), ("logits.npy", "labels.npy", *CALL),
                      ("good.npz", "--op", "cross_entropy", "--arg", "logits", "--arg", "labels"),
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

    def test_large_tensors(self):
        self.import_("constant.npz", *CALL, "--out", "constant.yaml")  # 12 million equal elements are one number
        self.assertIn("fill: 0.0", (self.folder / "constant.yaml").read_text())
        self.refused("large.npz", *CALL, says="250000 in all; --summarise")
        ended = self.import_("large.npz", *CALL, "--summarise")
        self.assertRegex(ended.out, r"logits: .* fill: \{uniform: \[-\d\.\d+, \d\.\d+\]\}")
        self.assertRegex(ended.out, r"labels: \{shape: \[1000\], dtype: int64, fill: \[.*\]\}")
        self.refused("wide.npz", *CALL, says="1048576")

    def test_what_cannot_be_read_is_refused_in_words(self):
        for file, says in (("evil.pt", "something else than tensors (posix.system)"), ("evil_legacy.pt", "nothing in it was run"),
                           ("objects.npz", "Python objects"), ("complex.npz", "complex64"), ("text.npz", "cannot hold"),
                           ("complex.pt", "complex64"), ("sparse.pt", "dense"), ("lies.npz", "bytes"),
                           ("script.pt", "TorchScript"), ("wide_stride.pt", "bytes"), ("no_tensor.pt", "not a tensor"),
                           ("missing.npz", "not a file"), ("good.txt", "of no kind")):
            self.refused(file, *CALL, says=says)
        for file in ("good.npz", "good.pt"):
            whole = (self.folder / file).read_bytes()
            for size in (0, 10, len(whole) // 2, len(whole) - 30):
                self.write(f"cut{file[4:]}", whole[:size])
                self.refused(f"cut{file[4:]}", *CALL, says="cut")
        damaged = bytearray((self.folder / "good.npz").read_bytes())
        damaged[200] ^= 0xFF  # in the contents of the first array: the checksum tells
        self.write("damaged.npz", bytes(damaged))
        self.refused("damaged.npz", *CALL, says="damaged.npz")
        os.mkfifo(self.folder / "pipe.npz")
        self.refused("pipe.npz", *CALL, says="not a file")

    def test_bombs(self):
        """Archives of a few megabytes that unpack to 2 GiB."""
        header = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (536870912,), }".ljust(
            117) + b"\n"
        block = bytes(1 << 24)
        for file, name in (("bomb.npz", "logits.npy"), ("bomb.pt", "archive/data/0")):
            with zipfile.ZipFile(self.folder / file, "w", zipfile.ZIP_DEFLATED) as archive:
                with archive.open(name, "w", force_zip64=True) as out:
                    out.write(header)
                    for _ in range(128):
                        out.write(block)
            self.refused(file, *CALL, says="at most 1073741824 are read")

    def test_the_call_is_checked(self):
        for words, says in (((), "--op"), (("--op", "aten::relu"), "--arg"),
                            (("--op", "aten::no_such_operator", "--arg", "logits"), "no operator aten::no_such_operator"),
                            (("--op", "aten::$(touch owned)", "--arg", "logits"), "no operator"),
                            ((*CALL, "--arg", "nonsense=labels"), "no argument 'nonsense'"),
                            ((*CALL[:4], "--arg", "input=labels"), "given twice"), (CALL[:4], "needs 'target'"),
                            (("--op", "aten::relu", "--arg", "labls"), "there is logits, labels"),
                            (("--op", "aten::relu", "--arg", "logits, labels"), "not one argument"),
                            (("--op", "aten::relu", "--arg", "logits) + f("), "not one argument"),
                            ((*CALL, "--set", "mean"), "no name"), ((*CALL, "--set", "reduction="), "not one argument"),
                            ((*CALL, "--name", "../x"), "scenario name"), ((*CALL, "--reduce"), "--out")):
            self.refused("good.npz", *words, says=says)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
