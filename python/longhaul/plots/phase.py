"""Plots of windows over queue length (phase plane), and of queues with drops and marks."""

import polars as pl
from matplotlib.axes import Axes

from longhaul.plots import styles
from longhaul.plots.arrangements import side_by_side
from longhaul.plots.registry import Options, has_samples
from longhaul.results import Results


def _link(run: Results, options: Options) -> str:
    """Return the name of the link to show: the first that the user names, or the bottleneck."""
    if options.links:
        run.check_link(options.links[0])
        return options.links[0]
    return run.bottleneck


@side_by_side(
    "window-queue",
    "mean window of each label against the bottleneck's queue, one point per sample",
    has_samples,
    ["links", "colour_by"],
)
def _window_queue(axes: Axes, run: Results, options: Options) -> None:
    link = _link(run, options)
    queue = run.link_series.filter(pl.col("name") == link).select("t_s", "queue_pkts")
    windows = run.flow_series.filter(pl.col("cwnd_pkts").is_not_nan())
    means = windows.group_by("label", "t_s", maintain_order=True).agg(pl.col("cwnd_pkts").mean())
    style_of = styles.of_labels(run.algorithms(), options.colour_by)
    for label in means["label"].unique(maintain_order=True):
        of_label = means.filter(pl.col("label") == label)
        both = of_label.join(queue, on="t_s", maintain_order="left")
        x, y = both["queue_pkts"], both["cwnd_pkts"]
        style = style_of[label]
        axes.plot(x, y, alpha=0.7, label=label, **styles.as_line(style))
        axes.plot(x[:1], y[:1], "o", color=style.colour, markersize=5)
        axes.plot(x[-1:], y[-1:], "s", color=style.colour, markersize=5)
    axes.plot([], [], "o", color="#7f7f7f", markersize=5, label="first sample")
    axes.plot([], [], "s", color="#7f7f7f", markersize=5, label="last sample")
    axes.set_ylabel("congestion window (segments)")
    axes.set_xlabel(f"queue of {link} (packets)")


@side_by_side(
    "queue-drops",
    "packets waiting at the bottleneck, and the samples in which it dropped or marked packets",
    has_samples,
    ["links"],
    columns=1,
)
def _queue_drops(axes: Axes, run: Results, options: Options) -> None:
    link = _link(run, options)
    samples = run.link_series.filter(pl.col("name") == link).with_columns(
        pl.col("dropped_pkts", "marked_pkts").diff().fill_null(0).name.prefix("new_")
    )
    axes.plot(samples["t_s"], samples["queue_pkts"], color="#0072b2", label="waiting")
    looks = {"dropped": ("x", "#d55e00"), "marked": ("|", "#009e73")}
    for what, (marker, colour) in looks.items():
        some = samples.filter(pl.col(f"new_{what}_pkts") > 0)
        if some.height:
            total = some[f"new_{what}_pkts"].sum()
            axes.plot(some["t_s"], some["queue_pkts"], marker, color=colour, markersize=6,
                      label=f"{what}: {total:,} packets in all")  # fmt: skip
    axes.set_ylabel(f"queue of {link} (packets)")
