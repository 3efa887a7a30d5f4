"""scripts/report on made-up campaigns: what it says, in Markdown and as TensorBoard's scalars, and what it does with a
store that is damaged, newer, older, read-only, being written or not there. Usage: report_test.py SCRIPT DSAFUZZ
"""

import calendar
import fcntl
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

from campaign_store import CampaignStore, migrations

SCRIPT, DSAFUZZ = "", ""


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-report-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out"

    def report(self, *arguments, expect=0, program=None):
        command = program or [sys.executable, SCRIPT]
        done = subprocess.run(
            [*command, self.out, *arguments], capture_output=True, text=True, check=False, cwd=self.folder
        )
        self.assertEqual(done.returncode, expect, done.stderr)
        if expect:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done

    def two_nights(self):
        """The second night: one new finding, one known, one gone, one not met; a regression differs."""
        store = CampaignStore(self.out)
        for name in ("a", "b", "c", "d"):
            store.folder(f"device_assert-{name}")
        first = store.run("2026-12-01T01:00:00Z", "2026-12-01T02:00:00Z")
        second = store.run("2026-12-02T01:00:00Z", "2026-12-02T02:30:00Z")
        for name in ("b", "c", "d"):
            store.met(first, f"device_assert-{name}", "new")
        for name, state in (("a", "new"), ("b", "known"), ("c", "gone")):
            store.met(second, f"device_assert-{name}", state)
        for i, status in enumerate(("as_expected", "differs", "skipped", "as_expected")):
            store.insert(
                "regressions",
                run=second,
                name=f"case_{i}",
                device="vcuda",
                status=status,
                expected="device_assert",
                seen="ok",
                text="",
            )
        store.insert("run_problems", run=second, at=3.0, text="engine gather-1 died: signal 9")
        store.insert("run_versions", run=second, name="torch", version="2.11.0")
        return store

    def test_states_are_those_of_the_last_run(self):
        self.two_nights().close()
        text = self.report().stdout
        self.assertTrue(text.startswith("# dsafuzz: 1 new finding\n"), text)
        self.assertIn("**1** new, 1 seen again, 1 gone, 4 in all", text)
        rows = {
            re.search(r"device_assert-(\w)", line).group(1): line.split("|")[1].split()[-1]
            for line in text.splitlines()
            if line.startswith("|") and "findings/" in line
        }
        self.assertEqual(rows, {"a": "new", "b": "known", "c": "gone", "d": "earlier"})
        self.assertIn("2 of 4 cases as expected", text)
        self.assertIn("signal 9", text)
        self.assertIn("1 h 30 min", text)
        self.assertIn("torch 2.11.0", text)

    def test_nothing_new_says_so(self):
        store = CampaignStore(self.out)
        store.run()
        store.close()
        text = self.report().stdout
        self.assertTrue(text.startswith("# dsafuzz: Nothing new\n"), text)
        self.assertIn("- Nothing to do", text)

    def test_dsafuzz_report_is_the_same_program(self):
        self.two_nights().close()
        environment = {
            **os.environ,
            "DSAFUZZ_ROOT": str(pathlib.Path(SCRIPT).parents[1]),
            "DSAFUZZ_PYTHON": sys.executable,
        }
        done = subprocess.run(
            [DSAFUZZ, "report", self.out], capture_output=True, text=True, check=False, env=environment
        )
        self.assertEqual((done.returncode, done.stdout), (0, self.report().stdout), done.stderr)
        for arguments, code in (
            (["report", self.folder / "none"], 2),
            (["report", self.out, "--follow"], 2),
            (["top", self.folder / "none", "--once"], 2),
        ):
            done = subprocess.run([DSAFUZZ, *arguments], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_top_once(self):
        store = self.two_nights()
        run = store.run("2026-12-03T01:00:00Z", None, process=os.getpid(), features=0, executions=0)
        store.sample(run, 1, executions=1234567, per_second=4321.0, features=77, candidates=3, engines=4)
        store.met(run, "device_assert-a", "known", {"text": "x"})
        store.close()
        environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [DSAFUZZ, "top", self.out, "--once"], capture_output=True, text=True, check=False, env=environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (
            "nightly run 3  fuzzing",
            "1,234,567  4.3k/s",
            "77",
            "3 to examine",
            "1 known",
            "aten::cross_entropy_loss",
        ):
            self.assertIn(words, done.stdout)
        self.assertNotIn("\033", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def top_on_a_terminal(self, ending, **environment):
        """What `dsafuzz top` writes to a terminal of 60 columns until `ending` is done to it, and how it ends."""
        leader, terminal = pty.fork()
        if leader == 0:
            # A terminal drops what nobody has read yet when the first process on it ends: so that is not dsafuzz.
            try:
                signal.signal(signal.SIGINT, lambda *_: None)
                environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
                process = os.posix_spawn(DSAFUZZ, [DSAFUZZ, "top", str(self.out), "--interval", "0.1"], environment)
                os.write(1, b"<process %d>" % process)
                os.write(1, b"<ended %d>" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
                signal.pause()
            finally:
                os._exit(127)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        written, ended = b"", False
        while not (over := re.search(rb"<ended (-?\d+)>", written)):
            written += os.read(terminal, 1 << 16)
            if not ended and written.count(b"\033[H") >= 4:
                ended = True
                ending(int(re.search(rb"<process (\d+)>", written)[1]), terminal)
        os.kill(leader, signal.SIGKILL)
        os.waitpid(leader, 0)
        os.close(terminal)
        return written[: over.start()].decode(), int(over[1])

    def test_top_redraws_in_place_until_it_is_ended(self):
        store = self.two_nights()
        store.run("2026-12-02T01:00:00Z", None, process=os.getpid())
        store.close()
        for name, ending in (
            ("q", lambda _, terminal: os.write(terminal, b"xq")),
            ("Ctrl-C", lambda _, terminal: os.write(terminal, b"\x03")),
            ("SIGTERM", lambda process, _: os.kill(process, signal.SIGTERM)),
        ):
            with self.subTest(name):
                text, code = self.top_on_a_terminal(ending)
                self.assertEqual(code, 0, text)
                screen, _, after = text.rpartition("\033[?1049l")
                self.assertIn("\033[?1049h", screen)
                self.assertIn("\033[?25h", screen)  # the cursor is back
                self.assertIn("nightly run 3", after)  # and the last look stays
                last = re.sub("\033\\[[0-9;?]*[A-Za-z]", "", screen.split("\033[H")[-1])
                self.assertEqual([line for line in last.split("\r\n") if len(line) > 60], [])
                self.assertIn("\033[1m", screen)
        text, _ = self.top_on_a_terminal(lambda _, terminal: os.write(terminal, b"q"), NO_COLOR="1")
        self.assertNotRegex(text, "\033\\[[0-9;]*m")

    def test_markdown_is_inert(self):
        store = CampaignStore(self.out)
        run = store.run()
        hostile = (
            "</td></tr>|[x](javascript:alert(1)) <img src=x onerror=a> **b** `c` @someone "
            "https://a.example \u202eevil\n# h"
        )
        store.folder("device_assert-a", cause=hostile)
        store.met(run, "device_assert-a", "new", scenario="x|y")
        store.insert("run_problems", run=run, at=1.0, text=hostile)
        store.close()
        text = self.report().stdout
        for letters in ("<img", "</td>", "\u202e", "@someone", "https://a", "\n# h"):
            self.assertNotIn(letters, text)
        self.assertIsNone(re.search(r"(?<!\\)\[x\]|(?<!\\)`c|(?<!\\)\*\*b", text), text)
        row = next(line for line in text.splitlines() if "findings/device_assert-a" in line)
        self.assertEqual(len(re.findall(r"(?<!\\)\|", row)), 7, row)

    def test_without_database(self):
        store = CampaignStore(self.out)
        store.folder("device_assert-a")
        store.close()
        (self.out / "campaign.db").unlink()
        done = self.report()
        self.assertIn("runs are not recorded", done.stderr)
        self.assertTrue(done.stdout.startswith("# dsafuzz: 1 finding\n"), done.stdout)
        self.report("--tensorboard", self.folder / "events", expect=2)

    def test_stores_that_cannot_be_used(self):
        cases = (
            ("damaged", lambda db: db.write_bytes(b"no database at all, " * 100), "damaged"),
            ("damaged in the middle", self.overwrite, "damaged"),
            ("newer", lambda db: self.execute(db, "PRAGMA user_version = 99"), "99, this program knows 2"),
        )
        for name, spoil, words in cases:
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                self.two_nights().close()
                database = self.out / "campaign.db"
                spoil(database)
                done = self.report(expect=3)
                self.assertIn("campaign.db", done.stderr)
                self.assertIn(words, done.stderr)
                before = database.read_bytes()
                self.assertIn("4 findings", self.report("--no-database").stdout)
                self.assertEqual(database.read_bytes(), before)

    @staticmethod
    def overwrite(database):
        raw = bytearray(database.read_bytes())
        raw[4096:] = b"\xa5" * (len(raw) - 4096)
        database.write_bytes(raw)

    @staticmethod
    def execute(database, statement):
        connection = sqlite3.connect(database)
        connection.execute(statement)
        connection.commit()
        connection.close()

    def test_older_schemas_are_read(self):
        for version in range(len(migrations())):
            with self.subTest(version=version):
                shutil.rmtree(self.out, ignore_errors=True)
                store = CampaignStore(self.out, version)
                if version:
                    store.met(store.run(), "device_assert-a", "new")
                store.close()
                self.assertIn("1 new finding" if version else "0 findings", self.report().stdout)

    def test_a_database_that_is_being_written_and_a_folder_that_may_not_be(self):
        store = self.two_nights()
        store.sql.commit()
        store.sql.execute("BEGIN IMMEDIATE")
        store.met(2, "device_assert-e", "new")  # not committed: nobody sees it
        self.assertIn("1 new finding\n", self.report().stdout)
        store.sql.rollback()
        # The log beside the database holds it all; nothing may be made in this folder.
        copy = self.folder / "copy"
        shutil.copytree(self.out, copy, ignore=shutil.ignore_patterns("*-shm"))
        self.assertGreater((copy / "campaign.db-wal").stat().st_size, 0)
        store.close()
        self.out = copy
        code = (
            "import os, sys; sys.path.insert(0, os.path.dirname(sys.argv[1])); os.access = lambda p, m: m != os.W_OK; "
            "from dsafuzz_report.cli import main; sys.exit(main(sys.argv[2:]))"
        )
        names = sorted(os.listdir(copy))
        self.assertIn("1 new finding\n", self.report(program=[sys.executable, "-c", code, SCRIPT]).stdout)
        self.assertEqual(sorted(os.listdir(copy)), names)

    def test_folders_of_other_people(self):
        store = CampaignStore(self.out)
        good = store.folder("device_assert-a")
        store.folder("device_assert-types", advice=7, evidence={"a": 1}, confirmation=[], devices="x", outcome=None)
        for name, content in (
            ("device_assert-list", "[]"),
            ("device_assert-deep", "[" * 100_000),
            ("device_assert-text", "no"),
        ):
            (self.out / "findings" / name).mkdir()
            (self.out / "findings" / name / "finding.json").write_text(content)
        secret = self.folder / "secret"
        secret.write_text("a secret")
        (good / "repro.py").unlink()
        (good / "repro.py").symlink_to(secret)
        os.mkfifo(self.out / "findings" / "device_assert-types" / "issue.md")
        store.close()
        text = self.report("--markdown", "-", "--html", self.folder / "page.html").stdout
        self.assertIn("2 findings", text)
        self.assertEqual(text.count("finding.json is"), 3)
        self.assertNotIn("a secret", text)

    def test_long_texts_are_cut(self):
        store = CampaignStore(self.out)
        store.folder("device_assert-a", cause="long " * 100_000)
        store.close()
        self.assertLess(len(self.report().stdout), 3000)

    def test_files_appear_whole_or_not(self):
        self.two_nights().close()
        self.report("--html", self.folder / "none" / "page.html", expect=3)
        target = self.folder / "summary.md"
        self.report("--markdown", target)
        self.assertEqual(target.read_text(encoding="utf-8"), self.report().stdout)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".report")], [])


class TensorboardTest(unittest.TestCase):
    def setUp(self):
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("tensorboard is missing (pip install -r requirements-more.txt)")
        self.accumulator = EventAccumulator
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-report-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out, self.events = self.folder / "out", self.folder / "events"

    def scalars(self, run, tag):
        reader = self.accumulator(str(run))
        reader.Reload()
        return [(event.wall_time, event.step, event.value) for event in reader.Scalars(tag)]

    def runs(self):
        return sorted(path for path in self.events.iterdir() if path.is_dir())

    def test_scalars_come_back(self):
        store = CampaignStore(self.out)
        for day in (1, 2):
            run = store.run(f"2026-12-0{day}T01:00:00Z", f"2026-12-0{day}T02:00:00Z")
            for at in (0.5, 1.5, 9.0):
                store.sample(run, at, executions=int(100 * day * at), restarts=day)
        store.close()
        for _ in range(2):  # the second time replaces what the first wrote
            subprocess.run([sys.executable, SCRIPT, self.out, "--tensorboard", self.events], check=True)
        first, second = self.runs()
        start = calendar.timegm((2026, 12, 2, 1, 0, 0))
        self.assertEqual(
            self.scalars(second, "run/executions"),
            [(start + 0.5, 0, 100.0), (start + 1.5, 1, 300.0), (start + 9.0, 9, 1800.0)],
        )
        self.assertEqual([value for _, _, value in self.scalars(first, "run/restarts")], [1.0, 1.0, 1.0])
        for tag in ("per_second", "features", "findings", "candidates", "engines", "seconds_left"):
            self.assertEqual(len(self.scalars(first, f"run/{tag}")), 3, tag)

    def test_follows_a_run_to_its_end(self):
        store = CampaignStore(self.out)
        run = store.run("2026-12-02T01:00:00Z", None, process=os.getpid())
        store.sample(run, 1)
        store.sql.commit()
        child = subprocess.Popen([sys.executable, SCRIPT, self.out, "--tensorboard", self.events, "--follow"])
        timer = threading.Timer(25, child.kill)
        timer.start()
        while not (self.events.is_dir() and self.runs()):
            time.sleep(0.05)
        store.sample(run, 2)
        store.sql.commit()
        time.sleep(1.5)
        self.assertIsNone(child.poll())
        store.sample(run, 3)
        store.sql.execute("UPDATE runs SET ended = '2026-12-02T01:00:03Z'")
        store.close()
        self.assertEqual(child.wait(), 0)
        timer.cancel()
        self.assertEqual([step for _, step, _ in self.scalars(self.runs()[0], "run/features")], [1, 2, 3])


if __name__ == "__main__":
    SCRIPT, DSAFUZZ = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
