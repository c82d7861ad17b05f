"""Plots of windows of kernel and simulator, overlaid, for each kind of case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from validation.linux.cases import Case
from validation.linux.gold import DRAWN, rows

COLUMNS = 3
INCHES = (3.6, 1.9)
"""Width and height of a panel."""

DPI = 70

PICTURES = {
    "buffers": ("_025", "_4", "_4_wmem"),
    "buffers-1": ("_1",),
    "impairments": ("_loss1", "_loss3", "_random", "_outage", "_ecn"),
    "completion": ("k",),
    "reordering": ("_reorder",),
    "flows": ("cubic_reno", "cubic_bbr", "_ten"),
    "receive-buffers": ("_rcvbuf", "_autotuned", "_rmem"),
    "applications": ("_idle", "_limited"),
}
"""Names of pictures, and the ends of the names of their cases."""

Series = list[tuple[float, float]]


def draw(cases: Sequence[Case], simulated: Sequence[list[Series]], folder: Path) -> None:
    """Draw all pictures: one `linux-NAME.png` each."""
    kernel = _recorded()
    for name, ends in PICTURES.items():
        chosen = [
            (case, windows)
            for case, windows in zip(cases, simulated, strict=True)
            if case.name.endswith(ends)
        ]
        count = -(-len(chosen) // COLUMNS)
        size = (INCHES[0] * COLUMNS, INCHES[1] * count)
        figure, grid = plt.subplots(count, COLUMNS, figsize=size, squeeze=False)
        for axes in grid.flat[len(chosen) :]:
            axes.set_visible(False)
        for axes, (case, windows) in zip(grid.flat, chosen, strict=False):
            _panel(axes, case, kernel, windows)
        figure.tight_layout()
        figure.savefig(folder / f"linux-{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def _recorded() -> dict[tuple[str, int], Series]:
    """Return the kernel's windows by case and flow."""
    by_flow: dict[tuple[str, int], Series] = {}
    for row in rows("windows.csv"):
        series = by_flow.setdefault((row["case"], int(row["flow"])), [])
        series.append((float(row["t_s"]), float(row["cwnd_pkts"])))
    return by_flow


def _panel(
    axes: Axes, case: Case, kernel: dict[tuple[str, int], Series], windows: list[Series]
) -> None:
    for number, ours in enumerate(windows):
        theirs = kernel.get((case.name, number), [])
        if len(case.flows) > DRAWN and number:
            continue
        style = "-" if number == 0 else ":"
        for series, colour, label in ((theirs, "black", "Linux"), (ours, "tab:orange", "Longhaul")):
            if series:
                times, cwnds = zip(*series, strict=True)
                width = 1.4 if colour == "black" else 0.9
                axes.plot(
                    times, cwnds, style, color=colour, lw=width, label=None if number else label
                )
    first = " (first flow)" if len(case.flows) > DRAWN else ""
    axes.set_title(case.name + first, fontsize=9)
    axes.tick_params(labelsize=7)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=6, loc="lower right", frameon=False)
