"""Nights of fuzzing: what is new, known and gone; what is accepted; what a killed night leaves; what a bad file says."""
import contextlib
import pathlib
import re
import shutil
import signal
import sqlite3
import time

import program

STEPS = ["regress", "known", "fuzz", "merge", "coverage", "matrix", "prune"]


class NightlyTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        shutil.copy(program.SCENARIOS / "linear_cross_entropy.yaml", self.folder)

    def configure(self, *lines, runs=600):
        return self.write("night.yaml", "\n".join([
            "nightly: trial", "scenarios: [linear_cross_entropy.yaml]", f"runs: {runs}", "out: out",
            "run_reproducers: false", "coverage: false", "matrix: false", *lines, ""]))

    def night(self, config, code, **options):
        return self.run_program("nightly", config, code=code, **options)

    def rows(self, query, *values):
        with contextlib.closing(sqlite3.connect(self.out / "campaign.db")) as database:
            return database.execute(query, values).fetchall()

    def states(self, run):
        return dict(self.rows("SELECT s.name, f.state FROM run_findings f JOIN signatures s ON s.id = f.signature "
                              "WHERE f.run = ?", run))

    def finding_names(self):
        return sorted(path.name for path in (self.out / "findings").iterdir())

    def test_new_then_known_then_gone_then_back(self):
        config = self.configure()
        first = self.night(config, 1)
        found = self.finding_names()
        self.assertGreaterEqual(len(found), 1)
        self.assertEqual(self.states(1), dict.fromkeys(found, "new"), str(first))
        self.assertIn("\nNew:\n", first.out)

        second = self.night(config, 0)
        self.assertEqual({name: state for name, state in self.states(2).items() if name in found},
                         dict.fromkeys(found, "known"), str(second))
        self.assertEqual([seed for seed, in self.rows("SELECT seed FROM runs ORDER BY id")], ["1", "2"])

        # The bug is mended: what the finding holds no longer fails.
        case = self.out / "findings" / found[0] / "case.yaml"
        failing = case.read_text()
        self.assertRegex(failing, "labels: .*fill: [0-9-]+}")
        case.write_text(re.sub("(labels: .*fill: )[0-9-]+}", r"\g<1>0}", failing))
        third = self.night(config, 0)
        self.assertEqual(self.states(3)[found[0]], "gone", str(third))
        self.assertIn("\nGone:\n", third.out)
        self.assertIn(found[0], third.out)
        fourth = self.night(config, 0)
        self.assertNotIn(found[0], self.states(4), "gone is said once")
        self.assertNotIn("\nGone:\n", fourth.out)
        case.write_text(failing)
        fifth = self.night(config, 1)
        self.assertEqual(self.states(5)[found[0]], "new", f"what comes back is news: {fifth}")

    def test_a_baseline_accepts(self):
        config = self.configure("baseline: accepted.yaml")
        self.night(config, 1)
        self.night(config, 1)  # known, and nobody has accepted it
        accepted = self.run_program("nightly", config, "--accept")
        self.assertRegex(accepted.out, r"^[1-9]\d* more accepted in ")
        baseline = (self.folder / "accepted.yaml").read_text()
        for name in self.finding_names():
            self.assertIn(name, baseline)
        self.night(config, 0)
        # A reason that a person writes survives.
        text = baseline.replace("    bug:", "    why: \"next release\"\n    bug:", 1)
        self.write("accepted.yaml", text)
        self.run_program("nightly", config, "--accept")
        self.assertIn("next release", (self.folder / "accepted.yaml").read_text())

    def test_regressions_come_first_and_count(self):
        shutil.copytree(program.ROOT / "corpus/regressions/cross_entropy_label_equals_classes", self.folder / "cases/good")
        shutil.copytree(self.folder / "cases/good", self.folder / "cases/bad")
        self.write("cases/bad/expect.yaml", "verdict: ok\n")
        ended = self.night(self.configure("regressions: [cases]", "baseline: b.yaml", runs=1), 1)
        self.assertIn("bad: expected ok, seen device_assert", ended.out)
        self.assertIn("1 of 2 regression cases differ", ended.out)
        self.assertEqual(dict(self.rows("SELECT name, status FROM regressions")),
                         {"good": "as_expected", "bad": "differs"})

    def test_coverage_and_matrix_are_recorded(self):
        config = self.configure(runs=50)
        config.write_text(config.read_text().replace("coverage: false\nmatrix: false\n", ""))
        self.night(config, None)
        sites = self.rows("SELECT count(*), sum(triggered) FROM sites")[0]
        self.assertEqual(sites[0], 68)  # what `coverage` calls the catalogue's sites
        self.assertGreaterEqual(sites[1], 1)
        cells = self.rows("SELECT c.device, c.verdict FROM parity_cells c WHERE c.id = 'U01'")
        self.assertEqual(dict(cells), {"cpu": "host_reject", "vcuda": "device_assert"})  # as in the catalogue
        self.assertEqual([name for name, in self.rows("SELECT name FROM run_steps ORDER BY at, rowid")], STEPS)

    def test_two_at_once_are_kept_apart(self):
        config = self.configure(runs=0)
        config.write_text(config.read_text().replace("runs: 0", "seconds: 20"))
        first = self.start("nightly", config)
        self.wait_for_step("fuzz", first)
        second = self.night(config, 3)
        self.assertIn(f"another nightly run uses this folder (process {first.pid})", second.err)
        first.send(signal.SIGTERM)
        stopped = first.wait(60)
        self.assertIn("the next nightly run completes it", stopped.out)

    def wait_for_step(self, name, running, after=0, patience=60):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            try:
                if self.rows("SELECT 1 FROM run_steps WHERE name = ? AND run > ?", name, after):
                    return
            except sqlite3.Error:
                pass  # not there yet
            self.assertFalse(running.is_over(), "ended before its time")
            time.sleep(0.02)
        self.fail(f"step {name} did not begin")

    def test_a_killed_night_is_completed(self):
        config = self.configure(runs=3000)
        for step in ("fuzz", "known"):
            with self.subTest(step):
                last = self.rows("SELECT max(id) FROM runs")[0][0] if self.out.exists() else 0
                running = self.start("nightly", config)
                self.wait_for_step(step, running, after=last)
                if step == "fuzz":
                    time.sleep(2)  # into the search
                program.end_session(running.pid)
                running.wait(10)
                self.assertEqual(running.orphans(), [])
                before = set(self.finding_names()) if (self.out / "findings").is_dir() else set()
                run = self.rows("SELECT max(id) FROM runs")[0][0]
                self.assertIsNone(self.rows("SELECT ended FROM runs WHERE id = ?", run)[0][0])
                ended = self.night(config, None)
                self.assertIn(ended.code, (0, 1), str(ended))
                self.assertIn("completing a run that was cut off", ended.err)
                row = self.rows("SELECT ended, interrupted FROM runs WHERE id = ?", run)[0]
                self.assertIsNotNone(row[0])
                self.assertEqual(row[1], 1)
                undone = self.rows("SELECT name FROM run_steps WHERE run = ? AND seconds IS NULL", run)
                self.assertEqual(undone, [])
                self.assertEqual({name for name, in self.rows("SELECT name FROM run_steps WHERE run = ?", run)},
                                 set(STEPS))
                recorded = {name for name, in self.rows(
                    "SELECT name FROM signatures WHERE id IN (SELECT signature FROM run_findings)")}
                self.assertLessEqual(before, recorded)
                self.assertEqual(recorded, set(self.finding_names()), "every finding's folder is recorded")

    def test_a_database_that_cannot_be_used(self):
        config = self.configure(runs=200)
        self.night(config, 1)
        findings = {path: path.read_bytes() for path in (self.out / "findings").rglob("*") if path.is_file()}
        database = self.out / "campaign.db"
        good = database.read_bytes()

        def newer():
            with contextlib.closing(sqlite3.connect(database)) as connection:
                connection.execute("PRAGMA user_version = 99")

        damages = {
            "is damaged": lambda: database.write_bytes(b"this is no database, it only looks like a file" * 100),
            "damaged": lambda: database.write_bytes(good[:4096] + b"\xff" * 8192 + good[12288:]),
            "written by a newer dsafuzz: its schema is 99": newer,
            "cannot be opened": lambda: (database.unlink(), database.mkdir()),
        }
        for said, damage in damages.items():
            with self.subTest(said):
                damage()
                content = database.read_bytes() if database.is_file() else None
                for command in (["nightly", config], ["fuzz", self.folder / "linear_cross_entropy.yaml", "--runs", 10,
                                                      "--no-run", "--out", self.out]):
                    ended = self.run_program(*command, code=3)
                    self.assertIn(said, ended.err, str(ended))
                    self.assertEqual(len(ended.err.strip().splitlines()[-1:]), 1)
                if content is not None:
                    self.assertEqual(database.read_bytes(), content, "the file is as it was")
                for path, was in findings.items():
                    self.assertEqual(path.read_bytes(), was)
                if database.is_dir():
                    database.rmdir()
                for name in ("campaign.db", "campaign.db-wal", "campaign.db-shm"):
                    pathlib.Path(self.out / name).unlink(missing_ok=True)
                database.write_bytes(good)
        # Without it, history is gone and findings are not: they are replayed, and known.
        database.unlink()
        ended = self.night(config, 0)
        self.assertIn("Known, and still there:", ended.out)

    def test_a_locked_database_does_not_stop_the_search(self):
        scenario = self.folder / "linear_cross_entropy.yaml"
        running = self.start("fuzz", scenario, "--runs", 6000, "--no-run", "--out", self.out)
        until = time.monotonic() + 60
        while not (self.out / "campaign.db").exists() or not list((self.out / "findings").glob("*")):
            self.assertLess(time.monotonic(), until)
            self.assertFalse(running.is_over())
            time.sleep(0.02)
            if (self.out / "candidates").is_dir() and any((self.out / "candidates").iterdir()):
                break
        lock = sqlite3.connect(self.out / "campaign.db", timeout=20, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        time.sleep(4)
        self.assertFalse(running.is_over() and not self.finding_names())
        lock.execute("ROLLBACK")
        lock.close()
        ended = running.wait(120)
        self.assertEqual(ended.code, 1, str(ended))
        self.assertNotIn("not recorded", ended.out)
        recorded = {name for name, in self.rows("SELECT name FROM signatures")}
        self.assertEqual(recorded, set(self.finding_names()))
        self.assertIsNotNone(self.rows("SELECT ended FROM runs")[0][0])

    def test_prune_keeps_what_matters(self):
        config = self.configure("keep: {runs: 2}", runs=100)
        for _ in range(3):
            self.night(config, None)
        self.assertEqual([run for run, in self.rows("SELECT id FROM runs ORDER BY id")], [2, 3])
        found = self.finding_names()
        would = self.run_program("prune", self.out, "--runs", 1, "--dry-run")
        self.assertRegex(would.out, "^1 runs, .* would be removed")
        self.run_program("prune", self.out, "--runs", 1)
        self.assertEqual([run for run, in self.rows("SELECT id FROM runs")], [3])
        self.assertEqual(self.finding_names(), found)
        ended = self.night(config, 0)  # what was found in a run that is gone is not new
        self.assertNotIn("\nNew:\n", ended.out)

    def test_mistakes_in_the_file(self):
        good = self.configure().read_text()
        rows = [
            ("nightly: trial\n", "", ":1:", "the run has no name"),
            ("scenarios: [linear_cross_entropy.yaml]\n", "", ":1:", "no scenario is given"),
            ("linear_cross_entropy.yaml", "missing.yaml", ":2:", "missing.yaml' is not there"),
            ("runs: 600", "runs: 0", ":1:", "the search would never end"),
            ("runs: 600", "runs: -1", ":3:", "runs"),
            ("runs: 600", "runs: many", ":3:", "runs"),
            ("out: out", "out: [a, b]", ":4:", "out"),
            ("out: out\n", "", ":1:", "there is no folder"),
            ("out: out", "out: out\ndevices: [gpu]", ":5:", "gpu"),
            ("out: out", "out: out\ndevices: [vcuda, vcuda:0]", ":5:", "twice"),
            ("out: out", "out: out\ndevices: []", ":5:", "no device"),
            ("out: out", "out: out\nkeep: {weeks: 3}", ":5:", "weeks"),
            ("out: out", "out: out\nreport: {pdf: x}", ":5:", "pdf"),
            ("out: out", "out: out\nregressions: [nowhere]", ":5:", "nowhere' is not there"),
            ("out: out", "out: out\nseconds: .nan", ":5:", "seconds"),
            ("out: out", "out: out\njobs: 0", ":5:", "jobs"),
            ("out: out", "out: out\nout: again", ":5:", "out"),
            ("out: out", "out: out\nfrequency: daily", ":5:", "frequency"),
            (good, "[]", ":1:", "a nightly run"),
            (good, "", "", ""),
        ]
        for old, new, place, said in rows:
            with self.subTest(new or f"without {old[:20]!r}"):
                self.assertIn(old, good)
                ended = self.night(self.write("bad.yaml", good.replace(old, new)), 2)
                self.assertIn("bad.yaml" + place, ended.err)
                self.assertIn(said, ended.err)
                self.assertEqual(len(ended.err.strip().splitlines()), 1, ended.err)
        self.write("b.yaml", "accepted:\n  - bug: x\n")
        ended = self.night(self.configure("baseline: b.yaml"), 2)
        self.assertIn("b.yaml:2:", ended.err)
        self.assertFalse(self.out.exists(), "nothing ran")


if __name__ == "__main__":
    program.unittest.main()
