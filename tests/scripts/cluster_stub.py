#!/usr/bin/env python3
"""Stands for dsafuzz in tests of scripts/cluster: it "runs" a hundred cases a second by sleeping, so that it can be told
how much work was done by whom, on a machine of any size. What it finds is a function of its seed.

    check FILE...                       says yes
    fuzz FILE... --out O --seconds S --seed N ...   every second: a case for each scenario and a finding
    merge OUT FROM... --device D        copies what OUT has not
    report OUT --html FILE              writes FILE

Beside itself it notes what it did, in stub.log: a JSON object a line. A file `break-FOLDER` there lets a search end
with code 3 once, in an output folder under FOLDER.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def note(**facts):
    with open(HERE / "stub.log", "a") as log:
        log.write(json.dumps({**facts, "pid": os.getpid(), "time": time.time()}) + "\n")


def name_of(*parts):
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()[:16]


def findings_of(seed, seconds):
    """Names of what a search of this seed finds."""
    return [f"device_assert-{name_of('finding', seed, i)}" for i in range(max(1, int(seconds)))]


def option(words, name):
    return words[words.index(name) + 1]


def fuzz(words):
    scenarios = [re.search(r"^scenario: (\w+)", pathlib.Path(w).read_text(), re.MULTILINE)[1]
                 for w in words if w.endswith(".yaml")]
    out, seed, seconds = pathlib.Path(option(words, "--out")), int(option(words, "--seed")), option(words, "--seconds")
    note(what="begin", out=str(out), seed=seed, words=words)
    for trap in HERE.glob("break-*"):
        if trap.name.removeprefix("break-") in out.parts:
            trap.unlink()
            print("dsafuzz: broken once", file=sys.stderr)
            return 3
    had = sorted(path.name for path in (out / "corpus").rglob("*") if path.is_file())
    for i, name in enumerate(findings_of(seed, float(seconds))):
        time.sleep(float(seconds) / len(findings_of(seed, float(seconds))))
        for scenario in scenarios:
            (out / "corpus" / scenario).mkdir(parents=True, exist_ok=True)
            (out / "corpus" / scenario / name_of("case", seed, i, scenario)).write_bytes(b"case %d" % seed)
        folder = out / "findings" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "finding.json").write_text(json.dumps({"seed": seed}))
        (folder / "case.yaml").write_text("case: x\n")
    executions = int(float(seconds) * 100)
    note(what="end", out=str(out), seed=seed, had=had, executions=executions)
    print(json.dumps({"scenarios": [{"executions": executions}], "problems": []}))
    return 1


def merge(words):
    out, parts = pathlib.Path(words[0]), words[1:words.index("--device")]
    note(what="merge", parts=parts)
    for part in map(pathlib.Path, parts):
        for kind in ("corpus", "findings"):
            shutil.copytree(part / kind, out / kind, dirs_exist_ok=True)
    return 0


def main(command, *words):
    if command == "fuzz":
        return fuzz(list(words))
    if command == "merge":
        return merge(list(words))
    if command == "report":
        pathlib.Path(words[2]).write_text("the page")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
