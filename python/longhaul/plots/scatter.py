"""Plot of throughput against delay, with one point per label and run.

Pantheon compares algorithms in the same way (Yan and others, USENIX ATC 2018, figure 5). Here,
delay grows to the right, and an arrow points to the better corner at the upper left.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.analysis.frame import beside
from longhaul.plots.layout import WIDTH_IN, legend, named_among, single
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.results import Results

# Maximum number of points with names next to them; more points have a legend.
MAX_NAMED = 12
# Margin beyond the outermost points, as a fraction of the range.
MARGIN = 0.15
# Markers of runs; if there are more runs than markers, markers are used again.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")

# A point: run, label, mean RTT in ms, goodput in Mbit/s.
Point = tuple[Results, str, float, float]


@register(
    "throughput-delay",
    "goodput of each label against its mean round trip, over runs",
    is_tcp,
    ["colour_by"],
)
def _throughput_delay(runs: Sequence[Results], options: Options) -> Figure:
    drawing, axes = single(WIDTH_IN, 4.2)
    points = [
        (run, row["label"], row["rtt_mean_s"] * 1e3, row["goodput_bps"] * 1e-6)
        for run in runs
        for row in run.summary().labels.to_dicts()
        if row["rtt_mean_s"] is not None
    ]
    (_draw_named if len(points) <= MAX_NAMED else _draw_many)(axes, runs, points, options)
    axes.set_xlabel("mean round-trip time (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    _set_range(axes, [x for *_, x, _ in points], [y for *_, y in points])
    _point_to_better(axes)
    if len(points) <= MAX_NAMED:
        beside(
            axes, [(x, y, f" {named_among(run, label, runs)} ") for run, label, x, y in points], 8
        )
    legend(drawing)
    return drawing


def _draw_named(
    axes: Axes, runs: Sequence[Results], points: Sequence[Point], options: Options
) -> None:
    """Draw points in the colours of their algorithms or labels (`colour_by`).

    The names next to them are added later.
    """
    kinds = {named_among(run, label, runs): run.algorithms()[label] for run, label, *_ in points}
    by_label = options.colour_by == "label"
    style_of = styles.of_labels(kinds, "label") if by_label else styles.of_algorithms(kinds)
    for run, label, x, y in points:
        _draw(axes, x, y, style_of[named_among(run, label, runs)].colour, "o")


def _draw_many(
    axes: Axes, runs: Sequence[Results], points: Sequence[Point], options: Options
) -> None:
    """Draw many points with a legend; a label has the same colour in all runs."""
    algorithms: dict[str, str] = {}
    for run in runs:
        algorithms |= run.algorithms()
    style_of = _told_apart(algorithms, options)
    marker_of = dict(zip(runs, _markers(len(runs)), strict=True))
    for run, label, x, y in points:
        _draw(axes, x, y, style_of[label].colour, marker_of[run])
    shown = list(dict.fromkeys(label for _, label, *_ in points))
    _entries(axes, runs, shown, style_of)


def _told_apart(kinds: dict[str, str], options: Options) -> dict[str, styles.Style]:
    """Return a style for each label; styles differ in colour, because points have no line styles.

    `kinds` maps labels to algorithms.
    """
    style_of = styles.of_labels(kinds, options.colour_by)
    if len({style.colour for style in style_of.values()}) < len(style_of):
        return styles.of_labels(kinds, "label")
    return style_of


def _draw(axes: Axes, x: float, y: float, colour: str, marker: str) -> None:
    axes.plot(
        [x], [y], linestyle="none", marker=marker, color=colour, markeredgecolor="#ffffff",
        markersize=8,
    )  # fmt: skip


def _set_range(axes: Axes, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Let the axes begin at 0; the delay axis only if the largest delay is over twice the least."""
    least, most = min(xs, default=1.0), max(xs, default=1.0)
    # If delays differ little, the margin on either side is a tenth of the largest.
    room = max(MARGIN * (most - least), 0.1 * most)
    axes.set_xlim(0.0 if least < 0.5 * most else max(least - room, 0.0), most + room)
    axes.set_ylim(0.0, (1 + MARGIN) * max(ys, default=1.0) or 1.0)


def _point_to_better(axes: Axes) -> None:
    axes.annotate(
        "better", (0.015, 0.985), (0.09, 0.88), xycoords="axes fraction", fontsize=8,
        color="#5a5a5a", ha="left", va="top", arrowprops={"arrowstyle": "->", "color": "#5a5a5a"},
    )  # fmt: skip


def _markers(count: int) -> list[str]:
    return [MARKERS[index % len(MARKERS)] for index in range(count)]


def _entries(
    axes: Axes, runs: Sequence[Results], labels: list[str], style_of: dict[str, styles.Style]
) -> None:
    """Add entries to the legend: a colour for each label, a marker for each run."""
    for label in labels:
        axes.plot([], [], "o", color=style_of[label].colour, label=label, markersize=6)
    if len(runs) > 1:
        for run, marker in zip(runs, _markers(len(runs)), strict=True):
            axes.plot([], [], marker, color="#7f7f7f", label=run.name, markersize=6)
