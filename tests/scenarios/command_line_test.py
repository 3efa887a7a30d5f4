"""The command line as a whole: exit codes, one clear line for each problem, JSON that parses, hostile files."""
import json
import os
import signal
import subprocess

import program

GATHER = program.SCENARIOS / "gather.yaml"
BAD_CASE = """\
case: linear_cross_entropy
seed: 0
shapes: {batch: 1, classes: 1}
tensors:
  labels: {shape: [batch], dtype: int64, fill: 1}
  logits: {shape: [batch, classes], dtype: float32, fill: 0}
steps:
  - loss = aten::cross_entropy_loss(logits, labels)
"""
GOOD_CASE = BAD_CASE.replace("fill: 1}", "fill: 0}")
SIGNATURE = "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"
HINT = "Run with --help for more information."
USAGE, ENVIRONMENT = 2, 3


class CommandLineTest(program.ProgramTest):
    def problem(self, *arguments, code=USAGE, says="", **options):
        """Runs what must fail: that exit code, nothing on stdout, one line on stderr that says it."""
        with self.subTest(arguments=[str(a)[:80] for a in arguments]):
            ended = self.run_program(*arguments, code=code, deadline=60, **options)
            self.assertEqual(ended.out, "", str(ended))
            lines = [line for line in ended.err.splitlines() if line != HINT]
            self.assertEqual(len(lines), 1, str(ended))
            self.assertLess(len(lines[0]), 1000)
            self.assertIn(says, lines[0])
            return lines[0]

    def bad(self):
        return self.write("bad.yaml", BAD_CASE)

    def good(self):
        return self.write("good.yaml", GOOD_CASE)

    def test_help_and_version(self):
        self.assertRegex(self.run_program("--version").out, r"^dsafuzz \d+\.\d+\.\d+\n$")
        self.assertIn("Exit codes: 0", self.run_program("--help").out)
        for command in ("fuzz", "replay", "reduce", "emit", "check", "list", "show"):
            self.assertIn("Usage: dsafuzz " + command, self.run_program(command, "--help").out)

    def test_usage_errors(self):
        for arguments, says in (((), "subcommand"), (("nonsense",), ""), (("fuzz",), "scenario is required"),
                                (("replay",), "case is required"), (("reduce",), "case is required"),
                                (("emit",), "case is required"), (("check",), "file is required"),
                                (("show",), "case is required"), (("fuzz", GATHER, "--nonsense"), "--nonsense"),
                                (("fuzz", GATHER, "--runs", "many"), "many"), (("fuzz", GATHER, "--runs", "-3"), "-3"),
                                (("fuzz", GATHER, "--runs", "99999999999999999999"), "--runs"),
                                (("fuzz", GATHER, "--seed", "-1"), "-1"), (("fuzz", GATHER, "--seconds", "-1"), "-1"),
                                (("fuzz", GATHER, "--seconds", "nan"), "nan"), (("fuzz", GATHER, "--jobs", "0"), "0"),
                                (("fuzz", GATHER, "--jobs", "257"), "257"), (("fuzz", GATHER, "--confirm", "0"), "0"),
                                (("fuzz", GATHER, "--time-limit", "0"), "0"),
                                (("fuzz", GATHER, "--time-limit", "nan"), "nan"),
                                (("replay", self.bad(), "--repeat", "0"), "0"),
                                (("reduce", self.bad(), "--executions", "0"), "0")):
            self.problem(*arguments, says=says, cwd=self.folder)

    def test_wrong_inputs(self):
        out = ("--out", self.folder / "out")
        missing = self.folder / "missing.yaml"
        for command in (("fuzz", missing, "--runs", 1, *out), ("replay", missing), ("reduce", missing, *out),
                        ("emit", missing, *out), ("check", missing), ("show", missing)):
            self.problem(*command, says=f"{missing}: cannot be read")
        self.problem("list", missing, says="is not a folder")
        self.problem("fuzz", GATHER, GATHER, "--runs", 1, *out, says="given twice")
        self.problem("fuzz", self.bad(), "--runs", 1, *out, says="bad.yaml")  # a case is no scenario
        self.problem("emit", self.bad(), "--scenario", GATHER, *out, says="linear_cross_entropy")
        self.problem("fuzz", GATHER, "--runs", 1, "--out", "", says="--out")
        for device in ("nonsense", "", "cuda:", "cuda:-1", "cuda:99999999999", "cpu:1", "vcuda:x", "VCUDA", "cuda;ls"):
            self.problem("fuzz", GATHER, "--runs", 1, "--device", device, *out)
            self.problem("replay", self.bad(), "--device", device)
        self.assertFalse((self.folder / "out" / "findings").exists(), "refused before anything is written")

    def test_cuda_without_a_gpu(self):
        if program.HAS_GPU:
            self.skipTest("this machine has a GPU")
        out = ("--out", self.folder / "out")
        self.problem("fuzz", GATHER, "--runs", 5, "--device", "cuda", *out, code=ENVIRONMENT, says="NVIDIA")
        self.problem("reduce", self.bad(), "--device", "cuda", *out, code=ENVIRONMENT, says="NVIDIA")
        self.problem("emit", self.bad(), "--device", "cuda:0", *out, code=ENVIRONMENT, says="NVIDIA")
        ended = self.run_program("replay", self.bad(), "--device", "cuda", "--json", code=ENVIRONMENT)
        self.assertEqual(ended.json()["verdict"], "setup_failed")

    def test_a_device_that_is_gone_loses_no_candidate(self):
        """A candidate met on one device, and the next campaign cannot run there: it waits."""
        if program.HAS_GPU:
            self.skipTest("this machine has a GPU")
        out = self.folder / "out"
        running = self.start("fuzz", GATHER, "--runs", 10_000_000, "--no-run", "--out", out)
        until = program.time.monotonic() + 60
        while not list((out / "candidates").glob("device_assert-*")) and program.time.monotonic() < until:
            program.time.sleep(0.02)
        running.send(signal.SIGINT)
        running.wait(60)
        before = sorted(path.name for path in (out / "candidates").iterdir())
        self.assertTrue(before)
        self.run_program("fuzz", GATHER, "--runs", 5, "--no-run", "--device", "cuda", "--out", out, code=ENVIRONMENT)
        self.assertEqual(sorted(path.name for path in (out / "candidates").iterdir()), before)

    def test_hostile_files(self):
        alias_bomb = "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]\n"
                                             for i in range(12))
        (self.folder / "loop").symlink_to("loop")
        os.mkfifo(self.folder / "pipe")
        (self.folder / "a folder").mkdir()
        files = [self.write("empty.yaml", ""), self.write("binary.yaml", bytes(range(256)) * 64),
                 self.write("zeros.yaml", bytes(4096)), self.write("latin1.yaml", "case: caf\xe9\n".encode("latin1")),
                 self.write("deep.yaml", "[" * 100_000), self.write("braces.yaml", "{" * 100_000),
                 self.write("bomb.yaml", alias_bomb), self.write("truncated.yaml", BAD_CASE[:150] + "{"),
                 self.write("tabs.yaml", "case:\t\t[\n"), self.write("list.yaml", "- case\n- seed\n"),
                 self.write("two.yaml", BAD_CASE + "---\n" + BAD_CASE),
                 self.write("name.yaml", BAD_CASE.replace("linear_cross_entropy", "../../etc/passwd")),
                 self.write("tensor.yaml", BAD_CASE.replace("labels", "../labels")),
                 self.write("op.yaml", BAD_CASE.replace("aten::cross_entropy_loss", "aten::$(touch x)")),
                 self.write("shape.yaml", BAD_CASE.replace("batch: 1", "batch: 99999999999999999999")),
                 self.write("seed.yaml", BAD_CASE.replace("seed: 0", "seed: -1e99")),
                 self.write("dtype.yaml", BAD_CASE.replace("int64", "int65")),
                 self.folder / "loop", self.folder / "pipe", self.folder / "a folder", "/dev/zero", "/dev/null",
                 "/proc/self/mem", self.folder / ("x" * 300), "bad.yaml/../\n", ""]
        huge = self.folder / "huge.yaml"
        with open(huge, "wb") as file:
            file.truncate(1 << 40)  # sparse
        files.append(huge)
        for file in files:
            self.problem("check", file)
        # Every command reads through the same door; two of the worst for each.
        for file in ("/dev/zero", huge):
            self.problem("show", file)
            self.problem("replay", file)
            self.problem("fuzz", file, "--runs", 1, "--out", self.folder / "out")
            self.problem("emit", file, "--out", self.folder / "out")

    def test_check(self):
        scenarios = sorted(program.SCENARIOS.glob("*.yaml"))
        ended = self.run_program("check", self.bad(), *scenarios)
        self.assertEqual(len(ended.out.splitlines()), len(scenarios) + 1)
        mixed = self.run_program("check", self.folder / "missing", GATHER, code=USAGE)
        self.assertIn("gather.yaml: ok", mixed.out)  # a bad file does not hide the others

    def test_list_and_show(self):
        rows = self.run_program("list", "--json").json()
        self.assertEqual({row["file"] for row in rows}, {str(p) for p in program.SCENARIOS.glob("*.yaml")})
        self.assertEqual(len(self.run_program("list").out.splitlines()), len(rows))
        shown = self.run_program("show", self.bad(), "--json").json()
        self.assertEqual(shown["shapes"], {"batch": 1, "classes": 1})
        for row in rows:
            self.assertEqual(self.run_program("show", row["file"], "--json").json()["scenario"], row["scenario"])
        self.assertIn("labels: int64 [batch=1]", self.run_program("show", self.bad()).out)
        # What show prints as YAML is the case again.
        again = self.write("again.yaml", shown["yaml"])
        self.assertEqual(self.run_program("show", again, "--json").json()["id"], shown["id"])

    def test_replay(self):
        bad, good = self.bad(), self.good()
        rows = self.run_program("replay", bad, good, "--repeat", 2, "--json", code=1).json_lines()
        self.assertEqual([row["verdict"] for row in rows], ["device_assert"] * 2 + ["ok"] * 2)
        self.assertEqual(rows[0]["signature"], SIGNATURE)
        self.run_program("replay", good)
        self.assertEqual(self.run_program("replay", bad, "--device", "cpu", "--json").json()["verdict"], "host_reject")
        logged = self.run_program("replay", bad, "--log", code=1).out
        self.assertIn(":245: nll_loss_forward_reduce_cuda_kernel_2d", logged)
        # A folder may say what is expected: then that is what the exit code compares with.
        folder = self.folder / "regression"
        folder.mkdir()
        (folder / "case.yaml").write_text(BAD_CASE)
        for verdict, code in (("device_assert", 0), ("ok", 1), ("nonsense", USAGE)):
            (folder / "expect.yaml").write_text(f"verdict: {verdict}\n")
            self.run_program("replay", folder, "--json", code=code)
        # A scenario stands for its default case, and chooses the tool that finds what it expects.
        row = self.run_program("replay", GATHER, "--json", code=1).json()
        self.assertEqual(row["verdict"], "device_assert")
        self.assertIn("ScatterGatherKernel.cu", row["signature"])
        races = program.SCENARIOS / "custom_stream_race.yaml"
        self.assertEqual(self.run_program("replay", races, "--json", code=1).json()["verdict"], "memory_fault")

    def test_reduce_and_emit(self):
        big = self.write("big.yaml", BAD_CASE.replace("batch: 1", "batch: 64").replace("classes: 1", "classes: 9")
                         .replace("int64, fill: 1}", "int64, fill: 0, set: {40: 77}}"))
        emitted = self.run_program("emit", big, "--no-run", "--out", self.folder / "emitted", code=1)
        folder = program.pathlib.Path(emitted.out.strip())
        finding = json.loads((folder / "finding.json").read_text())
        self.assertEqual(finding["reduction"]["executions"], 0)
        self.assertEqual((folder / "case.yaml").read_text(), (folder / "original.yaml").read_text())
        self.assertEqual(finding["confirmation"], {"confirmed": 5, "of": 5})
        again = self.run_program("emit", folder, "--no-run", "--out", self.folder / "emitted", code=1)
        self.assertIn("already", again.err)

        reduced = self.run_program("reduce", big, "--no-run", "--out", self.folder / "reduced", code=1)
        minimal = self.write("minimal.yaml", reduced.out)  # stdout is the case and nothing else
        self.assertEqual(self.run_program("show", minimal, "--json").json()["shapes"], {"batch": 1, "classes": 1})
        self.assertIn("1-minimal", reduced.err)
        proof = self.run_program("reduce", "--verify", minimal)
        self.assertRegex(proof.out, r"^1-minimal under \d+ edits, all refused: .*arguments")
        refuted = self.run_program("reduce", "--verify", big, code=1)
        self.assertIn("not minimal", refuted.err)
        smaller = self.write("smaller.yaml", refuted.out)
        self.assertEqual(self.run_program("replay", smaller, "--json", code=1).json()["signature"], SIGNATURE)

        for command in ("reduce", "emit"):
            harmless = self.run_program(command, self.good(), "--no-run", "--out", self.folder / "none")
            self.assertEqual(harmless.out, "")
            self.assertIn("shows no bug: ok on vcuda in each of 5 fresh processes", harmless.err)
            self.assertEqual(list((self.folder / "none" / "findings").iterdir()), [])

        listed = self.run_program("list", self.folder / "reduced", "--json").json()
        self.assertEqual([(row["finding"], row["verdict"]) for row in listed], [(SIGNATURE, "device_assert")])
        # Whatever lies in a findings folder, listing does not stumble over it.
        texts = ("", "[]", "null", "{", '{"signature": 3}', '{"version": 1, "signature": {"text": []}}')
        for i, text in enumerate(texts):
            odd = self.folder / "reduced" / "findings" / f"odd-{i}"
            odd.mkdir()
            (odd / "finding.json").write_text(text)
        self.assertEqual(self.run_program("list", self.folder / "reduced", "--json").json(), listed)

    def test_findings_decide_the_exit_code(self):
        out = self.folder / "out"
        flags = ("--runs", 100, "--no-run", "--json", "--out", out)
        first = self.run_program("fuzz", GATHER, *flags, code=1).json()
        second = self.run_program("fuzz", GATHER, *flags, code=1).json()  # known ones count as well
        self.assertEqual((second["known_before"], second["findings"]), (len(first["findings"]), []))
        self.run_program("fuzz", GATHER, *flags, "--expect", code=0)
        unmet = self.write("unmet.yaml", GATHER.read_text().replace("verdict: device_assert", "verdict: memory_fault"))
        ended = self.run_program("fuzz", unmet, "--expect", "--runs", 100, "--no-run", "--out", out, code=1)
        self.assertIn("memory_fault", ended.err)

    def test_unwritable_output(self):
        for out in ("/dev/null", "/proc/nothing", self.bad(), "/dev/null/below"):
            self.problem("fuzz", GATHER, "--runs", 1, "--out", out, code=ENVIRONMENT, says=str(out))
            self.problem("emit", self.bad(), "--no-run", "--out", out, code=ENVIRONMENT, says=str(out))
        if os.geteuid() == 0:
            return  # to whom no folder is read-only
        closed = self.folder / "closed"
        closed.mkdir(mode=0o500)
        self.problem("fuzz", GATHER, "--runs", 1, "--out", closed, code=ENVIRONMENT, says=str(closed))

    def test_full_disk(self):
        place = self.folder / "disk"
        place.mkdir()
        for size in ("64k", "1200k", "2500k"):
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place],
                                     capture_output=True)
            if mounted.returncode != 0:
                self.skipTest("no small file system can be mounted here")
            try:
                # 64k: not even a start. Else the corpus fills it on the way; what matters may just find room.
                out = place / "out"
                ended = self.run_program("fuzz", program.SCENARIOS / "linear_cross_entropy.yaml", "--runs", 4000,
                                         "--no-run", "--out", out, code=None)
                self.assertIn(ended.code, (1, ENVIRONMENT) if size != "64k" else (ENVIRONMENT,), str(ended))
                if ended.code == ENVIRONMENT:
                    self.assertRegex(ended.out + ended.err, "(?i)no space (is )?left", size)
                for finding in (out / "findings").glob("[!.]*"):
                    json.loads((finding / "finding.json").read_text())  # whole, or not there
            finally:
                subprocess.run(["umount", place], check=True)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
