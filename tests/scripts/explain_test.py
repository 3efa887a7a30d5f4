"""Runs `dsafuzz explain LOG --json` on every sample log and compares each key with what the sample says.

Arguments: the program dsafuzz, corpus/logs, and the project's folder. Keys that a sample calls soft are not compared,
nor are `faults` (free text about the sample) and the sample's own `soft` and `notes`. UNREAD lists what is read
otherwise, and why; an entry that starts to agree fails the test, so that the list stays true.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LOGS, ROOT = sys.argv[1:4]
SAMPLES = 140
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
