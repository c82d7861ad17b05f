"""Plots of goodput: of groups of flows, and of the flows that compete with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from longhaul.analysis import ranks
from longhaul.plots.analysis import conditions as shared
from longhaul.plots.analysis.frame import GREY, HIGH, LOW, PLAIN, beside, panels, prefixed, wrapped
from longhaul.plots.files import styled
from longhaul.plots.layout import for_width_of, single


@dataclass(frozen=True)
class Pair:
    """Texts for plots that compare an algorithm's own flows with competing flows."""

    title: str
    quantity: str
    unit: str
    own: str
    """Name of the algorithm's own flows; without flow groups, that of the first response."""
    others: str
    left_out: str = ""
    """Description of the flows that the plot leaves out; may be empty."""

    @property
    def axis(self) -> str:
        """Label of the axis of values, with the unit."""
        return f"{self.quantity} ({self.unit})" if self.unit else self.quantity


@dataclass(frozen=True)
class Bars:
    """Data of a panel of goodput bars."""

    title: str
    own: ArrayLike
    others: ArrayLike
    speed: float | None = None
    """Default speed of the flows' interfaces; if given, a second panel shows goodput over it."""


@styled()
def goodput_bars(bars: Sequence[Bars], names: Mapping[int, str], of: Pair) -> Figure:
    """Draw each algorithm's mean goodput and that of its competing flows, a panel per flow group.

    If default speeds of interfaces are given, a second row of panels has goodput divided by them.
    """
    speeds = sorted({each.speed for each in bars if each.speed})
    rows = 2 if speeds else 1
    drawing = Figure(figsize=(shared.PAGE, 1.9 * rows + 1.0), layout="constrained")
    grid = drawing.subplots(rows, len(bars), squeeze=False)
    for column, each in enumerate(bars):
        grid[0, column].set_title(each.title, fontsize=8)
        for axes, scale in zip(grid[:, column], (1.0, each.speed or 1.0), strict=False):
            for side, values in enumerate((each.own, each.others)):
                axes.bar(
                    np.arange(len(names)) + side * (len(names) + 1), np.asarray(values) / scale,
                    color=_colours(len(names)), alpha=0.45 if side else 1.0,
                )  # fmt: skip
            middle = (len(names) - 1) / 2
            axes.set_xticks([middle, middle + len(names) + 1], ["own", "beside"], fontsize=7)
            axes.tick_params(axis="y", labelsize=shared.SMALL)
            axes.grid(visible=False, axis="x")
            prefixed(axes.yaxis)
    for axes, text in zip(grid[:, 0], (of.axis, "fraction of the default"), strict=False):
        axes.set_ylabel(text, fontsize=7)
    _name_colours(drawing, names, of.title)
    fast = ", ".join(f"{speed:g}" for speed in speeds)
    shared.note(
        drawing,
        f"own: {of.own}; beside, paler: {of.others}."
        + (
            f" Below: as fractions of the interface's default speed, {fast} {of.unit}." * bool(fast)
        ),
        of.left_out,
    )
    return drawing


def _colours(count: int) -> list[str]:
    every = [matplotlib.colors.to_hex(colour) for colour in matplotlib.colormaps["tab10"].colors]  # type: ignore[attr-defined]
    return [every[k % len(every)] for k in range(count)]


def _name_colours(drawing: Figure, names: Mapping[int, str], title: str) -> None:
    handles = [
        Patch(color=colour, label=name)
        for colour, name in zip(_colours(len(names)), names.values(), strict=True)
    ]
    drawing.legend(
        handles=handles, loc="outside upper center", ncols=min(9, len(handles)), fontsize=7,
        title=title, title_fontproperties={"weight": "bold", "size": 9},
    )  # fmt: skip


@styled()
def goodput_scatter(
    own: ArrayLike, others: ArrayLike, names: Mapping[int, str], of: Pair
) -> Figure:
    """Draw a panel for each algorithm: goodput of competing flows over that of its own flows.

    Each point is a condition. The arrays `own` and `others` have a row per condition and a column
    per algorithm. The correlation coefficient is printed in red.
    """
    first, second = np.asarray(own, float), np.asarray(others, float)
    top = 1.05 * float(max(first.max(), second.max()))
    drawing, axes = panels(
        len(names), columns=4, width=shared.PAGE / 4, height=1.8, share_x=True, share_y=True
    )
    for panel, name, x, y in zip(axes, names.values(), first.T, second.T, strict=True):
        panel.plot([0, top], [0, top], color=GREY, linewidth=0.8)
        panel.plot(x, y, "o", color=PLAIN, markersize=3, markeredgewidth=0)
        panel.set_title(name, fontsize=8, loc="left")
        varies = np.ptp(x) > 0 and np.ptp(y) > 0
        r = f"r = {np.corrcoef(x, y)[0, 1]:.3f}" if varies else "r: no variation"
        panel.set_title(r, color="red", fontsize=7, fontweight="normal", loc="right")
        panel.tick_params(labelsize=shared.SMALL)
        panel.label_outer()
        prefixed(panel.xaxis)
        prefixed(panel.yaxis)
    for panel in axes[-4:]:
        panel.tick_params(axis="x", labelbottom=True)
    shared.head(drawing, of.title)
    unit = f" ({of.unit})" if of.unit else ""
    text = f"{of.others}{unit}"
    drawing.supylabel(wrapped(text, int(12 * drawing.get_figheight())), fontsize=8)
    shared.note(
        drawing,
        f"Across: {of.own}{unit}. A point is a condition; below the "
        "line own flows get more. r in red: the correlation over conditions.",
    )
    return drawing


@styled()
def difference_bars(
    own: ArrayLike, others: ArrayLike, names: Mapping[int, str], conditions: Sequence[str],
    of: Pair, order: str = "",
) -> Figure:  # fmt: skip
    """Draw a bar from the goodput of an algorithm's own flows to that of the competing flows.

    There is a bar for each condition and algorithm, green where the own goodput is higher. `own`
    and `others` have a row per condition and a column per algorithm.
    """
    first, second = np.asarray(own, float), np.asarray(others, float)
    drawing, axes = panels(len(first), columns=6, width=shared.PAGE / 6, height=1.15)
    for panel, a, b, title in zip(axes, first, second, conditions, strict=True):
        colours = np.where(a > b, HIGH, LOW)
        # The edge makes very low bars visible.
        panel.bar(
            range(len(names)), np.abs(a - b), bottom=np.minimum(a, b), color=colours,
            edgecolor=colours, linewidth=1.0, width=0.7,
        )  # fmt: skip
        low, high = min(a.min(), b.min()), max(a.max(), b.max())
        room = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
        panel.set_ylim(low - room, high + room)
        panel.set_xticks(range(len(names)), [str(number) for number in names])
        panel.tick_params(labelsize=5.5, length=2, pad=1.5)
        panel.ticklabel_format(axis="y", useOffset=False)
        panel.locator_params(axis="y", nbins=4)
        prefixed(panel.yaxis)
        panel.set_title(wrapped(title, 20), fontsize=shared.SMALL, fontweight="normal", pad=2)
        panel.grid(visible=False, axis="x")
    shared.head(drawing, of.title)
    drawing.supylabel(of.axis, fontsize=8)
    shared.note(
        drawing,
        shared.key(names),
        f"A bar is between {of.own} and {of.others}: green where the former is higher, red "
        f"where the latter is. {order} Panels have scales of their own, which do not begin "
        "at zero.",
    )
    return drawing


@styled()
def rank_matrix(
    values: ArrayLike, who: int, title: str, conditions: Sequence[str], groups: Sequence[str],
    notes: Sequence[str] = (), factors: str = "condition",
) -> Figure:  # fmt: skip
    """Draw the rank of a competitor by condition and group of flows; 1 is the lowest value.

    `values` has the shape (condition, group of flows, competitor), and `who` is an index of its
    last axis. A rank is green if the competitor's value is above the mean, red if not, and black if
    all values are equal. Its square is filled if the competitor is the farthest from the mean; of
    several, only one (`ranks.distinctive`).
    """
    given = np.asarray(values, float)
    place = ranks.value_ranks(given)
    names = max(map(len, conditions)) / shared.PER_IN
    width = min(shared.PAGE, max(4.0, 0.3 * len(groups) + names + 0.6))
    drawing, axes = single(width, 0.17 * len(conditions) + 2.2)
    for row in range(len(conditions)):
        for column in range(len(groups)):
            cell = given[row, column]
            equal = not np.ptp(cell)
            colour = "black" if equal else HIGH if cell[who] > cell.mean() else LOW
            filled = not equal and ranks.distinctive(cell) == who
            box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if filled else None
            axes.text(
                column, row, f"{place[row, column, who]:g}", ha="center", va="center",
                fontsize=6, color="white" if filled else colour, bbox=box,
            )  # fmt: skip
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_ylim(len(conditions) - 0.5, -0.5)
    columns = [wrapped(group, 24) for group in groups]
    axes.set_xticks(range(len(groups)), columns, rotation=90, fontsize=6)
    axes.set_yticks(range(len(conditions)), conditions, fontsize=6)
    axes.set_ylabel(factors, fontsize=8)
    axes.grid(visible=False)
    shared.head(drawing, title)
    shared.note(
        drawing,
        f"Ranks among {given.shape[-1]}: 1 the lowest, {given.shape[-1]} the highest. Green "
        "above their mean, red below; filled: the farthest of all from it.",
        *notes,
    )
    return drawing


@styled()
def rank_spread(
    summary: ranks.RankSummary, names: Mapping[int, str], title: str, over: str, left_out: str = ""
) -> Figure:
    """Draw the mean and standard deviation of each competitor's ranks over groups of responses.

    In each group, a competitor has one average rank. `over` describes the groups.
    """
    drawing, axes = single(for_width_of(5.2), 4.2)
    axes.margins(0.14)
    axes.plot(summary.average, summary.spread, "o", color=PLAIN, markersize=4)
    axes.set_title(wrapped(title, 60), fontsize=8)
    axes.set_xlabel(f"average rank (1 the lowest, {len(names)} the highest)")
    axes.set_ylabel("standard deviation of averages")
    shared.note(
        drawing,
        f"Mean and sample standard deviation of {len(summary.groups)} average ranks: {over}. "
        "Best is the lower right corner.",
        left_out,
    )
    points = zip(summary.average, summary.spread, names.items(), strict=True)
    beside(axes, [(x, y, f"{number} {name}") for x, y, (number, name) in points], size=7)
    return drawing
