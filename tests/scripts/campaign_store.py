"""Output folders of made-up campaigns, for the tests of whatever reads them: the tables are those of the header that the
program itself uses, the findings are folders as it writes them.
"""
import json
import pathlib
import re
import sqlite3

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "fuzz" / "campaign_schema.h"


def migrations():
    return re.findall(r'R"sql\((.*?)\)sql"', HEADER.read_text(encoding="utf-8"), re.DOTALL)


class CampaignStore:
    """Writes OUT/campaign.db row by row, and OUT/findings/."""

    def __init__(self, out, version=None):
        self.out = pathlib.Path(out)
        (self.out / "findings").mkdir(parents=True, exist_ok=True)
        self.sql = sqlite3.connect(self.out / "campaign.db")
        self.sql.execute("PRAGMA journal_mode = WAL")
        scripts = migrations()
        for script in scripts[:len(scripts) if version is None else version]:
            self.sql.executescript(script)
        self.sql.execute(f"PRAGMA user_version = {len(scripts) if version is None else version}")
        self.sql.commit()

    def close(self):
        self.sql.commit()
        self.sql.close()

    def insert(self, table, **values):
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        return self.sql.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values.values())).lastrowid

    def run(self, started="2026-12-01T22:00:00Z", ended="2026-12-02T04:00:00Z", kind="nightly", **more):
        number = self.sql.execute("SELECT count(*) FROM runs").fetchone()[0] + 1
        values = {"uuid": f"{number:032x}", "kind": kind, "started": started, "ended": ended, "exit_code": 1,
                  "program": "0.1.0", "process": 2 ** 30, "seed": str(2 ** 64 - number), "jobs": 2, "seconds": 3600.0,
                  "executions_asked": 0, "executions": 1000 * number, "features": 100 * number} | more
        return self.insert("runs", **values)

    def sample(self, run, at, **more):
        values = {"doing": "fuzzing", "executions": int(1000 * at), "per_second": 1000.0, "features": int(20 * at),
                  "findings": 1, "candidates": 2, "engines": 2, "restarts": 0, "seconds_left": 60.0} | more
        return self.insert("samples", run=run, at=float(at), **values)

    def signature(self, name, **more):
        found = self.sql.execute("SELECT id FROM signatures WHERE name = ?", [name]).fetchone()
        if found:
            return found[0]
        values = {"text": f"Loss.cu kernel_of_{name} `t >= 0`", "verdict": "device_assert",
                  "op": "aten::cross_entropy_loss", "file": "aten/src/ATen/native/cuda/Loss.cu",
                  "kernel": f"kernel_of_{name}", "condition": "t >= 0"} | more
        return self.insert("signatures", name=name, **values)

    def met(self, run, name, state, signature=None, **more):
        values = {"at": 12.5, "scenario": "linear_cross_entropy", "device": "vcuda", "confirmed": 5, "confirmations": 5,
                  "elements": 2, "one_minimal": 1} | more
        return self.insert("run_findings", run=run, signature=self.signature(name, **(signature or {})), state=state,
                           **values)

    def folder(self, name, cause="labels[0] is 1, but values must lie in [0, 1).", **more):
        """OUT/findings/NAME with what the report shows of it."""
        place = self.out / "findings" / name
        place.mkdir()
        scenario = more.pop("scenario", "linear_cross_entropy")
        case = more.pop("case", f"case: {scenario}\nseed: 0\nsteps:\n  - loss = aten::cross_entropy_loss(x, y)\n")
        finding = {
            "format": "dsafuzz-finding", "version": 1,
            "signature": {"verdict": "device_assert", "op": "aten::cross_entropy_loss",
                          "file": "aten/src/ATen/native/cuda/Loss.cu", "kernel": f"kernel_of_{name}", "condition": "t >= 0",
                          "text": f"Loss.cu kernel_of_{name} `t >= 0`", "folder": name} | more.pop("signature", {}),
            "class": {"name": "class_label", "title": "class label not compared with the number of classes"},
            "minimal": case, "device": "vcuda", "outcome": {"versions": {"torch": "2.11.0"}},
            "evidence": [f"Loss.cu:245: kernel_of_{name}: block: [0,0,0], thread: [0,0,0] Assertion `t >= 0` failed."],
            "cpu_opinion": "raises IndexError: Target 1 is out of bounds.",
            "advice": {"cause": cause, "remedy": "Correct the labels.", "guard": "assert (labels >= 0).all()"},
            "confirmation": {"confirmed": 5, "of": 5}, "devices": {"vcuda": {"confirmed": 5, "of": 5}},
            "reduction": {"executions": 22, "one_minimal": True}} | more
        (place / "finding.json").write_text(json.dumps(finding), encoding="utf-8")
        (place / "finding.md").write_text("# device_assert\n", encoding="utf-8")
        (place / "case.yaml").write_text(case, encoding="utf-8")
        (place / "repro.py").write_text(f"import torch\n\nprint('{name}')\n", encoding="utf-8")
        (place / "repro.cpp").write_text("int main() { return 1; }\n", encoding="utf-8")
        return place
