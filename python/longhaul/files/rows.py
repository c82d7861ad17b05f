"""Reader and writer of CSV files; cells are text, and comments may precede the header."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path

from longhaul._engine import ScenarioError
from longhaul.files.writing import write_text

Row = dict[str, str]

COMMENT = "#"


def read_rows(file: Path, columns: Sequence[str] = ()) -> list[Row]:
    """Return the rows of a CSV file, each a mapping from column to cell.

    If `columns` is not empty, raise an error unless the file has exactly these columns, in this
    order.
    """
    return list(numbered_rows(file, columns).values())


def numbered_rows(
    file: Path, columns: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[int, Row]:
    """Return the rows below the header of a CSV file, by line number; the file's first line is 1.

    If `columns` is not empty, the file must have these columns, which any of `optional` may follow,
    both in the order given.
    """
    (_, head), *rows = _cells(file).items() or [(1, [])]
    further = [column for column in optional if column in head[len(columns) :]]
    if columns and head != [*columns, *further]:
        after = f", and after them {', '.join(optional)} if needed" if optional else ""
        raise ScenarioError(f"{file}: expected the columns {', '.join(columns)}{after}")
    for line, row in rows:
        if len(row) != len(head):
            raise ScenarioError(f"{file}:{line}: expected {len(head)} columns")
    return {line: dict(zip(head, row, strict=True)) for line, row in rows}


@cache
def published_rows(file: Path) -> tuple[Row, ...]:
    """Return the rows of a CSV file that does not change; a process reads it only once."""
    return tuple(read_rows(file))


def _cells(file: Path) -> dict[int, list[str]]:
    """Return the cells of each row, by the number of the last line of the row."""
    with file.open(encoding="utf-8-sig", newline="") as text:
        lines = text.readlines()
    comments = len(list(takewhile(lambda line: line.startswith(COMMENT), lines)))
    rows = csv.reader(lines[comments:])
    numbered = ((rows.line_num, row) for row in rows)
    return {comments + line: row for line, row in numbered if row}


def number(cell: str) -> float | None:
    """Return a cell as a number; None if the cell is empty."""
    return float(cell) if cell else None


def write_rows(
    file: Path, rows: Iterable[Mapping[str, object]], columns: Sequence[str], comment: str = ""
) -> None:
    """Write rows to a CSV file, each a mapping from column to value, after an optional comment.

    `comment` is written as it is: its lines begin with `#`, and each ends with a newline.
    """
    text = io.StringIO()
    text.write(comment)
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(file, text.getvalue())


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows of cells as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
