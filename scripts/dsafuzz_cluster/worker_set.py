"""One slice of one worker set's work, on the node where Ray has put it: `dsafuzz fuzz` in a folder of its own.

The folder stays on the node between slices. It takes in what the other sets have found before each slice, and gives
what is new after it. What it gave counts as given only once the driver says that it is on its disk.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import bundle, campaign_folder

# The child ends with the process that started it, as when Ray ends a worker; `exec` keeps this.
_BOUND_CHILD = (
    "import ctypes, os, signal, sys\n"
    "ctypes.CDLL(None).prctl(1, signal.SIGTERM)\n"
    "os.getppid() == int(sys.argv[1]) or sys.exit(3)\n"
    "try:\n    os.execvp(sys.argv[2], sys.argv[2:])\n"
    "except OSError as error:\n    print(f'{sys.argv[2]}: {error.strerror}', file=sys.stderr)\n    sys.exit(3)\n"
)
_KEPT = 7 * 86400.0  # seconds that a run's folder stays on a node after its last slice
PAUSE = 3.0  # seconds, times the tries before: what a lost worker has started needs a moment to end
_GRACE = 60.0  # seconds for a search to end in good order after it was told to


def instance_name(shard, node):
    """Of a worker set's folder on a node: "s03-1a2b3c4d". `node` is Ray's id of the node."""
    return f"s{shard:02d}-{node[:8]}"


class _Memory:
    """What the folder has given and been given: groups (campaign_folder.group_of) and names of offers."""

    def __init__(self, folder):
        self._path = folder / "exchange.json"
        try:
            self.state = json.loads(self._path.read_text())
        except (OSError, ValueError):
            self.state = {"known": [], "fetched": [], "sent": {}}

    def save(self):
        campaign_folder.write_file(self._path, json.dumps(self.state).encode())

    def acknowledge(self, numbers):
        for number in list(self.state["sent"]):
            groups = self.state["sent"].pop(number)
            if int(number) in numbers:
                self.state["known"] += groups


def _take_in(folder, memory, offers, exchange, instance):
    """Writes what others found; returns the bytes fetched."""
    fetched, total = set(memory.state["fetched"]), 0
    for name, source, reference in offers:
        if name in fetched or source == instance:
            continue
        data = exchange.fetch(reference)
        total += len(data)
        _, files = bundle.unpack(data)
        campaign_folder.write_files(folder, files)
        memory.state["known"] += sorted({campaign_folder.group_of(path) for path in files})
        memory.state["fetched"].append(name)
    return total


def _forget_old_runs(work, run):
    for folder in work.iterdir():
        if folder.name != run and folder.is_dir() and time.time() - folder.stat().st_mtime > _KEPT:
            shutil.rmtree(folder, ignore_errors=True)


def _run(words, seconds, log):
    """(exit code or None where it had to be ended, standard output)."""
    command = [sys.executable, "-c", _BOUND_CHILD, str(os.getpid()), *words]
    with tempfile.TemporaryFile() as out, open(log, "wb") as err:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            try:
                code = child.wait(seconds)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGTERM)
                code = None
                child.wait(_GRACE)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        out.seek(0)
        return code, out.read(64 << 20)


def _last_line(path):
    lines = path.read_bytes()[-4000:].decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")[:500]


def _summary(output):
    """(executions, problems) of the program's JSON; None: it has printed none."""
    try:
        said = json.loads(output)
        executions = sum(int(row["executions"]) for row in said["scenarios"])
        return executions, "; ".join(str(problem) for problem in said["problems"])[:2000]
    except (ValueError, KeyError, TypeError):
        return None


def run_slice(order, offers, exchange, node):
    """Runs the order's slice and returns what exchange.give() made of its bundle. Does not raise for the program's
    failures: they are facts.

    order: run, shard, number, seconds, seed, device, jobs, program (words), scenarios {name: bytes}, arguments (words),
    work (folder on the node), tries (before this one), stored ({instance: numbers of its slices that are on the
    driver's disk}).
    offers: [(name, source, reference)]. node: Ray's id of this node.
    """
    began = time.monotonic()
    instance = instance_name(order["shard"], node)
    work = pathlib.Path(order["work"] or os.path.join(tempfile.gettempdir(), f"dsafuzz-cluster-{os.getuid()}"))
    os.makedirs(work, mode=0o700, exist_ok=True)
    if os.lstat(work).st_uid != os.getuid():
        raise PermissionError(f"{work} belongs to someone else; choose another folder with --work")
    home = work / order["run"] / instance
    folder = home / "out"
    for path in (home, folder, home / "scenarios"):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, content in order["scenarios"].items():
        campaign_folder.write_file(home / "scenarios" / f"{name}.yaml", content)
    os.utime(work / order["run"])
    _forget_old_runs(work, order["run"])
    memory = _Memory(home)
    memory.acknowledge(order["stored"].get(instance, []))
    fetched = _take_in(folder, memory, offers, exchange, instance)
    memory.save()
    took_in = time.monotonic()
    words = [*order["program"], "fuzz", *(str(home / "scenarios" / f"{name}.yaml") for name in sorted(order["scenarios"])),
             "--out", str(folder), "--seconds", f"{order['seconds']:g}", "--seed", str(order["seed"]), "--jobs",
             str(order["jobs"]), "--device", order["device"], "--json", *order["arguments"]]
    log = home / "fuzz.log"
    time.sleep(min(30, PAUSE * order["tries"]))
    problem, output = "", b""
    try:
        # Examining what was met may take longer than the search; an hour is more than any slice needs.
        code, output = _run(words, order["seconds"] + 3600, log)
        if code is None:
            problem = "it did not end and was told to"
        elif code not in (0, 1):
            problem = f"exit code {code}: {_last_line(log)}"
    except OSError as error:
        problem = str(error)
    ran = time.monotonic()
    summary = _summary(output)
    if summary is None and not problem:
        problem = f"{order['program'][0]} has said nothing of its search"
    executions, problems = summary or (0, "")
    files, left_out = campaign_folder.new_files(folder, set(memory.state["known"]))
    memory.state["sent"][str(order["number"])] = sorted({campaign_folder.group_of(path) for path in files})
    memory.save()
    facts = {"shard": order["shard"], "number": order["number"], "instance": instance, "node": node,
             "executions": executions, "problem": problem, "problems": "; ".join([problems, *left_out]).strip("; "),
             "fetched_bytes": fetched, "took_in_seconds": took_in - began, "ran_seconds": ran - took_in,
             "seconds": time.monotonic() - began}
    return exchange.give(f"{instance}-r{order['number']:05d}", bundle.pack(facts, files))
