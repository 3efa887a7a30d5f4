"""How bundles go between driver and nodes: through a folder that all see, or through Ray's object store.

The driver offers what all should have and takes what nodes give; a node fetches and gives. References and answers are
plain texts or bytes, or Ray's own references; what a node gave is unpacked by the driver only (bundle.py).
"""
import os
import pathlib
import re

from . import bundle, campaign_folder

_NAME = re.compile(r"[a-z0-9_-]{1,240}")
_END = ".bundle"


class ObjectStore:
    """Bytes as Ray keeps and moves them. What a lost node gave is lost unless the driver has taken it."""

    def offer(self, name, data):
        import ray

        return ray.put(data)

    def fetch(self, reference):
        import ray

        return ray.get(reference)

    def give(self, name, data):
        return data

    def take(self, answer):
        return answer

    def left(self):
        return []


class SharedFolder:
    """Files in FOLDER/given and FOLDER/offered. What was given is there even if nobody was left to say so."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)

    def _path(self, part, name):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise bundle.BadBundle("its name is of no checked form")
        return pathlib.Path(self.folder, part, name + _END)

    def _read(self, path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(bundle.BUNDLE_LIMIT + 1)
        if len(data) > bundle.BUNDLE_LIMIT:
            raise bundle.BadBundle("it is too large")
        return data

    def offer(self, name, data):
        campaign_folder.write_file(self._path("offered", name), data)
        return name

    def fetch(self, reference):
        return self._read(self._path("offered", reference))

    def give(self, name, data):
        campaign_folder.write_file(self._path("given", name), data)
        return name.encode()

    def take(self, answer):
        return self._read(self._path("given", answer.decode(errors="replace")))

    def left(self):
        """Answers for all that lies there, sorted."""
        try:
            names = sorted(os.listdir(os.path.join(self.folder, "given")))
        except FileNotFoundError:
            return []
        return [n.removesuffix(_END).encode() for n in names if n.endswith(_END) and _NAME.fullmatch(n[: -len(_END)])]
