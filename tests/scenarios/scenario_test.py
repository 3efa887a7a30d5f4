"""A shipped scenario gives what it expects; its healthy twin gives nothing.

    scenario_test.py SCENARIO [--run-reproducers]
"""
import json
import pathlib
import sys

import program

# The measure is 30 s on a machine that is not otherwise busy; the slack is for one that is.
LIMIT_SECONDS = 30
SLACK = 4
RUNS = 2_000
HEALTHY_RUNS = 20_000


class ScenarioTest(program.ProgramTest):
    scenario = pathlib.Path()
    run_reproducers = False

    def test_expectation(self):
        healthy = self.scenario.stem.endswith("_healthy")
        runs = HEALTHY_RUNS if healthy else RUNS
        arguments = ["fuzz", self.scenario, "--runs", runs, "--seed", 1, "--expect", "--json", "--out", self.folder]
        if not self.run_reproducers:
            arguments.append("--no-run")
        ended = self.run_program(*arguments, deadline=300 if healthy else LIMIT_SECONDS * SLACK)
        summary = ended.json()
        self.assertEqual(summary["problems"], [], str(ended))
        self.assertEqual(summary["waiting"], 0, str(ended))
        self.assertEqual(summary["scenarios"][0]["executions"], runs, str(ended))
        if healthy:
            for part in ("findings", "candidates", "unconfirmed"):
                self.assertEqual(list((self.folder / part).iterdir()), [], f"{part}: {ended}")
            return
        self.assertTrue(summary["findings"], str(ended))
        for finding in summary["findings"]:
            self.check_finding(pathlib.Path(finding["folder"]))

    def check_finding(self, folder):
        names = {path.name for path in folder.iterdir()}
        self.assertLessEqual({"case.yaml", "original.yaml", "finding.json", "finding.md", "issue.md", "repro.py", "repro.cpp",
                              "test_repro.py", "repro_test.cpp",
                              "CMakeLists.txt", "log.txt"}, names)
        finding = json.loads((folder / "finding.json").read_text())
        self.assertEqual(finding["confirmation"]["confirmed"], finding["confirmation"]["of"], folder)
        if self.run_reproducers:
            for language in ("python", "cpp"):
                report = finding["reproducers"]["vcuda"][language]
                self.assertEqual((report["ran"], report["exit_code"]), (True, 1), report)
                # The CPU has no device assert and no illegal access: it refuses in words, or cannot run the case.
                report = finding["reproducers"]["cpu"][language]
                self.assertTrue(report["ran"], report)
                self.assertIn(report["exit_code"], (0, 125), report)


if __name__ == "__main__":
    ScenarioTest.scenario = pathlib.Path(sys.argv[1])
    ScenarioTest.run_reproducers = "--run-reproducers" in sys.argv
    program.unittest.main(argv=sys.argv[:1], verbosity=2)
