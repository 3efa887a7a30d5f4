"""Every example of the given Markdown files is what it says it is. Usage: schema_examples_test.py DSAFUZZ FILE.md...

A block marked `yaml case` or `yaml scenario` must pass `dsafuzz check`; `yaml expect` must be met by the case before
it; `yaml refused` must be refused with exactly the text of the `text` block after it. A yaml block without a mark
fails.
"""

import os
import subprocess
import sys
import tempfile
import unittest

from markdown_examples import blocks_of

DSAFUZZ = ""
FILES = []
MARKS = ("yaml case", "yaml scenario", "yaml expect", "yaml refused")


def run(*arguments):
    return subprocess.run([DSAFUZZ, *arguments], capture_output=True, text=True, timeout=100, check=False)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, block, kind):
        path = os.path.join(self.folder.name, "example.yaml")
        write(path, block.text)
        done = run("check", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f": ok, {kind} ", done.stdout)

    def refuse(self, block, said):
        path = os.path.join(self.folder.name, "example.yaml")
        write(path, block.text)
        done = run("check", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.replace(path, "FILE"), said.text)

    def expect(self, case, block):
        write(os.path.join(self.folder.name, "case.yaml"), case.text)
        write(os.path.join(self.folder.name, "expect.yaml"), block.text)
        done = run("replay", self.folder.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("(as expected)", done.stdout)

    def test_examples(self):
        for path in FILES:
            blocks = blocks_of(path)
            marked = [b for b in blocks if b.info.startswith("yaml")]
            self.assertTrue(marked, f"{path} has no examples")
            for i, block in enumerate(blocks):
                with self.subTest(f"{path}:{block.line}"):
                    if block.info.startswith("yaml"):
                        self.assertIn(block.info, MARKS, "a yaml block says what it is")
                    if block.info in ("yaml case", "yaml scenario"):
                        self.check(block, block.info.split()[1])
                    elif block.info == "yaml expect":
                        cases = [b for b in blocks[:i] if b.info == "yaml case"]
                        self.assertTrue(cases, "there is no case before it")
                        self.expect(cases[-1], block)
                    elif block.info == "yaml refused":
                        self.assertLess(i + 1, len(blocks))
                        self.assertEqual(blocks[i + 1].info, "text", "the message follows")
                        self.refuse(block, blocks[i + 1])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    DSAFUZZ, FILES = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
