"""An output folder of `dsafuzz fuzz`, as fuzz/store.h lays it out: what is in it, and files written into it.

A file appears whole or not at all, and is on the disk when write_files() returns.
"""
import os
import pathlib
import sqlite3
import stat
import tempfile

from . import bundle

DATABASE = "campaign.db"
_TEMPORARY = ".tmp-"  # names with a dot in front are nobody's


def _plain_files(folder):
    """Paths of plain files below, relative, sorted; no links are followed. Names with a dot in front are left out."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(place, name)
            if not name.startswith(".") and stat.S_ISREG(os.lstat(path).st_mode):
                found.append(os.path.relpath(path, folder))
    return found


def _database_bytes(path):
    """The database as one file, with what its write-ahead log holds. None: there is none, or it cannot be read."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        try:
            return connection.serialize()
        finally:
            connection.close()
    except (sqlite3.Error, OSError):
        return None


def group_of(path):
    """What must go together: a finding's and a candidate's folder; any other file is alone."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("findings", "candidates") else path


def new_files(folder, known, limit=bundle.BUNDLE_LIMIT):
    """({path: bytes}, [what was left out and why]) of groups that are not in `known`.

    Stops before `limit` bytes; the rest is new again next time. A finding goes whole or not at all. The database goes
    every time, since it changes.
    """
    folder = pathlib.Path(folder)
    groups = {}
    for part in ("findings", "candidates", "answered", "corpus"):  # what matters most goes first
        for path in _plain_files(folder / part):
            groups.setdefault(group_of(f"{part}/{path}"), []).append(f"{part}/{path}")
    files, left_out, total = {}, [], 0
    database = _database_bytes(folder / DATABASE)
    if database is not None and len(database) <= bundle.size_limit(DATABASE):
        files[DATABASE] = database
        total += len(database)
    for group, paths in groups.items():
        if group in known:
            continue
        try:
            content = {path: (folder / path).read_bytes() for path in paths}
        except FileNotFoundError:
            continue  # a candidate that has been examined meanwhile
        size = sum(len(data) for data in content.values())
        bad = next((p for p, data in content.items() if len(data) > (bundle.size_limit(p) or -1)), None)
        if bad is not None or size > bundle.FILE_LIMIT:
            left_out.append(f"{bad or group} is not of the form or size that can be sent; it stays in {folder}")
            continue
        if total + size > limit or len(files) + len(content) > bundle.MOST_FILES:
            left_out.append("there is more than goes into one bundle; the rest follows")
            break
        files.update(content)
        total += size
    return files, left_out


def _sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path, data):
    """Whole or not at all, and durable."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        pathlib.Path(temporary).unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _write_folder(folder, files):
    """A finding: its folder appears with all files at once. One that is there already stays."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent)
    for name, data in files.items():
        write_file(os.path.join(temporary, name), data)
    os.chmod(temporary, 0o755)
    try:
        os.rename(temporary, folder)
    except OSError:
        if not folder.is_dir():
            raise
    _sync(folder.parent)


def write_files(folder, files):
    """Writes {path: bytes}, as unpack() gave them. Cases and findings that are there already stay as they are."""
    folder = pathlib.Path(folder)
    for part in ("corpus", "findings"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    groups = {}
    for path, data in files.items():
        groups.setdefault(group_of(path), {})[path] = data
    cases = []
    for group, content in groups.items():
        if group.startswith(("findings/", "candidates/")):
            _write_folder(folder / group, {os.path.basename(path): data for path, data in content.items()})
        elif group.startswith("corpus/"):
            cases.append((folder / group, content[group]))
        else:
            write_file(folder / group, content[group])
    _write_cases(cases)


def _write_cases(cases):
    """Perhaps thousands of small files: all are written, then one wait for the disk, then each gets its name."""
    waiting = []
    for path, data in cases:
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{_TEMPORARY}{path.name}")
        temporary.write_bytes(data)
        waiting.append((temporary, path))
    if len(waiting) > 50:
        os.sync()
    else:
        for temporary, _ in waiting:
            _sync(temporary)
    for temporary, path in waiting:
        os.replace(temporary, path)
    for folder in {path.parent for _, path in waiting}:
        _sync(folder)
