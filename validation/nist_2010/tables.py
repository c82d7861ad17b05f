"""Reader of the tables of NIST SP 500-282; the first line of each file names the source."""

from pathlib import Path

from longhaul.files.rows import Row, published_rows

DATA = Path(__file__).with_name("data")


def rows(name: str) -> tuple[Row, ...]:
    """Return the rows of the table `name` in `DATA`; cells are text as printed."""
    return published_rows(DATA / f"{name}.csv")


def numbers(row: Row) -> list[float]:
    """Return the cells of a row, except the first cell, as numbers."""
    _, *cells = row.values()
    return [float(cell) for cell in cells]


def by_first(name: str) -> dict[str, Row]:
    """Return the rows of table `name` by the text of their first cell."""
    return {next(iter(row.values())): row for row in rows(name)}
