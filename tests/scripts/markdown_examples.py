"""The fenced blocks of a Markdown file, with the line that each begins on."""

import re
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int  # of the opening fence, from 1
    info: str  # "yaml case"
    text: str


def blocks_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [Block(text.count("\n", 0, m.start()) + 1, m["info"].strip(), m["text"]) for m in FENCE.finditer(text)]
