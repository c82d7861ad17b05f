"""The ten plots for the analysis of a two-level screening experiment.

Each function draws one step for one response; `TEN_STEPS` has the functions in order. Sources:
Mills et al. 2010, NIST SP 500-282, appendix D; NIST/SEMATECH e-Handbook of Statistical Methods,
section 5.5.9.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.analysis import effects as of
from longhaul.analysis.effects import Effect
from longhaul.plots.analysis.frame import (
    GREY,
    HIGH,
    LEVELS,
    LOW,
    MINUS,
    PLAIN,
    beside,
    key,
    number,
    panels,
    prefixed,
    wrapped,
)
from longhaul.plots.files import styled
from longhaul.plots.layout import for_width_of, single

# Maximum number of terms that are named along an axis.
MAX_TERMS = 20
# Contours extend beyond the corners, to show in which direction the response improves.
REACH = 2.0
# Maximum number of aliases that are named with a term.
NAMED_ALIASES = 2


@dataclass(frozen=True)
class Screening:
    """Input of all ten plots: the runs of a two-level design, with one response."""

    coded: np.ndarray
    """Levels as -1 or +1; shape: runs x factors."""
    response: np.ndarray
    names: Sequence[str]
    label: str
    """Name of the response with its unit, for the axis."""
    cells: Sequence[object] | None = None
    """A label for each run, equal for replications; needed if factors outside `coded` vary."""
    levels: Sequence[tuple[object, object]] = ()
    """The minus and the plus level of each factor, as written in scenarios."""

    @cached_property
    def effects(self) -> list[Effect]:
        """Main effects and two-factor interactions; effects that are aliased are listed once."""
        return of.effects(self.coded, self.response, self.names, cells=self.cells)

    @cached_property
    def main(self) -> list[Effect]:
        """Main effects in the order of the factors."""
        return [effect for effect in self.effects if len(effect.term) == 1]

    @property
    def mean(self) -> float:
        """Mean of the response over all runs."""
        return float(self.response.mean())

    @cached_property
    def strongest(self) -> tuple[int, int]:
        """Indices of the two factors with the largest main effects."""
        order = [effect.term[0] for effect in of.by_size(self.main)]
        return order[0], order[1]

    def explain(self, drawing: Figure) -> None:
        """Write the numbers of factors and runs, and the legend of - and +, next to the panels."""
        runs, factors = self.coded.shape
        levels = [
            f"{name}: {MINUS} {minus}, + {plus}"
            for name, (minus, plus) in zip(self.names, self.levels, strict=False)
        ]
        key(drawing, [f"k = {factors} factors", f"n = {runs} runs", *levels])


def spelled(effect: Effect) -> str:
    """Return the name of an effect with the names of its aliases in the design."""
    shown = effect.aliases[:NAMED_ALIASES]
    more = len(effect.aliases) - len(shown)
    names = [effect.name, *(f"= {alias}" for alias in shown), *([f"= {more} more"] if more else [])]
    return " ".join(names)


@styled()
def ordered_data(given: Screening) -> Figure:
    """Draw step 1: runs in ascending order of the response, with their levels below."""
    runs, factors = given.coded.shape
    width = min(14.0, 3.0 + 0.16 * runs)
    drawing, axes = single(width, 3.2 + 0.14 * factors)
    order = np.argsort(given.response, kind="stable")
    axes.plot(np.arange(runs), given.response[order], "o", color=PLAIN, markersize=3)
    signs = ["\n".join("+" if level > 0 else MINUS for level in given.coded[run]) for run in order]
    axes.set_xticks(np.arange(runs), signs, fontsize=5, linespacing=0.9)
    axes.set_xlim(-1, runs)
    axes.set_xlabel(wrapped(f"levels of {', '.join(given.names)}, from top to bottom", 100))
    _finish(drawing, axes, given)
    return drawing


@styled()
def scatter(given: Screening) -> Figure:
    """Draw step 2: the responses of all runs at both levels of each factor."""
    drawing, axes = _by_factor(given)
    for j in range(len(given.names)):
        for sign in (-1, 1):
            inside = given.response[given.coded[:, j] == sign]
            x = np.full(len(inside), j + 0.18 * sign)
            axes.plot(x, inside, "_", color=LEVELS[sign > 0], markersize=7)
    axes.set_xticks(range(len(given.names)), [f"{name}\n{MINUS}  +" for name in given.names])
    _finish(drawing, axes, given)
    return drawing


@styled()
def main_effects(given: Screening) -> Figure:
    """Draw step 3: each factor's mean at both levels, and its effect.

    The absolute effect is also given in percent of the grand mean, unless this mean is zero.
    """
    drawing, axes = _by_factor(given)
    for j, effect in enumerate(given.main):
        ends, means = (j - 0.25, j + 0.25), (effect.low, effect.high)
        axes.plot(ends, means, color=GREY)
        for sign in (False, True):
            axes.plot(ends[sign], means[sign], "o", color=LEVELS[sign], markersize=4)
    axes.set_xticks(
        range(len(given.names)),
        [
            f"{name}\n{number(effect.effect)}"
            + ("" if np.isnan(effect.percent) else f"\n{effect.percent:.0f} %")
            for name, effect in zip(given.names, given.main, strict=True)
        ],
    )
    axes.set_xlabel(f"effect: mean at + less mean at {MINUS}, and its part of the grand mean")
    _finish(drawing, axes, given, "mean ")
    return drawing


def _by_factor(given: Screening) -> tuple[Figure, Axes]:
    each = max(0.8, 0.09 * max(map(len, given.names)))
    drawing, axes = single(max(4.2, each * len(given.names)), 3.4)
    axes.axhline(given.mean, color=GREY, linestyle="--", linewidth=0.8)
    return drawing, axes


def _finish(drawing: Figure, axes: Axes, given: Screening, before: str = "") -> None:
    """Label the vertical axis with the response, and write the legend of the levels.

    The data must already be drawn. `before` is text in front of the response's label.
    """
    axes.set_ylabel(wrapped(before + given.label, 36))
    prefixed(axes.yaxis)
    given.explain(drawing)


@styled()
def interactions(given: Screening) -> Figure:
    """Draw step 4: a matrix with main effects on the diagonal, two-factor interactions above it."""
    count = len(given.names)
    size = max(4.0, 0.85 * count)
    drawing = Figure(figsize=(size, size * 0.8), layout="constrained")
    grid = drawing.subplots(count, count, sharey=True, sharex=True, squeeze=False)
    for i in range(count):
        for j in range(count):
            axes = grid[i, j]
            if j < i:
                axes.set_axis_off()
                continue
            term = (i,) if i == j else (i, j)
            column = given.coded[:, list(term)].prod(axis=1)
            low, high = (float(given.response[column == sign].mean()) for sign in (-1, 1))
            axes.axhline(given.mean, color=GREY, linestyle="--", linewidth=0.5)
            axes.plot([-1, 1], [low, high], "o-", color=LOW if i == j else PLAIN, markersize=2)
            axes.set_title(number(high - low), fontsize=6, fontweight="normal", pad=2)
            axes.tick_params(labelsize=5, labelbottom=False)
            axes.set_xlim(-1.6, 1.6)
            if i == 0:
                axes.annotate(
                    given.names[j],
                    (0.5, 1.5),
                    xycoords="axes fraction",
                    ha="center",
                    fontsize=7,
                )
        grid[i, i].set_ylabel(given.names[i], fontsize=7)
    prefixed(grid[0, 0].yaxis)
    title = f"{given.label}: means at {MINUS} and + of factors (red) and interactions (blue)"
    drawing.suptitle(wrapped(title, int(11 * size)), fontsize=9)
    given.explain(drawing)
    return drawing


@styled()
def blocks(given: Screening) -> Figure:
    """Draw step 5: each factor's two means, in each combination of levels of two other factors.

    The other factors are those with the largest effects. A factor is robust if the same level has
    the higher mean in all combinations.
    """
    drawing, axes = panels(len(given.names), share_y=True, columns=6, width=1.7)
    order = [effect.term[0] for effect in of.by_size(given.main)]
    robust = False
    for j, panel in enumerate(axes):
        chosen = [k for k in order if k != j][:2]
        means = of.block_means(given.coded, given.response, j, chosen)
        for x, (low, high) in enumerate(means.values()):
            bottom, top = sorted((low, high))
            panel.bar(x, top - bottom, bottom=bottom, width=0.6, color="none", edgecolor=GREY)
            for sign, mean in ((MINUS, low), ("+", high)):
                panel.text(x, mean, sign, ha="center", va="center", color=LEVELS[sign == "+"])
        same = len({high > low for low, high in means.values()}) == 1
        robust = robust or same
        panel.set_title(given.names[j] + (" *" if same else ""))
        panel.set_xticks(
            range(len(means)),
            ["".join("+" if s > 0 else MINUS for s in levels) for levels in means],
        )
        panel.set_xlabel(", ".join(given.names[k] for k in chosen), fontsize=7)
        # A margin keeps the signs at the ends of bars inside the axes.
        panel.use_sticky_edges = False
        panel.margins(y=0.15)
        panel.set_xlim(-0.7, len(means) - 0.3)
    prefixed(axes[0].yaxis)
    drawing.supylabel(wrapped(f"mean {given.label}", int(11 * drawing.get_figheight())), fontsize=9)
    note = f"means at {MINUS} and + of each factor"
    note += " in blocks of levels of the others named below it" if len(axes) > 1 else ""
    note += "; * the same level is ahead in all blocks" if robust else ""
    drawing.suptitle(wrapped(note, int(12 * drawing.get_figwidth())), fontsize=8)
    given.explain(drawing)
    return drawing


@styled()
def youden(given: Screening) -> Figure:
    """Draw step 6: a point per effect, with the means at its minus level (x) and plus level (y).

    Important effects are far from the centre.
    """
    drawing, axes = single(for_width_of(4.6), 4.2)
    axes.axhline(given.mean, color=GREY, linewidth=0.6)
    axes.axvline(given.mean, color=GREY, linewidth=0.6)
    for effect in given.effects:
        colour = LOW if len(effect.term) == 1 else PLAIN
        axes.plot(effect.low, effect.high, "o", color=colour, markersize=3)
    axes.margins(0.1)
    axes.set_title("main effects red, interactions blue", fontsize=8, fontweight="normal")
    axes.set_xlabel(wrapped(f"mean {given.label} at the {MINUS} level", 48))
    axes.set_ylabel("mean at the + level")
    for axis in (axes.xaxis, axes.yaxis):
        prefixed(axis)
    given.explain(drawing)
    largest = of.by_size(given.effects)[: MAX_TERMS // 2]
    beside(axes, [(effect.low, effect.high, spelled(effect)) for effect in largest])
    return drawing


@styled()
def absolute_effects(given: Screening) -> Figure:
    """Draw step 7: the absolute values of the `MAX_TERMS` largest effects, in descending order."""
    chosen = of.by_size(given.effects)[:MAX_TERMS]
    drawing, axes = single(max(4.6, 0.36 * len(chosen)), 3.8)
    for x, effect in enumerate(chosen):
        axes.plot(x, abs(effect.effect), "o", color=HIGH if effect.effect > 0 else LOW)
    _name_terms(axes, list(map(spelled, chosen)))
    axes.set_ylim(bottom=0)
    every = len(given.effects)
    some = f"{len(chosen)} largest of {every} effects; " if len(chosen) < every else ""
    axes.set_title(
        f"{some}grand mean {number(given.mean)}; green rises, red falls with the factor",
        fontsize=8,
    )
    _finish(drawing, axes, given, "|effect| on ")
    return drawing


def _name_terms(axes: Axes, names: Sequence[str]) -> None:
    """Write names of effects below the x axis, and aliases on further lines."""
    axes.set_xticks(
        range(len(names)), [name.replace(" = ", "\n= ") for name in names], rotation=60,
        ha="right", rotation_mode="anchor", fontsize=7,
    )  # fmt: skip


@styled()
def half_normal(given: Screening) -> Figure:
    """Draw step 8: absolute effects over half-normal quantiles.

    Effects that are only noise are on a line through zero.
    """
    drawing, axes = single(for_width_of(5.2), 4.2)
    chosen = of.by_size(given.effects)[::-1]
    quantiles = of.half_normal_quantiles(len(chosen))
    sizes = np.array([abs(effect.effect) for effect in chosen])
    axes.plot(quantiles, sizes, "o", color=PLAIN, markersize=3)
    # The line is fitted to the smaller half, which is noise if most factors have no effect.
    half = slice(0, max(2, len(sizes) // 2))
    slope = float((quantiles[half] @ sizes[half]) / (quantiles[half] @ quantiles[half]))
    axes.plot([0, quantiles[-1]], [0, slope * quantiles[-1]], color=GREY, linewidth=0.8)
    axes.margins(0.08)
    axes.set_xlabel("half-normal quantile")
    axes.set_title("grey: line of the smaller half of the effects", fontsize=8, fontweight="normal")
    _finish(drawing, axes, given, "|effect| on ")
    points = list(zip(quantiles, sizes, map(spelled, chosen), strict=True))
    line = np.linspace(0.0, quantiles[-1], 60)
    beside(
        axes,
        points[: -MAX_TERMS // 2 - 1 : -1],
        lines=[np.column_stack([line, slope * line])],
    )
    return drawing


@styled()
def residual_deviation(given: Screening) -> Figure:
    """Draw step 9: the residual standard deviation of models with more and more effects.

    The largest effect enters the model first.
    """
    ordered = of.by_size(given.effects)
    deviations = of.cumulative_residual_sd(given.coded, given.response, ordered)[: MAX_TERMS + 1]
    names = ["mean", *map(spelled, ordered)][: len(deviations)]
    drawing, axes = single(max(4.6, 0.36 * len(names)), 3.8)
    axes.plot(deviations, "o-", color=PLAIN, markersize=4)
    _name_terms(axes, names)
    axes.set_ylim(bottom=0)
    axes.set_title("terms of the model, from the left", fontsize=8, fontweight="normal")
    _finish(drawing, axes, given, "residual standard deviation of ")
    return drawing


@styled()
def contours(given: Screening) -> Figure:
    """Draw step 10: contours of a model with the two strongest factors and their interaction."""
    first, second = given.strongest
    drawing, axes = single(4.8, 4.2)
    pair = tuple(sorted((first, second)))
    names = [given.names[k] for k in pair]
    chosen = of.effects(given.coded[:, [*pair]], given.response, names)
    scale = np.linspace(-REACH, REACH, 61)
    u, v = np.meshgrid(scale, scale)
    at = np.stack([u.ravel(), v.ravel()], axis=1)
    if pair[0] != first:
        at = at[:, ::-1]
    height = of.predicted(at, given.mean, chosen).reshape(u.shape)
    lines = axes.contour(u, v, height, levels=12, cmap="viridis", linewidths=0.8)
    axes.clabel(lines, fontsize=6, fmt=number)
    axes.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color=GREY, linestyle="--", linewidth=0.8)
    for (a, b), mean in of.corner_means(given.coded, given.response, first, second).items():
        axes.annotate(
            number(mean), (a, b), (0, 5), textcoords="offset points", fontsize=7,
            fontweight="bold", ha="center",
        )  # fmt: skip
    axes.plot(0, 0, "+", color="#000000")
    axes.set_xticks([-1, 0, 1], [f"{MINUS}", "0", "+"])
    axes.set_yticks([-1, 0, 1], [f"{MINUS}", "0", "+"])
    axes.set_xlabel(given.names[first])
    axes.set_ylabel(given.names[second])
    axes.set_title(
        wrapped(f"{given.label}: model of two factors; bold: means of the runs", 50), fontsize=8
    )
    given.explain(drawing)
    return drawing


TEN_STEPS: dict[str, Callable[[Screening], Figure]] = {
    "ordered-data": ordered_data,
    "scatter": scatter,
    "main-effects": main_effects,
    "interactions": interactions,
    "blocks": blocks,
    "youden": youden,
    "absolute-effects": absolute_effects,
    "half-normal": half_normal,
    "residual-deviation": residual_deviation,
    "contours": contours,
}
