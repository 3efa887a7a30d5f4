"""Every regression case on the CPU, the second opinion: an answer for each in words, and never a crash."""
import program

FOLDER = program.ROOT / "corpus" / "regressions"
# What a healthy CPU operator does with a case: runs it, refuses it in words, or does not have it.
ALLOWED = ("ok", "host_reject", "setup_failed")


class RegressionsOnCpuTest(program.ProgramTest):
    def test_each_case_gets_an_answer(self):
        files = sorted(FOLDER.glob("*/case.yaml"))
        if not files:
            self.skipTest(f"no case in {FOLDER}")
        ended = self.run_program("replay", "--device", "cpu", "--json", *files, code=None, deadline=240)
        self.assertIn(ended.code, (0, 3), str(ended))
        rows = ended.json_lines()
        for row in rows:
            with self.subTest(file=row["file"]):
                self.assertEqual(row["device"], "cpu")
                self.assertIn(row["verdict"], ALLOWED, row)
        if ended.code == 0:
            self.assertEqual([row["file"] for row in rows], [str(file) for file in files])


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
