"""What can go wrong, as dsafuzz says it everywhere: where, what, and what to do; and the exit code that goes with it.
And foreign text made visible, which messages, pages and tables all need."""

import re
import unicodedata

INPUT, ENVIRONMENT = 2, 3
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Problem(Exception):
    def __init__(self, where, what, remedy="", exit_code=INPUT):
        super().__init__(what)
        self.exit_code = exit_code
        self.text = one_line(f"{where}: {what}" if where else what) + (f" ({remedy})" if remedy else "")


def acts(character):
    """Whether it does something instead of showing: Cf has the marks that turn text round, Cs is what a wrong decoding
    leaves, Zl and Zp end a line in some languages."""
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text):
    """The text with \\u202e and the like for characters that act instead of showing. Newlines and tabs stay."""
    if text.isascii():
        return CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return "".join(f"\\u{ord(c):04x}" if acts(c) else c for c in text)


def one_line(text):
    return visible(text).replace("\n", "\\n").replace("\t", " ")
