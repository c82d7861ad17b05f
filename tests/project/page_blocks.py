"""Code blocks of a page, with the notes in the comments before them.

A block whose first line is a comment with a file name has the content of this file; shell blocks
run in order, in one directory; a `text` block after a shell block has lines that the shell block
prints.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(```+)([^\n`]*)\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!-- (not run|needs|fails|slow)(?:: ([^>]*?))? -->\s*\Z")
FILE = re.compile(r"\A# ([\w-]+\.(?:toml|py|csv))\n")


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    text: str
    note: str
    """Note on the block: `not run`, `needs`, `fails`, `slow`, or empty."""
    detail: str
    """Text of the note, such as what the block needs; may be empty."""

    @property
    def file(self) -> str | None:
        """Name of the file that the block contains; None for other blocks."""
        match = FILE.match(self.text)
        return match.group(1) if match else None


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        note = NOTE.search(text[: match.start()])
        said, detail = (note.group(1), note.group(2) or "") if note else ("", "")
        yield Block(match.group(2).strip(), match.group(3), said, detail)
