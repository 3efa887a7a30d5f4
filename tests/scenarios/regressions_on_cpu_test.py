"""Every regression case on the CPU, the second opinion: an answer for each in words, and never a crash."""
import pathlib

import program

FOLDER = program.ROOT / "corpus" / "regressions"
# What a CPU operator may do with a case: run it, refuse it in words, or not have it.
ALLOWED = ("ok", "host_reject", "setup_failed")
# These take a label that the documentation forbids: the catalogue's rows U31 to U35 say where the CPU does.
SILENT = ("nll_loss_backward_none", "nll_loss2d_backward_none")


class RegressionsOnCpuTest(program.ProgramTest):
    def test_each_case_gets_an_answer(self):
        files = sorted(FOLDER.glob("*/case.yaml"))
        if not files:
            self.skipTest(f"no case in {FOLDER}")
        ended = self.run_program("replay", "--device", "cpu", "--json", *files, code=None, deadline=240)
        self.assertIn(ended.code, (0, 1, 3), str(ended))
        rows = ended.json_lines()
        for row in rows:
            with self.subTest(file=row["file"]):
                self.assertEqual(row["device"], "cpu")
                name = pathlib.Path(row["file"]).parent.name
                self.assertIn(row["verdict"], ("silent",) if name in SILENT else ALLOWED, row)
        if ended.code != 3:
            self.assertEqual([row["file"] for row in rows], [str(file) for file in files])


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
