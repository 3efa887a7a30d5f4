"""The public bug reports in corpus/regressions/reports: each is stated, says why it is expected to end as it does, and
is judged so. Usage: reports_test.py DSAFUZZ FOLDER CATALOGUE
"""

import itertools
import json
import os
import re
import subprocess
import sys
import unittest

DSAFUZZ = ""
FOLDER = ""
CATALOGUE = ""
REPORTS = 91
LEAST_JUDGED = 85  # reports that may not be skipped


def table(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def rows():
    return table(os.path.join(FOLDER, "reports.tsv"))


def path_of(row, name):
    return os.path.join(FOLDER, row["folder"], name)


def comment_of(path):
    """The comment at the head of a file, as one line."""
    with open(path, encoding="utf-8") as file:
        return " ".join(line[1:].strip() for line in itertools.takewhile(lambda line: line.startswith("#"), file))


def expectation(row):
    """expect.yaml without its comment, as the words it is written with: one `key: value` a line."""
    with open(path_of(row, "expect.yaml"), encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#")]
    return {key: json.loads(value) if value.startswith('"') else value for key, value in pairs}


def run(*arguments):
    return subprocess.run([DSAFUZZ, *arguments], capture_output=True, text=True, timeout=280, check=False)


class Table(unittest.TestCase):
    def test_each_report_has_one_row_and_one_folder(self):
        ids = [row["id"] for row in rows()]
        self.assertEqual(len(ids), REPORTS)
        self.assertEqual(len(set(ids)), REPORTS)
        folders = sorted(entry.name for entry in os.scandir(FOLDER) if entry.is_dir())
        self.assertEqual(sorted(row["folder"] for row in rows()), folders)
        for row in rows():
            with self.subTest(row["id"]):
                self.assertRegex(row["folder"], "^" + row["id"].lower() + "_[a-z][a-z0-9_]*$")
                self.assertTrue(row["source"] and row["symptom"])

    def test_the_files_say_what_the_table_says(self):
        for row in rows():
            with self.subTest(row["id"]):
                skipped = row["expected"] == "skip"
                self.assertEqual(
                    sorted(os.listdir(os.path.join(FOLDER, row["folder"]))),
                    ["expect.yaml"] if skipped else ["case.yaml", "expect.yaml"],
                )
                expected = expectation(row)
                if skipped:
                    self.assertGreater(len(expected["skip"]), 20, "a reason")
                else:
                    self.assertEqual(expected["verdict"], row["expected"])
                    self.assertEqual(expected.get("device", "vcuda"), row["device"])
                self.assertGreater(len(comment_of(path_of(row, "expect.yaml"))), 30, "a reason")
                first = comment_of(path_of(row, "expect.yaml" if skipped else "case.yaml"))
                self.assertIn(row["source"], first)

    def test_asserts_are_those_of_the_catalogue(self):
        known = {
            f"{os.path.basename(re.sub(':[0-9]+$', '', row['source']))} {row['function']} `{row['condition']}`"
            for row in table(CATALOGUE)
            if row["expected"] == "device_assert"
        }
        asserts = [expectation(row) for row in rows() if row["expected"] == "device_assert"]
        self.assertGreaterEqual(len(asserts), 40)
        for expected in asserts:
            self.assertIn(expected["signature"], known)


class Judgement(unittest.TestCase):
    def test_each_case_is_valid(self):
        cases = [path_of(row, "case.yaml") for row in rows() if row["expected"] != "skip"]
        done = run("check", *cases)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_is_judged_as_expected(self):
        done = run("replay", "--json", *(os.path.join(FOLDER, row["folder"]) for row in rows()))
        results = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(results), REPORTS, done.stderr)
        judged = []
        for row, result in zip(rows(), results, strict=True):
            with self.subTest(row["id"]):
                if row["expected"] == "skip":
                    self.assertEqual(result["skipped"], expectation(row)["skip"])
                    self.assertNotIn("as_expected", result, "a skipped case is no passed one")
                    continue
                self.assertTrue(result["as_expected"], f"{result['verdict']} {result['signature']}")
                self.assertEqual(result["device"], row["device"])
                judged.append(row["id"])
        self.assertGreaterEqual(len(judged), LEAST_JUDGED)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    DSAFUZZ, FOLDER, CATALOGUE = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
