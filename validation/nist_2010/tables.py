"""The printed tables, with their source in the first line of each file."""

import csv
from functools import cache
from pathlib import Path

DATA = Path(__file__).with_name("data")

Row = dict[str, str]


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a table; cells are text as printed."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as text:
        return tuple(csv.DictReader(line for line in text if not line.startswith("#")))


def numbers(row: Row, *left_out: str) -> list[float]:
    """The numbers of a row, without its first cell and the columns that are left out."""
    _, *columns = row
    return [float(row[column]) for column in columns if column not in left_out]


def by_first(name: str) -> dict[str, Row]:
    """The rows of a table by their first cell."""
    return {next(iter(row.values())): row for row in rows(name)}
