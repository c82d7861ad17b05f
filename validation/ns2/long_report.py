"""Writer of a report with every figure and a plot of every case, not kept in the repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.ns2.compare import Comparison
from validation.ns2.plots import draw
from validation.pages import table
from validation.rows import Row
from validation.tables import difference, value, yes_or_no


def write(comparisons: Sequence[Comparison], directory: Path) -> None:
    """Write `report.md` and its plots into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    for comparison in comparisons:
        draw(comparison, directory / f"{comparison.case.name}.png")
    lines = ["# All cases", *(line for comparison in comparisons for line in _section(comparison))]
    (directory / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(comparison: Comparison) -> Iterable[str]:
    case = comparison.case
    yield ""
    yield f"## {case.name}"
    yield ""
    yield f"`{' '.join(case.arguments)}`"
    yield ""
    yield (
        f"{len(comparison.peer)} runs of ns-2, {len(comparison.ours)} of Longhaul; windows from "
        f"{case.warm_up_s:g} s on."
    )
    yield ""
    yield f"![Window and queue]({case.name}.png)"
    yield ""
    heads = ("Figure", "ns-2:", "Longhaul:", "Difference:", "Within", "Rule")
    yield from table(heads, map(_row, comparison.verdicts))


def _row(verdict: Row) -> list[str]:
    there = value(verdict.expected, verdict.expected_sd)
    here = value(verdict.measured, verdict.measured_sd)
    within = yes_or_no(verdict.within)
    return [verdict.metric, there, here, difference(verdict), within, verdict.rule]
