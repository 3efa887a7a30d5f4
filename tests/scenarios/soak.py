#!/usr/bin/env python3
"""A long run with faults injected: does dsafuzz lose what it has recorded, does it grow, does it leave things behind?

    python3 tests/scenarios/soak.py --minutes 30

Three parts, each with its share of the time:
  steady  one campaign goes on while its workers and engines are killed and its database is locked: is the
          supervisor's memory flat, are its open files and processes as at first?
  killed  the supervisor itself is killed again and again, and started again in the same folder
  full    the folder lies on a small file system, which is filled up and emptied again (as root; else skipped)
After each fault everything recorded before is still there, byte for byte. Prints the figures; exit code 1 if one is
not as it should be. `--seed` makes the faults' order the same again.
"""
import argparse
import contextlib
import pathlib
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import program

SCENARIOS = ["linear_cross_entropy", "embedding", "gather", "segmentation_cross_entropy"]
GROWTH_LIMIT = 1.10
STEADY, KILLED = 0.6, 0.25  # shares of the time; the rest is for the full disk


def recorded(out):
    """What must survive: the files of findings, by path. A finding is written whole and never again."""
    return {path.relative_to(out): path.read_bytes() for path in (out / "findings").glob("*/*")
            if not path.parent.name.startswith(".")} if (out / "findings").is_dir() else {}


def status(pid):
    """(resident KiB, open files) of a process; None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        resident = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:"))
        return resident, len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
    except (OSError, StopIteration):
        return None


class Soak:
    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.folder = folder
        self.out = folder / "out"
        self.lost, self.failures, self.faults, self.kept = 0, [], {}, {}
        self.scenarios = [program.SCENARIOS / f"{name}.yaml" for name in SCENARIOS]

    def start(self, seconds, out):
        return program.start("fuzz", *self.scenarios, "--seconds", int(seconds), "--jobs", 2, "--no-run", "--out", out,
                             "--seed", self.random.randrange(1 << 30))

    def fault(self, name):
        self.faults[name] = self.faults.get(name, 0) + 1

    def check(self, holds, what):
        if not holds:
            self.failures.append(what)
            print(f"soak: FAILED: {what}", flush=True)

    def check_recorded(self, out, when):
        """Everything seen before is there and unchanged; then what is new is remembered."""
        now = recorded(out)
        gone = [str(path) for path, content in self.kept.items() if now.get(path) != content]
        self.lost += len({pathlib.Path(path).parts[1] for path in gone})
        self.check(not gone, f"{when}: lost or changed: {gone[:3]}")
        self.kept = now

    def check_database(self, out, when):
        with contextlib.closing(sqlite3.connect(out / "campaign.db", timeout=30)) as database:
            self.check(database.execute("PRAGMA integrity_check").fetchone()[0] == "ok", f"{when}: the database")
            names = {name for name, in database.execute("SELECT name FROM signatures")}
        folders = {path.parts[1] for path in self.kept}
        self.check(folders <= names, f"{when}: not in the database: {sorted(folders - names)[:3]}")

    def end(self, running, when, patience=90):
        running.send(signal.SIGTERM)
        ended = running.wait(time.monotonic() - running._start + patience)
        left = running.orphans()
        self.check(not left, f"{when}: processes left: {left}")
        return ended

    def kill_one(self, running, engine):
        chosen = [p for p in running.processes().values() if p.pid != running.pid
                  and (p.is_engine if engine else p.name == "dsafuzz-worker")]
        if chosen:
            victim = self.random.choice(chosen)
            with contextlib.suppress(ProcessLookupError):
                program.os.kill(victim.pid, signal.SIGKILL)
            self.fault("engine killed" if engine else "worker killed")

    def lock_database(self, seconds):
        with contextlib.closing(sqlite3.connect(self.out / "campaign.db", timeout=5, isolation_level=None)) as database:
            with contextlib.suppress(sqlite3.OperationalError):
                database.execute("BEGIN IMMEDIATE")
                time.sleep(seconds)
                database.execute("ROLLBACK")
                self.fault("database locked")

    def steady(self, seconds):
        running = self.start(seconds + 3600, self.out)
        end = time.monotonic() + seconds
        samples, next_fault, engines_left = [], time.monotonic() + 5, max(1, int(seconds // 120))
        while time.monotonic() < end and not running.is_over():
            time.sleep(0.5)
            if sample := status(self.supervisor(running)):
                samples.append((*sample, len(running.processes())))
            if time.monotonic() < next_fault:
                continue
            next_fault = time.monotonic() + self.random.uniform(2, 6)
            kind = self.random.random()
            if kind < 0.6:
                self.kill_one(running, engine=False)
            elif kind < 0.7 and engines_left > 0:
                engines_left -= 1  # an engine is started again a few times only
                self.kill_one(running, engine=True)
            else:
                self.lock_database(self.random.uniform(0.5, 3))
            self.check_recorded(self.out, "steady")
        self.check(not running.is_over(), "the campaign ended before its time")
        self.end(running, "steady")
        self.check_recorded(self.out, "after the steady part")
        self.check_database(self.out, "after the steady part")
        self.measure(samples)

    @staticmethod
    def supervisor(running):
        return running.pid  # scripts/dsafuzz becomes the program

    def measure(self, samples):
        # The first quarter is for starting: workers, buffers, the first findings.
        rest = samples[len(samples) // 4:]
        third = max(1, len(rest) // 3)
        first, last = rest[:third], rest[-third:]
        memory = [statistics.median(s[0] for s in part) for part in (first, last)]
        # Files and processes come and go with what is examined: what piles up is there in quieter moments too.
        files, processes = ([sorted(s[at] for s in part)[len(part) // 10] for part in (first, last)]
                            for at in (1, 2))
        print(f"soak: supervisor's memory {memory[0] / 1024:.1f} MiB at first, {memory[1] / 1024:.1f} MiB at last "
              f"({memory[1] / memory[0]:.3f} times); open files {files[0]:.0f} and {files[1]:.0f}; processes "
              f"{processes[0]:.0f} and {processes[1]:.0f}", flush=True)
        self.check(memory[1] <= memory[0] * GROWTH_LIMIT, "the supervisor's memory grew")
        self.check(files[1] <= files[0] + 2, "files stay open")  # a candidate or the database may be open just then
        # In a short run the examiner may be at work in the last part only: a zygote, a worker and a spare on two devices.
        self.check(processes[1] <= processes[0] + 6, "processes pile up")

    def killed(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            running = self.start(3600, self.out)
            until = time.monotonic() + self.random.uniform(1.5, 12)
            while time.monotonic() < until and not running.is_over():
                time.sleep(0.2)
            self.check(not running.is_over(), "the campaign ended before its time")
            before = recorded(self.out)
            program.end_session(running.pid) if self.random.random() < 0.3 else running.send(signal.SIGKILL)
            running.wait(3600)
            left = running.orphans()
            self.check(not left, f"killed: processes left: {left}")
            self.fault("supervisor killed")
            self.kept.update(before)
            self.check_recorded(self.out, "supervisor killed")
        running = self.start(3, self.out)  # resumes what waits, and ends by itself
        ended = running.wait(900)
        self.check(ended.code == 1, f"the last run: {ended}")
        self.check_recorded(self.out, "after the kills")
        self.check_database(self.out, "after the kills")

    def full(self, seconds):
        mount = self.folder / "small"
        mount.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", mount], capture_output=True)
        if made.returncode != 0:
            print("soak: the full disk is skipped: a small file system cannot be mounted here (needs root)")
            return
        try:
            self.kept, out, ballast = {}, mount / "out", mount / "ballast"
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                running = self.start(3600, out)
                time.sleep(self.random.uniform(3, 8))
                before = recorded(out)
                with contextlib.suppress(OSError), ballast.open("wb") as file:
                    while True:
                        file.write(b"\0" * (1 << 16))
                self.fault("disk full")
                time.sleep(self.random.uniform(2, 5))
                over = running.is_over()
                ended = running.wait(10) if over else self.end(running, "disk full")
                self.check(ended.code in (1, 3) and "terminate" not in ended.err, f"on a full disk: {ended}")
                self.kept.update(before)
                self.check_recorded(out, "disk full")
                ballast.unlink()
            ended = self.start(3, out).wait(900)
            self.check(ended.code == 1, f"space again: {ended}")
            self.check_recorded(out, "after the full disk")
            self.check_database(out, "after the full disk")
        finally:
            subprocess.run(["umount", "-l", mount], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seconds = options.minutes * 60
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-soak-"))
    soak = Soak(options.seed, folder)
    print(f"soak: {options.minutes:g} minutes, seed {options.seed}, {len(soak.scenarios)} scenarios", flush=True)
    try:
        soak.steady(seconds * STEADY)
        soak.killed(seconds * KILLED)
        soak.full(seconds * (1 - STEADY - KILLED))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    faults = ", ".join(f"{count} {name}" for name, count in sorted(soak.faults.items()))
    print(f"soak: faults: {faults}\nsoak: recorded findings lost: {soak.lost}; failures: {len(soak.failures)}")
    return 1 if soak.failures or soak.lost else 0


if __name__ == "__main__":
    sys.exit(main())
