"""Tables of the thesis (Osaka University, 2006) as printed, and points of its model."""

from pathlib import Path

from longhaul.files.rows import Row, published_rows

FOLDER = Path(__file__).parent


def printed(table: str = "") -> list[Row]:
    """Return the printed rows of Tables 2.1 to 3.2, or, if `table` is not empty, of that table."""
    return [row for row in read("tables") if table in ("", row["table"])]


def read(name: str) -> tuple[Row, ...]:
    """Return the rows of the file `name` in this directory."""
    return published_rows(FOLDER / f"{name}.csv")
