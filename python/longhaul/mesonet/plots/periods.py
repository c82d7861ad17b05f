"""Periods of a run in plots over time: borders, names, and means of each period.

Names are above the frame, at the middle of each period, and means are below the names. Each line
has a row of means in its colour. If there are several lines, a row begins with a sample of the
line's style. The mean of a single line is also drawn over its period; means of several lines would
hide the lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation

from longhaul.mesonet.tables import ROUNDING_S, Period
from longhaul.plots import styles
from longhaul.plots.registry import Options
from longhaul.plots.styles import Style
from longhaul.results import Results

# Maximum number of rows of means; with more lines only the names of periods are shown.
MOST_ROWS = 8
ROW_PT = 9.5
SIZE_PT = 7.5
# Points between the frame and the lowest row.
GAP_PT = 2.5
GREY = "#666666"


@dataclass(frozen=True)
class Means:
    """The mean of a curve in each period; None for a period without samples."""

    look: Style
    values: Sequence[float | None]


def shown(periods: Sequence[Period], options: Options, end_s: float) -> list[Period]:
    """Return the periods that lie completely in the part of the run that is shown."""
    low, high = options.from_s or 0.0, inf if options.to_s is None else options.to_s
    last = min(high, end_s) + ROUNDING_S
    return [each for each in periods if low <= each.from_s and each.to_s <= last]


def borders(axes: Axes, periods: Sequence[Period], options: Options, end_s: float) -> None:
    """Draw a line at each begin and end of a period in the part of the run that is shown."""
    ends = {time for period in periods for time in (period.from_s, period.to_s)}
    low, high = options.from_s or 0.0, inf if options.to_s is None else options.to_s
    for time in sorted(time for time in ends if low <= time <= min(high, end_s) + ROUNDING_S):
        axes.axvline(time, color="#999999", linewidth=0.8, linestyle=":")


def head(axes: Axes, periods: Sequence[Period], rows: Sequence[Means]) -> None:
    """Draw the name of each period and, below the name, the mean of each curve in the period.

    Means are left out if there are more than `MOST_ROWS` curves.
    """
    rows = rows if len(rows) <= MOST_ROWS else ()
    for place, period in enumerate(periods):
        middle = (period.from_s + period.to_s) / 2
        _above(axes, middle, len(rows), period.name, GREY)
        for row, means in enumerate(rows):
            mean = means.values[place]
            if mean is None:
                continue
            _above(axes, middle, len(rows) - 1 - row, _number(mean), means.look.colour)
            if len(rows) == 1:
                _over(axes, period, mean, means.look)
    if len(rows) > 1 and periods:
        for row, means in enumerate(rows):
            _key(axes, len(rows) - 1 - row, means.look)


def _over(axes: Axes, period: Period, mean: float, look: Style) -> None:
    line = axes.hlines(mean, period.from_s, period.to_s, color=look.colour, linewidth=1.4, zorder=3)
    line.set_path_effects([patheffects.withStroke(linewidth=2.8, foreground="#ffffff")])


def _above(axes: Axes, time: float, row: int, text: str, colour: str) -> None:
    axes.annotate(
        text, (time, 1.0), (0.0, GAP_PT + ROW_PT * row), xycoords=axes.get_xaxis_transform(),
        textcoords="offset points", ha="center", va="bottom", fontsize=SIZE_PT, color=colour,
    )  # fmt: skip


def _key(axes: Axes, row: int, look: Style) -> None:
    """Draw a sample of a line's style `look` at the left of `row`, which has the line's means."""
    height_in = (GAP_PT + ROW_PT * row + SIZE_PT / 2) / 72
    figure = axes.get_figure(root=True)
    assert figure is not None
    above = axes.transAxes + ScaledTranslation(0.0, height_in, figure.dpi_scale_trans)
    axes.plot([-0.05, -0.01], [1.0, 1.0], transform=above, clip_on=False, **styles.as_line(look))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.4g}"


def make_room(drawing: Figure, _: Sequence[Results]) -> Figure:
    """Move the panels' titles above the text drawn by `head`, and make the figure higher."""
    texts = [text for axes in drawing.axes for text in axes.texts if isinstance(text, Annotation)]
    if not texts:
        return drawing
    high_pt = ROW_PT + max(float(text.xyann[1]) for text in texts)
    rows = 0
    for axes in drawing.axes:
        axes.set_title(axes.get_title(), pad=high_pt + 4.0)
        place = axes.get_subplotspec()
        rows += place is not None and place.colspan.start == 0
    drawing.set_figheight(drawing.get_figheight() + rows * high_pt / 72)
    return drawing
