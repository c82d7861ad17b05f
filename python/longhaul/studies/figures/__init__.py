"""Figures of a study, drawn from its results: medians as lines, single runs as points.

Published values are drawn in each figure, and published findings printed next to it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogFormatter, LogFormatterSciNotation, NullLocator

from longhaul import plots
from longhaul.plots import styles
from longhaul.plots.styles import Style
from longhaul.studies import arithmetic
from longhaul.studies.claims import Claim
from longhaul.studies.data import Curve, Data, NotRunError
from longhaul.studies.figures.axes import TIMES, QuickAxes, power_of_ten

# Styles of lines that belong to no protocol, such as sums and queues.
SUM = Style("#000000", "s", (0, (4, 2)))
QUEUE_LOOKS = {"red": Style("#000000", "o"), "droptail": Style("#000000", "x", (0, (5, 2)))}
QUEUE_NAMES = {"red": "RED", "droptail": "drop-tail"}
OTHER = styles.ALGORITHMS["udp"]
PRINTED: dict[str, Any] = {"marker": "D", "markersize": 4.5, "markeredgecolor": "#000000",
                           "markeredgewidth": 0.9}  # fmt: skip
PUBLISHED: dict[str, Any] = {"color": "#a0a0a0", "linewidth": 0.9, "linestyle": (0, (1, 1.5))}


WIDTH_IN, HEIGHT_IN = 8.4, 3.0
# Inches above panels for their titles, and to their right for half a label.
TOP_IN, RIGHT_IN = 0.27, 0.2
# Inches between panels, without and with the labels of a colour bar.
GAP_IN, BAR_IN = 0.2, 0.75
# Inches below panels for the axis' labels and name, and for each row of the legend.
FOOT_IN, ROW_IN = 0.52, 0.205
# Inches left of panels for the name of the axis, and for each character of its labels.
NAME_IN, CHARACTER_IN = 0.36, 0.08
# Inches from panels down to the name of the x axis, and from the left edge to that of the y axis.
NAME_BELOW_IN, NAME_LEFT_IN = 0.27, 0.22
# Maximum columns of a legend; width of a column without text, and of a letter, in inches.
MOST_COLUMNS = 5
ENTRY_IN, LETTER_IN = 0.6, 0.073
# Logarithmic axes: range of numbers written without a power of ten, and maximum decades in view at
# which some, and at which all, ticks between powers of ten are labelled.
MIN_PLAIN, MAX_PLAIN = 1e-2, 1e5
MINOR_NAMES = (1.0, 0.4)

# Function that draws one panel from its axes, the data, and the panel's queue.
Draw = Callable[[Axes, Data, str], None]


@dataclass(frozen=True)
class Line:
    """A line of a figure: the values of a metric along the axis of the figure."""

    experiment: str
    metric: str
    label: str
    look: Style
    where: Mapping[str, str | float] = field(default_factory=dict)
    curve: Callable[..., Curve] | None = None
    """Function that computes the line from results at levels `where`; None to draw `metric`."""


@dataclass(frozen=True)
class Frame:
    """Scales and labels of the axes of a figure."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True


@dataclass(frozen=True)
class Figure:
    """A figure of the source, drawn from the results of the study."""

    number: str
    title: str
    experiments: tuple[str, ...]
    published: str
    """Summary of the printed figure, with numbers of the source."""
    frame: Frame
    axis: str = ""
    lines: Sequence[Line] = ()
    panels: Sequence[str] = ("red", "droptail")
    """Queue disciplines, each with its own panel; if empty, all lines share one panel."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Values printed in the source, drawn as horizontal lines; the keys are labels."""
    draw: Draw | None = None
    """Function that draws a panel; None to draw `lines` along `axis`."""

    @property
    def name(self) -> str:
        """Name of the figure in file names and in ids of page elements."""
        return re.sub(r"\W+", "-", f"figure-{self.number}")


def drawing(figure: Figure, data: Data, claims: Sequence[Claim] = ()) -> Drawing | None:
    """Draw a figure with the source's numbers in `claims`; return None if it has no runs."""
    panels = figure.panels or ("",)
    with matplotlib.rc_context(plots.STYLE):
        whole = Drawing(figsize=(WIDTH_IN, HEIGHT_IN))
        grid = whole.subplots(
            1, len(panels), sharey=True, squeeze=False, subplot_kw={"axes_class": QuickAxes}
        )
        drawn = [
            _panel(axes, figure, data, panel, claims)
            for axes, panel in zip(grid.flat, panels, strict=True)
        ]
        if not any(drawn):
            return None
        _finish(whole, list(grid.flat), figure)
    return whole


def _panel(axes: Axes, figure: Figure, data: Data, queue: str, claims: Sequence[Claim]) -> bool:
    if len(figure.panels) > 1:
        axes.set_title(QUEUE_NAMES.get(queue, queue))
    axes.set_xlabel(figure.frame.x)
    if figure.frame.log_x:
        axes.set_xscale("log")
    if figure.frame.log_y:
        axes.set_yscale("log")
    for label, value in figure.values.items():
        axes.axhline(value, label=label, **PUBLISHED)
    if figure.draw is not None:
        try:
            figure.draw(axes, data, queue)
        except NotRunError:
            return False
        return True
    place = {"queue": queue} if queue else {}
    drawn = [_line(axes, figure.axis, line, data, place) for line in figure.lines]
    for line, is_drawn in zip(figure.lines, drawn, strict=True):
        if is_drawn and (points := printed(line, figure.axis, place, claims)):
            axes.plot(
                list(points), list(points.values()), linestyle="none", label="printed",
                **{**PRINTED, "markerfacecolor": line.look.colour},
            )  # fmt: skip
    return any(drawn)


def printed(
    line: Line, axis: str, place: Mapping[str, str | float], claims: Sequence[Claim]
) -> dict[float, float]:
    """Return the numbers that the source prints for points of a line, by level of `axis`.

    `place` has the levels that all points of the panel share. Only claims with the measure `value`
    are used, and only for lines without a `curve`.
    """
    cell = {**line.where, **place, "of": line.experiment, "metric": line.metric}
    points = {}
    for claim in claims if line.curve is None else ():
        if claim.measure != "value" or claim.expected.printed is None:
            continue
        level = claim.question.level_in(cell, axis)
        if isinstance(level, float):
            points[level] = claim.expected.printed
    return points


def _line(axes: Axes, axis: str, line: Line, data: Data, place: Mapping[str, str | float]) -> bool:
    where = {**line.where, **place}
    style: dict[str, Any] = {"color": line.look.colour, "label": line.label}
    try:
        if line.curve is not None:
            curve = line.curve(data, **where)
        else:
            curve = _medians(data, axis, line, where)
            names = arithmetic.metrics(line.metric)
            runs = data.points(line.experiment, **where).drop_nulls(names)
            axes.plot(
                runs[axis], _computed(line.metric, runs.select(pl.col(names).cast(pl.Float64))),
                linestyle="none", marker=".", markersize=2.5, alpha=0.5, color=line.look.colour,
            )  # fmt: skip
    except NotRunError:
        return False
    axes.plot(
        curve.x, curve.y,
        linestyle=line.look.line, marker=line.look.marker, markersize=4, **style,
    )  # fmt: skip
    return True


def _medians(data: Data, axis: str, line: Line, where: Mapping[str, str | float]) -> Curve:
    """Return the curve of a line: the median of its metric at each level of `axis`.

    Arithmetic on several metrics is computed from the median of each. `where` has the levels of
    other axes that the line and the panel fix.
    """
    curves = {
        name: data.curve(name, axis, line.experiment, **where)
        for name in arithmetic.metrics(line.metric)
    }
    x = next(iter(curves.values())).x
    if any(not np.array_equal(x, curve.x) for curve in curves.values()):
        raise NotRunError(
            f"{line.experiment} has not all of {', '.join(curves)} at the same points"
        )
    return Curve(x, _computed(line.metric, pl.DataFrame({n: c.y for n, c in curves.items()})))


def _computed(metric: str, table: pl.DataFrame) -> np.ndarray:
    """Return arithmetic on metrics for each row of a table; a number divided by 0 is not finite."""
    columns: dict[str, Any] = table.to_dict()
    return np.asarray(arithmetic.number(metric)(columns))


def _finish(whole: Drawing, panels: Sequence[Axes], figure: Figure) -> None:
    for axes in whole.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                _name_powers(axis)
    for axes in panels:
        # A fixed position: Matplotlib's search for room above the ticks takes as long as drawing
        # them.
        axes.set_title(axes.get_title(), y=1.0)
    panels[0].set_ylabel(figure.frame.y)
    if figure.frame.from_zero and not figure.frame.log_y:
        panels[0].set_ylim(bottom=min(0.0, panels[0].get_ylim()[0]))
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    columns = _columns(list(entries))
    if entries:
        whole.legend(
            list(entries.values()),
            list(entries),
            loc="lower center",
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=0.2,
            ncols=columns,
        )
    _place(whole, panels, rows=-(-len(entries) // columns))


def _columns(entries: Sequence[str]) -> int:
    """Return the largest number of legend columns at which the legend is no wider than the plot."""
    for columns in range(min(len(entries), MOST_COLUMNS), 1, -1):
        each = np.array_split([len(entry) for entry in entries], columns)
        if sum(ENTRY_IN + LETTER_IN * lengths.max() for lengths in each) < WIDTH_IN:
            return columns
    return 1


def _place(whole: Drawing, panels: Sequence[Axes], rows: int) -> None:
    """Place the panels so that labels and legend fit.

    Sizes of texts are estimated from numbers of characters, since measuring is as slow as drawing.
    """
    axis = panels[0].yaxis
    labels = axis.get_major_formatter().format_ticks(axis.get_majorticklocs().tolist())
    left = NAME_IN + CHARACTER_IN * max((len(label) for label in labels), default=0)
    others = [axes for axes in whole.axes if axes not in panels]
    # Colour bars and second axes have labels on their right.
    gap = BAR_IN if others else GAP_IN
    second = any(axes.bbox.bounds == panels[-1].bbox.bounds for axes in others)
    right = BAR_IN if second else RIGHT_IN
    width = (WIDTH_IN - left - right - gap * (len(panels) - 1)) / len(panels)
    whole.subplots_adjust(
        left=left / WIDTH_IN,
        right=1 - right / WIDTH_IN,
        bottom=(FOOT_IN + ROW_IN * rows) / HEIGHT_IN,
        top=1 - TOP_IN / HEIGHT_IN,
        wspace=gap / width,
    )
    # Prevents each axis from searching for its labels and spines and creating ticks three times.
    height = HEIGHT_IN - FOOT_IN - ROW_IN * rows - TOP_IN
    for axes in panels:
        axes.xaxis.set_label_coords(0.5, -NAME_BELOW_IN / height)
    axis.set_label_coords(-(left - NAME_LEFT_IN) / width, 0.5)


def _name_powers(axis: Axis) -> None:
    """Label the ticks of a logarithmic axis in plain text, which is shorter and is drawn faster.

    If three powers of ten or more are in view, only these have ticks.
    """
    low, high = sorted(axis.get_view_interval())
    if low > 0 and floor(log10(high)) - ceil(log10(low)) >= 2:
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, _: _power(round(log10(value))))
    elif axis.get_major_formatter().__class__ is LogFormatterSciNotation:
        axis.set_major_formatter(_PlainLog())
        axis.set_minor_formatter(_PlainLog(minor_thresholds=MINOR_NAMES))


def _power(exponent: int) -> str:
    """Return a power of ten as text; 1 and 10 are written as numbers."""
    return {0: "1", 1: "10"}.get(exponent, power_of_ten(exponent))


class _PlainLog(LogFormatter):
    """Formatter that labels the same ticks as its base class, but in plain text."""

    def __call__(self, value: float, place: int | None = None) -> str:
        """Return the label of the tick at `value`; empty for some ticks if there are many."""
        return _in_plain_text(value) if super().__call__(value, place) else ""


def _in_plain_text(value: float) -> str:
    if MIN_PLAIN <= value < MAX_PLAIN:
        return f"{value:.10g}"
    exponent = floor(log10(value) + 1e-9)
    factor = value / 10.0**exponent
    power = power_of_ten(exponent)
    return power if abs(factor - 1) < 1e-6 else f"{factor:.3g}{TIMES}{power}"
