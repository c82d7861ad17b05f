"""Plots of competitors (mostly algorithms) by condition."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from longhaul.analysis import congestion
from longhaul.analysis.clusters import CUT, Dendrogram
from longhaul.libraries import hierarchy
from longhaul.plots.analysis import conditions as shared
from longhaul.plots.analysis.frame import GREY, LOW, PLAIN, panels, wrapped
from longhaul.plots.files import styled
from longhaul.plots.layout import single

# Rates are on a logarithmic scale if the largest is more than so many times the smallest above 0.
MAX_RATIO = 30.0


@styled()
def dendrograms(
    trees: Sequence[Dendrogram], names: Sequence[str], titles: Sequence[str], notes: str = ""
) -> Figure:
    """Draw a dendrogram of the competitors for each condition.

    Subtrees that join below a fraction of the tree's height have their own colours.
    """
    drawing, axes = panels(len(trees), columns=6, width=shared.PAGE / 6, height=1.4)
    for panel, tree, title in zip(axes, trees, titles, strict=True):
        height = tree.height
        hierarchy.dendrogram(
            tree.merges, ax=panel, labels=list(names), leaf_font_size=5, leaf_rotation=90,
            color_threshold=CUT * height if height else 0.0, above_threshold_color=GREY,
        )  # fmt: skip
        apart = ", ".join(names[i] for i in tree.distinctive)
        text = wrapped(title) + (f"\n{wrapped(f'distinctive: {apart}')}" if apart else "")
        panel.set_title(text, fontsize=5.5, fontweight="normal", pad=2)
        panel.tick_params(labelsize=5, length=2, pad=1.5)
        panel.grid(visible=False)
    drawing.supylabel("distance between competitors", fontsize=8)
    shared.note(
        drawing,
        "Distances are Euclidean, over responses in their standard deviations. Colours: "
        f"clusters, which join below {100 * CUT:g} % of the largest distance.",
        notes,
    )
    return drawing


@styled()
def congestion_bars(
    rates: Sequence[float], levels: Mapping[str, Sequence[str]], signs: str,
    classes: Sequence[str], bounds: Sequence[float], label: str,
) -> Figure:  # fmt: skip
    """Draw a bar for each condition's rate, such as a retransmission rate, in ascending order.

    `signs` explains the signs - and + in `levels`. `bounds` are the rates that separate classes.
    """
    order = congestion.congestion_order(rates)
    rows = {name: [texts[c] for c in order] for name, texts in levels.items()}
    heights = np.asarray(rates)[order]
    drawing, axes = single(shared.PAGE, 3.2 + shared.LINE / 72 * len(rows))
    axes.bar(range(len(order)), heights, color=PLAIN)
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_ylabel(wrapped(label, 60), fontsize=8)
    positive = heights[heights > 0]
    is_log = len(positive) > 0 and positive.max() > MAX_RATIO * positive.min()
    if is_log:
        axes.set_yscale("log")
        axes.set_ylim(positive.min() / 2, 2 * positive.max())
    for x in np.flatnonzero(heights <= 0) if is_log else ():
        axes.annotate("0", (x, 0), (0, 2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="center", fontsize=7)  # fmt: skip
    for bound in bounds:
        axes.axhline(bound, color=LOW, linewidth=0.8, linestyle="--")
    in_order = [classes[c] for c in order]
    for name in dict.fromkeys(in_order):
        first, count = in_order.index(name), in_order.count(name)
        axes.annotate(name, (first + (count - 1) / 2, 1), (0, 3),
                      xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", fontweight="bold")  # fmt: skip
        if first:
            axes.axvline(first - 0.5, color=GREY, linewidth=0.8)
    shared.below(axes, rows)
    known = congestion.NAMES if set(in_order) <= set(congestion.NAMES) else {}
    shared.note(
        drawing,
        "Conditions from the least to the most congested. "
        + (f"Classes: {', '.join(f'{k} {v}' for k, v in known.items())}. " if known else "")
        + ("Dashed: bounds of classes, in the widest gaps." if bounds else ""),
        signs,
    )
    return drawing
