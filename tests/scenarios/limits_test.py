"""A case that hangs, takes all memory, prints without end or kills its process: a verdict, and the next case runs."""
import json

import program

GOOD = """\
case: good
seed: 1
tensors:
  logits: {shape: [1, 2], dtype: float32, fill: 0}
  labels: {shape: [1], dtype: int64, fill: 1}
steps:
  - loss = aten::cross_entropy_loss(logits, labels)
"""

# 40 products of 2048 x 2048 matrices are 700 billion operations: seconds on any one core.
HANG = """\
case: hang
seed: 1
tensors:
  a: {shape: [2048, 2048], dtype: float32, fill: 1}
steps:
""" + "".join(f"  - x{i + 1} = aten::mm({f'x{i}' if i else 'a'}, a)\n" for i in range(40))

# The product of a column and a row needs 40 GB; a device has 1 GB, and a worker 8 GB of address space.
MEMORY = """\
case: memory
seed: 1
tensors:
  column: {shape: [100000, 1], dtype: float32, fill: 1}
  row: {shape: [1, 100000], dtype: float32, fill: 1}
steps:
  - all = aten::mm(column, row)
"""

# Each of 400,000 bad indices has its own assert line of some 200 bytes: 80 MB, were it not cut.
FLOOD = """\
case: flood
seed: 1
tensors:
  weight: {shape: [3, 2], dtype: float32, fill: 1}
  index: {shape: [400000], dtype: int64, fill: 7}
steps:
  - out = aten::index_select(weight, 0, index)
"""
OUTPUT_LIMIT = 1 << 20

# Each step alone is allowed; together they would fill the memory with live tensors.
SLOW_MEMORY = """\
case: slow_memory
seed: 1
tensors:
  a: {shape: [8000000], dtype: float32, fill: 1}
steps:
""" + "".join(f"  - x{i} = aten::add(a, a)\n" for i in range(60))


class LimitsTest(program.ProgramTest):
    def replay(self, texts, *flags, code):
        files = [self.write(f"{i}.yaml", text) for i, text in enumerate(texts)]
        ended = self.run_program("replay", *files, "--json", *flags, code=code)
        rows = ended.json_lines()
        self.assertEqual([row["file"] for row in rows], [str(file) for file in files], str(ended))
        return rows

    def test_hang(self):
        for device in ("vcuda", "cpu"):
            with self.subTest(device=device):
                # The limit is generous for the good case on a busy machine, and no machine does the other in it.
                hang, good = self.replay([HANG, GOOD], "--device", device, "--time-limit", 1, code=1)
                self.assertEqual((hang["verdict"], hang["operator"]), ("hang", "aten::mm"), hang)
                self.assertEqual(good["verdict"], "ok", good)

    def test_a_killed_worker_has_said_what_it_ran_with(self):
        folder = self.folder / "corpus" / "hang"
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text(HANG)
        (folder / "expect.yaml").write_text("verdict: hang\n")
        run = self.run_program("regress", folder.parent, "--device", "cpu", "--time-limit", 0.5, "--json", "-").json()
        self.assertEqual([row["status"] for row in run["cases"]], ["as_expected"], run)
        self.assertIn("torch", run["versions"])

    def test_out_of_memory(self):
        for device in ("vcuda", "cpu"):
            for text, name in ((MEMORY, "one tensor"), (SLOW_MEMORY, "many tensors")):
                if (device, name) == ("cpu", "many tensors"):
                    continue  # 2 GB: a worker may have them
                with self.subTest(device=device, what=name):
                    memory, good = self.replay([text, GOOD], "--device", device, "--time-limit", 60, code=0)
                    self.assertEqual(memory["verdict"], "out_of_memory", memory)
                    self.assertEqual(good["verdict"], "ok", good)

    def test_output_is_bounded(self):
        file = self.write("flood.yaml", FLOOD)
        ended = self.run_program("replay", file, "--log", "--time-limit", 60, code=1)
        self.assertIn("device_assert", ended.out.splitlines()[0])
        self.assertGreater(len(ended.out), OUTPUT_LIMIT // 2)
        self.assertLess(len(ended.out), OUTPUT_LIMIT + 4096)
        flood, good = self.replay([FLOOD, GOOD], "--time-limit", 60, code=1)
        self.assertEqual((flood["verdict"], good["verdict"]), ("device_assert", "ok"))
        self.assertLess(len(json.dumps(flood)), 64 << 10)  # evidence, not the log

    def test_context_is_whole_again_after_an_assert(self):
        bad = GOOD.replace("fill: 1}", "fill: 2}")
        rows = self.replay([bad, GOOD, bad, GOOD], code=1)
        self.assertEqual([row["verdict"] for row in rows], ["device_assert", "ok", "device_assert", "ok"])


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
