"""The catalogue of device asserts: its table is whole and its own calls do on the CPU what it says; each of its cases
gives its verdict and signature on the virtual device. Usage: catalogue_test.py DSAFUZZ FOLDER
"""

import json
import os
import re
import subprocess
import sys
import unittest

DSAFUZZ = ""
FOLDER = ""

COLUMNS = "id source function condition operators trigger call expected cpu note exception".split()
EXPECTED = {"device_assert", "silent", "host_reject", "unreachable", "not_built"}
COUNTS = {"U": 74, "S": 21, "H": 11, "M": 6, "I": 28}  # V: further texts of other rows' sites

# Five invariants, one operator, one line: nothing that a GPU prints tells them apart.
INVARIANTS = [f"U61{letter}" for letter in "abcde"]


def table():
    with open(os.path.join(FOLDER, "device_asserts.tsv"), encoding="utf-8") as file:
        head, *lines = [line.rstrip("\n").split("\t") for line in file]
    assert head == COLUMNS, head
    return [dict(zip(COLUMNS, cells, strict=True)) for cells in lines]


def case_of(row):
    return os.path.join(FOLDER, "cases", row["id"] + ".yaml")


def has_case(row):
    return row["expected"] in ("device_assert", "silent", "host_reject") and not row["exception"].startswith("no case")


def signature(row):
    """As finding.h writes it."""
    if row["expected"] != "device_assert":
        return None
    parts = [os.path.basename(row["source"].rpartition(":")[0]), row["function"]]
    return " ".join(parts + ([f"`{row['condition']}`"] if row["condition"] else []))


def replay(device, rows):
    done = subprocess.run([DSAFUZZ, "replay", "--json", "--device", device, *map(case_of, rows)],
                          capture_output=True, text=True, errors="replace", timeout=280, check=False)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["file"] for r in results] == [case_of(row) for row in rows], done.stderr
    return results


# Runs each call in a process of its own, forked after torch is loaded; prints how each ended.
CALLER = """
import json, os, sys, torch
import torch.nn.functional as F
torch.set_num_threads(1)
for call in json.load(sys.stdin):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            eval(call)
            os._exit(0)
        except Exception as error:
            print(json.dumps(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}"), flush=True)
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 1:
        print(json.dumps("accepts" if code == 0 else f"dies {-code}"), flush=True)
"""


class Catalogue(unittest.TestCase):
    def setUp(self):
        self.rows = table()

    def test_the_table_is_whole(self):
        ids = [row["id"] for row in self.rows]
        self.assertEqual(len(set(ids)), len(ids))
        for letter, count in COUNTS.items():
            self.assertEqual(sum(i[0] == letter for i in ids), count, letter)
        for row in self.rows:
            with self.subTest(row["id"]):
                self.assertIn(row["expected"], EXPECTED)
                if row["expected"] in ("device_assert", "unreachable", "not_built"):
                    self.assertRegex(row["source"], r"^(aten|c10|torch|third_party)/\S+\.(cu|cuh|h):\d+$")
                    self.assertTrue(row["function"])
                else:
                    self.assertEqual((row["source"], row["function"], row["condition"]), ("", "", ""))
                self.assertRegex(row["cpu"], r"^((raises|dies|differs)\b.+|accepts|)$")

    def test_every_row_has_its_case(self):
        cases = sorted(name for name in os.listdir(os.path.join(FOLDER, "cases")))
        self.assertEqual(cases, sorted(row["id"] + ".yaml" for row in self.rows if has_case(row)))
        for row in filter(has_case, self.rows):
            with self.subTest(row["id"]), open(case_of(row), encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith(f"# {row['id']}: "))
                self.assertEqual(file.readline(), f"case: {row['id'].lower()}\n")

    def test_the_virtual_device_gives_each_verdict_and_signature(self):
        rows = [row for row in self.rows if has_case(row)]
        met, seen, seen_by_line = set(), {}, {}
        for row, got in zip(rows, replay("vcuda", rows)):
            with self.subTest(row["id"]):
                verdict = got["verdict"]
                self.assertEqual(verdict, row["expected"], got)
                if signature(row):
                    self.assertEqual(got["signature"], signature(row))
                    # By the line, too, which a signature leaves out; and the case's last step is at fault.
                    self.assertIn(f"/{row['source']}: {row['function']}: block: [", got["evidence"][0])
                    with open(case_of(row), encoding="utf-8") as file:
                        last = file.read().rstrip().splitlines()[-1]
                    self.assertIn(got["operator"] + "(", last)
                    place = (got["operator"], got["signature"])
                    seen.setdefault(place, []).append(row["id"])
                    seen_by_line.setdefault((*place, row["source"]), []).append(row["id"])
                met.add(row["id"])
        # What shares a line and a text is told apart by the operator; lines, which move, are no part of a signature.
        self.assertEqual([ids for ids in seen.values() if len(ids) > 1],
                         [["U49", "U50", "V10"], INVARIANTS, ["U66", "U67"]])
        self.assertEqual([ids for ids in seen_by_line.values() if len(ids) > 1], [INVARIANTS])
        print(f"{sum(i[0] == 'U' for i in met)} of {COUNTS['U']} U rows, {sum(i[0] == 'S' for i in met)} of "
              f"{COUNTS['S']} S rows, {sum(i[0] == 'H' for i in met)} of {COUNTS['H']} H rows met", file=sys.stderr)

    def test_the_cpu_answers_cases_and_calls_as_the_table_says(self):
        rows = [row for row in self.rows if row["call"] and row["expected"] != "not_built"]
        done = subprocess.run([sys.executable, "-c", CALLER], input=json.dumps([row["call"] for row in rows]),
                              capture_output=True, text=True, timeout=280, check=False)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(said), len(rows), done.stderr)
        cases = {os.path.basename(r["file"])[:-5]: r for r in replay("cpu", [row for row in rows if has_case(row)])}
        for row, answer in zip(rows, said):
            with self.subTest(row["id"]):
                wanted = row["cpu"]
                case = cases.get(row["id"])
                verdict = case and case["verdict"]
                if wanted.startswith("raises"):
                    # The table's text may be cut short, and holds no control characters.
                    head = re.sub(r" ?\.\.\.$", "", wanted)
                    self.assertEqual(re.sub(r"[\x00-\x1f]", "?", answer)[:len(head)], head)
                    self.assertIn(verdict, ("host_reject", None))
                elif wanted == "accepts" or wanted.startswith("differs: accepts"):
                    self.assertEqual(answer, "accepts")
                    self.assertIn(verdict, ("ok", "silent"))  # silent: against the operator's contract
                else:
                    self.assertTrue(wanted.startswith("dies"))  # or not: memory decides


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    DSAFUZZ, FOLDER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
