"""scripts/assert_catalogue: what it says of two lists; the list of the installed wheel; and that kernels print the
texts that are in both. Usage: assert_catalogue_test.py SCRIPT FOLDER VCUDA_LIBRARY, with the Python that has torch.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

SCRIPT = FOLDER = LIBRARY = ""

HEADER = "file\tline\tcondition\tfunction\tkernels\n"
RUN_TIME_TEXT = "(text given at run time)"
A = ("aten/src/A.cu", "10", "i < n", "f")
B = ("aten/src/A.cu", "20", "i < n", "g")
C = ("aten/src/B.cu", "30", 'k >= 0 && "k"', "operator()")


def run(*arguments, **options):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=280,
                          check=False, **options)


def read(text):
    head, *lines = [line.split("\t") for line in text.splitlines()]
    assert head == HEADER.strip().split("\t"), head
    return {tuple(cells[:4]) for cells in lines}


def kernel_sites():
    """The sites in the library with the kernels: every AssertSite {file, line, function, condition} by its symbol."""
    with open(LIBRARY, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 40)
    size, count, _ = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]

    def text(offset):
        return data[offset:data.index(b"\0", offset)].decode()

    def offset_of(address):
        return next(h[4] + address - h[3] for h in headers if h[3] <= address < h[3] + h[5] and h[1] != 8 and h[3])

    pointers, symbols = {}, []
    for header in headers:
        entries = range(header[4], header[4] + header[5], header[9] or 1)
        if header[1] == 4:  # SHT_RELA
            pointers.update((at, to) for at, info, to in (struct.unpack_from("<QQq", data, i) for i in entries)
                            if info & 0xffffffff == 8)  # R_X86_64_RELATIVE
        elif header[1] == 2:  # SHT_SYMTAB
            names = headers[header[6]][4]
            symbols = [(text(names + name), value) for name, _, _, _, value, _ in
                       (struct.unpack_from("<IBBHQQ", data, i) for i in entries)]
    sites = set()
    for name, address in symbols:
        if re.search(r"E\d?kSite(_\d+)?$", name) and address in pointers:
            line, = struct.unpack_from("<I", data, offset_of(address + 8))
            file, function, condition = (text(offset_of(pointers[address + at])) for at in (0, 16, 24))
            sites.add((file.removeprefix("/pytorch/"), str(line), condition or RUN_TIME_TEXT, function))
    return {site for site in sites if not site[0].startswith("kernels/")}


class Comparison(unittest.TestCase):
    def compare(self, old, new, *options):
        with tempfile.TemporaryDirectory() as folder:
            for name, sites in (("old.tsv", old), ("new.tsv", new)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(HEADER + "".join("\t".join([*site, "1"]) + "\n" for site in sites))
            return run("compare", "old.tsv", "new.tsv", *options, cwd=folder)

    def changes(self, old, new):
        done = self.compare(old, new, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        return {(c["change"], c["old"] and c["old"]["line"], c["new"] and c["new"]["line"])
                for c in json.loads(done.stdout)}

    def test_the_same_sites_in_any_order(self):
        done = self.compare([A, B, C], [C, A, B])
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_each_change_has_its_word(self):
        rows = [
            ("added", [A], [A, C], ("added", None, 30)),
            ("lost", [A, C], [A], ("lost", 30, None)),
            ("line", [A, B], [A, (B[0], "21", *B[2:])], ("moved to another line", 20, 21)),
            ("file", [A, C], [A, ("aten/src/D.cu", "5", *C[2:])], ("moved to another file", 30, 5)),
            ("function", [A, C], [A, (*C[:3], "h")], ("moved to another function", 30, 30)),
            ("text", [A, C], [A, (*C[:2], "k > 0", C[3])], ("another text", 30, 30)),
        ]
        for name, old, new, wanted in rows:
            with self.subTest(name):
                self.assertEqual(self.changes(old, new), {wanted})

    def test_equal_texts_are_paired_once_and_in_the_order_of_lines(self):
        old = [(A[0], line, *A[2:]) for line in ("10", "12")]
        new = [(A[0], line, *A[2:]) for line in ("15", "17", "19")]
        self.assertEqual(self.changes(old, new), {("moved to another line", 10, 15), ("moved to another line", 12, 17),
                                                  ("added", None, 19)})

    def test_text_output(self):
        done = self.compare([A], [(A[0], "11", *A[2:])])
        self.assertEqual(done.stdout, "moved to another line:\n  - aten/src/A.cu:10: f: `i < n`\n"
                                      "  + aten/src/A.cu:11: f: `i < n`\n")

    def test_bad_input_and_a_wheel_without_cuda_are_told_apart(self):
        self.assertEqual(run("compare", "/nonexistent", "/nonexistent").returncode, 2)
        self.assertEqual(run("compare", SCRIPT, SCRIPT).returncode, 2)
        self.assertEqual(run("no-such-command").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("list", "--torch", folder).returncode, 3)


class Catalogue(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(FOLDER, "asserts-2.11.0.tsv"), encoding="utf-8") as file:
            self.kept = read(file.read())

    def test_kernels_print_texts_that_are_in_the_kept_list(self):
        sites = kernel_sites()
        self.assertGreater(len(sites), 60)
        self.assertEqual(sorted(sites - self.kept), [])

    def test_the_table_has_a_row_for_every_site_and_no_other(self):
        with open(os.path.join(FOLDER, "device_asserts.tsv"), encoding="utf-8") as file:
            next(file)
            cells = [line.split("\t") for line in file]
        sites = set()
        for _, source, function, condition, *_ in cells:
            file, _, line = source.rpartition(":")
            if source:
                given = function == "_assert_async_cuda_kernel"
                sites.add((file, line, RUN_TIME_TEXT if given else condition, function))
        self.assertEqual(sites, self.kept)

    def test_the_installed_wheel(self):
        done = run("list")
        if done.returncode == 3:
            self.skipTest(done.stderr.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("could not be read", done.stderr)
        installed = read(done.stdout)
        import torch  # pylint: disable=import-outside-toplevel
        if torch.__version__.split("+")[0] == "2.11.0":
            self.assertEqual(installed, self.kept)
        self.assertEqual(sorted(kernel_sites() - installed), [])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    SCRIPT, FOLDER, LIBRARY = map(os.path.abspath, sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
