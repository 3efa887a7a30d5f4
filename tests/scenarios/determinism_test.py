"""The same scenario, seed and runs: the same findings, byte for byte, however many engines run at once."""
import program

# Three scenarios in one campaign, so that `--jobs 2` has something to do at once.
SCENARIOS = [program.SCENARIOS / f"{name}.yaml" for name in ("linear_cross_entropy", "embedding", "gather")]
COMPARED = ("case.yaml", "original.yaml", "repro.py", "repro.cpp", "test_repro.py", "repro_test.cpp", "CMakeLists.txt")
RUNS = 1_000


class DeterminismTest(program.ProgramTest):
    def findings(self, name, *flags):
        out = self.folder / name
        self.run_program("fuzz", *SCENARIOS, "--runs", RUNS, "--no-run", "--out", out, *flags, code=1, deadline=240)
        return {folder.name: {file: (folder / file).read_bytes() for file in COMPARED}
                for folder in (out / "findings").iterdir()}

    def corpus(self, name):
        return sorted(str(path.relative_to(self.folder / name)) for path in (self.folder / name / "corpus").rglob("*"))

    def test_same_again_and_with_more_jobs(self):
        first = self.findings("first", "--seed", 7)
        again = self.findings("again", "--seed", 7)
        jobs = self.findings("jobs", "--seed", 7, "--jobs", 2)
        self.assertGreaterEqual(len(first), 3, "one finding of each scenario at least")
        for other, what in ((again, "again"), (jobs, "--jobs 2")):
            self.assertEqual(sorted(first), sorted(other), what)
            for folder, files in first.items():
                for file, content in files.items():
                    self.assertEqual(content, other[folder][file], f"{what}: {folder}/{file}")
        self.assertEqual(self.corpus("first"), self.corpus("again"))
        self.assertEqual(self.corpus("first"), self.corpus("jobs"))

    def test_another_seed_searches_elsewhere(self):
        out = [self.folder / name for name in "ab"]
        for seed, folder in enumerate(out):
            self.run_program("fuzz", SCENARIOS[2], "--runs", 300, "--seed", seed, "--no-run", "--out", folder,
                             code=None)
        self.assertNotEqual(self.corpus("a"), self.corpus("b"))


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
