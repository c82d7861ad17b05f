"""What all plots of analyses share."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul import plots

MAX_COLUMNS = 4
GREY = "#7f7f7f"
# High and low outliers, and what is neither; safe for colour-blind readers.
HIGH, LOW, PLAIN = "#009e73", "#d55e00", "#0072b2"


@contextmanager
def styled() -> Iterator[None]:
    """The style of all plots."""
    with matplotlib.rc_context(plots.STYLE):
        yield


def panels(
    count: int, *, width: float = 2.6, height: float = 2.4, columns: int = MAX_COLUMNS,
    share_y: bool = False, share_x: bool = False,
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """A figure with a number of panels, row by row."""
    across = min(columns, count)
    down = -(-count // across)
    drawing = Figure(figsize=(max(width * across, 4.2), height * down), layout="constrained")
    grid = drawing.subplots(down, across, sharey=share_y, sharex=share_x, squeeze=False)
    axes = list(grid.flat)
    for unused in axes[count:]:
        unused.set_visible(False)
    return drawing, axes[:count]


def wrapped(text: str, width: int = 22) -> str:
    """A title on several short lines."""
    return "\n".join(textwrap.wrap(text, width)) or text


def bare(axes: Axes) -> None:
    """Take the ticks and grid away."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
