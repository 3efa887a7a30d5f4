"""check_layers: a tree with one wrong include of each kind gives exactly those lines; a clean tree gives none."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check_layers")
FOLDERS = ("repro", "fuzz", "kernels/aten", "kernels/guard/include/dsafuzz", "scenarios", "tests")

# File, its text, and the line that must be blamed (None: a legal file).
LEGAL = [
    ("repro/a.h", '#include <vector>\n#include "repro/b.h"\n'),
    ("repro/b.cpp", '// #include "fuzz/x.h"\n/*\n#include "fuzz/x.h"\n*/\n'
     'const char* k = R"(\n#include <ATen/ATen.h>\n)";\n'),
    ("fuzz/a.cpp", '#include "fuzz/b.h"\n#include "repro/a.h"\n#include <CLI/CLI.hpp>\n'),
    ("kernels/aten/a.cpp", '#include <ATen/ATen.h>\n#include "kernels/vcuda/runtime.h"\n'),
    ("kernels/guard/include/dsafuzz/a.h", "#include <ATen/ATen.h>\n#include <dsafuzz/b.h>\n"),
    ("tests/guard.cpp", "#include <dsafuzz/a.h>\n"),
    ("kernels/a.cu", '#include "kernels/vcuda/device_language.h"\n#include <cuda_runtime.h>\n'),
    ("scenarios/a.cpp", '#include <torch/script.h>\n#include "kernels/x.h"\n#include "repro/case.h"\n'),
    ("tests/a.cpp", '#include "sibling.h"\n#include "fuzz/a.h"\n#include <c10/x.h>\n'),
    ("fuzz/reproducer_headers.h", "#include <ATen/ATen.h>\n"),
    ("fuzz/README.md", '#include "tests/x.h"\n'),
]
ILLEGAL = [
    ("repro/up.cpp", '#include <string>\n\n#include "fuzz/store.h"\n', 3),
    ("repro/torch.cpp", "#include <c10/core/Device.h>\n", 1),
    ("repro/near.cpp", '#include "case.h"\n', 1),
    ("fuzz/kernel.cpp", '/* two\nlines */\n  #  include "kernels/vcuda/runtime.h"\n', 3),
    ("fuzz/tests.cpp", '#include "tests/a.h"\n', 1),
    ("fuzz/cuda.h", "#include <cuda_runtime.h>\n", 1),
    ("fuzz/header.cpp", '#include "fuzz/reproducer_headers.h"\n', 1),
    ("kernels/torch.cu", '#include "kernels/x.h"\n#include <ATen/ATen.h>\n', 2),
    ("kernels/repro.cpp", '#include "repro/case.h"\n', 1),
    ("kernels/guard/include/dsafuzz/ours.h", '#include "kernels/x.h"\n', 1),
    ("scenarios/guard.cpp", "#include <dsafuzz/a.h>\n", 1),
    ("scenarios/fuzz.cpp", '#include "fuzz/mutate.h"\n', 1),
]


def run(*arguments):
    return subprocess.run([sys.executable, CHECK, *arguments], capture_output=True, text=True, check=False)


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = self.folder.name
        for folder in FOLDERS:
            os.makedirs(os.path.join(self.root, folder))
        for name, text in LEGAL:
            self.write(name, text)

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_legal_tree_is_silent(self):
        done = run("--root", self.root)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_each_wrong_include_is_blamed_alone(self):
        for name, text, line in ILLEGAL:
            with self.subTest(name):
                self.write(name, text)
                done = run("--root", self.root)
                os.remove(os.path.join(self.root, name))
                self.assertEqual(done.returncode, 1)
                blamed = [":".join(each.split(":")[:2]) for each in done.stdout.splitlines()]
                self.assertEqual(blamed, [f"{name}:{line}"])

    def test_all_wrong_includes_at_once(self):
        for name, text, _ in ILLEGAL:
            self.write(name, text)
        done = run("--root", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stdout.splitlines()), len(ILLEGAL))

    def test_what_cannot_be_checked_is_no_success(self):
        self.assertEqual(run("--root", os.path.join(self.root, "fuzz")).returncode, 3)
        self.assertEqual(run("--root", self.root, "--supervisor", os.path.join(self.root, "none")).returncode, 3)
        self.assertEqual(run("--nonsense").returncode, 2)

    def test_a_binary_that_links_libtorch_is_blamed(self):
        torch = [p for p in sys.path if os.path.isfile(os.path.join(p, "torch", "lib", "libtorch_cpu.so"))]
        if not torch:
            self.skipTest("no torch wheel for this Python")
        library = os.path.join(torch[0], "torch", "lib", "libtorch_cpu.so")
        done = run("--root", self.root, "--supervisor", library)
        self.assertEqual(done.returncode, 1)
        self.assertIn("links libc10.so", done.stdout)


if __name__ == "__main__":
    unittest.main()
