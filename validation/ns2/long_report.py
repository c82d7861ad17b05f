"""Writer of a report with every figure and a plot of every case, not kept in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from validation.ns2.compare import Comparison
from validation.ns2.plots import draw
from validation.pages import table
from validation.rows import Row

HEADS = ("Figure", "ns-2:", "Longhaul:", "Difference:", "Within", "Rule")


def write(comparisons: Sequence[Comparison], directory: Path) -> None:
    """Write `report.md` and its plots into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    for comparison in comparisons:
        draw(comparison, directory / f"{comparison.case.name}.png")
    lines = ["# All cases", *(line for comparison in comparisons for line in _section(comparison))]
    (directory / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(comparison: Comparison) -> list[str]:
    case = comparison.case
    runs = f"{len(comparison.peer)} runs of ns-2, {len(comparison.ours)} of Longhaul"
    return [
        "", f"## {case.name}",
        "", f"`{' '.join(case.arguments)}`",
        "", f"{runs}; windows from {case.warm_up_s:g} s on.",
        "", f"![Window and queue]({case.name}.png)",
        "", *table(HEADS, map(_row, comparison.verdicts)),
    ]  # fmt: skip


def _row(verdict: Row) -> list[str]:
    return [
        verdict.metric, *verdict.texts, verdict.difference, verdict.yes_or_no, verdict.rule,
    ]  # fmt: skip
