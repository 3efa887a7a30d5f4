"""How many executions reducers need for the same failing cases with the same oracle, and how small they get.

Usage: reduce_peers.py [--seconds S] [--build DIR] [SCENARIO...]

The cases are those that a short search of each scenario meets first. dsafuzz is compared with Hypothesis (a strategy
for the family of the case: its sizes, the elements of its integer tensors, which named arguments are given), Shrink
Ray (on the case's YAML text) and libFuzzer's -minimize_crash=1 (on its compact bytes). Every reducer asks
reduce_oracle or runs the same worker; only the same signature counts. A peer ends when it is done, or after S seconds.

Needs Python 3.12 with the packages of requirements.txt beside this file.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import hypothesis
import hypothesis.strategies as st
import trio
import yaml
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from shrinkray.problem import BasicReductionProblem
from shrinkray.reducer import ShrinkRay
from shrinkray.work import WorkContext

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ("linear_cross_entropy", "segmentation_cross_entropy", "gather", "index_select", "embedding",
             "advanced_index", "scatter", "binary_cross_entropy", "max_unpool2d", "multinomial", "embedding_bag",
             "use_after_free")


CONSTANTS = (0, 1, -1.0, 2.0, float("nan"))  # for floating tensors, in Hypothesis's family


class Oracle:
    """A worker that says which bug a case shows."""

    def __init__(self, build):
        self.process = subprocess.Popen([build / "bin" / "reduce_oracle"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, text):
        data = text.encode() if isinstance(text, str) else text
        self.process.stdin.write(b"%d\n%b" % (len(data), data))
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().strip()
        if not answer:
            sys.exit("the oracle ended")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Question:
    """Does a case show the wanted bug? Counts what ran (a text that is no case costs a reducer nothing)."""

    def __init__(self, oracle, wanted, seconds):
        self.oracle, self.wanted, self.executions = oracle, wanted, 0
        self.end = time.monotonic() + seconds
        self.answers = {}

    def shows(self, text):
        if text not in self.answers:
            answer = self.oracle.ask(text)
            self.executions += answer not in ("malformed", "empty")
            self.answers[text] = answer == self.wanted
        return self.answers[text]

    def late(self):
        return time.monotonic() >= self.end


def run(*command, code=(0,), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False, **options)
    if done.returncode not in code:
        sys.exit(f"{command[0]} ended with code {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return done


def size_of(text, dsafuzz, folder):
    """Steps and tensor elements of a case."""
    path = pathlib.Path(folder) / "measured.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    shown = json.loads(run(dsafuzz, "show", path, "--json").stdout)
    elements = 0
    for tensor in shown["tensors"]:
        count = 1
        for size in tensor["shape"]:
            count *= size
        elements += count
    return len(shown["steps"]), elements


def dsafuzz_reducer(text, question, tools):
    case = pathlib.Path(tools.folder) / "start.yaml"
    case.write_text(text)
    done = run(tools.dsafuzz, "reduce", case, "--no-run", "--start-runs", 1, "--out", tempfile.mkdtemp(dir=tools.folder), code=(1,))
    # The others take it for granted that the bug always shows, so it is not measured here either.
    executions = int(done.stderr.decode().split(" executions")[0].split()[-1])
    return done.stdout.decode(), executions


def shrink_ray(text, question, tools):
    async def main():
        async def interesting(data):
            await trio.lowlevel.checkpoint()
            return question.shows(data)

        problem = BasicReductionProblem(initial=text.encode(), is_interesting=interesting,
                                        work=WorkContext(random=random.Random(0), parallelism=1))
        with trio.move_on_after(tools.seconds):
            await ShrinkRay(target=problem).run()
        return problem.current_test_case

    return trio.run(main), question.executions


def count_of(shape, shapes):
    count = 1
    for extent in shape:
        count *= extent if isinstance(extent, int) else eval(str(extent), {"__builtins__": {}}, dict(shapes))
    return count


def family(case, choices):
    """Cases like this one: every size up to its own, any elements for integer tensors, constants or what it holds for
    the others, the steps as they are with any of their named arguments. The choices that make the case itself are
    appended to `choices`, in the order in which they are drawn."""
    plain = copy.deepcopy(case)
    shapes = plain.get("shapes", {})
    choices.extend(shapes.values())
    for name, tensor in plain["tensors"].items():
        if str(tensor["dtype"]).startswith(("int", "uint")):
            choices.extend(tensor["fill"])
        else:
            choices.append(len(CONSTANTS))
    for step in plain["steps"]:
        choices.extend(True for part in step.partition("(")[2].removesuffix(")").split(", ") if "=" in part)

    @st.composite
    def draw_case(draw):
        out = copy.deepcopy(plain)
        out["seed"] = 0
        for name, value in shapes.items():
            out["shapes"][name] = draw(st.integers(0, value))
        for tensor in out["tensors"].values():
            if str(tensor["dtype"]).startswith(("int", "uint")):
                count = count_of(tensor["shape"], out.get("shapes", {}))
                tensor.pop("set", None)
                tensor["fill"] = [draw(st.integers(-2**33, 2**33)) for _ in range(count)] or 0
                continue
            fill = draw(st.sampled_from([*CONSTANTS, None]))
            if fill is not None:
                tensor["fill"] = fill
                tensor.pop("set", None)
        for i, step in enumerate(out["steps"]):
            head, _, arguments = step.partition("(")
            parts = arguments.removesuffix(")").split(", ")
            kept = [part for part in parts if "=" not in part or draw(st.booleans())]
            out["steps"][i] = f"{head}({', '.join(kept)})"
        return out

    return draw_case()


def as_text(case):
    return yaml.safe_dump(case, sort_keys=False, width=100_000, default_flow_style=None)


def hypothesis_reducer(text, question, tools):
    """Starts from the case itself: the choices that draw it are what its database holds."""
    case = yaml.safe_load(run(tools.build / "bin" / "reduce_oracle", "--write-out", input=text.encode()).stdout)
    best = None

    def check(candidate):
        nonlocal best
        candidate_text = as_text(candidate)
        if question.late() or not question.shows(candidate_text):
            return False
        best = candidate_text if best is None else min(best, candidate_text, key=len)
        return True

    choices = []
    strategy = family(case, choices)
    database = InMemoryExampleDatabase()
    database.save(b"start.secondary", choices_to_bytes(choices))  # the primary ones it would not shrink
    settings = hypothesis.settings(max_examples=20_000, database=database, deadline=None, derandomize=False,
                                   phases=[hypothesis.Phase.reuse, hypothesis.Phase.shrink],
                                   suppress_health_check=list(hypothesis.HealthCheck))
    try:
        return as_text(hypothesis.find(strategy, check, settings=settings, database_key=b"start")), question.executions
    except (hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
        return best, question.executions


def minimize_crash(text, question, tools):
    folder = pathlib.Path(tempfile.mkdtemp(dir=tools.folder))
    start = run(tools.build / "bin" / "reduce_oracle", "--encode", input=text.encode()).stdout
    (folder / "start").write_bytes(start)
    environment = {**os.environ, "REDUCE_WANTED": question.wanted, "REDUCE_COUNT": str(folder / "count")}
    try:
        subprocess.run([tools.build / "bin" / "minimize_target", "-minimize_crash=1", "-runs=5000", "-seed=1",
                        "-max_total_time=20", f"-artifact_prefix={folder}/", folder / "start"], cwd=folder, check=False,
                       env=environment, capture_output=True, timeout=tools.seconds)
    except subprocess.TimeoutExpired:
        pass
    smallest = min((path for path in folder.iterdir() if path.name.startswith(("minimized-from", "start"))),
                   key=lambda path: path.stat().st_size)
    executions = struct.unpack("<Q", (folder / "count").read_bytes())[0]
    return run(tools.build / "bin" / "reduce_oracle", "--decode", input=smallest.read_bytes()).stdout.decode(), executions


REDUCERS = {"dsafuzz": dsafuzz_reducer, "Hypothesis": hypothesis_reducer, "Shrink Ray": shrink_ray,
            "-minimize_crash": minimize_crash}


def first_finding(scenario, tools):
    """The case that a short search of the scenario met first, as text, and its signature's name."""
    out = tempfile.mkdtemp(dir=tools.folder)
    run(tools.dsafuzz, "fuzz", ROOT / "scenarios" / f"{scenario}.yaml", "--runs", 2000, "--seed", 1, "--no-run", "--out",
        out, code=(1,))
    wanted = yaml.safe_load((ROOT / "scenarios" / f"{scenario}.yaml").read_text())["expect"]
    for folder in sorted(pathlib.Path(out, "findings").iterdir()):
        seen = json.loads((folder / "finding.json").read_text())["signature"]
        if seen["verdict"] == wanted["verdict"] and wanted.get("signature", seen["text"]) == seen["text"]:
            return (folder / "original.yaml").read_text(), folder.name
    sys.exit(f"{scenario}: the expected finding was not met")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=120, help="for one peer and case")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("scenario", nargs="*", default=SCENARIOS)
    tools = parser.parse_args()
    tools.dsafuzz = tools.build / "bin" / "dsafuzz"
    totals = {name: [] for name in REDUCERS}
    print("executions -> steps, elements")
    print(f"{'scenario':<28}{'start':>12}" + "".join(f"{name:>22}" for name in REDUCERS))
    with tempfile.TemporaryDirectory(prefix="dsafuzz-peers-") as tools.folder:
        for scenario in tools.scenario:
            text, wanted = first_finding(scenario, tools)
            steps, elements = size_of(text, tools.dsafuzz, tools.folder)
            line = f"{scenario:<28}{f'{steps}, {elements}':>12}"
            for name, reducer in REDUCERS.items():
                oracle = Oracle(tools.build)
                question = Question(oracle, wanted, tools.seconds)
                assert question.shows(text)
                question.executions = 0
                begin = time.monotonic()
                minimal, executions = reducer(text, question, tools)
                took = time.monotonic() - begin
                if minimal is None or oracle.ask(minimal) != wanted:
                    line += f"{'nothing':>22}"
                else:
                    steps, elements = size_of(minimal, tools.dsafuzz, tools.folder)
                    totals[name].append((executions, elements))
                    late = "*" if took >= tools.seconds - 1 else ""
                    line += f"{f'{executions}{late} -> {steps}, {elements}':>22}"
                oracle.close()
            print(line, flush=True)
    print(f"{'median':<40}" + "".join(
        f"{f'{statistics.median(e for e, _ in rows):g} -> {statistics.median(n for _, n in rows):g}':>22}"
        for rows in totals.values() if rows))
    print(f"* ended by the limit of {tools.seconds:g} s")


if __name__ == "__main__":
    main()
