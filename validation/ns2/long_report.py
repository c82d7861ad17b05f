"""Writer of a report with all values and a plot of each case, not kept in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from validation.ns2.compare import Comparison
from validation.ns2.runs import Trace
from validation.pages import table
from validation.rows import Row

NS2 = "#888888"
LONGHAUL = "#c0392b"
HEADS = ("Metric", "ns-2:", "Longhaul:", "Difference:", "Within", "Rule")


def write(comparisons: Sequence[Comparison], directory: Path) -> None:
    """Write `report.md` and a plot of each case into `directory`."""
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
        "", f"{runs}; measured from {case.warm_up_s:g} s on.",
        "", f"![Window and queue]({case.name}.png)",
        "", *table(HEADS, map(_row, comparison.verdicts)),
    ]  # fmt: skip


def _row(verdict: Row) -> list[str]:
    return [
        verdict.metric, *verdict.texts, verdict.difference, verdict.yes_or_no, verdict.rule,
    ]  # fmt: skip


def draw(comparison: Comparison, path: Path) -> None:
    """Plot cwnd and queue of the first run of each simulator into the PNG file `path`."""
    peer, ours = comparison.peer[0].trace, comparison.ours[0].trace
    assert peer is not None
    assert ours is not None
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    windows, queue = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    _windows(windows, peer, NS2, "ns-2", 2.2)
    _windows(windows, ours, LONGHAUL, "Longhaul", 0.8)
    windows.set_ylabel("window, packets")
    windows.set_title(comparison.case.name, loc="left")
    windows.legend(loc="upper right", frameon=False)
    queue.plot(peer.time_s, peer.queue_pkts, color=NS2, linewidth=2.2)
    queue.plot(ours.time_s, ours.queue_pkts, color=LONGHAUL, linewidth=0.8)
    queue.set_ylabel("queue, packets")
    queue.set_xlabel("time, s")
    figure.savefig(path, dpi=80, metadata={"Software": None})


def _windows(axes: Axes, trace: Trace, colour: str, label: str, width: float) -> None:
    for index, cwnd in enumerate(trace.cwnd):
        axes.plot(
            trace.time_s,
            cwnd,
            color=colour,
            linewidth=width,
            label=label if index == 0 else None,
        )
