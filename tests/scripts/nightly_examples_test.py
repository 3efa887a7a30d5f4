"""The examples for nightly runs are what systemd, cron and dsafuzz read: names, commands and keys all exist."""
import configparser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
EXAMPLES = ROOT / "scripts" / "examples"


def unit(name):
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str
    parser.read_string((EXAMPLES / name).read_text())
    return parser


class NightlyExamples(unittest.TestCase):
    def check_command(self, words):
        """`/opt/dsafuzz/PATH ...`: the file is there, and a command of dsafuzz is one of its commands."""
        self.assertTrue(words[0].startswith("/opt/dsafuzz/"), words)
        script = ROOT / words[0].removeprefix("/opt/dsafuzz/")
        self.assertTrue(script.is_file(), script)
        self.assertTrue(script.stat().st_mode & 0o111, script)
        if script.name == "dsafuzz":
            help_text = subprocess.run([PROGRAM, words[1], "--help"], capture_output=True, text=True, timeout=60)
            self.assertEqual(help_text.returncode, 0, help_text.stderr)
            self.assertIn("config TEXT REQUIRED", help_text.stdout)

    def test_the_unit_and_its_timer(self):
        service, timer = unit("dsafuzz-nightly.service"), unit("dsafuzz-nightly.timer")
        self.assertEqual(service["Service"]["Type"], "oneshot")  # a timer's unit that ends by itself
        self.check_command(service["Service"]["ExecStart"].split())
        self.check_command(service["Service"]["ExecStartPre"].split())
        self.assertRegex(timer["Timer"]["OnCalendar"], r"^\*-\*-\* \d\d:\d\d:\d\d$")
        self.assertEqual(timer["Install"]["WantedBy"], "timers.target")

    def test_systemd_accepts_them(self):
        analyze = shutil.which("systemd-analyze")
        if not analyze:
            self.skipTest("systemd-analyze is not installed")
        calendar = subprocess.run([analyze, "calendar", unit("dsafuzz-nightly.timer")["Timer"]["OnCalendar"]],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(calendar.returncode, 0, calendar.stderr)
        with tempfile.TemporaryDirectory() as folder:
            # Its programs lie elsewhere here, and the user is not there.
            text = (EXAMPLES / "dsafuzz-nightly.service").read_text()
            text = text.replace("/opt/dsafuzz", str(ROOT)).replace("User=dsafuzz\n", "")
            pathlib.Path(folder, "dsafuzz-nightly.service").write_text(text)
            shutil.copy(EXAMPLES / "dsafuzz-nightly.timer", folder)
            units = [f"{folder}/dsafuzz-nightly.service", f"{folder}/dsafuzz-nightly.timer"]
            verify = subprocess.run([analyze, "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
        complaints = [line for line in verify.stderr.splitlines() if "dsafuzz-nightly" in line]
        self.assertEqual(complaints, [])

    def test_the_line_for_cron(self):
        lines = [line for line in (EXAMPLES / "crontab").read_text().splitlines() if line and not line.startswith("#")]
        settings = [line for line in lines if re.match(r"[A-Z]+=", line)]
        jobs = [line for line in lines if line not in settings]
        self.assertEqual(len(jobs), 1)
        *times, command = jobs[0].split(None, 5)
        for value, most in zip(times, (59, 23, 31, 12, 7)):
            self.assertTrue(value == "*" or 0 <= int(value) <= most, times)
        # To cron an unescaped % ends the command.
        self.assertNotRegex(command, r"(?<!\\)%")
        command = command.replace(r"\%", "%")
        found = re.search(r"/opt/dsafuzz/\S+ \S+ \S+", command)
        self.check_command(found[0].split())
        # Quiet when there is nothing to do, and all that was said otherwise.
        for code in (0, 1):
            line = command.replace(found[0], f"sh -c 'echo said; exit {code}'")
            ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.stdout, "said\n" if code else "")

    def test_the_configuration_is_complete(self):
        """Every key that the program knows stands in the example or in the header that documents them all."""
        example = (EXAMPLES / "nightly.yaml").read_text()
        for key in ("nightly", "scenarios", "devices", "seconds", "jobs", "seed", "out", "seeds", "regressions",
                    "baseline", "report", "keep"):
            self.assertRegex(example, f"(?m)^{key}:")
        with tempfile.TemporaryDirectory() as folder:
            # It is read to its end: the only thing wrong is what was added.
            bad = pathlib.Path(folder, "scripts", "examples", "nightly.yaml")
            bad.parent.mkdir(parents=True)
            for name in ("scenarios", "corpus"):
                (pathlib.Path(folder) / name).symlink_to(ROOT / name)
            bad.write_text(example + "no_such_key: 1\n")
            ended = subprocess.run([PROGRAM, "nightly", bad], capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("no_such_key", ended.stderr)


if __name__ == "__main__":
    unittest.main()
