"""How long a search takes to trigger every assert that scenarios declare, from legal inputs only, and what coverage
feedback and structured mutation are worth.

Usage: time_to_site.py [--seeds N] [--cap SECONDS] [--jobs N] [--methods NAMES] [SCENARIO...]

Each method searches all scenarios that expect a device assert once a seed, and stops a scenario when its assert is met
or after `cap` seconds of its own. A scenario that is not met counts with the cap, so ratios are lower bounds. Prints a
table; the figures of one run are comparable with each other only.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
METHODS = {"usual": [], "without feedback": ["--no-feedback"], "bytes": ["--bytes"]}


def expects_assert(path):
    return re.search(r"^\s+verdict: device_assert\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def search(scenarios, seed, cap, jobs, flags):
    """Wall seconds of the whole search, and for each scenario its seconds until the assert (None: not met)."""
    # The limit of a campaign is shared by the engines that wait for their turn.
    total = cap * max(1.0, len(scenarios) / jobs)
    with tempfile.TemporaryDirectory(prefix="dsafuzz-bench-") as out:
        begin = time.monotonic()
        done = subprocess.run([ROOT / "scripts" / "dsafuzz", "fuzz", *scenarios, "--seeds", ROOT / "corpus" / "seeds",
                               "--from-legal", "--until-expected", "--search-only", "--jobs", str(jobs), "--seed",
                               str(seed), "--seconds", str(total), "--json", "--out", out, *flags],
                              capture_output=True, text=True, check=False)
        wall = time.monotonic() - begin
    if done.returncode not in (0, 1):
        sys.exit(f"dsafuzz ended with code {done.returncode}:\n{done.stderr[-2000:]}")
    return wall, {s["name"]: s["expected_after"] for s in json.loads(done.stdout)["scenarios"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cap", type=float, default=10.0, help="seconds for one scenario")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS), help="names, comma-separated")
    parser.add_argument("scenario", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    scenarios = arguments.scenario or sorted(
        path for path in (ROOT / "scenarios").glob("*.yaml") if not path.stem.endswith("_healthy"))
    scenarios = [path for path in scenarios if expects_assert(path)]
    print(f"{len(scenarios)} scenarios, {arguments.seeds} seeds, at most {arguments.cap:g} s of search each, "
          f"{arguments.jobs} at once")
    print(f"{'method':<18}{'met':>12}{'median wall s':>15}{'search s, all sites':>21}{'slowest site':>34}")
    base = None
    for name in arguments.methods.split(","):
        walls, sums, met, slowest = [], [], [], ("", 0.0)
        for seed in range(1, arguments.seeds + 1):
            wall, after = search(scenarios, seed, arguments.cap, arguments.jobs, METHODS[name])
            walls.append(wall)
            met.append(sum(value is not None for value in after.values()))
            sums.append(sum(arguments.cap if value is None else value for value in after.values()))
            worst = max(after.items(), key=lambda item: arguments.cap if item[1] is None else item[1])
            seconds = arguments.cap if worst[1] is None else worst[1]
            if seconds > slowest[1]:
                slowest = (worst[0] + (" (not met)" if worst[1] is None else ""), seconds)
        total = statistics.median(sums)
        ratio = "" if base is None else f"  {total / base:.1f} times the usual search"
        base = total if base is None else base
        print(f"{name:<18}{f'{min(met)}-{max(met)}/{len(scenarios)}':>12}{statistics.median(walls):>15.1f}{total:>21.1f}"
              f"{slowest[0] + f' {slowest[1]:.1f} s':>34}{ratio}", flush=True)


if __name__ == "__main__":
    main()
