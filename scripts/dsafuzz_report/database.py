"""Reads campaign.db; its tables are described in fuzz/campaign_schema.h. Nothing is ever written, also not beside it."""

import os
import pathlib
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass, field

from .problem import ENVIRONMENT, Problem

SCHEMA = 2  # the newest that is known here


@dataclass
class Run:
    id: int
    uuid: str
    kind: str
    started: str
    ended: str | None
    exit_code: int | None
    interrupted: bool
    program: str
    process: int
    seed: str
    jobs: int
    seconds: float
    executions_asked: int
    executions: int
    features: int
    number: int = 0  # 1 for the first, in the order in which they started
    devices: list = field(default_factory=list)
    scenarios: list = field(default_factory=list)
    versions: dict = field(default_factory=dict)
    findings: list = field(default_factory=list)
    problems: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    regressions: list = field(default_factory=list)

    def count(self, state):
        return sum(f["state"] == state for f in self.findings)

    def regressions_with(self, *status):
        return sum(r["status"] in status for r in self.regressions)


class Database:
    """An open campaign.db. Raises Problem for one that is damaged, cannot be read, or is newer than this program."""

    def __init__(self, path):
        self.path = path
        self.temporary = None
        try:
            self.connection, self.version = self._open()
        except sqlite3.Error as error:
            self.close()
            raise self._problem(error) from None
        if not 0 <= self.version <= SCHEMA:
            self.close()
            raise Problem(path, f"the database was written by a newer dsafuzz: its schema is {self.version}, this "
                          f"program knows {SCHEMA}", "use the newer program; --no-database reports the findings alone",
                          ENVIRONMENT)

    def close(self):
        if getattr(self, "connection", None):
            self.connection.close()
        if self.temporary:
            self.temporary.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
        if not os.access(self.path, os.R_OK):
            raise Problem(self.path, "the database cannot be read", "check its permissions", ENVIRONMENT)
        if os.access(os.path.dirname(self.path) or ".", os.W_OK):
            return self._connected(self.path, "mode=ro")
        # Readers of a write-ahead log keep a file beside it, which they cannot make here.
        log = self.path + "-wal"
        if not os.path.exists(log) or os.path.getsize(log) == 0:
            return self._connected(self.path, "mode=ro&immutable=1")
        self.temporary = tempfile.TemporaryDirectory(prefix="dsafuzz-report-")
        copy = os.path.join(self.temporary.name, "campaign.db")
        shutil.copyfile(log, copy + "-wal")
        shutil.copyfile(self.path, copy)
        return self._connected(copy, "mode=ro")

    @staticmethod
    def _connected(path, options):
        uri = f"{pathlib.Path(path).absolute().as_uri()}?{options}"
        connection = sqlite3.connect(uri, uri=True, timeout=5)
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return connection, connection.execute("PRAGMA user_version").fetchone()[0]

    def _problem(self, error):
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return Problem(self.path, "another process keeps the database locked", "end it, or try again later",
                           ENVIRONMENT)
        return Problem(self.path, f"the database is damaged: {error}", "move it away and the next run begins a new one; "
                       "--no-database reports the findings alone", ENVIRONMENT)

    def rows(self, since_version, statement, *values):
        """What a query gives, as dictionaries; nothing where the tables are older than `since_version`."""
        if self.version < since_version:
            return []
        try:
            return [dict(row) for row in self.connection.execute(statement, values)]
        except sqlite3.Error as error:
            raise self._problem(error) from None

    def runs(self):
        """All runs with what belongs to them but samples, sites and the matrix; the oldest first."""
        names = ", ".join(name for name in Run.__dataclass_fields__ if name in RUN_COLUMNS)
        runs = {}
        for row in self.rows(1, f"SELECT {names} FROM runs ORDER BY started, id"):
            row["interrupted"] = bool(row["interrupted"])
            runs[row["id"]] = Run(**row, number=len(runs) + 1)
        for version, into, statement in PARTS:
            for row in self.rows(version, statement):
                run = runs.get(row.pop("run"))
                if run and into == "versions":
                    run.versions[row["name"]] = row["version"]
                elif run:
                    getattr(run, into).append(row)
        return list(runs.values())

    def samples(self, run, after=-1.0):
        return self.rows(1, "SELECT * FROM samples WHERE run = ? AND at > ? ORDER BY at", run, after)

    def last_run_with(self, table):
        found = self.rows(2, f"SELECT id FROM runs WHERE id IN (SELECT run FROM {table}) "
                          "ORDER BY started DESC, id DESC LIMIT 1")
        return found[0]["id"] if found else None

    def sites(self, run):
        return self.rows(2, "SELECT * FROM sites WHERE run = ? ORDER BY source, function, condition", run)

    def parity(self, run):
        """The matrix's rows in their order, each with `cells` by device."""
        rows = {row["id"]: {**row, "cells": {}}
                for row in self.rows(2, "SELECT * FROM parity WHERE run = ? ORDER BY position, id", run)}
        for cell in self.rows(2, "SELECT * FROM parity_cells WHERE run = ? ORDER BY device", run):
            if cell["id"] in rows:
                rows[cell["id"]]["cells"][cell["device"]] = cell
        return list(rows.values())


RUN_COLUMNS = ("id", "uuid", "kind", "started", "ended", "exit_code", "interrupted", "program", "process", "seed", "jobs",
               "seconds", "executions_asked", "executions", "features")
PARTS = (
    (1, "devices", "SELECT * FROM run_devices ORDER BY device"),
    (1, "scenarios", "SELECT * FROM run_scenarios ORDER BY scenario"),
    (1, "versions", "SELECT * FROM run_versions ORDER BY name"),
    (1, "findings", "SELECT f.run, f.state, f.at, f.scenario, f.device, f.confirmed, f.confirmations, f.elements, "
     "f.one_minimal, f.seen, s.name, s.text, s.verdict, s.op, s.file, s.kernel, s.condition FROM run_findings f "
     "JOIN signatures s ON s.id = f.signature ORDER BY f.at, s.name"),
    (1, "problems", "SELECT * FROM run_problems ORDER BY at"),
    (2, "steps", "SELECT * FROM run_steps ORDER BY at"),
    (2, "regressions", "SELECT * FROM regressions ORDER BY name"),
)
