"""`comparison.csv`: every figure on both sides, as the last comparison of all cases left it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from longhaul.files.rows import Row, read_rows, write_rows
from validation.linux.judge import Verdict

FILE = Path(__file__).parent / "comparison.csv"
HEAD = (
    "# Linux 6.18 and Longhaul (make validate-linux). The verdict is within, outside, or as other "
    "runs: within no band, and as far from the recording as other runs of the kernel\n"
)
COLUMNS = ("case", "flow", "figure", "linux", "longhaul", "difference", "verdict")
WITHIN, AS_OTHERS, OUTSIDE = "within", "as other runs", "outside"

UNITS = {
    "goodput": ("goodput, Mbit/s", ".2f"),
    "cwnd": ("mean window, segments", ".1f"),
    "srtt_ms": ("mean srtt, ms", ".1f"),
    "reductions": ("reductions", ".0f"),
    "completion": ("completion, s", ".3f"),
    "exit_cwnd": ("window at the end of slow start", ".0f"),
    "retrans": ("retransmissions", ".0f"),
    "period": ("time between reductions, s", ".2f"),
}
"""Title and format of each figure."""


def row(verdict: Verdict) -> Row:
    """Return the cells of a figure by the names of their columns."""
    title, form = UNITS[verdict.figure]
    judged = AS_OTHERS if verdict.repeats else WITHIN
    return {
        "case": verdict.case,
        "flow": verdict.flow,
        "figure": title,
        "linux": format(verdict.kernel, form),
        "longhaul": format(verdict.ours, form),
        "difference": _difference(verdict),
        "verdict": judged if verdict.within else OUTSIDE,
    }


def write(verdicts: Sequence[Verdict]) -> None:
    """Write the figures of all cases."""
    write_rows(FILE, map(row, verdicts), COLUMNS, HEAD)


def read() -> list[Row]:
    """Return the figures of the last comparison of all cases."""
    return read_rows(FILE, COLUMNS)


def _difference(verdict: Verdict) -> str:
    if not verdict.kernel:
        return ""
    return f"{100 * (verdict.ours / verdict.kernel - 1):+.1f} %"
