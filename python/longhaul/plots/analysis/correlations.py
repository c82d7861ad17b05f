"""Pictures of responses among themselves: correlations, components, and pairs by factor."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull

from longhaul.analysis import correlation as of
from longhaul.analysis.components import Components
from longhaul.plots.analysis.frame import GREY, HIGH, LOW, PLAIN, bare, panels, styled

# Colours of |r|: from 0.8, from 0.3, and below.
STRONG, MEDIUM = 0.8, 0.3


def _colour(r: float) -> str:
    return LOW if abs(r) >= STRONG else PLAIN if abs(r) >= MEDIUM else HIGH


def correlation_matrix(values: ArrayLike, names: Sequence[str]) -> Figure:
    """Names on the diagonal, scatter plots above it, 100 r below, ordered by mean |r|."""
    with styled():
        given = np.asarray(values, float)
        r = of.correlations(given)
        order = of.by_strength(r)
        count = len(order)
        size = max(4.0, 0.55 * count)
        drawing = Figure(figsize=(size, size))
        grid = drawing.subplots(count, count, squeeze=False)
        for i, row in enumerate(order):
            for j, other in enumerate(order):
                axes = grid[i, j]
                bare(axes)
                colour = _colour(r[row, other])
                if i == j:
                    name = names[row].replace(".", ".\n").replace("_", "_\n", 1)
                    axes.text(0.5, 0.5, name, ha="center", va="center", fontsize=6)
                elif j > i:
                    axes.plot(given[:, other], given[:, row], ".", color=colour, markersize=1)
                else:
                    text = f"{round(100 * r[row, other])}"
                    axes.text(0.5, 0.5, text, ha="center", va="center", color=colour, fontsize=7)
        drawing.subplots_adjust(wspace=0, hspace=0, left=0.01, right=0.99, top=0.99, bottom=0.01)
        return drawing


def correlation_histogram(values: ArrayLike, threshold: float = of.NIST_THRESHOLD) -> Figure:
    """How many pairs of responses have which |r|, with the threshold of groups."""
    with styled():
        count, edges = of.histogram(of.correlations(values))
        drawing = Figure(figsize=(4.8, 3.0), layout="constrained")
        axes = drawing.subplots()
        axes.bar(edges[:-1], count, np.diff(edges), align="edge", color=PLAIN, edgecolor="white")
        axes.axvline(threshold, color=LOW)
        axes.set_xlabel("|r|")
        axes.set_ylabel("pairs of responses")
        return drawing


def index_plot(
    values: ArrayLike, names: Sequence[str], threshold: float = of.NIST_THRESHOLD
) -> Figure:
    """Which pairs are above the threshold; responses with few partners first."""
    with styled():
        r = np.abs(of.correlations(values))
        order = of.by_partners(r, threshold)
        size = max(3.6, 0.28 * len(order))
        drawing = Figure(figsize=(size, size), layout="constrained")
        axes = drawing.subplots()
        above = r[np.ix_(order, order)] > threshold
        rows, columns = np.nonzero(above & ~np.eye(len(order), dtype=bool))
        axes.plot(columns, rows, "s", color=PLAIN, markersize=5)
        ticks = [names[i] for i in order]
        axes.set_xticks(range(len(order)), ticks, rotation=90, fontsize=6)
        axes.set_yticks(range(len(order)), ticks, fontsize=6)
        axes.set_xlim(-0.5, len(order) - 0.5)
        axes.set_ylim(-0.5, len(order) - 0.5)
        axes.set_title(f"|r| > {threshold:g}")
        return drawing


def weights(components: Components, names: Sequence[str], count: int = 4) -> Figure:
    """Weights of responses in the first components, and the distributions of their scores."""
    with styled():
        shown = min(count, len(components.weights))
        drawing = Figure(figsize=(9.0, 1.9 * shown), layout="constrained")
        grid = drawing.subplots(shown, 2, squeeze=False, width_ratios=(2, 1))
        for k in range(shown):
            left, right = grid[k]
            left.axhline(0.0, color=GREY, linewidth=0.8)
            left.plot(components.weights[k], "o", color=PLAIN, markersize=4)
            left.set_ylim(-1, 1)
            ticks = names if k == shown - 1 else [""] * len(names)
            left.set_xticks(range(len(names)), ticks, rotation=90, fontsize=6)
            left.set_ylabel(f"PC{k + 1}")
            left.set_title(
                f"{100 * components.variance_shares[k]:.0f} % of the variance", fontsize=8
            )
            right.hist(components.scores[:, k], bins=20, color=PLAIN)
            right.set_title(f"scores, deviation {components.deviations[k]:.2f}", fontsize=8)
        return drawing


def biplot(
    components: Components,
    names: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    clusters: Mapping[str, Sequence[int]] | None = None,
    title: str = "",
) -> Figure:
    """Scores on the first two components, by group, with the weights of responses as arrows.

    Dashed lines enclose the clusters of scores, if any are given.
    """
    with styled():
        drawing = Figure(figsize=(6.0, 5.0), layout="constrained")
        axes = drawing.subplots()
        for (name, members), marker in zip(
            groups.items(), "osD^vPXh<>*d" * len(groups), strict=False
        ):
            chosen = list(members)
            axes.plot(
                components.scores[chosen, 0], components.scores[chosen, 1], marker, markersize=4,
                label=name,
            )  # fmt: skip
        reach = float(np.abs(components.scores[:, :2]).max())
        longest = float(np.sqrt((components.weights[:2] ** 2).sum(axis=0)).max()) or 1.0
        for j, name in enumerate(names):
            x, y = components.weights[:2, j] * reach / longest
            axes.annotate(
                "", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": GREY, "lw": 0.6}
            )  # fmt: skip
            axes.text(x, y, name, fontsize=6, color=GREY)
        # Annotations do not widen the axes.
        axes.set_xlim(-1.15 * reach, 1.15 * reach)
        axes.set_ylim(-1.15 * reach, 1.15 * reach)
        for name, members in (clusters or {}).items():
            _enclose(axes, components.scores[list(members), :2], name)
        shares = 100 * components.variance_shares
        axes.set_xlabel(f"PC1 ({shares[0]:.0f} % of the variance)")
        axes.set_ylabel(f"PC2 ({shares[1]:.0f} %)")
        axes.set_title(title)
        axes.legend(fontsize=7)
        return drawing


def _enclose(axes: Axes, points: np.ndarray, name: str) -> None:
    """A dashed line around points, with what they have in common above them."""
    places = np.unique(points, axis=0)
    # A hull needs three points that are not on a line.
    if len(places) > 2 and np.linalg.matrix_rank(places - places[0]) > 1:
        around = places[ConvexHull(places).vertices]
        axes.plot(*np.vstack([around, around[:1]]).T, linestyle="--", color=GREY, linewidth=0.8)
    top = places[places[:, 1].argmax()]
    axes.annotate(name, top, (0, 5), textcoords="offset points", fontsize=7, ha="center")


def yyx(
    first: np.ndarray, second: np.ndarray, labels: tuple[str, str],
    factors: Mapping[str, tuple[Sequence[object], Sequence[object]]],
) -> Figure:  # fmt: skip
    """One response over another, plain and then once for each factor, points by its level.

    Of each factor the levels in order, and that of each point.
    """
    with styled():
        drawing, axes = panels(1 + len(factors), share_x=True, share_y=True)
        axes[0].plot(first, second, ".", color=PLAIN, markersize=3)
        axes[0].set_title("all runs")
        for panel, (name, levels) in zip(axes[1:], factors.items(), strict=True):
            _by_level(panel, first, second, *levels)
            panel.set_title(name)
        for panel in axes:
            panel.set_xlabel(labels[0], fontsize=7)
            panel.set_ylabel(labels[1], fontsize=7)
        return drawing


def _by_level(
    axes: Axes, x: np.ndarray, y: np.ndarray, order: Sequence[object], levels: Sequence[object]
) -> None:
    for level, colour, marker in zip(
        order, (LOW, PLAIN, HIGH, "#cc79a7", "#e69f00", "#000000") * 4,
        ("_", "+", "x", "1", "2", "3") * 4, strict=False,
    ):  # fmt: skip
        chosen = [i for i, other in enumerate(levels) if other == level]
        axes.plot(x[chosen], y[chosen], marker, color=colour, markersize=5, label=str(level))
    axes.legend(fontsize=5, loc="best")
