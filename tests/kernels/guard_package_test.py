"""The guard as a user gets it: installed into an empty folder, found by find_package, and the example of its README built
and run without anything else of dsafuzz. Arguments: cmake, the build folder, the README, LibTorch's folder."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, README, TORCH = sys.argv[1:5]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADERS = {"guard.h", "guard_counters.h", "guarded_dataset.h"}


def run(*words, code=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class GuardPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-guard-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        run(CMAKE, "--install", BUILD, "--component", "guard", "--prefix", cls.prefix)
        cls.blocks = {}
        for language, text in BLOCK.findall(pathlib.Path(README).read_text(encoding="utf-8")):
            cls.blocks.setdefault(language, text)

    def project(self, name, **files):
        folder = self.folder / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file.replace("__", ".")).write_text(text)
        return folder

    def configure(self, source, *flags, code=0):
        return run(CMAKE, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DTORCH_DIR={TORCH}", *flags, code=code)

    def test_only_the_guard_is_installed(self):
        installed = {p.relative_to(self.prefix) for p in self.prefix.rglob("*") if p.is_file()}
        self.assertEqual({p.name for p in installed if p.parts[:2] == ("include", "dsafuzz") and len(p.parts) == 3}, HEADERS)
        self.assertEqual({p.suffix for p in installed}, {".h", ".cmake"})
        self.assertEqual({p.name for p in installed if p.suffix == ".cmake"},
                         {"dsafuzzConfig.cmake", "dsafuzzConfigVersion.cmake"})
        for path in installed:
            self.assertNotIn(BUILD, (self.prefix / path).read_text(), f"{path} names the build folder")

    def test_the_readme_s_example_prints_what_it_says(self):
        source = self.project("example", CMakeLists__txt=self.blocks["cmake"], train__cpp=self.blocks["cpp"])
        # Another compiler than the one that builds dsafuzz, where there is one.
        compiler = shutil.which("g++") or os.environ.get("CXX") or "c++"
        self.configure(source, f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_STANDARD=17",
                       "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -O0")
        run(CMAKE, "--build", source / "build")
        self.assertEqual(run(source / "build" / "train"), self.blocks["text"])

    def test_another_version_is_refused(self):
        text = "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES NONE)\nfind_package(dsafuzz 9.0 REQUIRED)\n"
        self.assertIn("9.0", self.configure(self.project("later", CMakeLists__txt=text), code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
