"""The classic report, linear_cross_entropy, with twenty seeds: found at once, reduced to the smallest case."""
import json
import re

import program

SCENARIO = program.SCENARIOS / "linear_cross_entropy.yaml"
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"
RUNS = 60  # far less than five seconds of fuzzing, and asserted below
SEEDS = range(1, 21)


class ClassicTest(program.ProgramTest):
    def test_twenty_seeds(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                self.check_seed(seed)

    def check_seed(self, seed):
        out = self.folder / str(seed)
        ended = self.run_program("fuzz", SCENARIO, "--runs", RUNS, "--seed", seed, "--no-run", "--json", "--out", out,
                                 code=1)
        summary = ended.json()
        # Starting LibTorch is no part of the search; the slack of a busy machine is in the small number of runs.
        self.assertLess(summary["scenarios"][0]["seconds"], 5, str(ended))
        found = [f["folder"] for f in summary["findings"] if f["signature"] == SIGNATURE]
        self.assertEqual(len(found), 1, str(ended))
        folder = program.pathlib.Path(found[0])

        finding = json.loads((folder / "finding.json").read_text())
        self.assertLessEqual(finding["reduction"]["executions"], 60)
        self.assertTrue(finding["reduction"]["one_minimal"])
        self.assertEqual(finding["confirmation"], {"confirmed": 5, "of": 5})
        self.assertFalse(finding["on_gpu"])  # a virtual device's result never claims to be a GPU's

        shown = self.run_program("show", folder / "case.yaml", "--json").json()
        self.assertEqual(shown["shapes"], {"batch": 1, "classes": 1})
        self.assertEqual((shown["precision"], shown["phase"]), ("none", "forward"))
        self.assertEqual(len(shown["steps"]), 1, shown["steps"])
        self.assertRegex(shown["steps"][0], r"^loss = aten::cross_entropy_loss\(")
        tensors = {tensor["name"]: tensor for tensor in shown["tensors"]}
        self.assertEqual(set(tensors), {"labels", "logits"})
        # One label, and the smallest that one class does not have.
        self.assertEqual((tensors["labels"]["shape"], tensors["labels"]["values"]), ([1], "1"))
        self.assertEqual((tensors["logits"]["shape"], tensors["logits"]["dtype"]), ([1, 1], "float32"))

        python = (folder / "repro.py").read_text()
        self.assertLess(len(python.splitlines()), 25)
        imported = re.findall(r"^\s*(?:import|from) (\w+)", python, re.MULTILINE)
        self.assertEqual(set(imported), {"sys", "torch", "dsafuzz_vcuda"})


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
