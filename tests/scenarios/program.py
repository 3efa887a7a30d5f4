"""Runs scripts/dsafuzz as a user does, each time in a session of its own with a deadline, and sees its processes.

Every process that the program starts stays in the session, so the session's id tells which processes are ours: nothing
else is ever signalled.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "dsafuzz"
SCENARIOS = ROOT / "scenarios"
HAS_GPU = os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")


class Process:
    """One line of /proc, as it was when it was read."""

    def __init__(self, pid, parent, session, state, words):
        self.pid, self.parent, self.session, self.state, self.words = pid, parent, session, state, words

    def __repr__(self):
        return f"{self.pid} (parent {self.parent}) {' '.join(self.words)[:120]}"

    @property
    def name(self):
        return os.path.basename(self.words[0]) if self.words else ""

    @property
    def is_engine(self):
        return self.name == "dsafuzz" and self.words[1:2] == ["engine"]


def read_process(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return None  # it has ended
    fields = stat[stat.rindex(")") + 2:].split()
    return Process(pid, int(fields[1]), int(fields[3]), fields[0], words)


def session_processes(session):
    """The living processes of the session, by pid; zombies have ended."""
    found = [read_process(int(name)) for name in os.listdir("/proc") if name.isdigit()]
    return {p.pid: p for p in found if p and p.session == session and p.state not in "ZX"}


def is_below(processes, process, ancestor):
    while process:
        if process.parent == ancestor:
            return True
        process = processes.get(process.parent)
    return False


def end_session(session):
    for pid in session_processes(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def environment(extra=None):
    out = dict(os.environ, OMP_NUM_THREADS="1")
    out.update(extra or {})
    return out


class Ended:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __str__(self):
        return (f"exit code {self.code} after {self.seconds:.1f} s\n--- stdout\n{self.out[-3000:]}\n"
                f"--- stderr\n{self.err[-3000:]}")

    def json(self):
        return json.loads(self.out)

    def json_lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


class Running:
    """A program in progress. `words` is the whole command; its output goes to files, so it can never block."""

    def __init__(self, words, cwd=None, extra_environment=None):
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._start = time.monotonic()
        self._child = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=self._out,
                                       stderr=self._err, cwd=cwd, env=environment(extra_environment),
                                       start_new_session=True)

    @property
    def pid(self):
        return self._child.pid

    def processes(self):
        return session_processes(self.pid)

    def is_over(self):
        return self._child.poll() is not None

    def send(self, number):
        if not self.is_over():
            self._child.send_signal(number)

    def wait(self, deadline):
        """Ended, or an AssertionError once the deadline has passed; its processes are then ended."""
        try:
            code = self._child.wait(max(0.1, deadline - (time.monotonic() - self._start)))
        except subprocess.TimeoutExpired:
            end_session(self.pid)
            self._child.wait()
            raise AssertionError(f"{self._child.args} did not end within {deadline} s\n{self._ended(None)}") from None
        return self._ended(code)

    def _ended(self, code):
        texts = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return Ended(code, *texts, time.monotonic() - self._start)

    def orphans(self, patience=30.0):
        """What is left of the session; what is just ending gets the time to do so."""
        until = time.monotonic() + patience
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return list(left.values())


def start(*arguments, **options):
    return Running([SCRIPT, *arguments], **options)


def run(*arguments, deadline=120.0, **options):
    return start(*arguments, **options).wait(deadline)


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, `self.folder`, removed afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._started = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for program in self._started:
            end_session(program.pid)

    def start(self, *arguments, **options):
        program = start(*arguments, **options)
        self._started.append(program)
        return program

    def run_program(self, *arguments, code=0, deadline=120.0, **options):
        """Runs to the end and checks the exit code (None: any) and that no process is left."""
        program = self.start(*arguments, **options)
        ended = program.wait(deadline)
        if code is not None:
            self.assertEqual(ended.code, code, f"{arguments}: {ended}")
        self.assertEqual(program.orphans(), [], f"{arguments} left processes behind")
        return ended

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path
