"""`dsafuzz checklist` on a scenario and its healthy twin, a case, and what cannot be run here."""
import program

CASE = """\
case: wide
seed: 0
tensors:
  logits: {shape: [2, 3], dtype: float32, fill: 0}
  labels: {shape: [3], dtype: int64, fill: 0}
steps:
  - loss = aten::cross_entropy_loss(logits, labels)
"""
PASSED, FAILED, UNCHECKED = "passed", "failed", "not checked"


class ChecklistTest(program.ProgramTest):
    def states(self, *arguments, code):
        found = self.run_program("checklist", *arguments, "--json", code=code).json()
        self.assertEqual(found["failed"], code == 1)
        return {item["name"]: item["state"] for item in found["items"]}, {item["name"]: item for item in found["items"]}

    def test_scenario_names_the_label(self):
        states, items = self.states(program.SCENARIOS / "linear_cross_entropy.yaml", code=1)
        self.assertEqual(states["data ranges"], FAILED)
        self.assertRegex(items["data ranges"]["failed"][0], r"^labels\[\d+\] is 5, but values must lie in \[0, 5\) or be -100 ")
        self.assertEqual(states["loss input dimensions"], PASSED)
        self.assertEqual(len(items["mixed-precision casts"]["failed"]), 5)
        self.assertEqual(states["memory growth"], UNCHECKED)
        # What PyTorch's CPU says of such a label.
        self.assertEqual(items["the CPU's opinion"]["failed"], ["the CPU raises IndexError: Target 5 is out of bounds."])

    def test_healthy_twin_passes(self):
        states, _ = self.states(program.SCENARIOS / "linear_cross_entropy_healthy.yaml", code=0)
        self.assertEqual(set(states.values()), {PASSED})

    def test_dimensions_of_a_case(self):
        states, items = self.states(self.write("case.yaml", CASE), code=1)
        self.assertEqual(states["data ranges"], PASSED)
        self.assertRegex(items["loss input dimensions"]["failed"][0], r"labels \(3\) int64: the target must be of shape \(2\)$")

    def test_what_cannot_be_read_or_run(self):
        self.run_program("checklist", self.folder / "none.yaml", code=2)
        self.run_program("checklist", self.write("bad.yaml", "case: [\n"), code=2)
        if not program.HAS_GPU:
            ended = self.run_program("checklist", program.SCENARIOS / "linear_cross_entropy_healthy.yaml", "--device", "cuda:0",
                                     code=3)
            self.assertIn("could not be run: ", ended.out)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
