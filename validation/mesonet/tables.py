"""Reader of tables of NIST's published values, and of tables of measurements."""

from pathlib import Path

from longhaul.files.rows import Row, published_rows, read_rows

HERE = Path(__file__).parent


def published(name: str) -> tuple[Row, ...]:
    """Return the rows of the table `name` in the directory `published/`."""
    return published_rows(HERE / "published" / f"{name}.csv")


def recorded(file: Path) -> list[Row]:
    """Return the rows of a table of measurements; empty if `file` does not exist."""
    return read_rows(file) if file.exists() else []
