"""Main effects of factors of any number of levels: one picture that says which factor matters."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from longhaul.analysis.comparisons import Source
from longhaul.analysis.levels import Comparison, FactorMeans
from longhaul.plots.analysis.frame import GREY, PLAIN, panels, styled


def main_effects(found: Sequence[FactorMeans], response: str, grand_mean: float) -> Figure:
    """A panel a factor, all on one scale: means of its levels with 95 % intervals.

    The share in each title is the factor's part of the variance over all runs.
    """
    with styled():
        drawing, axes = panels(len(found), share_y=True, height=3.0)
        for panel, one in zip(axes, found, strict=True):
            at = np.arange(len(one.levels))
            means = np.array([mean.mean for mean in one.means])
            known = all(np.isfinite(mean.low) for mean in one.means)
            reach = np.array([mean.high - mean.mean for mean in one.means]) if known else None
            panel.axhline(grand_mean, color=GREY, linestyle="--", linewidth=0.8)
            panel.errorbar(at, means, yerr=reach, color=PLAIN, marker="o", markersize=4, capsize=3)
            panel.set_xticks(at, [str(level) for level in one.levels])
            panel.tick_params(axis="x", rotation=30 if len(one.levels) > 2 else 0)
            panel.margins(x=0.15)
            share = "" if one.share is None else f"\n{100 * one.share:.1f} % of the variance"
            panel.set_title(f"{one.factor}{share}")
        axes[0].set_ylabel(response)
        return drawing


def comparisons(found: Sequence[Comparison], factor: str, response: str) -> Figure:
    """Differences of pairs of levels, with their 95 % intervals."""
    with styled():
        drawing = Figure(figsize=(6.4, 0.8 + 0.28 * len(found)), layout="constrained")
        axes = drawing.subplots()
        for row, one in enumerate(reversed(found)):
            mean = one.difference
            reach = [[mean.mean - mean.low], [mean.high - mean.mean]]
            given = reach if np.isfinite(mean.low) else None
            axes.errorbar(
                mean.mean, row, xerr=given, color=PLAIN, marker="o", markersize=4, capsize=3
            )
        names = [f"{one.first} - {one.second}" for one in reversed(found)]
        axes.set_yticks(range(len(found)), names)
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        axes.set_xlabel(f"{response}: difference between levels of {factor}")
        return drawing


def variance_shares(sources: Sequence[Source], response: str) -> Figure:
    """The share of each source of an analysis of variance in the total, the largest first.

    Sources that are significant at 5 % are filled.
    """
    with styled():
        ordered = sorted(sources, key=lambda source: source.share)
        drawing = Figure(figsize=(6.4, 0.8 + 0.28 * len(ordered)), layout="constrained")
        axes = drawing.subplots()
        filled = [PLAIN if one.p is not None and one.p < 0.05 else "none" for one in ordered]
        bars = axes.barh(
            range(len(ordered)), [100 * one.share for one in ordered], color=filled,
            edgecolor=PLAIN,
        )  # fmt: skip
        texts = ["" if one.p is None else f"p = {one.p:.2g}" for one in ordered]
        axes.bar_label(bars, texts, padding=3, fontsize=7)
        axes.set_yticks(range(len(ordered)), [one.name for one in ordered])
        axes.margins(x=0.15)
        axes.set_xlabel(f"{response}: % of the total sum of squares (filled: p < 0.05)")
        return drawing
