"""scripts/import_tensors: contents are kept to the last bit, what cannot be a case is refused in one line, and no file
is ever run. Usage: import_tensors_test.py SCRIPT, with the Python that has torch.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import torch

SCRIPT = ""
CALL = ("--op", "aten::cross_entropy_loss", "--argument", "input=logits", "--argument", "target=labels", "--tensor",
        "logits", "--tensor", "labels")
FILES = pathlib.Path(__file__).resolve().parents[1] / "scenarios" / "import_files.py"
NUMBERS = {".nan": "nan", ".inf": "inf", "-.inf": "-inf"}


def load(path):
    loader = importlib.machinery.SourceFileLoader("import_tensors", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("import_tensors", loader))
    loader.exec_module(module)
    return module


def read_number(text, real):
    return float(NUMBERS.get(text, text)) if real else int(text)


def read_tensor(line):
    """A tensor of a case by the rules of scenarios/SCHEMA.md, in words of our own."""
    shape = [int(n) for n in re.search(r"shape: \[(.*?)\]", line).group(1).split(",") if n.strip()]
    dtype = getattr(torch, re.search(r"dtype: (\w+)", line).group(1))
    count, real = torch.Size(shape).numel(), dtype.is_floating_point
    fill = re.search(r"fill: (\[.*?\]|[^,}]+)", line).group(1)
    if fill == "arange":
        values = list(range(count))
    else:
        given = [read_number(n.strip(), real) for n in fill.strip("[]").split(",")]
        values = [given[i % len(given)] for i in range(count)]
    for index, value in re.findall(r"(\d+): ([^,}]+)", (re.search(r"set: \{(.*?)\}", line) or [None, ""])[1]):
        values[int(index)] = read_number(value, real)
    return torch.tensor(values, dtype=torch.float64 if real else torch.int64).to(dtype).reshape(shape)


def bits(tensor):
    flat = tensor.contiguous().reshape(-1)
    return (flat.view(torch.int16) if tensor.dtype == torch.bfloat16 else flat).numpy().tobytes()


class ImportTensorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="dsafuzz-test-"))
        subprocess.run([sys.executable, FILES, folder], check=True)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        cls.script = load(SCRIPT)

    def import_(self, file, words, code=0):
        """The case's text, or the words of the refusal."""
        said = io.StringIO()
        pathlib.Path("case.yaml").unlink(missing_ok=True)
        with contextlib.redirect_stderr(said):
            self.assertEqual(self.script.main([*words, "--out", "case.yaml", "--", file]), code, said.getvalue())
        self.assertFalse(os.path.exists("owned"), f"{file} was run")
        return pathlib.Path("case.yaml").read_text() if code == 0 else said.getvalue()

    def refused(self, file, words, says):
        with self.subTest(file=file, words=words):
            said = self.import_(file, words, 2)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertIn(says, said)
            self.assertLess(len(said), 600)
            self.assertFalse(os.path.exists("case.yaml"))

    def tensors_of(self, file, names):
        words = ["--op", "dsafuzz::none"]
        for name in names:
            words += ["--argument", name, "--tensor", name]
        lines = self.import_(file, words).splitlines()
        return {line.split(":")[0].strip(): line for line in lines if line.startswith("  ") and "shape:" in line}

    def test_every_dtype_and_value_is_kept(self):
        expected = torch.load("all.pt", weights_only=True)
        for file in ("all.npz", "all.pt"):
            own = ("bfloat16", "expanded", "transposed")  # of torch
            names = [name for name in expected if file == "all.pt" or name not in own]
            found = self.tensors_of(file, names)
            for name in names:
                with self.subTest(file=file, tensor=name):
                    read, wanted = read_tensor(found[name]), expected[name]
                    self.assertEqual((read.dtype, read.shape), (wanted.dtype, wanted.shape))
                    if wanted.is_floating_point():  # one NaN is as good as another
                        self.assertTrue((read.isnan() == wanted.isnan()).all())
                        read, wanted = (t.masked_fill(t.isnan(), 7) for t in (read, wanted))
                    self.assertEqual(bits(read), bits(wanted), found[name])
        self.assertIn("layout: expanded", found["expanded"])
        self.assertIn("layout: transposed", found["transposed"])

    def test_every_number_of_a_narrow_type_is_kept(self):
        every = torch.arange(1 << 16).to(torch.uint16).view(torch.int16)
        torch.save({"half": every.view(torch.float16), "brain": every.clone().view(torch.bfloat16)}, "every.pt")
        for name, line in self.tensors_of("every.pt", ["half", "brain"]).items():
            read, wanted = read_tensor(line), torch.load("every.pt", weights_only=True)[name]
            real = ~wanted.isnan()
            self.assertTrue((read.isnan() == wanted.isnan()).all())
            self.assertTrue((read.view(torch.int16)[real] == wanted.view(torch.int16)[real]).all(), name)

    def test_large_tensors(self):
        self.assertIn("fill: 0.0}", self.import_("constant.npz", CALL))  # 12 million equal elements are one number
        self.refused("large.npz", CALL, "250000 in all; --summarise")
        text = self.import_("large.npz", [*CALL, "--summarise"])
        self.assertRegex(text, r"logits: .* fill: \{uniform: \[-\d\.\d+, \d\.\d+\]\}")
        self.assertRegex(text, r"labels: \{shape: \[1000\], dtype: int64, fill: \[.*\]\}")

    def test_what_cannot_be_read_is_refused_in_words(self):
        for file, says in (("evil.pt", "something else than tensors (posix.system)"),
                           ("evil_legacy.pt", "nothing in it was run"), ("objects.npz", "Python objects"),
                           ("complex.npz", "complex64"), ("text.npz", "cannot hold"), ("complex.pt", "complex64"),
                           ("sparse.pt", "dense"), ("lies.npz", "at most"), ("script.pt", "TorchScript"),
                           ("wide_stride.pt", "at most"), ("no_tensor.pt", "not a tensor"), ("missing.npz", "missing")):
            self.refused(file, CALL, says)
        for file in ("good.npz", "good.pt"):
            whole = pathlib.Path(file).read_bytes()
            for size in (0, 10, len(whole) // 2, len(whole) - 30):
                pathlib.Path(f"cut{file[4:]}").write_bytes(whole[:size])
                self.refused(f"cut{file[4:]}", CALL, "cut")
        damaged = bytearray(pathlib.Path("good.npz").read_bytes())
        damaged[200] ^= 0xFF  # in the contents of the first array: the checksum tells
        pathlib.Path("damaged.npz").write_bytes(damaged)
        self.refused("damaged.npz", CALL, "damaged.npz")

    def test_bombs(self):
        """Archives of a few megabytes that unpack to 2 GiB."""
        header = b"\x93NUMPY\x01\x00\x76\x00" + (
            b"{'descr': '<f4', 'fortran_order': False, 'shape': (536870912,), }").ljust(117) + b"\n"
        block = bytes(1 << 24)
        for file, name in (("bomb.npz", "logits.npy"), ("bomb.pt", "archive/data/0")):
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                with archive.open(name, "w", force_zip64=True) as out:
                    out.write(header)
                    for _ in range(128):
                        out.write(block)
            self.refused(file, CALL, "at most 1073741824 are read")

    def test_the_call_is_checked(self):
        relu = ("--op", "aten::relu", "--tensor")
        for words, says in ((("--op", "aten::no_such_operator"), "no operator aten::no_such_operator"),
                            (("--op", "aten::$(touch owned)"), "no operator"),
                            (("--op", "aten::relu.no_such_overload"), "no operator"),
                            ((*CALL, "--argument", "nonsense=labels"), "no argument 'nonsense'"),
                            ((*CALL, "--argument", "self=labels"), "given twice"), (CALL[:4], "needs 'target'"),
                            ((*relu, "labls", "--argument", "labls"), "there is logits, labels"),
                            ((*relu, "labels", "--argument", "labels", "--argument", "logits"), "no 2 arguments")):
            self.refused("good.npz", words, says)
        text = self.import_("good.npz", ["--op", "aten::index.Tensor", "--argument", "input=logits", "--argument",
                                         "indices=[labels]", "--tensor", "logits", "--tensor", "labels"])
        self.assertIn("out = aten::index.Tensor(self=logits, indices=[labels])", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    SCRIPT = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
