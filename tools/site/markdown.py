"""Elements of pages in Markdown: tables, blocks and sections, and the writer of pages."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from longhaul.files.writing import write_text
from validation.pages import DOCS as DOCS
from validation.pages import ROOT as ROOT
from validation.pages import table as table


class Pages:
    """Writer of generated pages below a directory of `docs`, which also removes old pages."""

    def __init__(self, folder: str, root: Path = DOCS) -> None:
        self.folder = root / folder
        self.written: set[Path] = set()

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a page if its text changed, because Sphinx reads only changed files."""
        self.write_text(name, "\n".join(lines) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a file of any kind if its text changed."""
        page = self.folder / name
        self.written.add(page)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_text(page, text)

    def close(self) -> None:
        """Remove files from `folder` that are no longer generated."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path not in self.written:
                path.unlink()


def section(title: str, *parts: str | Iterable[str], level: int = 2) -> list[str]:
    """Return a heading and the parts below it, each followed by an empty line.

    Empty parts are left out.
    """
    lines = [f"{'#' * level} {title}", ""]
    for part in parts:
        text = [part] if isinstance(part, str) else list(part)
        lines += [*text, ""] if any(text) else []
    return lines


page = partial(section, level=1)
"""Return the lines of a page: its title, and its parts."""


def block(language: str, text: str) -> list[str]:
    """Return the lines of a code block in `language`."""
    return [f"```{language}", *text.rstrip("\n").splitlines(), "```"]


def html(text: str) -> list[str]:
    """Return the lines of a block of raw HTML."""
    return ["```{raw} html", *text.splitlines(), "```"]


def grid(columns: str, cards: Iterable[list[str]]) -> list[str]:
    """Return the lines of a grid of cards.

    `columns` has the numbers of columns by increasing screen size.
    """
    lines = ["::::{grid} " + columns, ":gutter: 2", ""]
    for card in cards:
        lines += [":::{grid-item-card}", *card, ":::", ""]
    return [*lines, "::::"]


def code(name: object) -> str:
    """Return a name of a file, key or command as inline code."""
    return f"`{name}`"


def toctree(entries: Iterable[str], depth: int = 1, *, hidden: bool = False) -> list[str]:
    """Return the lines of a Sphinx table of contents with the pages `entries`.

    `depth` is the number of levels of headings. A `hidden` table is only in the navigation.
    """
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else [])]
    return ["```{toctree}", *options, "", *entries, "```"]
