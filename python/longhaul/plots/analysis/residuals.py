"""Plots of competitors' residuals by condition, and of outliers."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike

from longhaul.analysis import outliers
from longhaul.analysis.outliers import Residuals, Standout
from longhaul.analysis.table import equal_parts
from longhaul.plots.analysis import conditions as shared
from longhaul.plots.analysis.frame import GREY, HIGH, LOW, PLAIN
from longhaul.plots.files import styled
from longhaul.plots.layout import single

BLACK = "#000000"
# Maximum number of conditions in a panel.
ACROSS = 16
HEIGHT_IN = 2.3
# Inches of a panel in addition to its conditions, and of a digit.
BESIDE_IN, DIGIT_IN = 0.9, 0.068
# The scale is symmetric logarithmic if residuals of conditions have a larger ratio.
MAX_RATIO = 20.0
# Maximum number of labelled powers of ten on either side of zero.
MAX_DECADES = 4


@styled()
def residual_plot(
    values: ArrayLike, names: Mapping[int, str], levels: Mapping[str, Sequence[str]], signs: str,
    label: tuple[str, str], critical: float | None = None,
) -> Figure:  # fmt: skip
    """Draw, for each condition, the differences of competitors from their mean (residuals).

    `values` has a row per condition and a column per competitor. `levels` has, for each factor, a
    text per condition, and `signs` explains them. `label` is the response's name and unit.

    Conditions are in ascending order of their largest absolute residual. They are green with a
    significant high outlier, red with a low one, blue without one, and black if all values are
    equal. Rows below the axis have the levels of factors, the extreme competitor, its residual's
    order of magnitude and percentage of the mean, and Grubbs' statistic.
    """
    given = np.asarray(values, float)
    each = [outliers.residuals(row, critical) for row in given]
    order = sorted(range(len(each)), key=lambda c: abs(each[c].largest))
    factors = dict(levels)
    if not {"condition", "run"} & set(factors):
        factors = {"condition": [str(c + 1) for c in range(len(each))], **factors}
    panels = equal_parts(len(order), ACROSS)
    rows_in = (len(factors) + 4) * shared.LINE / 72
    drawing = Figure(
        figsize=(shared.PAGE, (HEIGHT_IN + rows_in) * len(panels) + 1.2), layout="constrained"
    )
    grid = drawing.subplots(len(panels), 1, squeeze=False)
    words, unit = label
    for axes, part in zip(grid[:, 0], panels, strict=True):
        chosen = [order[place] for place in part]
        _panel(axes, [each[c] for c in chosen], list(names), len(panels[0]))
        axes.set_ylabel(f"residual ({unit})" if unit else "residual", fontsize=8)
        rows = {name: [texts[c] for c in chosen] for name, texts in factors.items()}
        rows |= _figures([each[c] for c in chosen], list(names))
        shared.below(axes, rows, [_colour(each[c]) for c in chosen])
    shared.head(drawing, f"{words}: how far each is from the mean of all")
    _legend(grid[0, 0], each[0].critical)
    shared.note(
        drawing,
        shared.key(names),
        f"Values from {given.min():.4g} to {given.max():.4g}{f' {unit}' if unit else ''}. "
        "Conditions by increasing size of the largest residual"
        + ("; panels have scales of their own" if len(panels) > 1 else "")
        + ". extreme: who is the farthest from the mean (-1: all are equal); log10: of the "
        "size of its residual; %: of the mean; G: Grubbs' statistic. Numbers that would lie on "
        "each other stand side by side, in rows if they are many.",
        signs,
    )
    return drawing


def _panel(axes: Axes, each: Sequence[Residuals], numbers: Sequence[int], across: int) -> None:
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set_xlim(-0.5, across - 0.5)
    axes.grid(visible=False, axis="x")
    axes.tick_params(axis="y", labelsize=7)
    _scale(axes, [abs(one.largest) for one in each])
    for x in range(1, len(each)):
        axes.axvline(x - 0.5, color="#dddddd", linewidth=0.6)
    fit = max(1, int((shared.PAGE - BESIDE_IN) / across / DIGIT_IN))
    for x, one in enumerate(each):
        if one.extreme < 0:
            axes.text(x, 0, "all", color=BLACK, fontsize=shared.SMALL, ha="center", va="bottom")
            continue
        for who, right, up in _places(axes, one.residuals, fit):
            axes.annotate(
                str(numbers[who]), (x, one.residuals[who]), (right, up), color=_colour(one),
                textcoords="offset points", fontsize=shared.SMALL, ha="center", va="center",
            )  # fmt: skip


def _scale(axes: Axes, largest: Sequence[float]) -> None:
    reach = max(largest) or 1.0
    smallest = min((value for value in largest if value), default=reach)
    if reach <= MAX_RATIO * smallest:
        axes.set_ylim(-1.15 * reach, 1.15 * reach)
        axes.ticklabel_format(axis="y", scilimits=(-3, 4))
        axes.yaxis.get_offset_text().set_fontsize(7)
        return
    linear = max(smallest, 1e-6 * reach)
    axes.set_yscale("symlog", linthresh=linear, linscale=1.0)
    axes.set_ylim(-2.5 * reach, 2.5 * reach)
    # Labels of powers in the linear part would overlap that of zero.
    powers = range(math.ceil(math.log10(linear)), math.floor(math.log10(2.5 * reach)) + 1)
    step = math.ceil(len(powers) / MAX_DECADES)
    named = [10.0**power for power in powers[::-1][::step]]
    axes.yaxis.set_major_locator(FixedLocator([*(-tick for tick in named), 0.0, *named]))
    axes.yaxis.set_minor_locator(NullLocator())


def _places(axes: Axes, values: np.ndarray, fit: int) -> list[tuple[int, float, float]]:
    """Return each competitor's index, and the offset (right, up) of its number in points.

    The offsets keep numbers with nearly equal residuals from overlapping: the numbers stand side by
    side. More than `fit` numbers need several rows, with smaller residuals in lower rows.
    """
    place = axes.transData + axes.transAxes.inverted()
    whole = place.transform(np.column_stack([np.zeros(len(values)), values]))[:, 1]
    heights = whole * 72 * HEIGHT_IN
    groups = [[int(who)] for who in np.argsort(heights, kind="stable")]
    while (at := _first_overlap(groups, heights, fit)) is not None:
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    found = []
    for group in groups:
        rows = [group[at : at + fit] for at in range(0, len(group), fit)]
        for down, row in enumerate(rows):
            for right, who in enumerate(row):
                up = (down - (len(rows) - 1) / 2) * shared.LINE
                if len(rows) > 1:
                    up += float(heights[group].mean() - heights[who])
                found.append((who, 72 * DIGIT_IN * (right - (len(row) - 1) / 2), up))
    return found


def _first_overlap(groups: Sequence[Sequence[int]], heights: np.ndarray, fit: int) -> int | None:
    """Return the index of the first group whose text overlaps the next group's; None if none does.

    The text of a group is its competitors' numbers. At most `fit` numbers stand side by side, at
    their `heights` in points. More numbers form several rows around the mean of the heights.
    """
    edges = []
    for group in groups:
        rows = math.ceil(len(group) / fit)
        if rows == 1:
            low, high = heights[group].min(), heights[group].max()
        else:
            low = high = heights[group].mean()
        edges.append((low - rows * shared.LINE / 2, high + rows * shared.LINE / 2))
    return next((k for k in range(len(edges) - 1) if edges[k][1] > edges[k + 1][0]), None)


def _colour(residuals: Residuals) -> str:
    if residuals.extreme < 0:
        return BLACK
    return (HIGH if residuals.largest > 0 else LOW) if residuals.is_outlier else PLAIN


def _figures(each: Sequence[Residuals], numbers: Sequence[int]) -> dict[str, list[str]]:
    """Return rows of text with each condition's extreme competitor and outlier statistics.

    The rows are by title. `numbers` are the competitors' numbers. For a condition whose values are
    all equal, the extreme competitor is -1, and the other texts are empty.
    """

    def row(text: str, figure: str) -> list[str]:
        return [text.format(getattr(one, figure)) if one.extreme >= 0 else "" for one in each]

    extreme = [str(numbers[one.extreme]) if one.extreme >= 0 else "-1" for one in each]
    # Format `z` writes negative zero without a minus.
    return {
        "extreme": extreme,
        "log10": row("{:z.0f}", "magnitude"),
        "%": row("{:z.0f}", "percent"),
        "G": row("{:.2f}", "statistic"),
    }


def _legend(axes: Axes, critical: float) -> None:
    meanings = {
        HIGH: f"high outlier (G > {critical:.4g})",
        LOW: f"low outlier (G > {critical:.4g})",
        PLAIN: "no significant outlier",
        BLACK: "all equal",
    }
    handles = [Patch(color=colour, label=text) for colour, text in meanings.items()]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=7)


@styled()
def standout_matrix(
    cells: Sequence[Sequence[Standout | None]], names: Mapping[int, str],
    conditions: Sequence[str], responses: Sequence[str], rule: str, factors: str = "condition",
) -> Figure:  # fmt: skip
    """Draw a matrix of outliers: a column for each condition, a row for each response."""
    numbers = list(names)
    # Inches for the longest names of responses and conditions.
    left = max(map(len, responses), default=0) / shared.PER_IN + 0.4
    # Names made of short signs are written vertically, one sign per line.
    short = all(len(part) <= 2 for name in conditions for part in name.split(" "))
    columns = [name.replace(" ", "\n") for name in conditions] if short else conditions
    down = max(map(len, conditions), default=0) / shared.PER_IN
    width = max(shared.PAGE, left + 0.11 * len(conditions))
    drawing, axes = single(width, 0.14 * len(responses) + down + 1.4)
    for x, line in enumerate(cells):
        for y, cell in enumerate(line):
            if cell is not None:
                axes.text(
                    x, y, str(numbers[cell.who]), color=HIGH if cell.is_high else LOW,
                    fontsize=7, fontweight="bold", ha="center", va="center_baseline",
                )  # fmt: skip
    axes.set_xticks(
        range(len(columns)), columns, rotation=0 if short else 90, fontsize=shared.SMALL
    )
    axes.set_yticks(range(len(responses)), responses, fontsize=shared.SMALL)
    axes.set_xlim(-0.5, len(conditions) - 0.5)
    axes.set_ylim(len(responses) - 0.5, -0.5)
    axes.set_xlabel(factors, fontsize=8)
    axes.set_title("Significant outliers: green high, red low", fontsize=8)
    shared.note(drawing, shared.key(names), rule)
    return drawing
