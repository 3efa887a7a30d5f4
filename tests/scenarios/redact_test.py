"""`--redact`: what others may see of a finding holds nothing of its owner's but what the bug is made of."""
import json
import os

import program

# The owner's numbers and names, in a case whose bug is the label 9 of 3 classes.
LABELS = """case: clinic_ward
seed: 3
shapes: {my_patients: 6, my_kinds: 3}
tensors:
  my_ages:
    shape: [my_patients, my_kinds]
    dtype: float32
    fill: [123.456, 61.789, 123.456, 7.0625, 19.375, 123.456, 61.789, 2.8125, 123.456]
  my_codes: {shape: [my_patients], dtype: int64, fill: [0, 1, 2, 9, 1, 0]}
steps:
  - my_risk = aten::cross_entropy_loss(my_ages, my_codes, reduction=mean)
"""
# Here the number itself is the bug: a probability above 1.
PROBABILITY = """case: clinic_ward
seed: 3
tensors:
  my_chances: {shape: [6], dtype: float32, fill: [0.123456, 0.61789, 0.28125, 1.5, 0.375, 0.123456]}
  my_came_true: {shape: [6], dtype: float32, fill: 1}
steps:
  - my_risk = aten::binary_cross_entropy(my_chances, my_came_true, reduction=mean)
"""
PRIVATE = ("123.456", "61.789", "7.0625", "19.375", "2.8125", "0.123456", "0.61789", "0.28125", "clinic_ward", "ward.pt",
           "my_patients", "my_kinds", "my_ages", "my_codes", "my_risk", "my_chances", "my_came_true")


class RedactTest(program.ProgramTest):
    def files_hold_nothing_private(self, folder, private=PRIVATE):
        files = [path for path in folder.rglob("*") if path.is_file()]
        self.assertTrue(files)
        for path in files:
            content = path.read_text(errors="replace")
            for word in (*private, str(self.folder), str(program.ROOT), os.path.expanduser("~") + "/"):
                self.assertNotIn(word, content, f"{path} holds {word!r}")

    def found(self, out):
        folder, = (out / "findings").iterdir()
        return folder, json.loads((folder / "finding.json").read_text())

    def test_a_finding_holds_nothing_of_its_owners(self):
        case = self.write("case.yaml", LABELS)
        texts = []
        for words in (["emit", "--no-run"], ["emit", "--no-run"], ["reduce"]):
            out = self.folder / f"out{len(texts)}"
            ended = self.run_program(*words, case, "--redact", "--out", out, code=1, cwd=self.folder)
            folder, finding = self.found(out)
            self.files_hold_nothing_private(out)
            self.assertIn("seed 3: `t0`", ended.err)
            self.assertIn("Integer contents stay", ended.err)
            self.assertIn("[0, 1, 2, 9, 1, 0]", finding["original"])
            self.assertIn("seed 3: `t0`", finding["redaction"][0])
            self.assertIn("## What was taken out", (folder / "finding.md").read_text())
            texts.append((folder / "case.yaml").read_text() + (folder / "original.yaml").read_text())
        self.assertEqual(texts[0], texts[1], "the same bytes each time")
        runs = finding["reproducers"]["vcuda"]
        self.assertEqual({name: run["exit_code"] for name, run in runs.items()}, {"python": 1, "cpp": 1})
        # What was written before, with the data in it, must not pass for redacted.
        self.assertIn("another --out", self.run_program("emit", case, "--redact", "--out", out, code=2).err)

    def test_a_number_that_matters_leaves_only_its_kind(self):
        case = self.write("case.yaml", PROBABILITY)
        ended = self.run_program("emit", case, "--redact", "--no-run", "--out", self.folder / "out", code=1)
        _, finding = self.found(self.folder / "out")
        self.files_hold_nothing_private(self.folder / "out", (*PRIVATE, "1.5,", "1.5}", "1.5]"))
        self.assertIn("t0: {shape: [6], dtype: float32, fill: {uniform: [0.0, 1.0]}, set: {3: 2.0}}", finding["minimal"])
        self.assertIn("1 of its 6 elements must be NaN, infinite, below 0 or above 1", ended.err)

    def test_an_imported_case_is_redacted_before_it_is_written(self):
        case = self.write("case.yaml", LABELS)
        ended = self.run_program("import", case, "--redact", "--out", self.folder / "clean.yaml")
        self.assertIn("device_assert before and after", ended.err)
        self.run_program("import", case, "--redact", "--reduce", "--out", self.folder / "out", code=1)
        os.makedirs(self.folder / "seen")
        os.rename(self.folder / "clean.yaml", self.folder / "seen" / "clean.yaml")
        self.files_hold_nothing_private(self.folder / "seen")
        self.files_hold_nothing_private(self.folder / "out")

    def test_weights_in_a_module_cannot_be_replaced(self):
        case = self.write("case.yaml", LABELS.replace("aten::cross_entropy_loss(my_ages, my_codes, reduction=mean)",
                                                      "module:ward.pt(my_ages)"))
        ended = self.run_program("reduce", case, "--redact", "--out", self.folder / "out", code=2)
        self.assertIn("weights that cannot be replaced", ended.err)

    def test_findings_of_a_search(self):
        text = (program.SCENARIOS / "binary_cross_entropy.yaml").read_text()
        text = text.replace("fill: {uniform: [0, 1]}, set: {5: 1.5}", "fill: [0.123456, 0.61789, 1.5]")
        text = text.replace("probability", "my_chances").replace("truth", "my_came_true")
        scenario = self.write("binary_cross_entropy.yaml", text)
        out = self.folder / "out"
        self.run_program("fuzz", scenario, "--runs", 40, "--redact", "--no-run", "--out", out, code=1)
        self.files_hold_nothing_private(out / "findings")
        self.files_hold_nothing_private(out / "classes")


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
