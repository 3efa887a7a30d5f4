"""The report as one page that needs no network and allows none: its style, its script, Plotly's library and the data
stand in it, and its content security policy names the scripts by their hashes.

The rows of findings are HTML, so that they can be read and searched without a script. What belongs to a row once it is
opened comes from one block of JSON, compressed, since a thousand reproducers are megabytes; the script makes elements of
it with textContent only.
"""

import base64
import gzip
import hashlib
import importlib.util
import json
import os
import pathlib
import urllib.parse

import jinja2
from markupsafe import Markup

from . import plots
from .assemble import DIFFERING, STATES, counted, seconds_of, status_of
from .problem import ENVIRONMENT, Problem, visible
from .words import AGREEMENT, STATE_MARKS, STATE_WORDS, duration, short, when

TEMPLATES = pathlib.Path(__file__).parent / "templates"


def plotly_library():
    spec = importlib.util.find_spec("plotly")  # importing it takes a second and is not needed
    path = pathlib.Path(spec.origin).parent / "package_data" / "plotly.min.js" if spec and spec.origin else None
    if not path or not path.is_file():
        raise Problem("", "the Python package plotly is missing", "pip install -r requirements.txt", ENVIRONMENT)
    return path.read_text(encoding="utf-8").replace("</script", "<\\/script")


def shown(value):
    """The value with nothing in it that acts on whoever reads it."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def packed(value):
    """JSON, compressed, in letters that end no element."""
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii")


def script_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def relative_folder(report, page_path):
    """How the page gets to the campaign's folder, as the start of a link."""
    path = os.path.relpath(report.out, os.path.dirname(os.path.abspath(page_path)))
    return "./" + urllib.parse.quote(path) + "/"


def details(reported):
    finding = reported.finding
    return {"cause": finding.cause, "remedy": finding.remedy, "guard": finding.guard, "evidence": finding.evidence,
            "cpu": finding.cpu, "devices": finding.devices, "versions": finding.versions, "files": finding.files,
            "kernel": finding.kernel, "file": finding.file, "condition": finding.condition, "class": finding.class_title,
            "minimal": finding.one_minimal}


def choices(report):
    """What the filters offer: each value with how many findings have it."""
    def of(value_of, order=None):
        counts = {}
        for reported in report.findings:
            value = visible(value_of(reported))
            counts[value] = counts.get(value, 0) + 1
        return sorted(counts.items(), key=lambda pair: order(pair[0]) if order else pair[0])
    return [("state", "State", of(lambda r: r.state, STATES.index)), ("verdict", "Verdict", of(lambda r: r.finding.verdict)),
            ("op", "Operator", of(lambda r: r.finding.op)), ("scenario", "Scenario", of(lambda r: r.finding.scenario)),
            ("device", "Device", of(lambda r: r.finding.device))]


def site_files(report):
    """The assert sites by source file, those with the most that never triggered first."""
    files = {}
    for site in report.sites:
        # "path/Loss.cu:245": one file has many lines.
        file = site["source"].rpartition("/")[2].partition(":")[0] or "?"
        state = "triggered" if site["triggered"] else "reached" if site["reached"] else "never"
        files.setdefault(file, []).append({**site, "state": state, "line": site["source"].rpartition(":")[2]})
    rows = [{"file": file, "sites": sites, **{
        state: sum(s["state"] == state for s in sites) for state in ("triggered", "reached", "never")}}
        for file, sites in files.items()]
    return sorted(rows, key=lambda row: (-row["never"] - row["reached"], row["file"]))


def figures(report):
    made = {}
    if len(report.runs) > 1:
        made["trend"] = plots.trend(report.runs)
        made["work"] = plots.work(report.runs)
    if sum(bool(run.regressions) for run in report.runs) > 1:
        made["regress"] = plots.regressions(report.runs)
    progress = {str(run.number): plots.progress(report.samples[run.id]) for run in report.runs
                if len(report.samples.get(run.id, [])) > 1}
    return made, progress


def parity_rows(report):
    devices = sorted({device for row in report.parity for device in row["cells"]})
    return devices, [[row["id"], row["op"], f"{row['source']} {row['condition']}".strip(), row["agreement"],
                      row["matches_catalogue"],
                      [[row["cells"][d]["verdict"], row["cells"][d]["signature"]] if d in row["cells"] else ["", ""]
                       for d in devices]] for row in report.parity]


def page(report, page_path):
    """The whole page. Its links lead to the campaign's folder from where the page lies."""
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    library = plotly_library()
    made, progress = figures(report)
    devices, rows = parity_rows(report)
    data = packed(shown({"details": [details(r) for r in report.findings], "figures": made, "progress": progress,
                         "folder": relative_folder(report, page_path), "parity": {"devices": devices, "rows": rows}}))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined,
                                     finalize=lambda value: visible(value) if type(value) is str else value)
    environment.filters.update(duration=duration, short=short, when=when)
    environment.globals.update(counted=counted, status_of=status_of, seconds_of=seconds_of)
    policy = ("default-src 'none'; script-src " + script_hash(script) + " " + script_hash(library) + "; style-src "
              "'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'")
    agreements = {}
    for row in report.parity:
        agreements[row["agreement"]] = agreements.get(row["agreement"], 0) + 1
    return environment.get_template("page.html").render(
        report=report, policy=Markup(policy), style=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        script=Markup(script), library=Markup(library), data=Markup(data), choices=choices(report), state_words=STATE_WORDS,
        marks=STATE_MARKS, site_files=site_files(report), made=made, progress=list(progress), folder=relative_folder(
            report, page_path), agreements=agreements, agreement_words=AGREEMENT, devices=devices, differing=DIFFERING,
        cases=sum(report.cases.values()))
