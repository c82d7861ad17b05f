"""Bar chart of the goodput of each label's flows, with intervals over replications."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from longhaul.analysis.comparisons import INTERVAL, MeanInterval
from longhaul.plots import styles
from longhaul.plots.layout import WIDTH_IN, for_width_of, legend, shortened, single
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.plots.styles import Style
from longhaul.results import Results
from longhaul.results.shares import Portion, portions

# Fraction of a group's width that its bars fill; width of a bar in a wide figure.
FILLED, BAR_IN = 0.8, 0.22
# Maximum number of groups with horizontal names; names of more groups are rotated.
UPRIGHT = 6


@register(
    "shares",
    "goodput of each label side by side; for replications with the interval of their mean",
    is_tcp,
    ["colour_by"],
)
def _shares(runs: Sequence[Results], options: Options) -> Figure:
    found = portions(runs)
    return side_by_side(
        {(one.runs, one.label): one.goodput_bps for one in found},
        _styles(found, options),
        "goodput (Mbit/s)",
        1e-6,
    )


def _styles(found: Sequence[Portion], options: Options) -> dict[str, Style]:
    """Return the style of each label, such that the bars of one group differ in colour.

    Labels of different runs may share the colour of their algorithm.
    """
    kinds = {one.label: one.algorithm for one in found}
    own = styles.of_algorithms(kinds)
    seen = {(one.runs, own[one.label].colour) for one in found}
    if options.colour_by == "label" or len(seen) < len(found):
        return styles.of_labels(kinds, "label")
    return own


def side_by_side(
    means: Mapping[tuple[str, str], MeanInterval],
    style_of: Mapping[str, Style],
    what: str,
    scale: float = 1.0,
) -> Figure:
    """Draw a group of bars for each group in `means`: a bar with its interval for each label.

    `means` is by (group, label). `scale` converts values to the unit in the axis title `what`.
    """
    groups = list(dict.fromkeys(group for group, _ in means))
    labels = list(dict.fromkeys(label for _, label in means))
    there = {group: [label for label in labels if (group, label) in means] for group in groups}
    each = FILLED / max(map(len, there.values()))
    wide = max(WIDTH_IN, BAR_IN * len(groups) * (len(labels) + 1))
    drawing, axes = single(for_width_of(wide), 3.4)
    for label in labels:
        having = [(at, group) for at, group in enumerate(groups) if label in there[group]]
        places = [
            at + each * (there[group].index(label) - (len(there[group]) - 1) / 2)
            for at, group in having
        ]
        given = [means[group, label] for _, group in having]
        heights = np.array([scale * mean.mean for mean in given])
        axes.bar(places, heights, 0.92 * each, color=style_of[label].colour, label=label)
        reach = np.array([scale * (mean.high - mean.mean) for mean in given])
        reach[~np.isfinite(reach)] = np.nan
        axes.errorbar(
            places, heights, yerr=reach, fmt="none", ecolor="#000000", capsize=3, linewidth=1.0
        )
    many = len(groups) > UPRIGHT
    axes.set_xticks(range(len(groups)), [shortened(group) for group in groups])
    axes.tick_params(axis="x", length=0, rotation=30 if many else 0)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(what)
    if any(mean.count > 1 for mean in means.values()):
        axes.set_title(f"bars: {INTERVAL}", loc="right", fontsize=8, fontweight="normal")
    legend(drawing, wide)
    return drawing
