"""Joins the database with the folders: one Report, which every writer shows as it is.

A finding's state is what the last run says of it: new, known (seen again), gone (no longer shows); `earlier` if that run
did not meet it, `unrecorded` if there is no database.
"""

import datetime
import os
from dataclasses import dataclass, field

from .database import Database
from .findings import Finding, count_cases, read_classes, read_findings
from .problem import Problem

STATES = ("new", "gone", "known", "earlier", "unrecorded")  # in the order in which people want them
DIFFERING = ("differs", "unreadable", "not_run", "flaky")   # of regressions: someone has to look


@dataclass
class Reported:
    """A finding with its history."""
    finding: Finding
    state: str
    first: object = None      # the first and the last Run that met it; None if none is recorded
    last: object = None
    met: int = 0              # in how many runs
    elements: int | None = None
    seen: str = ""            # what a gone one shows instead


@dataclass
class Action:
    """Something for a person to do, with the part of the page where it is done."""
    text: str
    target: str
    weight: str  # alarm, note, good


@dataclass
class Report:
    out: str
    made: str
    database: str = ""        # why runs are not there: empty if they are
    runs: list = field(default_factory=list)
    findings: list = field(default_factory=list)
    classes: list = field(default_factory=list)
    sites: list = field(default_factory=list)
    sites_run: object = None
    parity: list = field(default_factory=list)
    parity_run: object = None
    regress_run: object = None
    samples: dict = field(default_factory=dict)  # by the id of a run, thinned
    problems: list = field(default_factory=list)
    cases: dict = field(default_factory=dict)
    actions: list = field(default_factory=list)

    @property
    def last(self):
        return self.runs[-1] if self.runs else None

    def count(self, state):
        return sum(f.state == state for f in self.findings)


def status_of(run):
    """How the run stands: `running`, `cut off`, `stopped` (before its end) or `ended`."""
    if run.ended is None:
        return "running" if os.path.exists(f"/proc/{run.process}") else "cut off"
    return "stopped" if run.interrupted else "ended"


def seconds_of(run):
    """How long it took; None where nobody knows."""
    try:
        start, end = (datetime.datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ") for at in (run.started, run.ended))
    except (TypeError, ValueError):
        return None
    return (end - start).total_seconds()


def thinned(rows, most=150):
    """At most that many of them, evenly, with the first and the last."""
    if len(rows) <= most:
        return rows
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]


def reported_findings(folders, runs):
    history = {}
    for run in runs:
        for row in run.findings:
            history.setdefault(row["name"], []).append((run, row))
    result = []
    for name in sorted(folders.keys() | history.keys()):
        rows = history.get(name, [])
        finding = folders.get(name)
        if not finding:
            row = rows[-1][1]
            finding = Finding(name, has_folder=False, confirmed=row["confirmed"], of=row["confirmations"], **{
                part: row[part] for part in ("text", "verdict", "op", "file", "kernel", "condition", "scenario", "device")})
        now = next((row for run, row in reversed(rows) if run is runs[-1]), None)
        met = [run for run, row in rows if row["state"] != "gone"]
        result.append(Reported(
            finding, now["state"] if now else "earlier" if runs else "unrecorded", first=met[0] if met else None,
            last=met[-1] if met else None, met=len(met), elements=rows[-1][1]["elements"] if rows else None,
            seen=now["seen"] if now else ""))
    return sorted(result, key=lambda r: (STATES.index(r.state), r.finding.verdict, r.finding.op, r.finding.text))


def class_rows(classes, findings):
    """The classes of checks that are missing: those with a report, and those that findings name; the widest first."""
    rows = {c["title"]: {"title": c["title"], "file": c["file"], "findings": 0, "new": 0, "ops": set()} for c in classes}
    for reported in findings:
        title = reported.finding.class_title
        if title:
            row = rows.setdefault(title, {"title": title, "file": "", "findings": 0, "new": 0, "ops": set()})
            row["findings"] += 1
            row["new"] += reported.state == "new"
            row["ops"].add(reported.finding.op)
    for row in rows.values():
        row["ops"] = sorted(row["ops"])
    return sorted(rows.values(), key=lambda row: (-row["findings"], row["title"]))


def counted(n, one, many=None):
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def actions_of(report):
    last, actions = report.last, []
    new, gone = report.count("new"), report.count("gone")
    if new:
        first = next(r.finding for r in report.findings if r.state == "new")
        actions.append(Action(f"Look at {counted(new, 'new finding')}, first {first.op or first.text}", "findings?state=new",
                              "alarm"))
    if report.regress_run and report.regress_run is last and (differ := last.regressions_with(*DIFFERING)):
        actions.append(Action(f"{counted(differ, 'regression case is', 'regression cases are')} not as expected",
                              "regressions", "alarm"))
    wrong = sum(row["agreement"] == "catalogue_differs" for row in report.parity)
    if wrong and report.parity_run is last:
        actions.append(Action(f"{counted(wrong, 'row')} of the matrix {'differs' if wrong == 1 else 'differ'} from the "
                              "catalogue", "parity", "alarm"))
    if last and status_of(last) == "cut off":
        actions.append(Action("The run was cut off; the next one completes it", "problems", "alarm"))
    if report.problems:
        actions.append(Action(f"Read {counted(len(report.problems), 'problem')} of the run", "problems", "note"))
    if gone:
        actions.append(Action(f"Check {counted(gone, 'finding')} that no longer {'shows' if gone == 1 else 'show'}: "
                              "fixed, or hidden by another?", "findings?state=gone", "note"))
    if not actions:
        actions.append(Action("Nothing to do", "findings", "good"))
    return actions


def assemble(out, use_database=True, now=None):
    """Everything there is to report of the folder. Raises Problem if it is none of a campaign, or for its database."""
    if not os.path.isdir(out):
        raise Problem(out, "is not a folder", "the folder that was given to --out")
    path = os.path.join(out, "campaign.db")
    has_database = os.path.exists(path)
    if not has_database and not any(os.path.isdir(os.path.join(out, part)) for part in ("findings", "corpus", "classes")):
        raise Problem(out, "is no output folder of dsafuzz: there is neither campaign.db nor findings/")
    now = now or datetime.datetime.now(datetime.timezone.utc)
    report = Report(os.path.abspath(out), now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    if not has_database:
        report.database = "There is no campaign.db in the folder, so runs are not recorded; findings are from their folders."
    elif not use_database:
        report.database = "campaign.db was left out, as asked; findings are from their folders."
    else:
        with Database(path) as database:
            read_runs(database, report)
    folders, problems = read_findings(out)
    report.findings = reported_findings(folders, report.runs)
    report.problems += problems
    report.classes = class_rows(read_classes(out), report.findings)
    report.cases = count_cases(out)
    report.actions = actions_of(report)
    return report


def read_runs(database, report):
    report.runs = database.runs()
    by_id = {run.id: run for run in report.runs}
    for run in report.runs:
        samples = database.samples(run.id)
        report.samples[run.id] = thinned(samples)
        if run.ended is None and samples:  # totals come at the end
            run.executions = max(run.executions, samples[-1]["executions"])
            run.features = max(run.features, samples[-1]["features"])
    report.sites_run, report.parity_run, report.regress_run = (
        by_id.get(database.last_run_with(table)) for table in ("sites", "parity", "regressions"))
    if report.sites_run:
        report.sites = database.sites(report.sites_run.id)
    if report.parity_run:
        report.parity = database.parity(report.parity_run.id)
    if report.last:
        report.problems += [row["text"] for row in report.last.problems]
