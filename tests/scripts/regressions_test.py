"""Every folder of corpus/regressions still gives its verdict and signature on the virtual device, each in a fresh
process; and a wrong expectation is noticed. Usage: regressions_test.py DSAFUZZ FOLDER
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

DSAFUZZ = ""
FOLDER = ""
LEAST = 20  # fewer means that the folder was not found or was emptied


def replay(*folders):
    return subprocess.run([DSAFUZZ, "replay", "--json", "--modules", FOLDER, *folders],
                          capture_output=True, text=True, timeout=280, check=False)


def folders_of(root):
    """Those that are cases; what lies deeper has a test of its own, as corpus/regressions/reports has."""
    return sorted(entry.path for entry in os.scandir(root)
                  if entry.is_dir() and os.path.exists(os.path.join(entry.path, "expect.yaml")))


class Regressions(unittest.TestCase):
    def test_each_is_as_expected(self):
        folders = folders_of(FOLDER)
        self.assertGreaterEqual(len(folders), LEAST)
        done = replay(*folders)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        wrong = [f"{r['file']}: {r['verdict']} {r['signature']}" for r in results if not r["as_expected"]]
        self.assertEqual(wrong, [], done.stderr)
        self.assertEqual([r["file"] for r in results], folders)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_folder_is_whole_and_says_what_it_is(self):
        for folder in folders_of(FOLDER):
            with self.subTest(folder):
                self.assertEqual(sorted(os.listdir(folder)), ["case.yaml", "expect.yaml"])
                for name in os.listdir(folder):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        self.assertTrue(file.readline().startswith("# "), f"{name} begins with a comment")

    def test_wrong_expectations_are_noticed(self):
        good = os.path.join(FOLDER, "cross_entropy_classic_minimal")
        for expectation in ("verdict: ok\n", "verdict: memory_fault\n",
                            'verdict: device_assert\nsignature: "Loss.cu another_kernel `t < n_classes`"\n'):
            with self.subTest(expectation), tempfile.TemporaryDirectory() as folder:
                bad = os.path.join(folder, "wrong")
                shutil.copytree(good, bad)
                with open(os.path.join(bad, "expect.yaml"), "w", encoding="utf-8") as file:
                    file.write(expectation)
                done = replay(good, bad)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual([json.loads(line)["as_expected"] for line in done.stdout.splitlines()], [True, False])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    DSAFUZZ, FOLDER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
