"""The driver's disk: what nodes gave is written there at once, and what is new is offered to all.

    OUT/cluster/lock            held by the one driver that uses the folder
    OUT/cluster/run.json        which run this is, and its shared folder; gone once all is merged
    OUT/cluster/parts/INSTANCE  an output folder for each worker set's folder on a node
    OUT/cluster/slices.jsonl    facts of every slice, a line each
"""
import fcntl
import json
import os
import pathlib
import re
import shutil

from . import bundle, campaign_folder

_INSTANCE = re.compile(r"s[0-9]{2,5}-[0-9a-f]{8}")
_NUMBERS = ("executions", "shard", "number", "seconds", "ran_seconds", "took_in_seconds", "fetched_bytes")
_TEXTS = ("instance", "node", "problem", "problems")


class Busy(Exception):
    """Another driver uses the folder."""


def _checked(facts):
    """The facts with all their names and of the right kinds. BadBundle: they are not."""
    for name in (*_NUMBERS, *_TEXTS):
        if not isinstance(facts.get(name), str if name in _TEXTS else (int, float)):
            raise bundle.BadBundle(f"it does not say its {name}")
    if not _INSTANCE.fullmatch(facts["instance"]):
        raise bundle.BadBundle("its folder's name is of no checked form")
    return {name: facts[name] for name in (*_NUMBERS, *_TEXTS)}


class Collector:
    def __init__(self, out):
        self.out = pathlib.Path(out).absolute()
        self.folder = self.out / "cluster"
        self.parts_folder = self.folder / "parts"
        self.parts_folder.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.folder / "lock", "a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise Busy(f"{self.out} is in use by another scripts/cluster") from None
        self._slices = open(self.folder / "slices.jsonl", "a")
        self._offered = set()  # groups that all have or will have
        self._stored = set()  # (instance, number)

    def close(self):
        self._slices.close()
        self._lock.close()

    def unfinished(self):
        """What run.json says of a run whose parts are not merged; None: there is none."""
        try:
            run = json.loads((self.folder / "run.json").read_text())
            return run if isinstance(run, dict) else None
        except (OSError, ValueError):
            return None

    def begin(self, run):
        campaign_folder.write_file(self.folder / "run.json", json.dumps(run).encode())

    def parts(self):
        return sorted(str(path) for path in self.parts_folder.iterdir() if _INSTANCE.fullmatch(path.name))

    def merged(self):
        """All parts are in OUT: they go, and so does the run's own folder in the shared one."""
        for path in self.parts():
            shutil.rmtree(path)
        run = self.unfinished() or {}
        name, shared = run.get("run"), run.get("shared")
        if isinstance(name, str) and isinstance(shared, str) and name and os.path.basename(shared) == name:
            shutil.rmtree(shared, ignore_errors=True)
        (self.folder / "run.json").unlink(missing_ok=True)

    def start_files(self, scenarios):
        """What OUT holds already of these scenarios, in bundles' form: a later run resumes from it."""
        files, known = {}, set()
        while True:
            some, left_out = campaign_folder.new_files(self.out, known)
            some.pop(campaign_folder.DATABASE, None)
            files.update(some)
            known.update(map(campaign_folder.group_of, some))
            if not some or not left_out:
                return self._news(files, scenarios)

    def keep(self, data, scenarios):
        """Writes a bundle to the disk; (facts, {scenario or "": {path: bytes} that nobody has offered yet}).

        The same slice a second time gives no news. BadBundle: nothing of it is written.
        """
        facts, files = bundle.unpack(data)
        facts = _checked(facts)
        # A case that everybody has been offered lies in OUT or another part already.
        fresh = {path: data for path, data in files.items() if not (path.startswith("corpus/") and path in self._offered)}
        campaign_folder.write_files(self.parts_folder / facts["instance"], fresh)
        if (facts["instance"], facts["number"]) not in self._stored:
            self._stored.add((facts["instance"], facts["number"]))
            self._slices.write(json.dumps({**facts, "bytes": len(data), "files": len(files)}) + "\n")
            self._slices.flush()
            os.fsync(self._slices.fileno())
        return facts, self._news(files, scenarios)

    def stored(self, shard):
        """{instance: numbers of its slices that are on the disk}, of the shard's folders."""
        out = {}
        for instance, number in sorted(self._stored):
            if int(instance[1:].split("-")[0]) == shard:
                out.setdefault(instance, []).append(number)
        return out

    def _news(self, files, scenarios):
        news, groups = {}, set()
        for path, data in files.items():
            group = campaign_folder.group_of(path)
            if group in self._offered:
                continue
            part = path.split("/")
            key = part[1] if part[0] == "corpus" else ""
            if part[0] not in ("corpus", "findings", "answered") or (key and key not in scenarios):
                continue
            news.setdefault(key, {})[path] = data
            groups.add(group)
        self._offered |= groups
        return news

    def finding_count(self):
        """Different findings in OUT and all parts."""
        folders = [self.out, *map(pathlib.Path, self.parts())]
        return len({path.name for folder in folders for path in (folder / "findings").glob("[!.]*")})
