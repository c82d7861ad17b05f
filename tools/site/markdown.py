"""Pieces of pages: tables, blocks of text, and pages that appear when they are complete."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from longhaul.files.writing import write_text
from validation.pages import table as table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class Pages:
    """Writer of generated pages below a folder of `docs`; it removes pages that it did not write."""

    def __init__(self, folder: str, root: Path = DOCS) -> None:
        self.folder = root / folder
        self.written: set[Path] = set()

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a page, unless it is there already with the same text: Sphinx reads only what changed."""
        self.write_text(name, "\n".join(lines) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a file of any kind."""
        page = self.folder / name
        self.written.add(page)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_text(page, text)

    def close(self) -> None:
        """Remove what earlier versions have left."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path not in self.written:
                path.unlink()


def section(title: str, *parts: str | Iterable[str], level: int = 2) -> list[str]:
    """Return a heading and the parts below it, an empty line after each; empty parts are left out."""
    lines = [f"{'#' * level} {title}", ""]
    for part in parts:
        text = [part] if isinstance(part, str) else list(part)
        lines += [*text, ""] if any(text) else []
    return lines


page = partial(section, level=1)
"""Return the lines of a page: its title, and its parts."""


def block(language: str, text: str) -> list[str]:
    """Return a block of code."""
    return [f"```{language}", *text.rstrip("\n").splitlines(), "```"]


def html(text: str) -> list[str]:
    """Return a piece of HTML as it is."""
    return ["```{raw} html", *text.splitlines(), "```"]


def grid(columns: str, cards: Iterable[list[str]]) -> list[str]:
    """Return cards in a grid; columns are those of screens from the smallest to the largest."""
    lines = ["::::{grid} " + columns, ":gutter: 2", ""]
    for card in cards:
        lines += [":::{grid-item-card}", *card, ":::", ""]
    return [*lines, "::::"]


def code(name: object) -> str:
    """Return a name of a file, a key or a command."""
    return f"`{name}`"


def toctree(entries: Iterable[str], depth: int = 1, *, hidden: bool = False) -> list[str]:
    """Return the pages below this one."""
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else [])]
    return ["```{toctree}", *options, "", *entries, "```"]
