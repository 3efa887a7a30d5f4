"""What goes between machines: files of an output folder and some facts, as one string of bytes.

A bundle comes from another machine, so nothing in it is believed: it is no pickle, its names are of a checked form and
lead nowhere but into an output folder, and its sizes are bounded before anything is unpacked.

    b"dsafuzz-bundle 1\\n", 8 bytes: length of the index, index, contents one after the other
    index: JSON, zlib: {"facts": {NAME: string or number}, "files": [[PATH, SIZE], ...]}
    contents: zlib
"""
import json
import re
import zlib

MAGIC = b"dsafuzz-bundle 1\n"
CASE_LIMIT = 1 << 20
FILE_LIMIT = 64 << 20
BUNDLE_LIMIT = 512 << 20
MOST_FILES = 200_000
_INDEX_LIMIT = 64 << 20

# The names of fuzz/store.h. Case ids are 16 hex digits; a finding's and a candidate's folder is a plain name.
_PLAIN = r"[a-z0-9_-]{1,200}"
_SCENARIO = r"[a-z][a-z0-9_]{0,199}"
_FORMS = (
    (re.compile(rf"corpus/{_SCENARIO}/[0-9a-f]{{16}}"), CASE_LIMIT),
    (re.compile(rf"findings/{_PLAIN}/[A-Za-z0-9_][A-Za-z0-9_.-]{{0,99}}"), FILE_LIMIT),
    (re.compile(rf"candidates/{_PLAIN}/(case\.cbor|case\.yaml|candidate\.json|log\.txt)"), FILE_LIMIT),
    (re.compile(rf"answered/{_PLAIN}"), 1 << 16),
    (re.compile(r"campaign\.db"), BUNDLE_LIMIT // 2),
)


class BadBundle(Exception):
    """Says in one sentence what is wrong with bytes that came from another machine."""


def size_limit(path):
    """Bytes that a file of this name may have; None: no output folder has such a file."""
    if not isinstance(path, str):
        return None
    return next((limit for form, limit in _FORMS if form.fullmatch(path)), None)


def _checked(facts, files):
    if not isinstance(facts, dict) or len(facts) > 1000:
        raise BadBundle("its facts are no object")
    for name, value in facts.items():
        if not isinstance(name, str) or not isinstance(value, (str, int, float)) or len(str(value)) > 10_000:
            raise BadBundle("a fact is neither a text nor a number")
    if not isinstance(files, list) or len(files) > MOST_FILES:
        raise BadBundle("its list of files is none, or too long")
    total, seen = 0, set()
    for row in files:
        if not (isinstance(row, list) and len(row) == 2 and type(row[1]) is int and row[1] >= 0):
            raise BadBundle("its list of files is not one of names and sizes")
        path, size = row
        limit = size_limit(path)
        if limit is None:
            raise BadBundle(f"it names a file that no output folder has: {str(path)[:80]!r}")
        if size > limit:
            raise BadBundle(f"{path} has {size} bytes; at most {limit} are taken")
        if path in seen:
            raise BadBundle(f"it names {path} twice")
        seen.add(path)
        total += size
    if total > BUNDLE_LIMIT:
        raise BadBundle(f"it holds {total} bytes; at most {BUNDLE_LIMIT} are taken")
    return total


def pack(facts, files):
    """Bytes for {path: bytes} and {name: text or number}. BadBundle: unpack() would refuse them."""
    rows = [[path, len(files[path])] for path in sorted(files)]
    _checked(facts, rows)
    index = zlib.compress(json.dumps({"facts": facts, "files": rows}).encode(), 1)
    contents = zlib.compressobj(1)
    parts = [MAGIC, len(index).to_bytes(8, "big"), index]
    parts += [contents.compress(files[path]) for path, _ in rows]
    parts.append(contents.flush())
    return b"".join(parts)


def _inflate(data, limit):
    inflater = zlib.decompressobj()
    try:
        out = inflater.decompress(data, limit + 1)
    except zlib.error as error:
        raise BadBundle("it is damaged") from error
    if len(out) > limit or not inflater.eof:
        raise BadBundle("it is cut off, or larger than it says")
    return out


def unpack(data):
    """(facts, {path: bytes}). BadBundle: it is damaged, too large, or names what no output folder has."""
    start = len(MAGIC) + 8
    if not isinstance(data, bytes) or data[: len(MAGIC)] != MAGIC or len(data) < start:
        raise BadBundle("it is no bundle of this version")
    length = int.from_bytes(data[len(MAGIC) : start], "big")
    try:
        index = json.loads(_inflate(data[start : start + length], _INDEX_LIMIT))
        facts, rows = index["facts"], index["files"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadBundle("its index cannot be read") from error
    total = _checked(facts, rows)
    contents = _inflate(data[start + length :], total)
    if len(contents) != total:
        raise BadBundle("it is cut off")
    files, at = {}, 0
    for path, size in rows:
        files[path] = contents[at : at + size]
        at += size
    return facts, files
