"""Plots of the windows of kernel and simulator, overlaid, one file per group of cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from validation.linux.cases import Case
from validation.linux.gold import DRAWN, rows

COLUMNS = 3
INCHES = (3.6, 1.9)
"""Width and height of a panel in inches."""

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
"""Endings of the names of the cases in each plot, by the plot's name."""

Series = list[tuple[float, float]]
"""Samples of a window: time in s, and cwnd in segments."""


def draw(cases: Sequence[Case], simulated: Sequence[list[Series]], folder: Path) -> None:
    """Draw all plots into files `linux-NAME.png` in `folder`.

    `simulated` has, for each case, the samples of each flow's simulated window.
    """
    kernel = _recorded()
    for name, ends in PICTURES.items():
        chosen = [
            (case, windows)
            for case, windows in zip(cases, simulated, strict=True)
            if case.name.endswith(ends)
        ]
        with panels(len(chosen), COLUMNS, INCHES, folder / f"linux-{name}.png", DPI) as grid:
            for axes, (case, windows) in zip(grid, chosen, strict=True):
                _panel(axes, case, kernel, windows)


@contextmanager
def panels(
    count: int, columns: int, inches: tuple[float, float], file: Path, dpi: int
) -> Iterator[list[Axes]]:
    """Yield `count` empty panels in `columns` columns, then write the plot to `file`.

    `inches` is the width and height of one panel.
    """
    rows = -(-count // columns)
    size = (inches[0] * columns, inches[1] * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    yield list(grid.flat[:count])
    figure.tight_layout()
    figure.savefig(file, dpi=dpi, metadata={"Software": None})
    plt.close(figure)


def overlay(
    axes: Axes, theirs: Series, ours: Series, style: str = "-", labels: Sequence[str | None] = ()
) -> None:
    """Draw the kernel's windows `theirs` in black, and the simulated windows `ours` over them.

    `style` is Matplotlib's line style. `labels`, if any, are those of the kernel and of Longhaul.
    """
    looks = (("black", 1.4), ("tab:orange", 0.9))
    names = labels or (None, None)
    for series, (colour, width), label in zip((theirs, ours), looks, names, strict=True):
        if series:
            times, windows = zip(*series, strict=True)
            axes.plot(times, windows, style, color=colour, lw=width, label=label)


def _recorded() -> dict[tuple[str, int], Series]:
    """Return the windows recorded from the kernel, by case and index of the flow."""
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
        if number:
            overlay(axes, theirs, ours, ":")
        else:
            overlay(axes, theirs, ours, labels=("Linux", "Longhaul"))
    first = " (first flow)" if len(case.flows) > DRAWN else ""
    axes.set_title(case.name + first, fontsize=9)
    axes.tick_params(labelsize=7)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=6, loc="lower right", frameon=False)
