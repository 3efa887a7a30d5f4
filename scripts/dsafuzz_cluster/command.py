"""The command line of scripts/cluster: from arguments to an exit code, 0 nothing found, 1 findings, 2 usage or input
error, 3 a problem of the environment."""
import argparse
import os
import pathlib
import re
import secrets
import signal
import subprocess
import sys
import time

from . import bundle, collector, driver, exchange, plan

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_NAME = re.compile(rb"^scenario:[ \t]*([a-z][a-z0-9_]{0,199})[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_DEVICE = re.compile(r"cpu|vcuda(:[0-9]+)?|cuda(:0)?")


class Refused(Exception):
    """One sentence for the user, and the exit code."""

    def __init__(self, words, code=2):
        super().__init__(words)
        self.code = code


def _number(least, most, kind=float):
    def parse(text):
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value

    parse.__name__ = f"number from {least:g} to {most:g}"
    return parse


def parser():
    p = argparse.ArgumentParser(
        prog="scripts/cluster", description="dsafuzz fuzz on several machines, by Ray: scripts/CLUSTER.md",
        epilog="Exit codes: 0 nothing found, 1 findings, 2 usage or input error, 3 environment problem.")
    p.add_argument("scenario", nargs="+", help="scenario files on this machine")
    p.add_argument("--out", required=True, help="folder for everything that is found; a later run resumes from it")
    p.add_argument("--seconds", type=_number(1, 1e9), default=600.0, help="search time of each worker set (600)")
    p.add_argument("--slice", type=_number(1, 86400), default=60.0,
                   help="seconds after which sets exchange what they have; a lost node loses no more (60)")
    p.add_argument("--address", help="a running cluster: auto, HOST:PORT or ray://HOST:PORT; default: this machine alone")
    p.add_argument("--device", default="vcuda", help="vcuda: a worker set for two CPUs; cuda: one for each GPU (vcuda)")
    p.add_argument("--sets", type=_number(1, 100_000, int), help="worker sets; default: as many as fit now")
    p.add_argument("--seed", type=_number(0, 2**64 - 1, int), default=1, help="the same seed gives the same plan (1)")
    p.add_argument("--jobs", type=_number(1, 256, int), default=1, help="engines in each worker set (1)")
    p.add_argument("--shared", help="a folder that all machines see under this name; default: Ray's object store")
    p.add_argument("--work", default="", help="folder on each node for its own output; default: the temporary folder")
    p.add_argument("--program", default=str(_ROOT / "scripts" / "dsafuzz"), help="dsafuzz, on every node")
    p.add_argument("--report", metavar="FILE", help="write the page of `dsafuzz report` at the end")
    p.add_argument("--redact", action="store_true", help="findings without a user's data, as `dsafuzz fuzz --redact`")
    p.add_argument("--no-run", action="store_true", help="write reproducers without running them")
    p.add_argument("--dry-run", action="store_true", help="print the plan and end")
    return p


def read_scenarios(program, files):
    """{name: content}. Refused: a file is no valid scenario, or two have one name."""
    checked = subprocess.run([program, "check", *files], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             check=False)
    if checked.returncode != 0:
        raise Refused(checked.stderr.strip() or f"{program} check failed", 2 if checked.returncode == 2 else 3)
    scenarios = {}
    for file in files:
        content = pathlib.Path(file).read_bytes()
        name = _NAME.search(content)
        if not name:
            raise Refused(f"{file}: is a case, not a scenario; `scenario: NAME` must stand on a line of its own")
        if name[1].decode() in scenarios:
            raise Refused(f"{file}: scenario '{name[1].decode()}' is given twice")
        scenarios[name[1].decode()] = content
    return scenarios


def connect(address):
    """Ray, connected. Nothing is reported to its makers."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if not address:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray's way to stay on the loopback address
    try:
        import ray
    except ImportError:
        raise Refused("Ray is not installed: .venv/bin/pip install -r requirements-more.txt", 3) from None
    try:
        if address:
            ray.init(address=address, log_to_driver=False, logging_level="warning")
        else:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="warning")
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        hint = "" if "RAY_AUTH_MODE" in os.environ or not address else "; if it wants a token, set RAY_AUTH_MODE=token"
        reason = f"{str(error).splitlines()[0]}{hint}"
        raise Refused(f"no Ray cluster at {address or 'this machine'}: {reason}", 3) from None
    return ray


def say(words):
    print(f"cluster: {words}", file=sys.stderr, flush=True)


def _merge(arguments, keeper):
    parts = keeper.parts()
    if not parts:
        keeper.merged()
        return
    words = [arguments.program, "merge", str(keeper.out), *parts, "--device", arguments.device]
    if subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode not in (0, 1):
        raise Refused(f"what was found lies in {keeper.parts_folder} and is not merged; the next run does it", 3)
    keeper.merged()


def _recover(arguments, keeper):
    """What a driver that was killed has left: in its parts, and in the shared folder of its run."""
    run = keeper.unfinished()
    if run is None and not keeper.parts():
        return
    say("an earlier run was cut off; its parts are merged first")
    shared = (run or {}).get("shared")
    if isinstance(shared, str) and shared:
        there = exchange.SharedFolder(shared)
        for answer in there.left():
            try:
                keeper.keep(there.take(answer), {})
            except (bundle.BadBundle, OSError) as error:
                say(f"{answer.decode()}: refused: {error}")
    _merge(arguments, keeper)


class _Stop:
    """Ctrl-C once: no new slices. Twice: the end, at once."""

    def __init__(self):
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        say("stopping when the slices that run have ended; Ctrl-C again ends at once and loses them")


def _search(arguments, scenarios, keeper):
    """Connects, plans, runs. Returns the driver's result; None for a dry run."""
    ray = None if arguments.dry_run and arguments.sets else connect(arguments.address)
    sets = arguments.sets or driver.sets_in(ray.cluster_resources(), arguments.device)
    if sets < 1:
        raise Refused("the cluster has no room for a worker set: it needs "
                      + ("a GPU and a CPU" if arguments.device.startswith("cuda") else "two CPUs"), 3)
    planned = plan.make_plan(scenarios, sets, arguments.seconds, min(arguments.slice, arguments.seconds),
                             arguments.seed)
    print(planned.text(), flush=True)
    if arguments.dry_run:
        return None
    run = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
    shared = os.path.join(os.path.abspath(arguments.shared), run) if arguments.shared else ""
    keeper.begin({"run": run, "shared": shared})
    order = {"run": run, "device": arguments.device, "jobs": arguments.jobs, "program": [arguments.program],
             "work": arguments.work, "arguments": ["--redact"] * arguments.redact + ["--no-run"] * arguments.no_run}
    stop = _Stop()
    way = exchange.SharedFolder(shared) if shared else exchange.ObjectStore()
    return driver.Driver(ray, planned, order, scenarios, way, keeper, say, lambda: stop.asked).run()


def _run(arguments):
    if not _DEVICE.fullmatch(arguments.device):
        raise Refused(f"--device: '{arguments.device}' is not vcuda, cpu or cuda; each worker set sees one GPU, cuda:0")
    if arguments.device == "cuda":
        arguments.device = "cuda:0"
    scenarios = read_scenarios(arguments.program, arguments.scenario)
    if arguments.dry_run:
        _search(arguments, scenarios, None)
        return 0
    keeper = collector.Collector(arguments.out)
    try:
        _recover(arguments, keeper)
        result = _search(arguments, scenarios, keeper)
        _merge(arguments, keeper)
        rate = result.executions / max(result.seconds, 1e-9)
        print(f"{result.executions} executions in {result.seconds:.0f} s ({rate:.0f}/s), {result.slices} slices, "
              f"{result.lost} lost and given again; {result.bytes_taken} bytes taken, {result.bytes_fetched} handed out")
        findings = keeper.finding_count()
        print(f"{findings} findings in {keeper.out / 'findings'}", flush=True)
        if arguments.report:
            words = [arguments.program, "report", str(keeper.out), "--html", arguments.report]
            if subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode not in (0, 1):
                raise Refused(f"no report was written to {arguments.report}", 3)
        if result.given_up:
            raise Refused("not all was searched: " + "; ".join(result.given_up)[:1000], 3)
        return 1 if findings else 0
    finally:
        keeper.close()


def main(words=None):
    arguments = parser().parse_args(words)
    try:
        return _run(arguments)
    except Refused as error:
        say(error)
        return error.code
    except (OSError, collector.Busy) as error:
        say(error)
        return 3
    except KeyboardInterrupt:
        say("ended; what was taken is in --out, and the next run merges it")
        return 130
