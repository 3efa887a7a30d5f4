"""Scalars of all runs as TensorBoard's event files: FOLDER/STARTED-UUID/events.out.tfevents.*, one folder for each run.

Steps are seconds since the run started, and times are those of the run, so that runs can be compared on either. Written
again, our earlier files are replaced and nobody else's are touched.
"""

import calendar
import os
import re
import time

from .assemble import status_of
from .database import Database
from .problem import ENVIRONMENT, Problem

SUFFIX = ".dsafuzz"
SCALARS = ("executions", "per_second", "features", "findings", "candidates", "engines", "restarts")
EVERY = 1.0  # seconds between looks at a run that goes on


def started_at(run):
    try:
        return float(calendar.timegm(time.strptime(run.started, "%Y-%m-%dT%H:%M:%SZ")))
    except ValueError:
        return 0.0


def folder_of(run):
    """A name that sorts by time and is the same whenever the run is written."""
    return re.sub(r"[^0-9A-Za-z]+", "-", f"{run.started[:19]}-{run.kind}-{run.uuid[:8]}")


class RunWriter:
    """The event file of one run; samples are added as they come."""

    def __init__(self, folder, run):
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
        place = os.path.join(folder, folder_of(run))
        os.makedirs(place, exist_ok=True)
        for name in os.listdir(place):
            if name.startswith("events.out.tfevents.") and name.endswith(SUFFIX):
                os.unlink(os.path.join(place, name))
        self.run = run
        self.start = started_at(run)
        self.at = -1.0
        self.writer = EventFileWriter(place, filename_suffix=SUFFIX)

    def add(self, samples):
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        for row in samples:
            values = [Summary.Value(tag=f"run/{name}", simple_value=float(row[name])) for name in SCALARS]
            if row["seconds_left"] is not None:
                values.append(Summary.Value(tag="run/seconds_left", simple_value=float(row["seconds_left"])))
            self.writer.add_event(Event(wall_time=self.start + row["at"], step=int(row["at"]),
                                        summary=Summary(value=values)))
            self.at = row["at"]
        self.writer.flush()

    def close(self):
        self.writer.close()


def write_events(out, folder, follow):
    """Writes all runs; with `follow`, returns when the last run has ended or its process has."""
    path = os.path.join(out, "campaign.db")
    if not os.path.exists(path):
        raise Problem(out, "has no campaign.db, so there is nothing to show", "a folder that `dsafuzz fuzz` wrote to")
    try:
        import tensorboard  # noqa: F401
    except ImportError as error:
        raise Problem("--tensorboard", f"{error}", "pip install -r requirements-more.txt", ENVIRONMENT) from None
    with Database(path) as database:
        runs = database.runs()
        last = None
        for run in runs:
            last = RunWriter(folder, run)
            last.add(database.samples(run.id))
            if run is not runs[-1]:
                last.close()
    if not last:
        return
    try:
        while follow:
            # Asked before the samples are read: what came in between is read once more.
            with Database(path) as database:
                current = next((run for run in database.runs() if run.id == last.run.id), None)
                going_on = current is not None and status_of(current) == "running"
                last.add(database.samples(last.run.id, last.at))
            if not going_on:
                return
            time.sleep(EVERY)
    finally:
        last.close()
