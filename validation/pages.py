"""Pages from templates, whose placeholders `{{name}}` are replaced by texts and tables."""

from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def filled(text: Path, **parts: str | Iterable[str]) -> str:
    """Return the contents of the template file `text` with its placeholders replaced.

    `parts` has the replacement of each placeholder by name: a text, or lines to be joined.
    """
    whole = text.read_text(encoding="utf-8")
    for name, part in parts.items():
        whole = whole.replace(
            "{{" + name + "}}", part if isinstance(part, str) else "\n".join(part)
        )
    return whole


def cell(text: object) -> str:
    """Return `text` as the cell of a Markdown table, with escaped vertical bars."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a Markdown table; columns whose head ends in `:` are right-aligned."""
    names = [name.removesuffix(":") for name in head]
    rules = ["---:" if name.endswith(":") else "---" for name in head]
    lines = [f"| {' | '.join(names)} |", f"|{'|'.join(rules)}|"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return lines
