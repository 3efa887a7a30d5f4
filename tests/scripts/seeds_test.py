"""corpus/seeds: valid cases, variants of their scenarios, and neutral: they fail only where every case of the scenario
does. Usage: seeds_test.py DSAFUZZ SCENARIOS SEEDS
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

DSAFUZZ = ""
SCENARIOS = ""
SEEDS = ""
# Scenarios whose fault does not lie in a value: every case shows it.
ALWAYS = {"mixed_precision_cross_entropy": "host_reject", "use_after_free": "memory_fault",
          "custom_double_free": "memory_fault", "custom_after_empty_cache": "memory_fault",
          "device_mismatch": "host_reject", "data_parallel_labels": "host_reject",
          "custom_missing_device_guard": "memory_fault", "custom_late_device_guard": "memory_fault"}


def run(*arguments):
    return subprocess.run([DSAFUZZ, *arguments], capture_output=True, text=True, timeout=280, check=False)


def yaml_files(folder):
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.endswith(".yaml"))


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


class Seeds(unittest.TestCase):
    def setUp(self):
        self.scenarios = [path for path in yaml_files(SCENARIOS) if not name_of(path).endswith("_healthy")]
        self.folders = {name: yaml_files(os.path.join(SEEDS, name)) for name in map(name_of, self.scenarios)}

    def test_each_scenario_has_some(self):
        for name, files in self.folders.items():
            self.assertGreaterEqual(len(files), 2, name)
        stray = {entry.name for entry in os.scandir(SEEDS) if entry.is_dir()} - set(self.folders)
        self.assertEqual(stray, set(), "folders of no scenario")

    def test_each_is_valid(self):
        files = [path for paths in self.folders.values() for path in paths]
        done = run("check", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in files:
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith("# "), f"{path} begins with a comment")

    def test_each_is_neutral(self):
        wanted = {path: ALWAYS.get(name, "ok") for name, paths in self.folders.items() for path in paths}
        done = run("replay", "--json", "--modules", SEEDS, *wanted)
        seen = {result["file"]: result["verdict"] for result in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(seen, wanted, done.stderr)

    def test_a_search_takes_them(self):
        # A seed that is no variant of its scenario ends the search with exit code 2 before it begins.
        with tempfile.TemporaryDirectory() as out:
            done = run("fuzz", *self.scenarios, "--seeds", SEEDS, "--runs", "1", "--no-run", "--confirm", "1",
                       "--out", out)
            self.assertIn(done.returncode, (0, 1), done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    DSAFUZZ, SCENARIOS, SEEDS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
