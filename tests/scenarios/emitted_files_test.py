"""Every file that `dsafuzz emit` writes for the cases of the corpus is run, as a user runs it, on vcuda and on the CPU.

Without arguments: a sample, as one ctest. `--all`: every case, which takes an hour; `--jobs N` at once. Names or paths
of cases choose others. Each file must be as its formatter leaves it, compile without a warning, and end with the
promised code: 1 on vcuda, where the finding is from; on the CPU 1 only if it accepts, too, what is called silent, or
dies of the access that is a memory fault. A CPU that accepts an input that it should not may also die of it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import program

PYTHON = os.environ.get("DSAFUZZ_PYTHON", str(program.ROOT / ".venv" / "bin" / "python"))
SCRIPTS = pathlib.Path(PYTHON).parent
TORCH = os.environ.get("DSAFUZZ_TEST_TORCH_DIR", "")
LIBRARY = os.environ.get("DSAFUZZ_VCUDA_LIBRARY", "")
CXX = os.environ.get("DSAFUZZ_TEST_CXX", "clang++-19")
NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
PRECOMPILED = pathlib.Path(LIBRARY).parent / "reproducer.pch"
STYLE = "{BasedOnStyle: Google, ColumnLimit: 120}"
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(program.ROOT / "kernels" / "python"), DSAFUZZ_VCUDA_LIBRARY=LIBRARY,
                   DSAFUZZ_OPS_LIBRARY=LIBRARY, CUDA_LAUNCH_BLOCKING="1", OMP_NUM_THREADS="1",
                   PYTHONDONTWRITEBYTECODE="1")

# Where nothing is at fault on any device there is no finding, and where the host refuses the input there is none either.
NO_FINDING = "shows no bug"
# One of each way to fail and to be called: an index the device accepts, an index between brackets, an operator without a
# user's name, a custom kernel. reproducer_test runs the class label.
SAMPLE = ["regressions/index_select_wraps_32_bits_is_silent", "regressions/advanced_index_two_tensors",
          "catalogue/cases/U58.yaml", "regressions/custom_kernel_out_of_bounds"]


def run(words, folder=None, seconds=200, **variables):
    try:
        done = subprocess.run([str(word) for word in words], cwd=folder, env=dict(ENVIRONMENT, **variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "no end in time"
    return done.returncode, (done.stdout + done.stderr)[-3000:]


class CaseCheck:
    """One case: emitted into a folder of its own, then all its files run. `problems` stays empty if all is well."""

    def __init__(self, path):
        self.path, self.problems, self.checks, self.verdict = path, [], 0, "none"

    def expect(self, what, code, words, may_die=False, **options):
        got, said = run(words, **options)
        self.checks += 1
        if got != code and not (may_die and got is not None and got < 0):
            self.problems.append(f"{what}: exit code {got} instead of {code}\n{said}")
        return said

    def __call__(self):
        with tempfile.TemporaryDirectory(prefix="dsafuzz-emitted-") as name:
            self.folder = pathlib.Path(name)
            case = self.path / "case.yaml" if self.path.is_dir() else self.path
            code, said = run([program.SCRIPT, "emit", case, "--no-run", "--confirm", "1", "--out", self.folder / "out"])
            if code == 0 and NO_FINDING in said:
                return self
            if code != 1:
                self.problems.append(f"emit: exit code {code}\n{said}")
                return self
            (self.found,) = (self.folder / "out" / "findings").iterdir()
            finding = json.loads((self.found / "finding.json").read_text())
            self.verdict = finding["signature"]["verdict"]
            accepted = self.verdict == "silent" and finding["cpu_opinion"] == "returns"
            dies = self.verdict == "memory_fault" and finding["cpu_opinion"].startswith("dies of ")
            self.on_cpu = 1 if accepted or dies else 0
            self.formatted()
            self.python()
            self.cpp()
            self.cuda()
        return self

    def formatted(self):
        ruff = SCRIPTS / "ruff"
        self.expect("ruff format", 0, [ruff, "format", "--isolated", "--line-length", "120", "--check", self.found])
        self.expect("ruff check", 0, [ruff, "check", "--isolated", self.found])
        sources = [*self.found.glob("*.cpp"), *self.found.glob("*.cu")]
        self.expect("clang-format", 0,
                    [SCRIPTS / "clang-format", f"--style={STYLE}", "--dry-run", "-Werror", *sources])

    def python(self):
        for device, code in (("vcuda", 1), ("cpu", self.on_cpu)):
            self.expect(f"repro.py {device}", code, [PYTHON, self.found / "repro.py", device],
                        may_die=device == "cpu" and self.on_cpu)
        # One of its tests is the CPU's.
        self.expect("test_repro.py", 1,
                    [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", self.found / "test_repro.py"],
                    REPRO_DEVICE="vcuda")

    def cpp(self):
        for name, libraries in (("repro", []), ("repro_test", ["-lgtest", "-lgtest_main"])):
            built = self.folder / name
            words = [CXX, "-std=c++17", "-O0", "-D_GLIBCXX_USE_CXX11_ABI=1", "-Wall", "-Wextra", "-Werror",
                     "-isystem", f"{TORCH}/include", "-isystem", f"{TORCH}/include/torch/csrc/api/include"]
            if PRECOMPILED.exists():
                words += ["-include-pch", PRECOMPILED]
            words += [self.found / f"{name}.cpp", "-o", built, f"-L{TORCH}/lib", f"-Wl,-rpath,{TORCH}/lib",
                      "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-ldl", *libraries]
            self.expect(f"compiling {name}.cpp", 0, words, seconds=400)
            if not built.exists():
                continue
            for device, code in (("vcuda", 1), ("cpu", self.on_cpu)):
                arguments = [device] if name == "repro" else []
                self.expect(f"{name}.cpp {device}", code, [built, *arguments], folder=self.found, REPRO_DEVICE=device,
                            may_die=device == "cpu" and self.on_cpu)

    def cuda(self):
        source = self.found / "repro.cu"
        if not source.exists() or not NVCC:
            return
        built = self.folder / "repro_cu"
        self.expect("compiling repro.cu", 0,
                    [NVCC, "-std=c++17", "-DNDEBUG", "-Xcompiler", "-Wall,-Wextra,-Werror", "-Werror", "all-warnings",
                     source, "-o", built], seconds=400)
        if built.exists() and not program.HAS_GPU:
            self.expect("repro.cu", 125, [built])


def all_cases():
    corpus = program.ROOT / "corpus"
    folders = sorted(path.parent for path in (corpus / "regressions").rglob("case.yaml"))
    return folders + sorted((corpus / "catalogue" / "cases").glob("*.yaml"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N parts of the cases")
    flags = parser.parse_args()
    named = {path.stem: path for path in all_cases()}
    flags.cases = [named.get(path.name, path) for path in flags.cases]
    cases = flags.cases or (all_cases() if flags.all else [program.ROOT / "corpus" / name for name in SAMPLE])
    part, parts = map(int, flags.part.split("/"))
    cases = cases[part - 1::parts]
    failed, checks, verdicts = 0, 0, {}
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for check in pool.map(lambda path: CaseCheck(path)(), cases):
            checks += check.checks
            verdicts[check.verdict] = verdicts.get(check.verdict, 0) + 1
            failed += bool(check.problems)
            print(f"{'FAILED' if check.problems else 'ok'} {check.path.name}: {check.verdict}, {check.checks} checks",
                  flush=True)
            for problem in check.problems:
                print("  " + problem.replace("\n", "\n    "), flush=True)
            if not flags.all and not flags.cases and check.verdict == "none":
                print("  no finding: the sample is to be of cases that fail")
                failed += 1
    found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"{len(cases)} cases ({found}), {checks} checks, {failed} failed")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
