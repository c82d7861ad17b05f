"""Plots of effects of factors with any number of levels."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from longhaul.analysis import ranks
from longhaul.analysis.levels import Comparison, FactorMeans
from longhaul.analysis.variance import Source
from longhaul.plots.analysis.frame import (
    GREY,
    PLAIN,
    explain_intervals,
    is_amount,
    panels,
    prefixed,
    wrapped,
)
from longhaul.plots.files import styled
from longhaul.plots.layout import single

# Names of two levels below a panel are written horizontally up to so many characters in total.
FIT = 16


@styled()
def main_effects(factors: Sequence[FactorMeans], response: str, grand_mean: float) -> Figure:
    """Draw a panel for each factor, all on one scale: means at its levels, with 95 % intervals.

    The title of a panel has the part of the variance over all runs that the factor explains, if it
    is known. Without replications, intervals are missing. Lines connect only quantities.
    """
    drawing, axes = panels(len(factors), share_y=True, height=3.0)
    is_known = False
    for panel, factor in zip(axes, factors, strict=True):
        at = np.arange(len(factor.levels))
        means = np.array([mean.mean for mean in factor.means])
        known = all(np.isfinite(mean.low) for mean in factor.means)
        reach = np.array([mean.high - mean.mean for mean in factor.means]) if known else None
        panel.axhline(grand_mean, color=GREY, linestyle="--", linewidth=0.8)
        line = "-" if is_amount(factor.levels) else "none"
        panel.errorbar(
            at, means, yerr=reach, color=PLAIN, linestyle=line, marker="o", markersize=4,
            capsize=3,
        )  # fmt: skip
        is_known = is_known or known
        panel.set_xticks(at, [str(level) for level in factor.levels])
        # Rotate names of levels that would touch each other.
        crowded = sum(len(str(level)) for level in factor.levels) > FIT or len(at) > 2
        panel.tick_params(axis="x", rotation=20 if crowded else 0)
        panel.margins(x=0.15)
        share = "" if factor.share is None else f"\n{100 * factor.share:.1f} % of the variance"
        panel.set_title(f"{factor.factor.replace('_', ' ')}{share}")
    explain_intervals(drawing, known=is_known)
    called = prefixed(axes[0].yaxis, response)
    drawing.supylabel(wrapped(called, int(11 * drawing.get_figheight())), fontsize=9)
    return drawing


@styled()
def comparisons(pairs: Sequence[Comparison], factor: str, response: str) -> Figure:
    """Draw the differences of a response between pairs of levels, with 95 % intervals."""
    drawing, axes = single(6.4, 1.0 + 0.28 * len(pairs))
    for row, pair in enumerate(reversed(pairs)):
        mean = pair.difference
        reach = [[mean.mean - mean.low], [mean.high - mean.mean]]
        given = reach if np.isfinite(mean.low) else None
        axes.errorbar(mean.mean, row, xerr=given, color=PLAIN, marker="o", markersize=4, capsize=3)
    names = [f"{pair.first} - {pair.second}" for pair in reversed(pairs)]
    axes.set_yticks(range(len(pairs)), names)
    axes.set_ylim(-0.6, len(pairs) - 0.4)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    called = prefixed(axes.xaxis, response)
    axes.set_xlabel(wrapped(f"difference between levels of {factor}: {called}", 60))
    return drawing


@styled()
def variance_shares(sources: Sequence[Source], response: str) -> Figure:
    """Draw each source's part of the total sum of squares in percent, the largest at the top.

    Sources are factors, interactions and the residual. Bars are filled if p < 0.05.
    """
    ordered = sorted(sources, key=lambda source: source.share)
    drawing, axes = single(6.4, 0.8 + 0.22 * len(ordered))
    filled = [PLAIN if share.p is not None and share.p < 0.05 else "none" for share in ordered]
    bars = axes.barh(
        range(len(ordered)), [100 * share.share for share in ordered], color=filled,
        edgecolor=PLAIN,
    )  # fmt: skip
    texts = ["" if share.p is None else f"p = {share.p:.2g}" for share in ordered]
    axes.bar_label(bars, texts, padding=3, fontsize=7)
    axes.set_yticks(range(len(ordered)), [share.name.replace("_", " ") for share in ordered])
    axes.set_ylim(-0.6, len(ordered) - 0.4)
    axes.margins(x=0.15)
    axes.set_xlabel("% of the total sum of squares (filled: p < 0.05)")
    axes.set_title(wrapped(response, 60))
    return drawing


@styled()
def cube(
    values: Sequence[float], names: Sequence[str], levels: Sequence[Sequence[object]], what: str
) -> Figure:
    """Draw a value at each corner of a cube of three factors, C1 to C8 in standard order.

    `levels` are the minus and the plus level of each factor; `what` describes the values.
    """
    drawing, axes = single(5.0, 4.4)
    at = {
        c: (c[0] + 0.55 * (c[2] + 1) / 2 * 1.2, c[1] + 0.55 * (c[2] + 1) / 2)
        for c in ranks.corners(3)
    }
    for edge in ranks.cube_edges(values):
        ends = [at[ranks.corners(3)[end]] for end in edge.ends]
        axes.plot(*zip(*ends, strict=True), color=GREY, linewidth=0.8)
    for k, corner in enumerate(ranks.corners(3)):
        axes.annotate(
            f"C{k + 1}: {values[k]:.2f}", at[corner], ha="center", va="center",
            fontweight="bold", bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.0},
        )  # fmt: skip
    axes.margins(0.2, 0.1)
    axes.set_axis_off()
    ways = (("left", "right"), ("below", "above"), ("in front", "behind"))
    lines = [
        f"{name}: {minus} {near}, {plus} {far}"
        for name, (minus, plus), (near, far) in zip(names, levels, ways, strict=True)
    ]
    axes.set_title("\n".join([what, *lines]), fontsize=8, fontweight="normal")
    return drawing
