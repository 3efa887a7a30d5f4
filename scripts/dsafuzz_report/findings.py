"""Reads the finding folders and class reports of a campaign: OUT/findings/NAME/ and OUT/classes/NAME.md.

A folder may be anyone's, so a value of another type than it should have counts as absent, and long texts are cut with a
word on where the rest is. Links are not followed out of the folder.
"""

import json
import os
import re
import stat
from dataclasses import dataclass, field

LONGEST_FILE = 8 << 20
LONGEST_TEXT = 20_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}\Z")


@dataclass
class Finding:
    name: str
    text: str = ""        # the signature, as people compare it
    verdict: str = ""
    op: str = ""
    file: str = ""
    kernel: str = ""
    condition: str = ""
    scenario: str = ""
    device: str = ""
    class_title: str = ""
    cause: str = ""
    remedy: str = ""
    guard: str = ""
    cpu: str = ""
    confirmed: int = 0
    of: int = 0
    one_minimal: bool = False
    has_folder: bool = True
    evidence: list = field(default_factory=list)
    devices: dict = field(default_factory=dict)   # "5 of 5" for each
    versions: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)     # contents: "case.yaml", "repro.py", "repro.cpp"


def read_text(path, limit=LONGEST_FILE):
    """The file's text, or None where it is no plain file, or longer than the limit."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(descriptor, "rb") as stream:
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            raw = stream.read(limit + 1)
        except OSError:
            return None
    return raw.decode("utf-8", "replace") if len(raw) <= limit else None


def shortened(text):
    if len(text) <= LONGEST_TEXT:
        return text
    return text[:LONGEST_TEXT] + f"\n... {len(text) - LONGEST_TEXT} more characters; all of it lies in the folder\n"


class Fields:
    """What stands in a JSON object, by path, if it is of the type that is asked for."""

    def __init__(self, value):
        self.value = value

    def get(self, kind, default, *path):
        value = self.value
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        # True is an int for Python, not for us.
        return value if isinstance(value, kind) and isinstance(value, bool) == (kind is bool) else default

    def text(self, *path):
        return shortened(self.get(str, "", *path))

    def number(self, *path):
        return self.get(int, 0, *path)

    def texts(self, *path):
        return [shortened(item) for item in self.get(list, [], *path)[:50] if isinstance(item, str)]

    def table(self, *path):
        return self.get(dict, {}, *path)


def first_word_of(case):
    """The scenario that a case file names."""
    found = re.search(r"^case: *(\S+)", case, re.MULTILINE)
    return found.group(1) if found else ""


def read_finding(folder, name):
    """The finding, or a sentence that says why there is none."""
    raw = read_text(os.path.join(folder, "finding.json"))
    if raw is None:
        return "finding.json is missing, or no file that can be read"
    try:
        fields = Fields(json.loads(raw))
    except (ValueError, RecursionError):
        return "finding.json is no JSON"
    if fields.text("format") != "dsafuzz-finding" or fields.get(int, None, "version") != 1:
        return "finding.json is of another format or version"
    finding = Finding(
        name, **{part: fields.text("signature", part) for part in ("text", "verdict", "op", "file", "kernel", "condition")},
        device=fields.text("device"), class_title=fields.text("class", "title"), cause=fields.text("advice", "cause"),
        remedy=fields.text("advice", "remedy"), guard=fields.text("advice", "guard"), cpu=fields.text("cpu_opinion"),
        confirmed=fields.number("confirmation", "confirmed"), of=fields.number("confirmation", "of"),
        one_minimal=fields.get(bool, False, "reduction", "one_minimal"), evidence=fields.texts("evidence"),
        versions={k: v for k, v in fields.table("outcome", "versions").items() if isinstance(v, str)})
    for device in fields.table("devices"):
        finding.devices[device] = (f"{fields.number('devices', device, 'confirmed')} of "
                                   f"{fields.number('devices', device, 'of')}")
    for file in ("case.yaml", "repro.py", "repro.cpp"):
        text = read_text(os.path.join(folder, file))
        if text is not None:
            finding.files[file] = shortened(text)
    finding.scenario = first_word_of(finding.files.get("case.yaml", fields.text("minimal")))
    return finding


def read_findings(out):
    """All findings by name, and a line for each folder that holds none."""
    found, problems = {}, []
    folder = os.path.join(out, "findings")
    for name in sorted_names(folder):
        path = os.path.join(folder, name)
        if name.startswith(".") or os.path.islink(path) or not os.path.isdir(path):
            continue
        finding = read_finding(path, name) if NAME.match(name) else "not the name of a finding"
        if isinstance(finding, Finding):
            found[name] = finding
        else:
            problems.append(f"findings/{name}: {finding}")
    return found, problems


def read_classes(out):
    """Title and first sentence of each class report, by its file's name."""
    classes = []
    folder = os.path.join(out, "classes")
    for name in sorted_names(folder):
        text = read_text(os.path.join(folder, name), 1 << 20) if name.endswith(".md") and NAME.match(name) else None
        lines = [line for line in (text or "").splitlines() if line.strip()]
        if lines and lines[0].startswith("# "):
            classes.append({"file": name, "title": lines[0][2:500]})
    return classes


def count_cases(out):
    """Cases in the corpus, by scenario."""
    counts = {}
    folder = os.path.join(out, "corpus")
    for name in sorted_names(folder):
        path = os.path.join(folder, name)
        if not name.startswith(".") and os.path.isdir(path):
            with os.scandir(path) as entries:
                counts[name] = sum(1 for entry in entries if not entry.name.startswith("."))
    return counts


def sorted_names(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
