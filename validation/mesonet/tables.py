"""Reader of tables of NIST's published values; reader and writer of tables of measurements."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from longhaul.files.rows import Row, published_rows, read_rows, write_rows

HERE = Path(__file__).parent


def published(name: str) -> tuple[Row, ...]:
    """Return the rows of the table `name` in the directory `published/`."""
    return published_rows(HERE / "published" / f"{name}.csv")


def recorded(file: Path) -> list[Row]:
    """Return the rows of a table of measurements; empty if `file` does not exist."""
    return read_rows(file) if file.exists() else []


def record(
    file: Path,
    comment: str,
    columns: Sequence[str],
    simulate: Callable[[str], Iterable[Row]],
    names: Iterable[str],
    known: Sequence[str],
) -> None:
    """Simulate the cases `names`, and replace their rows in the table of measurements `file`.

    The table begins with `comment`. The first of its `columns` has the names of the cases, in the
    order of `known`. `simulate` yields the rows of a case. The table is written after each case.
    """
    for name in names:
        rows = [row for row in recorded(file) if row[columns[0]] != name] + list(simulate(name))
        rows.sort(key=lambda row: known.index(row[columns[0]]))
        write_rows(file, rows, columns, comment)
