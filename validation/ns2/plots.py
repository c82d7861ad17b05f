"""Plots of a case: congestion windows and queue length in both simulators."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from validation.ns2.compare import Comparison
from validation.ns2.runs import Trace

NS2 = "#888888"
LONGHAUL = "#c0392b"


def draw(comparison: Comparison, path: Path) -> None:
    """Plot the first run of a case into the PNG file `path`."""
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
