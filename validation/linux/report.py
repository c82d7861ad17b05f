"""Reader and writer of `comparison.csv`: all values of the last comparison of all cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from longhaul.files.rows import Row, read_rows, write_rows
from validation.linux.judge import Verdict

FILE = Path(__file__).parent / "comparison.csv"
HEAD = (
    "# Linux 6.18 and Longhaul (make validate-linux). The verdict is within, outside, or as other "
    "runs: outside the band, but no further from the recording than another run of the kernel\n"
)
COLUMNS = ("case", "flow", "figure", "linux", "longhaul", "difference", "verdict")
WITHIN, AS_OTHERS, OUTSIDE = "within", "as other runs", "outside"


def row(verdict: Verdict) -> Row:
    """Return the row of `comparison.csv` for a verdict, as cells by column."""
    figures = verdict.cells()
    judged = (AS_OTHERS if verdict.repeats else WITHIN) if verdict.within else OUTSIDE
    return dict(zip(COLUMNS, [verdict.case, verdict.flow, *figures, judged], strict=True))


def write(verdicts: Sequence[Verdict]) -> None:
    """Write the values of all cases to `comparison.csv`."""
    write_rows(FILE, map(row, verdicts), COLUMNS, HEAD)


def read() -> list[Row]:
    """Return the rows of the last comparison of all cases."""
    return read_rows(FILE, COLUMNS)
