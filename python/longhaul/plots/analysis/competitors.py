"""Pictures of competitors, algorithms mostly, condition by condition."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram as draw_tree

from longhaul.analysis import outliers, ranks
from longhaul.analysis.clusters import CUT, Dendrogram
from longhaul.analysis.outliers import Residuals, Standout
from longhaul.plots.analysis.frame import GREY, HIGH, LOW, PLAIN, panels, styled, wrapped


def dendrograms(trees: Sequence[Dendrogram], names: Sequence[str], titles: Sequence[str]) -> Figure:
    """A dendrogram a condition; subtrees below the cut have a colour each."""
    with styled():
        drawing, axes = panels(len(trees), columns=6, width=2.0, height=2.0)
        for panel, tree, title in zip(axes, trees, titles, strict=True):
            height = tree.height
            draw_tree(
                tree.merges, ax=panel, labels=list(names), leaf_font_size=6, leaf_rotation=60,
                color_threshold=CUT * height if height else 0.0, above_threshold_color=GREY,
            )  # fmt: skip
            apart = ", ".join(names[i] for i in tree.distinctive)
            panel.set_title(
                wrapped(title) + (f"\ndistinctive: {apart}" if apart else ""),
                fontsize=6,
                fontweight="normal",
            )
            panel.tick_params(axis="y", labelsize=6)
            panel.grid(visible=False)
        return drawing


def residual_plot(
    values: ArrayLike, names: Sequence[str], conditions: Sequence[Mapping[str, object]], label: str,
    critical: float | None = None,
) -> Figure:  # fmt: skip
    """Residuals from the mean of all competitors, conditions by the size of the largest.

    `values` has a row a condition and a column a competitor. Green columns have a significant high
    outlier, red ones a low one, black ones neither. Below: levels of factors,
    the extreme competitor, the order of magnitude, percent of the mean, and Grubbs' statistic.
    """
    with styled():
        given = np.asarray(values, float)
        by_condition = [outliers.residuals(row, critical) for row in given]
        order = sorted(range(len(by_condition)), key=lambda c: abs(by_condition[c].largest))
        factors = list(conditions[0]) if conditions else []
        drawing = Figure(
            figsize=(max(5.0, 0.42 * len(order) + 1.6), 4.2 + 0.12 * len(factors)),
            layout="constrained",
        )
        axes = drawing.subplots()
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        axes.set_xlim(-0.6, len(order) - 0.4)
        _residual_scale(axes, [abs(condition.largest) for condition in by_condition])
        for x, c in enumerate(order):
            residuals = by_condition[c].residuals
            for who, offset in enumerate(_side_by_side(axes, residuals)):
                axes.text(
                    x + offset, residuals[who], str(who + 1), color=_colour(by_condition[c]),
                    fontsize=6, ha="center", va="center",
                )  # fmt: skip
        numbered = not {"condition", "run"} & set(factors)
        columns = [_column(by_condition[c], conditions[c], c if numbered else None) for c in order]
        axes.set_xticks(range(len(order)), columns, fontsize=5)
        axes.set_ylabel(f"{label}: residual")
        legend = ", ".join(f"{i + 1} {name}" for i, name in enumerate(names))
        heads = ["condition"] if numbered else []
        rows = [*heads, *factors, "extreme", "log10 of it", "% of mean", "G"]
        axes.set_xlabel(f"rows: {', '.join(rows)}", fontsize=7)
        axes.set_title(
            wrapped(f"min {given.min():.4g}, max {given.max():.4g}; {legend}", 90), fontsize=7
        )
        return drawing


# Residuals of conditions that differ more are on a scale that is logarithmic beyond the smallest.
MAX_RATIO = 20.0
# Labels that are nearer than this part of the axis lie side by side.
NEAR = 0.035
STEP = 0.17


def _residual_scale(axes: Axes, largest: Sequence[float]) -> None:
    reach = max(largest) or 1.0
    smallest = min((value for value in largest if value), default=reach)
    if reach > MAX_RATIO * smallest:
        axes.set_yscale("symlog", linthresh=max(smallest, 1e-6 * reach), linscale=0.8)
        axes.set_ylim(-2.0 * reach, 2.0 * reach)
    else:
        axes.set_ylim(-1.1 * reach, 1.1 * reach)


def _side_by_side(axes: Axes, values: np.ndarray) -> np.ndarray:
    """By how much each label is moved aside, so that none lies on another."""
    place = axes.transData + axes.transAxes.inverted()
    heights = place.transform(np.column_stack([np.zeros(len(values)), values]))[:, 1]
    offsets = np.zeros(len(values))
    group: list[int] = []
    for who in [*np.argsort(heights, kind="stable").tolist(), -1]:
        if group and (who < 0 or heights[who] - heights[group[-1]] > NEAR):
            offsets[group] = STEP * (np.arange(len(group)) - (len(group) - 1) / 2)
            group = []
        group.append(who)
    return np.clip(offsets, -0.5, 0.5)


def _colour(residuals: Residuals) -> str:
    if residuals.extreme < 0:
        return "#000000"
    return (HIGH if residuals.largest > 0 else LOW) if residuals.is_outlier else PLAIN


def _column(residuals: Residuals, condition: Mapping[str, object], index: int | None) -> str:
    numbers = [] if index is None else [str(index + 1)]
    lines = [*numbers, *(str(level) for level in condition.values())]
    if residuals.extreme < 0:
        return "\n".join([*lines, "-1", "", "", ""])
    figures = (
        f"{residuals.magnitude:.0f}",
        f"{residuals.percent:.0f}",
        f"{residuals.statistic:.2f}",
    )
    return "\n".join([*lines, str(residuals.extreme + 1), *figures])


# Responses that fit across a page.
MAX_ACROSS = 24


def standout_matrix(
    cells: Sequence[Sequence[Standout | None]], names: Sequence[str], conditions: Sequence[str],
    responses: Sequence[str],
) -> Figure:  # fmt: skip
    """Who stands out, by condition and response; green high, red low."""
    with styled():
        # The longer side goes down the page.
        upright = len(responses) > max(len(conditions), MAX_ACROSS)
        down, across = (responses, conditions) if upright else (conditions, responses)
        size = (max(4.0, 0.3 * len(across) + 1.8), max(2.4, 0.16 * len(down) + 1.2))
        drawing = Figure(figsize=size, layout="constrained")
        axes = drawing.subplots()
        for row, line in enumerate(cells):
            for column, cell in enumerate(line):
                if cell is not None:
                    colour = HIGH if cell.is_high else LOW
                    x, y = (row, column) if upright else (column, row)
                    axes.text(x, y, str(cell.who + 1), color=colour, ha="center", va="center",
                              fontsize=7)  # fmt: skip
        axes.set_xticks(range(len(across)), across, rotation=60, ha="right", fontsize=6)
        axes.set_yticks(range(len(down)), down, fontsize=6)
        axes.set_xlim(-0.5, len(across) - 0.5)
        axes.set_ylim(len(down) - 0.5, -0.5)
        legend = ", ".join(f"{i + 1} {name}" for i, name in enumerate(names))
        axes.set_title(wrapped(f"green high, red low: {legend}", 70), fontsize=7)
        return drawing


def congestion_bars(
    rates: Sequence[float], names: Sequence[str], bounds: Sequence[float], label: str = ""
) -> Figure:
    """Conditions by increasing retransmission rate, with classes C1, C2 and so on."""
    with styled():
        order = np.argsort(rates, kind="stable")
        drawing = Figure(figsize=(max(4.2, 0.24 * len(rates)), 3.0), layout="constrained")
        axes = drawing.subplots()
        axes.bar(range(len(order)), np.asarray(rates)[order], color=PLAIN)
        for bound in bounds:
            axes.axhline(bound, color=LOW, linewidth=0.8)
        for x, rate in enumerate(np.asarray(rates)[order]):
            text = f"C{1 + sum(rate > bound for bound in bounds)}"
            axes.annotate(text, (x, rate), (0, 1), textcoords="offset points", ha="center",
                          va="bottom", fontsize=5)  # fmt: skip
        axes.set_ylabel(label)
        positive = [rate for rate in rates if rate > 0]
        if positive and max(positive) > 30 * min(positive):
            axes.set_yscale("log")
        axes.set_xticks(range(len(order)), [names[i] for i in order], rotation=90, fontsize=6)
        return drawing


def goodput_bars(
    groups: Mapping[str, tuple[Sequence[float], Sequence[float]]], names: Sequence[str],
    unit: str, speeds: Mapping[str, float] | None = None,
) -> Figure:  # fmt: skip
    """Goodput of the flows of each competitor, then of the flows that compete with it.

    With the speeds of interfaces, a second panel beside shows fractions of these.
    """
    with styled():
        across = 1 if speeds is None else 2
        drawing, axes = panels(across * len(groups), columns=across, width=4.4, height=1.9)
        for k, (group, (own, others)) in enumerate(groups.items()):
            scales = [(1.0, unit)]
            if speeds is not None:
                scales.append((speeds[group], "fraction of the interface's speed"))
            for panel, (scale, text) in zip(axes[across * k :], scales, strict=False):
                sides = ((own, PLAIN, "its own flows"), (others, GREY, "flows beside it"))
                for part, (values, colour, whose) in enumerate(sides):
                    x = np.arange(len(names)) + part * (len(names) + 1)
                    panel.bar(x, np.asarray(values) / scale, color=colour, label=whose)
                ticks = np.r_[np.arange(len(names)), np.arange(len(names)) + len(names) + 1]
                panel.set_xticks(ticks, [*names, *names], rotation=60, ha="right", fontsize=5)
                panel.set_title(group, fontsize=8)
                panel.set_ylabel(text, fontsize=6)
        handles, texts = axes[0].get_legend_handles_labels()
        drawing.legend(handles, texts, loc="outside lower center", ncols=2, fontsize=6)
        return drawing


def goodput_scatter(own: ArrayLike, others: ArrayLike, title: str, unit: str) -> Figure:
    """Goodput of the competitors of an algorithm over its own, a point a condition."""
    with styled():
        x, y = np.asarray(own, float), np.asarray(others, float)
        drawing = Figure(figsize=(3.8, 3.6), layout="constrained")
        axes = drawing.subplots()
        top = float(max(x.max(), y.max()))
        axes.plot([0, top], [0, top], color=GREY, linewidth=0.8)
        axes.plot(x, y, "o", color=PLAIN, markersize=4)
        r = float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) and np.ptp(y) else float("nan")
        axes.set_title(f"{title}: r = {r:.3f}")
        axes.set_xlabel(f"own goodput ({unit})")
        axes.set_ylabel(f"goodput of its competitors ({unit})")
        return drawing


def difference_bars(
    own: ArrayLike, others: ArrayLike, names: Sequence[str], conditions: Sequence[str], unit: str
) -> Figure:
    """For each condition a bar an algorithm between its goodput and its competitors'.

    Green where its own is higher. Arrays have a row a condition and a column an algorithm.
    """
    with styled():
        first, second = np.asarray(own, float), np.asarray(others, float)
        drawing, axes = panels(len(first), columns=6, width=1.8, height=1.7)
        for panel, a, b, title in zip(axes, first, second, conditions, strict=True):
            colours = np.where(a > b, HIGH, LOW)
            panel.bar(range(len(names)), np.abs(a - b), bottom=np.minimum(a, b), color=colours)
            panel.set_xticks(range(len(names)), [str(i + 1) for i in range(len(names))], fontsize=6)
            panel.tick_params(axis="y", labelsize=6)
            panel.set_title(wrapped(title), fontsize=6, fontweight="normal")
        legend = ", ".join(f"{i + 1} {name}" for i, name in enumerate(names))
        text = f"{unit}: green where the own goodput is higher; {legend}"
        width = int(drawing.get_figwidth() * 14)
        drawing.suptitle(wrapped(text, width), fontsize=8)
        return drawing


def rank_matrix(
    values: ArrayLike, who: int, title: str, conditions: Sequence[str], groups: Sequence[str]
) -> Figure:
    """Ranks of one competitor by condition and group of flows, 1 the lowest goodput.

    Green above the mean of all, red below; filled where it is the farthest from the mean.
    `values` is an array (condition, group, competitor).
    """
    with styled():
        given = np.asarray(values, float)
        place = ranks.goodput_ranks(given)
        size = (max(3.6, 0.26 * len(groups) + 1.2), max(2.4, 0.19 * len(conditions) + 1.0))
        drawing = Figure(figsize=size, layout="constrained")
        axes = drawing.subplots()
        for row in range(len(conditions)):
            for column in range(len(groups)):
                cell = given[row, column]
                colour = HIGH if cell[who] > cell.mean() else LOW
                filled = ranks.distinctive(cell) == who
                box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if filled else None
                axes.text(
                    column, row, f"{place[row, column, who]:g}", ha="center", va="center",
                    fontsize=6, color="white" if filled else colour, bbox=box,
                )  # fmt: skip
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.set_ylim(len(conditions) - 0.5, -0.5)
        axes.set_xticks(range(len(groups)), groups, rotation=90, fontsize=6)
        axes.set_yticks(range(len(conditions)), conditions, fontsize=6)
        axes.grid(visible=False)
        axes.set_title(title)
        return drawing


def rank_spread(summary: ranks.RankSummary, names: Sequence[str]) -> Figure:
    """Standard deviation of rank averages over their mean; lower right is best."""
    with styled():
        drawing = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = drawing.subplots()
        axes.margins(0.14)
        axes.plot(summary.average, summary.spread, "o", color=PLAIN, markersize=9, alpha=0.8)
        for k, (x, y) in enumerate(zip(summary.average, summary.spread, strict=True)):
            axes.annotate(str(k + 1), (x, y), color="white", fontsize=7, ha="center", va="center")
        legend = ", ".join(f"{k + 1} {name}" for k, name in enumerate(names))
        axes.set_title(wrapped(legend, 60), fontsize=7)
        axes.set_xlabel("average rank (the highest is best)")
        axes.set_ylabel("standard deviation over groups")
        return drawing
