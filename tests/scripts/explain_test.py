"""Runs `dsafuzz explain LOG --json` on every sample log and compares each key with what the sample says.

Arguments: the program dsafuzz, corpus/logs, and the project's folder. Keys that a sample calls soft are not compared,
nor are `faults` (free text about the sample) and the sample's own `soft` and `notes`. UNREAD lists what is read
otherwise, and why; an entry that starts to agree fails the test, so that the list stays true.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LOGS, ROOT = sys.argv[1:4]
SAMPLES = 160
NOT_COMPARED = {"soft", "notes", "faults"}
UNREAD = {
    ("m03_middle_elided", "traceback_may_be_late"): "it has no frame that could be late, as a05 has none",
    ("e18_synccheck", "origin"): "its lines have the form that began with 2023.3, as e06 has",
    ("e24_no_driver_observed", "origin"): "nothing in the text tells the version",
    ("e27_print_limit", "origin"): "its lines have the form that began with 2023.3, as e06 has",
}


def explain(*arguments, text=None):
    environment = dict(os.environ, DSAFUZZ_ROOT=ROOT)
    return subprocess.run([PROGRAM, "explain", *arguments], input=text, capture_output=True, env=environment, timeout=60)


class ExplainTest(unittest.TestCase):
    def test_every_sample_is_read_as_it_says(self):
        samples = sorted(pathlib.Path(LOGS).glob("*.log"))
        self.assertEqual(len(samples), SAMPLES)
        for log in samples:
            expected = json.loads(log.with_suffix(".expected.json").read_text())
            result = explain(str(log), "--json")
            with self.subTest(log.stem):
                self.assertEqual(result.stderr, b"")
                reading = json.loads(result.stdout)
                self.assertEqual(set(reading), (set(expected) - {"soft", "notes"}) | {"advice"})
                fault = expected["kind"] not in ("none", "environment", "sanitizer_clean")
                if "kind" not in expected["soft"]:
                    self.assertEqual(result.returncode, 1 if fault else 0)
            for key in expected.keys() - NOT_COMPARED - set(expected["soft"]):
                with self.subTest(log.stem, key=key):
                    if (log.stem, key) in UNREAD:
                        self.assertNotEqual(reading[key], expected[key], "now read: take it off the list")
                    else:
                        self.assertEqual(reading[key], expected[key])

    def test_every_sample_is_explained_in_plain_text(self):
        for log in sorted(pathlib.Path(LOGS).glob("*.log")):
            with self.subTest(log.stem):
                text = explain(str(log)).stdout.decode()
                self.assertTrue(text.startswith("What happened\n"))
                controls = [c for c in text if (ord(c) < 32 and c != "\n") or ord(c) == 127]
                self.assertEqual(controls, [])

    def test_every_assert_of_the_catalogue_is_explained(self):
        with open(os.path.join(ROOT, "corpus/catalogue/device_asserts.tsv"), newline="") as table:
            rows = [row for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE) if row["id"][0] == "U"]
        self.assertGreater(len(rows), 60)
        for row in rows:
            line = (f"/pytorch/{row['source']}: {row['function']}: block: [0,0,0], thread: [1,0,0] "
                    f"Assertion `{row['condition']}` failed.\n")
            result = explain("-", "--json", text=line.encode())
            with self.subTest(row["id"]):
                reading = json.loads(result.stdout)
                advice = reading["advice"]
                self.assertEqual((result.returncode, reading["condition"]), (1, row["condition"]))
                named = [op.strip() for op in row["operators"].split(",")]
                self.assertLessEqual(set(named), set(advice["operators"]))
                self.assertIn(row["trigger"], advice["meaning"])
                self.assertTrue(advice["causes"])
                if advice["guard"]:
                    compile(advice["guard"], row["id"], "exec")

    def test_guards_stop_illegal_values_and_let_legal_ones_pass(self):
        import torch
        # Legal and illegal values are those of the operators' documentation.
        rows = [
            ("Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d", "t >= 0 && t < n_classes", "target",
             {"input": torch.zeros(2, 5)}, [[0, 4], [-100, 1]], [[0, 5], [-1, 0]]),
            ("Indexing.cu:1515: indexSelectSmallIndex", "srcIndex < srcSelectDimSize", "indices",
             {"weight": torch.zeros(4, 2)}, [[0, 3]], [[4], [-1]]),
            ("IndexKernel.cu:111: operator()", '-sizes[i] <= index && index < sizes[i] && "index out of bounds"', "indices",
             {"input": torch.zeros(4)}, [[-4, 3]], [[4], [-5]]),
            ("Loss.cu:90: operator()", "input_val >= zero && input_val <= one", "input", {}, [[0.0, 1.0]], [[1.5], [float("nan")]]),
            ("Loss.cu:91: operator()", "target_val >= zero && target_val <= one", "target", {}, [[0.0, 1.0]], [[255.0], [-1.0]]),
            ("EmbeddingBag.cu:138: EmbeddingBag_updateOutputKernel_sum_mean", "end >= begin", "offsets",
             {"indices": torch.zeros(4)}, [[0, 2, 4]], [[0, 3, 2], [1, 2], [0, 5]]),
            ("Distributions.cu:50: operator()", 'lambda >= 0 && "invalid Poisson rate, expected rate to be non-negative"', "input",
             {}, [[0.0, 2.0]], [[-1.0], [float("nan")]]),
        ]
        for place, condition, argument, names, legal, illegal in rows:
            line = f"/pytorch/aten/src/ATen/native/cuda/{place}: block: [0,0,0], thread: [1,0,0] Assertion `{condition}` failed.\n"
            advice = json.loads(explain("-", "--json", text=line.encode()).stdout)["advice"]
            with self.subTest(place):
                self.assertEqual(advice["argument"], argument)
                guard = compile(advice["guard"], place, "exec")
                for values in legal:
                    exec(guard, {"torch": torch, **names, argument: torch.tensor(values)})
                for values in illegal:
                    with self.assertRaises(AssertionError):
                        exec(guard, {"torch": torch, **names, argument: torch.tensor(values)})

    def test_next_steps_quote_foreign_names(self):
        line = 'Traceback (most recent call last):\n  File "a;b$(c).py", line 1, in <module>\nRuntimeError: CUDA error: device-side assert triggered\n'
        advice = json.loads(explain("-", "--json", text=line.encode()).stdout)["advice"]
        self.assertTrue(any("python 'a;b$(c).py'" in step for step in advice["steps"]), advice["steps"])

    def test_what_cannot_be_read(self):
        for path, said in (("/no/such/log", b"cannot be read"), (tempfile.gettempdir(), b"is a folder")):
            with self.subTest(path):
                result = explain(path)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
