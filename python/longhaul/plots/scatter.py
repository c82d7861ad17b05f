"""Throughput against delay: one point per label and run.

As Pantheon compares schemes (Yan and others, USENIX ATC 2018, figure 5): more is
better upwards, less delay is better to the right.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.layout import WIDTH_IN, legend
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.results import Results

# Markers of runs; more runs begin again with the first.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


@register(
    "throughput-delay",
    "goodput of each label against its mean round trip, over runs",
    is_tcp,
    ["colour_by"],
)
def _throughput_delay(runs: Sequence[Results], options: Options) -> Figure:
    drawing = Figure(figsize=(WIDTH_IN, 4.2), layout="constrained")
    axes = drawing.subplots()
    # Labels of several runs have the same styles, so they are chosen for all at once.
    algorithms: dict[str, str] = {}
    for run in runs:
        algorithms |= run.algorithms()
    style_of = styles.of_labels(algorithms, options.colour_by)
    if len({style.colour for style in style_of.values()}) < len(style_of):
        # Points have no line styles by which to distinguish them.
        style_of = styles.of_labels(algorithms, "label")
    shown: dict[str, None] = {}
    for run, marker in zip(runs, _markers(len(runs)), strict=True):
        for label in run.summary().labels.to_dicts():
            if label["rtt_mean_s"] is None:
                continue
            shown.setdefault(label["label"])
            axes.plot(
                [label["rtt_mean_s"] * 1e3],
                [label["goodput_bps"] * 1e-6],
                linestyle="none",
                marker=marker,
                color=style_of[label["label"]].colour,
                markeredgecolor="#ffffff",
                markersize=8,
            )
    _entries(axes, runs, list(shown), style_of)
    axes.set_xlabel("mean round-trip time (ms), less to the right")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_ylim(bottom=0)
    axes.invert_xaxis()
    legend(drawing)
    return drawing


def _markers(count: int) -> list[str]:
    return [MARKERS[index % len(MARKERS)] for index in range(count)]


def _entries(
    axes: Axes, runs: Sequence[Results], labels: list[str], style_of: dict[str, styles.Style]
) -> None:
    """Add entries to the legend: colours are labels, markers are runs."""
    for label in labels:
        axes.plot([], [], "o", color=style_of[label].colour, label=label, markersize=6)
    if len(runs) > 1:
        for run, marker in zip(runs, _markers(len(runs)), strict=True):
            axes.plot([], [], marker, color="#7f7f7f", label=run.name, markersize=6)
