"""Panels and legends of plots."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from longhaul.results import Results

# Maximum number of panels in a row.
MAX_COLUMNS = 3
# Maximum number of points of a line with markers; more markers would hide the line.
MAX_MARKED = 40

# Maximum number of names at the ends of lines, instead of a legend; height of a name in points.
MAX_ENDS = 8
END_PT = 10.0

WIDTH_IN = 7.2
WIDE_IN = 9.6
PANEL_HEIGHT_IN = 2.6
# Inches for the time axis, and for a row of the legend.
FOOT_IN = 0.4
LEGEND_ROW_IN = 0.2
# Characters of the legend per inch; width of an entry's handle, in characters.
CHARACTERS_PER_IN = 13.5
HANDLE_CHARACTERS = 7
# Maximum characters of a name in a legend; longer names are shortened.
MAX_CHARACTERS = 44

# Requested width of figures in inches; None for each plot's default width.
_given_width_in: ContextVar[float | None] = ContextVar("given_width_in", default=None)

# Minimum width of a panel in inches.
MIN_PANEL_IN = 2.4
Content = TypeVar("Content")


def single(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of this size in inches, with one panel."""
    drawing = Figure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots()


def panels(
    contents: Sequence[Content],
    draw: Callable[[Axes, Content], None],
    titles: Sequence[str],
    *,
    columns: int = MAX_COLUMNS,
    x: str = "time (s)",
    from_zero: bool = True,
    scales: Literal["all", "row"] = "all",
    height_in: float = PANEL_HEIGHT_IN,
) -> Figure:
    """Draw each of `contents` in a panel of its own, with one legend for all panels.

    All panels have the same scales. With `scales = "row"`, only panels of the same row share the
    vertical scale.
    """
    columns = min(len(contents), columns)
    width = WIDE_IN if columns > 1 else WIDTH_IN
    if (given := _given_width_in.get()) is not None:
        width = given
        columns = max(1, min(columns, int(width / MIN_PANEL_IN)))
    rows = -(-len(contents) // columns)
    drawing = Figure(figsize=(width, height_in * rows + FOOT_IN), layout="constrained")
    grid = drawing.subplots(rows, columns, sharex=True, sharey=scales, squeeze=False)
    axes_of_all: list[Axes] = list(grid.flat)
    for index, (axes, content) in enumerate(zip(axes_of_all, contents, strict=False)):
        axes.set_xlabel(x)
        draw(axes, content)
        axes.set_title(shortened(titles[index]) if len(contents) > 1 else axes.get_title())
        axes.label_outer()
        # The lowest panel of each column has the axis' labels, also above an incomplete last row.
        if index + columns >= len(contents):
            axes.xaxis.set_tick_params(labelbottom=True)
            axes.set_xlabel(axes.get_xlabel() or x)
    # Set after all panels are drawn: an earlier limit would stop autoscaling.
    if from_zero and axes_of_all[0].get_yscale() == "linear":
        axes_of_all[0].set_ylim(bottom=0)
    for axes in axes_of_all[len(contents) :]:
        axes.remove()
    legend(drawing, width)
    return drawing


@contextmanager
def for_width(width_in: float | None) -> Iterator[None]:
    """Context in which figures are drawn with this width in inches.

    None means their default widths.
    """
    token = _given_width_in.set(width_in)
    try:
        yield
    finally:
        _given_width_in.reset(token)


def for_width_of(usual_in: float) -> float:
    """Return the width of a figure in inches: the requested width, else `usual_in`."""
    return _given_width_in.get() or usual_in


def logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers instead of powers of ten."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def legend(drawing: Figure, width: float = WIDTH_IN, title: str | None = None) -> None:
    """Draw one legend below all panels, an entry per name, in as many rows as it needs."""
    entries: dict[str, Artist] = {}
    for axes in drawing.axes:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(shortened(text), handle)
    if not entries:
        return
    columns = legend_columns(entries, for_width_of(width))
    rows = -(-len(entries) // columns)
    high = rows if title is None else rows + 1
    drawing.set_figheight(drawing.get_figheight() + LEGEND_ROW_IN * high)
    drawing.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=columns,
        title=title,
    )


def legend_columns(names: Collection[str], room_in: float) -> int:
    """Return the number of legend columns that fit into a width in inches; at least 1."""
    longest = max(map(len, names), default=0) + HANDLE_CHARACTERS
    return max(1, min(len(names), int(room_in * CHARACTERS_PER_IN / longest)))


def label_ends(drawing: Figure) -> Figure:
    """Replace the legend of a single panel by names at the ends of lines, if there is room."""
    if len(drawing.axes) != 1 or not drawing.legends:
        return drawing
    [axes] = drawing.axes
    found: Any = axes.get_legend_handles_labels()
    handles, names = found
    ends = [_end_of(axes, handle) for handle in handles]
    low, high = axes.get_ylim()
    gap = (high - low) * END_PT / (72 * PANEL_HEIGHT_IN)
    heights = [end for end in ends if end is not None and low <= end <= high]
    places = spread(heights, gap, low + gap / 2, high)
    far = any(abs(one - other) > 2 * gap for one, other in zip(heights, places, strict=True))
    if len(names) > MAX_ENDS or len(heights) < len(names) or far:
        return drawing
    for place, handle, name in zip(places, handles, names, strict=True):
        axes.annotate(
            shortened(name), (1, place), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=8, annotation_clip=False,
            color=_darker(handle.get_color()),
        )  # fmt: skip
    # The axis ends with the lines, so that names follow directly.
    axes.set_xlim(right=axes.dataLim.xmax)
    for each in drawing.legends:
        each.remove()
    drawing.set_figheight(drawing.get_figheight() - LEGEND_ROW_IN)
    return drawing


def _end_of(axes: Axes, handle: Any) -> float | None:  # noqa: ANN401
    """Return the last value of a line with the style of a legend's `handle`.

    The style is colour and line style. If several lines have it, return the mean of their last
    values. If none has, or if the handle is not a line, return None.
    """
    if not isinstance(handle, Line2D):
        return None
    ends = []
    for line in axes.lines:
        looks = (line.get_color(), line.get_linestyle()) == (
            handle.get_color(), handle.get_linestyle(),
        )  # fmt: skip
        heights = np.asarray(line.get_ydata(), float)
        known = heights[np.isfinite(heights)]
        if looks and len(known):
            ends.append(float(known[-1]))
    return sum(ends) / len(ends) if ends else None


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move heights apart such that neighbours differ by `gap` or more, between `low` and `high`.

    If there is not enough room, the heights extend below `low`.
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    places = list(heights)
    floor = low
    for at in order:
        places[at] = max(places[at], floor)
        floor = places[at] + gap
    ceiling = high
    for at in reversed(order):
        places[at] = min(places[at], ceiling)
        ceiling = places[at] - gap
    return places


def _darker(colour: Any) -> tuple[float, ...]:  # noqa: ANN401
    """Return a darker shade of a colour, in which text on white is readable."""
    return tuple(0.75 * part for part in to_rgb(colour))


def named_among(run: Results, label: str, runs: Sequence[Results]) -> str:
    """Return the name of `label` of `run` in plots of several runs.

    The name is the label if there is one run, the run's name if the run has one label, and
    otherwise both.
    """
    if len(runs) == 1:
        return label
    return run.name if len(run.algorithms()) == 1 else f"{run.name}: {label}"


def labels_of(runs: Sequence[Results]) -> dict[str, tuple[Results, str, str]]:
    """Return (run, label, algorithm) by the name that each label has in plots of `runs`."""
    return {
        named_among(run, label, runs): (run, label, kind)
        for run in runs
        for label, kind in run.algorithms().items()
    }


def shortened(text: str) -> str:
    """Shorten a long name in its middle, because both ends may distinguish it from other names."""
    if len(text) <= MAX_CHARACTERS:
        return text
    half = (MAX_CHARACTERS - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
