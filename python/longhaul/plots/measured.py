"""Plots over time: scales that fit the measurement window, and shading before the window."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.results import Results

SHADE = "#f1f1f1"
# If the highest value before the window exceeds the highest inside by this factor, the scale is
# chosen for the window alone.
CUT = 1.25
# Margin above the highest value of the window, as a fraction of this value.
ABOVE = 0.1


def scaled_to_windows(drawing: Figure, starts: Sequence[float]) -> Figure:
    """Shade the time before the measurement window, and fit the vertical scale to the window.

    `starts` has the start of the measurement window of each panel, in seconds. The scale changes
    only if earlier values, such as those of slow start, are much higher (`CUT`). If it cuts off
    such values of a panel, the panel states the highest of them.
    """
    every = list(zip(drawing.axes, starts, strict=True))
    before = [_highest(axes, -np.inf, start) for axes, start in every]
    within = max(_highest(axes, start, np.inf) for axes, start in every)
    is_cut = within > 0 and max(before) > CUT * within
    for (axes, start), highest in zip(every, before, strict=True):
        if start > 0:
            left = min(axes.get_xlim()[0], 0.0)
            axes.axvspan(left, start, color=SHADE, linewidth=0, zorder=0)
            axes.set_xlim(left=left)
            is_above = is_cut and highest > (1 + ABOVE) * within
            words = f"not measured, up to {_short(highest)}" if is_above else "not measured"
            axes.text(
                0.01, 0.985, words, transform=axes.transAxes, va="top", fontsize=7, zorder=4,
                color="#5a5a5a", bbox={"facecolor": SHADE, "edgecolor": "none", "pad": 1.5},
            )  # fmt: skip
    if is_cut:
        drawing.axes[0].set_ylim(0, (1 + ABOVE) * within)
    return drawing


def scaled_to_shared_window(drawing: Figure, runs: Sequence[Results]) -> Figure:
    """Shade and scale panels by `scaled_to_windows` if all runs are measured from the same time."""
    starts = {run.measured_from_s for run in runs}
    return drawing if len(starts) > 1 else scaled_to_windows(drawing, [*starts] * len(drawing.axes))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _highest(axes: Axes, from_s: float, to_s: float) -> float:
    """Return the highest value of lines and bands between two times; 0 if there is none."""
    curves = [np.asarray(line.get_xydata(), float) for line in axes.lines]
    paths = [path for band in axes.collections for path in band.get_paths()]
    bands = [np.asarray(path.vertices, float) for path in paths]
    points = np.vstack([np.empty((0, 2)), *(each for each in [*curves, *bands] if len(each))])
    inside = points[(points[:, 0] >= from_s) & (points[:, 0] < to_s), 1]
    return float(np.nanmax(inside)) if np.isfinite(inside).any() else 0.0
