"""fuzz --devices: one campaign on several devices with one corpus, and what its report says of each."""
import json
import pathlib
import unittest

import program

CLASSIC = program.SCENARIOS / "linear_cross_entropy.yaml"
GUARD = program.SCENARIOS / "custom_missing_device_guard.yaml"
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"

BESIDE = '''scenario: beside
claim: A bad label on the second device.
shapes: {batch: 2, classes: 3}
tensors:
  scores: {shape: [batch, classes], fill: 0, device: 1}
  labels: {shape: [batch], dtype: int64, fill: {randint: [0, classes + 1]}, device: 1, legal: {from: 0, below: classes}}
steps:
  - loss = aten::cross_entropy_loss(scores, labels)
vary: [labels]
expect: {verdict: device_assert}
'''


def files_in(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class DevicesTest(program.ProgramTest):
    def fuzz(self, scenario, out, *words, code=1):
        ended = self.run_program("fuzz", scenario, "--no-run", "--json", "--seed", 3, "--out", self.folder / out,
                                 *words, code=code, deadline=240)
        summary = ended.json()
        self.assertEqual(summary["problems"], [], str(ended))
        return summary

    def test_two_devices_share_a_campaign(self):
        """Both run their half, a signature that both meet is examined once, and shows on both."""
        summary = self.fuzz(CLASSIC, "out", "--devices", "vcuda:0,vcuda:1", "--runs", 201)
        self.assertEqual([(d["name"], d["executions"]) for d in summary["devices"]], [("vcuda", 101), ("vcuda:1", 100)])
        self.assertEqual(summary["scenarios"][0]["executions"], 201)
        signatures = [f["signature"] for f in summary["findings"]]
        self.assertEqual(len(signatures), len(set(signatures)), "each once")
        self.assertIn(SIGNATURE, signatures)
        self.assertEqual(sum(d["findings"] for d in summary["devices"]), len(signatures))
        for found in summary["findings"]:
            other = {"vcuda": "vcuda:1", "vcuda:1": "vcuda"}[found["device"]]
            self.assertEqual(found["elsewhere"], {other: {"confirmed": 5, "of": 5, "instead": ""}})
            folder = pathlib.Path(found["folder"])
            finding = json.loads((folder / "finding.json").read_text())
            self.assertEqual(finding["device"], found["device"])
            self.assertEqual(finding["devices"], {d: {"confirmed": 5, "of": 5} for d in ("vcuda", "vcuda:1")})
            self.assertIn(f"- On {other}: 5 of 5.", (folder / "finding.md").read_text())
        corpora = [path.name for path in (self.folder / "out" / "corpus").iterdir()]
        self.assertEqual(corpora, ["linear_cross_entropy"], "one corpus, and nothing left beside it")

    def test_the_same_whatever_jobs_says(self):
        folders = []
        for jobs in (1, 2):
            self.fuzz(CLASSIC, f"jobs{jobs}", "--devices", "vcuda,vcuda:1", "--runs", 200, "--jobs", jobs)
            found = files_in(self.folder / f"jobs{jobs}" / "findings")
            folders.append({path: content for path, content in found.items()
                            if path.name in ("case.yaml", "original.yaml", "repro.py")})
        self.assertEqual(*folders)

    def test_a_device_that_does_not_show_it(self):
        """The CPU has no device assert: what it does instead is told."""
        summary = self.fuzz(CLASSIC, "out", "--devices", "vcuda,cpu", "--runs", 200)
        found = next(f for f in summary["findings"] if f["signature"] == SIGNATURE)
        self.assertEqual(found["device"], "vcuda")
        elsewhere = found["elsewhere"]["cpu"]
        self.assertEqual((elsewhere["confirmed"], elsewhere["of"]), (0, 5))
        self.assertTrue(elsewhere["instead"].startswith("host_reject: "), elsewhere)

    def test_the_missing_guard_shows_on_each_first_device(self):
        """vcuda:1's next device is vcuda:2, which is made for it."""
        summary = self.fuzz(GUARD, "out", "--devices", "vcuda:0,vcuda:1", "--runs", 100)
        self.assertEqual(len(summary["findings"]), 1, summary)

    def test_a_failure_on_the_second_device_is_seen_without_a_copy(self):
        """Launches of a search do not block, and nothing is copied back: only the second device knows."""
        scenario = self.write("beside.yaml", BESIDE)
        summary = self.fuzz(scenario, "out", "--runs", 50)
        self.assertEqual([f["signature"] for f in summary["findings"]], [SIGNATURE])

    def test_refused(self):
        for words, says in ((("--devices", "vcuda,vcuda:0"), "twice"), (("--devices", "vcuda,nonsense"), "nonsense"),
                            (("--devices", ""), "--devices"), (("--devices", "vcuda:16"), "vcuda:16"),
                            (("--devices", "vcuda", "--device", "cpu"), "--devices")):
            ended = self.run_program("fuzz", CLASSIC, "--runs", 1, "--out", self.folder / "no", *words, code=2)
            self.assertIn(says, ended.err + ended.out)
        self.assertFalse((self.folder / "no").exists())

    def test_a_device_that_is_not_there(self):
        """The engines of the other device go on, and the summary says what was wrong."""
        if program.HAS_GPU:
            self.skipTest("this machine has a GPU")
        ended = self.run_program("fuzz", CLASSIC, "--no-run", "--json", "--devices", "vcuda,cuda:3", "--runs", 100,
                                 "--out", self.folder / "out", code=1, deadline=240)
        summary = ended.json()
        self.assertTrue(any("NVIDIA" in problem for problem in summary["problems"]), summary)
        self.assertEqual([d["executions"] > 0 for d in summary["devices"]], [True, False])
        found = next(f for f in summary["findings"] if f["signature"] == SIGNATURE)
        self.assertEqual(found["elsewhere"]["cuda:3"]["confirmed"], 0)


if __name__ == "__main__":
    unittest.main()
