"""Plots of relations between responses: correlations, principal components, scatter plots."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from longhaul.analysis import correlation as of
from longhaul.analysis.components import Components, standardised
from longhaul.libraries import spatial
from longhaul.plots.analysis.frame import (
    GREY,
    HIGH,
    LEVELS,
    LOW,
    PLAIN,
    bare,
    beside,
    key,
    panels,
    prefixed,
    wrapped,
)
from longhaul.plots.files import styled
from longhaul.plots.layout import for_width_of, single

# Smallest |r| that counts as strong, and as medium, for the colours.
STRONG, MEDIUM = 0.8, 0.3
# Maximum number of responses with scatter plots, which would otherwise be too small.
MOST_SCATTERED = 24
# Maximum number of principal components that are drawn.
MOST_COMPONENTS = 4
# The legend has one column if a group's name has more characters, otherwise four.
SHORT_NAME = 16


def _colour(r: float) -> str:
    return LOW if abs(r) >= STRONG else PLAIN if abs(r) >= MEDIUM else HIGH


@styled()
def correlation_matrix(
    values: ArrayLike, names: Sequence[str], meanings: Sequence[str] = ()
) -> Figure:
    """Draw scatter plots above the diagonal and 100 r below it; the diagonal has the names.

    Responses are ordered by mean |r|. If there are many, coloured squares replace the scatter
    plots. `meanings` are lines of text that explain the names.
    """
    given = np.asarray(values, float)
    r = of.correlations(given)
    order = of.by_strength(r)
    if len(order) > MOST_SCATTERED:
        return _heat_map(r[np.ix_(order, order)], [names[i] for i in order], meanings)
    count = len(order)
    size = for_width_of(max(4.0, 0.55 * count))
    drawing = Figure(figsize=(size, size + 0.4))
    drawing.set_layout_engine("constrained", w_pad=0, h_pad=0, wspace=0, hspace=0)
    grid = drawing.subplots(count, count, squeeze=False)
    for i, row in enumerate(order):
        for j, other in enumerate(order):
            axes = grid[i, j]
            bare(axes)
            colour = _colour(r[row, other])
            if i == j:
                name = wrapped(names[row], 9)
                axes.text(0.5, 0.5, name, ha="center", va="center", fontsize=6)
            elif j > i:
                axes.plot(given[:, other], given[:, row], ".", color=colour, markersize=1)
            else:
                text = f"{round(100 * r[row, other])}"
                axes.text(0.5, 0.5, text, ha="center", va="center", color=colour, fontsize=7)
    title = (
        f"below the diagonal 100 r, above it the runs; red |r| at least {STRONG:g}, "
        f"blue {MEDIUM:g}, green less"
    )
    drawing.suptitle(wrapped(title, int(13 * size)), fontsize=8)
    key(drawing, meanings)
    return drawing


def _heat_map(r: np.ndarray, names: Sequence[str], meanings: Sequence[str]) -> Figure:
    """Draw a coloured square with 100 r (correlation in percent) for each pair of responses."""
    size = 0.21 * len(names) + 1.0
    drawing, axes = single(size + 0.6, size)
    picture = axes.imshow(r, cmap="RdBu_r", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(r):
        if row != column:
            colour = "white" if abs(value) > 0.7 else "#000000"
            axes.text(column, row, f"{round(100 * value)}", ha="center", va="center",
                      fontsize=4.5, color=colour)  # fmt: skip
    axes.grid(visible=False)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_title("100 r of each pair, by mean |r|", fontsize=8)
    drawing.colorbar(picture, ax=axes, shrink=0.5, label="correlation r")
    key(drawing, meanings)
    return drawing


@styled()
def correlation_histogram(values: ArrayLike, threshold: float = of.NIST_THRESHOLD) -> Figure:
    """Draw a histogram of |r| over pairs of responses, with a line at `threshold`."""
    count, edges = of.histogram(of.correlations(values))
    drawing, axes = single(4.8, 3.0)
    axes.bar(edges[:-1], count, np.diff(edges), align="edge", color=PLAIN, edgecolor="white")
    axes.axvline(threshold, color=LOW)
    axes.set_xlabel(f"|r| of a pair of responses; red: {threshold:g}, from which groups form")
    axes.set_ylabel("pairs of responses")
    return drawing


@styled()
def index_plot(
    values: ArrayLike, names: Sequence[str], threshold: float = of.NIST_THRESHOLD,
    meanings: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """Draw two points, on both sides of the diagonal, for each pair of responses with a high |r|.

    |r| is high above the threshold. Responses are in ascending order of their number of points.
    """
    r = np.abs(of.correlations(values))
    order = of.by_partners(r, threshold)
    size = for_width_of(max(3.6, 0.28 * len(order)))
    drawing, axes = single(size, size)
    above = r[np.ix_(order, order)] > threshold
    rows, columns = np.nonzero(above & ~np.eye(len(order), dtype=bool))
    axes.plot(columns, rows, "s", color=PLAIN, markersize=5)
    ticks = [names[i] for i in order]
    axes.set_xticks(range(len(order)), ticks, rotation=90, fontsize=6)
    axes.set_yticks(range(len(order)), ticks, fontsize=6)
    axes.set_xlim(-0.5, len(order) - 0.5)
    axes.set_ylim(-0.5, len(order) - 0.5)
    axes.set_title(f"pairs with |r| > {threshold:g}")
    key(drawing, meanings)
    return drawing


@styled()
def weights(components: Components, names: Sequence[str], meanings: Sequence[str] = ()) -> Figure:
    """Draw the weights of the responses in the first four components."""
    shown = min(MOST_COMPONENTS, len(components.weights))
    drawing = Figure(figsize=(max(4.2, 0.26 * len(names)), 1.6 * shown), layout="constrained")
    grid = drawing.subplots(shown, 1, squeeze=False, sharex=True)
    for k, axes in enumerate(grid[:, 0]):
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        axes.vlines(range(len(names)), 0.0, components.weights[k], color=PLAIN, linewidth=0.8)
        axes.plot(components.weights[k], "o", color=PLAIN, markersize=4)
        axes.set_ylim(-1, 1)
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
        axes.set_ylabel(f"weight in PC{k + 1}")
        share = 100 * components.variance_shares[k]
        axes.set_title(f"PC{k + 1}: {share:.0f} % of the variance", fontsize=8)
    key(drawing, meanings)
    return drawing


@styled()
def shares(components: Components) -> Figure:
    """Draw each principal component's fraction of the variance, and the cumulative fractions."""
    given = 100 * components.variance_shares
    drawing, axes = single(max(4.2, 0.3 * len(given) + 1.5), 3.0)
    at = np.arange(len(given))
    for offset, values, colour, text in (
        (-0.2, given, PLAIN, "of its own"),
        (0.2, given.cumsum(), GREY, "with those before it"),
    ):
        axes.bar(at + offset, values, 0.4, color=colour, label=text)
    axes.set_xticks(at, [f"PC{k + 1}" for k in at], rotation=90, fontsize=7)
    axes.set_ylabel("% of the variance")
    drawing.legend(loc="outside lower center", ncols=2, fontsize=7)
    return drawing


@styled()
def distributions(components: Components, values: ArrayLike) -> Figure:
    """Draw histograms of all standardised responses, and of scores, on one scale.

    The scores are those on the first four components.
    """
    shown = min(MOST_COMPONENTS, len(components.weights))
    every = standardised(values).ravel()
    parts = {"all responses, standardised": every}
    parts |= {f"scores on PC{k + 1}": components.scores[:, k] for k in range(shown)}
    reach = max(float(np.abs(part).max()) for part in parts.values())
    drawing, axes = panels(len(parts), share_x=True, columns=3)
    for panel, (name, part) in zip(axes, parts.items(), strict=True):
        panel.hist(part, bins=30, range=(-reach, reach), color=PLAIN)
        panel.set_title(f"{name}\nn = {len(part)}, deviation {part.std(ddof=1):.2f}", fontsize=8)
        panel.xaxis.set_tick_params(labelbottom=True)
    drawing.supylabel("values", fontsize=9)
    drawing.supxlabel("standardised value, or score", fontsize=9)
    return drawing


@styled()
def biplot(
    components: Components,
    names: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    clusters: Mapping[str, Sequence[int]] | None = None,
    title: str = "",
    meanings: Sequence[str] = (),
) -> Figure:
    """Draw scores on the first two components, coloured by group, and responses' weights as arrows.

    Dashed lines enclose the clusters of scores, if any are given. `title` is the title of the
    legend.
    """
    drawing, axes = single(for_width_of(6.0), 5.4)
    for (name, members), marker in zip(groups.items(), "osD^vPXh<>*d" * len(groups), strict=False):
        chosen = list(members)
        axes.plot(
            components.scores[chosen, 0], components.scores[chosen, 1], marker, markersize=4,
            label=wrapped(f"{name}; {len(chosen)} runs", 75),
        )  # fmt: skip
    reach = float(np.abs(components.scores[:, :2]).max())
    longest = float(np.sqrt((components.weights[:2] ** 2).sum(axis=0)).max()) or 1.0
    ends = components.weights[:2].T * reach / longest
    for end in ends:
        axes.annotate(
            "", tuple(end), (0, 0), arrowprops={"arrowstyle": "->", "color": GREY, "lw": 0.6}
        )  # fmt: skip
    # Annotations do not widen the axes.
    axes.update_datalim(ends)
    axes.autoscale_view()
    axes.margins(0.12)
    tops = [
        (*_enclose(axes, components.scores[list(members), :2]), name)
        for name, members in (clusters or {}).items()
    ]
    shares = 100 * components.variance_shares
    axes.set_xlabel(f"score on PC1 ({shares[0]:.0f} % of the variance)")
    axes.set_ylabel(f"score on PC2 ({shares[1]:.0f} %)")
    axes.set_title("arrows: weights of responses", fontsize=8, fontweight="normal")
    columns = 1 if max(map(len, groups)) > SHORT_NAME else 4
    drawing.legend(
        loc="outside lower left", fontsize=7, title=title, title_fontsize=7, ncols=columns
    )
    key(drawing, meanings)
    arrows = np.linspace(0.0, 0.95, 20)[:, None, None] * ends
    labels = [(x, y, name) for (x, y), name in zip(ends.tolist(), names, strict=True)]
    beside(axes, [*tops, *labels], lines=list(arrows))
    return drawing


def _enclose(axes: Axes, points: np.ndarray) -> tuple[float, float]:
    """Draw a dashed line around a cluster of points.

    Return the topmost point, where the name of the cluster goes.
    """
    places = np.unique(points, axis=0)
    # A convex hull needs three points that are not on a line.
    if len(places) > 2 and np.linalg.matrix_rank(places - places[0]) > 1:
        around = places[spatial.ConvexHull(places).vertices]
        axes.plot(*np.vstack([around, around[:1]]).T, linestyle="--", color=GREY, linewidth=0.8)
    x, y = places[places[:, 1].argmax()].tolist()
    return x, y


@styled()
def yyx(
    first: np.ndarray, second: np.ndarray, labels: tuple[str, str],
    factors: Mapping[str, tuple[Sequence[object], Sequence[object]]],
) -> Figure:  # fmt: skip
    """Draw one response over another: without colours, and coloured by each factor's levels.

    `first` is on the horizontal axis, `second` on the vertical one; `labels` has their names in
    this order. `factors` has, for each factor, its levels in order and the level of each point.
    """
    drawing, axes = panels(1 + len(factors), share_x=True, share_y=True)
    axes[0].plot(first, second, ".", color=PLAIN, markersize=3)
    axes[0].set_title("all runs")
    for panel, (name, levels) in zip(axes[1:], factors.items(), strict=True):
        _by_level(panel, first, second, *levels)
        panel.set_title(name)
    for panel in axes:
        panel.xaxis.set_tick_params(labelbottom=True)
    for axis in (axes[0].xaxis, axes[0].yaxis):
        prefixed(axis)
    drawing.supxlabel(wrapped(labels[0], int(12 * drawing.get_figwidth())), fontsize=9)
    drawing.supylabel(wrapped(labels[1], int(11 * drawing.get_figheight())), fontsize=9)
    return drawing


def _by_level(
    axes: Axes, x: np.ndarray, y: np.ndarray, order: Sequence[object], levels: Sequence[object]
) -> None:
    for level, colour, marker in zip(
        order, LEVELS * 4, ("_", "+", "x", "1", "2", "3") * 4, strict=False,
    ):  # fmt: skip
        chosen = [i for i, other in enumerate(levels) if other == level]
        axes.plot(x[chosen], y[chosen], marker, color=colour, markersize=5, label=str(level))
    axes.legend(fontsize=6, loc="best")
