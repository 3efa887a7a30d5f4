"""`dsafuzz regress` on corpora of our own making: exit codes, the reports that CI systems read, and comparisons."""
import json
import shutil
import xml.etree.ElementTree

import program

CASE = """\
case: classic
seed: 0
tensors:
  logits: {shape: [1, 2], dtype: float32, fill: 0}
  labels: {shape: [1], dtype: int64, fill: LABEL}
steps:
  - loss = aten::cross_entropy_loss(logits, labels)
"""
# Two classes: label 2 is the first illegal one. The catalogue's row U01 has the site.
GOOD, BAD = CASE.replace("LABEL", "1"), CASE.replace("LABEL", "2")
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"
ASSERTS = f'verdict: device_assert\nsignature: "{SIGNATURE}"\n'
HOSTILE = "<b> & \"quoted\" '$(touch owned)' %41 ]]> caf\xe9 \x1b[31m"
VERDICTS = {"ok", "host_reject", "device_assert", "memory_fault", "silent", "wrong_result", "hang", "crash",
            "out_of_memory", "setup_failed"}


class RegressTest(program.ProgramTest):
    def case(self, name, text, expect=None, corpus="corpus"):
        folder = self.folder / corpus / name
        folder.mkdir(parents=True)
        if text is not None:
            (folder / "case.yaml").write_text(text)
        if expect is not None:
            (folder / "expect.yaml").write_text(expect)
        return folder

    def regress(self, *arguments, code=0, corpus="corpus"):
        return self.run_program("regress", corpus, *arguments, code=code, cwd=self.folder)

    def test_as_expected(self):
        self.case("bad", BAD, ASSERTS)
        self.case("deep/er/good", GOOD, "verdict: ok\n")
        self.case("on_cpu", BAD, "verdict: host_reject\ndevice: cpu\n")  # the CPU raises IndexError
        self.case("left", None, "skip: needs 17 GB\n")
        (self.folder / "corpus" / "loose.yaml").write_text(BAD)
        ended = self.regress("--json", "run.json")
        rows = [line.split()[0] for line in ended.out.splitlines()[:-1]]
        self.assertEqual(rows, ["skipped", "no", "as", "as", "as"], str(ended))
        self.assertIn("needs 17 GB", ended.out)
        self.assertRegex(ended.out.splitlines()[-1],
                         r"^5 cases on vcuda in [\d.]+ s: 1 skipped, 1 no expectation, 3 as expected$")
        run = json.loads((self.folder / "run.json").read_text())
        self.assertEqual((run["format"], run["version"], run["versions"]["torch"][:2]), ("dsafuzz-regress", 1, "2."))
        cases = {case["name"]: case for case in run["cases"]}
        self.assertEqual(sorted(cases), ["bad", "deep/er/good", "left", "loose.yaml", "on_cpu"])
        self.assertEqual(cases["bad"]["seen"]["text"], SIGNATURE)
        self.assertEqual([cases[name]["device"] for name in ("bad", "on_cpu", "left")], ["vcuda", "cpu", ""])

    def test_differences_in_every_report(self):
        self.case("lost", GOOD, ASSERTS)
        self.case("new", BAD, "verdict: ok\n")
        self.case("good", GOOD, "verdict: ok\n")
        self.case("left", GOOD, "skip: a reason\n")
        ended = self.regress("--quiet", "--junit", "run.xml", "--sarif", "run.sarif", code=1)
        lines = ended.out.splitlines()
        self.assertEqual(ended.err, "")
        self.assertEqual([line.split()[:2] for line in lines[:-1]],
                         [["differs", "lost"], ["differs", "new"], ["skipped", "left"]])
        self.assertIn("(5 of 5 runs)", lines[0])
        suite = xml.etree.ElementTree.parse(self.folder / "run.xml").getroot().find("testsuite")
        self.assertEqual([suite.get(key) for key in ("tests", "failures", "errors", "skipped")], ["4", "2", "0", "1"])
        kinds = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
        self.assertEqual(kinds, {"lost": ["failure"], "new": ["failure"], "left": ["skipped"], "good": ["system-out"]})
        run = self.sarif("run.sarif")
        self.assertEqual([result["ruleId"] for result in run["results"]], ["ok", "device_assert"])
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def sarif(self, name):
        """The one run of a SARIF file, with what the schema requires of it."""
        log = json.loads((self.folder / name).read_text())
        self.assertEqual(log["version"], "2.1.0")
        self.assertTrue(log["$schema"].endswith("sarif-2.1.0.json"))
        run, = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "dsafuzz")
        self.assertEqual({rule["id"] for rule in driver["rules"]}, VERDICTS)
        for invocation in run["invocations"]:
            self.assertIsInstance(invocation["executionSuccessful"], bool)
            for note in invocation.get("toolExecutionNotifications", []):
                self.assertTrue(note["message"]["text"])
        for result in run["results"]:
            self.assertTrue(result["message"]["text"])
            self.assertEqual(driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertRegex(result["partialFingerprints"]["deviceAssert/v1"], r"^\w+-[0-9a-f]{16}$")
            place = result["locations"][0]["physicalLocation"]
            self.assertRegex(place["artifactLocation"]["uri"], r"^[A-Za-z0-9/._~%-]+$")
            self.assertEqual(place["region"]["startLine"], 1)
        return run

    def test_what_cannot_be_read_or_run_is_told_and_the_rest_runs(self):
        self.case("broken", "case: [\n", "verdict: ok\n")
        self.case("wrong", GOOD, "verdict: perhaps\n")
        self.case("lonely", None, "verdict: ok\n")
        self.case("lost", GOOD, ASSERTS)
        ended = self.regress("--junit", "run.xml", "--sarif", "run.sarif", code=2)
        self.assertEqual([line.split()[0] for line in ended.out.splitlines()[:-1]],
                         ["differs", "unreadable", "unreadable", "unreadable"])
        self.assertIn("corpus/wrong/expect.yaml:1:10", ended.out)
        errors = list(xml.etree.ElementTree.parse(self.folder / "run.xml").getroot().iter("error"))
        self.assertEqual(len(errors), 3)
        run = self.sarif("run.sarif")
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertEqual(len(run["invocations"][0]["toolExecutionNotifications"]), 3)
        self.case("alien", GOOD.replace("aten::cross_entropy_loss", "aten::no_such_operator"), "verdict: ok\n")
        self.assertIn("not run", self.regress(code=3).out)

    def test_hostile_names_stay_text(self):
        name = HOSTILE.replace("/", "_")
        self.case(name, BAD, "verdict: ok\n")
        self.case("left", None, "skip: " + json.dumps(HOSTILE) + "\n")
        ended = self.regress("--junit", "run.xml", "--sarif", "run.sarif", "--json", "run.json", code=1)
        self.assertNotIn("\x1b", ended.out)
        shown = name.replace("\x1b", "\\x1b")
        root = xml.etree.ElementTree.parse(self.folder / "run.xml").getroot()
        self.assertEqual({case.get("name") for case in root.iter("testcase")}, {shown, "left"})
        self.assertEqual(next(root.iter("skipped")).get("message"), HOSTILE.replace("\x1b", "\\x1b"))
        self.assertIn(shown, self.sarif("run.sarif")["results"][0]["message"]["text"])
        self.assertEqual({case["name"] for case in json.loads((self.folder / "run.json").read_text())["cases"]},
                         {shown, "left"})
        self.assertFalse((self.folder / "owned").exists())

    def test_comparison(self):
        self.case("changes", BAD, ASSERTS, "a")
        self.case("stays", BAD, ASSERTS, "a")
        self.regress("--json", "a.json", corpus="a")
        shutil.copytree(self.folder / "a", self.folder / "b")
        self.case("added", GOOD, "verdict: ok\n", "b")
        self.regress("--json", "b.json", corpus="b")
        self.regress("--json", "cpu.json", "--device", "cpu", corpus="a", code=1)
        compare = lambda *words, code: self.run_program("regress", "--compare", *words, code=code, cwd=self.folder)
        self.assertIn("2 cases compared: no difference", compare("a.json", "a.json", code=0).out)
        self.assertIn("2 cases compared: 1 only in b", compare("a.json", "b.json", code=1).out)
        lost = compare("a.json", "cpu.json", "--json", "-", code=1).json()
        self.assertEqual(lost["summary"]["assert_lost"], 2)
        self.assertIn("device_assert", lost["differences"][0]["a"])
        self.assertIn("host_reject", lost["differences"][0]["b"])
        self.assertEqual(compare("cpu.json", "a.json", "--json", "-", code=1).json()["summary"]["assert_new"], 2)
        (self.folder / "no.json").write_text("{}")
        for words in (("a.json", "missing.json"), ("no.json", "a.json")):
            ended = compare(*words, code=2)
            self.assertEqual((ended.out, len(ended.err.splitlines())), ("", 1))

    def test_usage(self):
        (self.folder / "empty").mkdir()
        for words in ((), ("missing",), ("empty",), ("empty", "--compare", "a", "b"), ("--compare", "a"),
                      ("empty", "--jobs", "0"), ("empty", "--device", "gpu")):
            with self.subTest(words):
                ended = self.run_program("regress", *words, code=2, cwd=self.folder)
                self.assertEqual(ended.out, "")
        self.case("good", GOOD, "verdict: ok\n")
        self.regress("--junit", "missing/run.xml", code=3)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
