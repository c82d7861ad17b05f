"""Printed tables of the source."""

from pathlib import Path

from longhaul.files.rows import Row, published_rows

FOLDER = Path(__file__).parent


def printed(table: str = "") -> list[Row]:
    """Return the rows of Tables 2.1 to 3.2, or of one of them."""
    return [row for row in read("tables") if table in ("", row["table"])]


def read(name: str) -> tuple[Row, ...]:
    """Return the rows of a file of this directory."""
    return published_rows(FOLDER / f"{name}.csv")
