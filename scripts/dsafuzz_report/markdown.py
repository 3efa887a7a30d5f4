"""The report as one page of Markdown, for a mail or a job's summary: what is new, what to do, the last runs."""

import re

from .assemble import DIFFERING, counted, seconds_of, status_of
from .problem import visible
from .words import STATE_MARKS, duration, short, when

NEW, OTHERS, RUNS, LINES = 25, 15, 10, 20  # rows that are listed of each
LONGEST = 240


def text(value):
    """Foreign text as text: nothing in it is markup, a link or a mention, and it stays in its line and table cell."""
    value = shortened(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    value = re.sub(r"[\\`*\[\]#|~$^]|^[-+=]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=^\d)[.)]", r"\\\g<0>", value)
    # A comment parts what would become a link or call somebody.
    return re.sub(r"(?<=@)(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", "<!-- -->", value, flags=re.IGNORECASE)


def shortened(value):
    value = " ".join(visible(value).split())
    return value if len(value) <= LONGEST else value[:LONGEST] + "..."


def code(value):
    """A code span for a table's cell."""
    value = shortened(value)
    if not value:
        return ""
    # A pipe ends a cell even in a code span, so there it is an element whose text is escaped.
    if "|" in value:
        return f"<code>{text(value)}</code>"
    fence = "`" * (max((len(run) for run in re.findall("`+", value)), default=0) + 1)
    space = " " if value.startswith("`") or value.endswith("`") else ""
    return f"{fence}{space}{value}{space}{fence}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def finding_rows(reported):
    return [[f"{STATE_MARKS[r.state]} {r.state}", text(r.finding.verdict), code(r.finding.op),
             text(r.finding.cause) or code(r.finding.text), f"{r.finding.confirmed} of {r.finding.of}",
             code(f"findings/{r.finding.name}") if r.finding.has_folder else "no folder"] for r in reported]


FINDING_HEAD = ["state", "verdict", "operator", "cause", "confirmed", "folder"]


def headline(report):
    if not report.runs:
        return counted(len(report.findings), "finding")
    new = report.count("new")
    return counted(new, "new finding") if new else "Nothing new"


def summary(report):
    last = report.last
    lines = [f"# dsafuzz: {headline(report)}", ""]
    if last:
        state, known, gone = status_of(last), report.count("known"), report.count("gone")
        took = f", {duration(seconds_of(last))}" if last.ended else ""
        devices = ", ".join(text(row["device"]) for row in last.devices)
        lines += [f"{text(last.kind)} run {last.number}, {text(when(last.started))}, {state}{took}: "
                  f"{short(last.executions)} executions, {short(last.features)} features"
                  f"{' on ' + devices if devices else ''}. Findings: **{report.count('new')}** new, {known} seen again, "
                  f"{gone} gone, {len(report.findings)} in all.", ""]
    elif report.database:
        lines += [text(report.database), ""]
    lines += ["## What to do", ""] + [f"- {text(action.text)}" for action in report.actions] + [""]
    for title, states, most in (("New", ("new",), NEW), ("Gone", ("gone",), OTHERS),
                                ("Others", ("known", "earlier", "unrecorded"), OTHERS)):
        rows = [r for r in report.findings if r.state in states]
        if rows:
            lines += [f"## {title}: {counted(len(rows), 'finding')}", ""] + table(FINDING_HEAD, finding_rows(rows[:most]))
        if len(rows) > most:
            lines += [f"and {len(rows) - most} more, in `findings/`.", ""]
    if report.classes:
        lines += ["## Missing checks", ""] + table(["check", "findings", "operators"], [
            [text(row["title"]), str(row["findings"]), " ".join(code(op) for op in row["ops"][:6])
             + (f" and {len(row['ops']) - 6} more" if len(row["ops"]) > 6 else "")] for row in report.classes[:OTHERS]])
    lines += coverage_lines(report) + regression_lines(report)
    if len(report.runs) > 1:
        lines += ["## Runs", ""] + table(
            ["run", "started", "state", "executions", "features", "new", "known", "gone", "regressions"],
            [[str(run.number), text(when(run.started)), status_of(run), f"{run.executions:,}", f"{run.features:,}"]
             + [str(run.count(s)) for s in ("new", "known", "gone")]
             + [f"{run.regressions_with('as_expected')} of {len(run.regressions)}" if run.regressions else ""]
             for run in report.runs[:-RUNS - 1:-1]])
    if report.problems:
        lines += ["## Problems", ""] + [f"- {text(line)}" for line in report.problems[:LINES]]
        lines += [f"- and {len(report.problems) - LINES} more"] if len(report.problems) > LINES else []
        lines += [""]
    if last:
        versions = [("dsafuzz", last.program), *last.versions.items()]
        lines += [f"Seed {text(last.seed)}; " + ", ".join(f"{text(n)} {text(v)}" for n, v in versions) + ".", ""]
    return "\n".join(lines)


def coverage_lines(report):
    lines = []
    if report.sites:
        triggered = sum(bool(site["triggered"]) for site in report.sites)
        reached = sum(bool(site["reached"] or site["triggered"]) for site in report.sites)
        lines += [f"Assert sites: {triggered} of {len(report.sites)} triggered, {reached} reached.", ""]
    if report.parity:
        differ = sum(row["agreement"] in ("catalogue_differs", "acceptance_differs") for row in report.parity)
        lines += [f"Parity of devices: {differ} of {len(report.parity)} rows are accepted by one and refused by another, "
                  "or differ from the catalogue.", ""]
    return ["## Coverage", ""] + lines if lines else []


def regression_lines(report):
    run = report.regress_run
    if not run:
        return []
    lines = ["## Regressions", "", f"{run.regressions_with('as_expected')} of {counted(len(run.regressions), 'case')} "
             f"as expected (run {run.number}).", ""]
    rows = [row for row in run.regressions if row["status"] in DIFFERING]
    if rows:
        lines += table(["case", "status", "device", "expected", "seen"], [
            [code(row["name"]), text(row["status"]), text(row["device"]), text(row["expected"]), text(row["seen"])]
            for row in rows[:LINES]])
    if len(rows) > LINES:
        lines += [f"and {len(rows) - LINES} more.", ""]
    return lines
