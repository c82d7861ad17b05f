"""Plots of proxies: the window between their nodes, and the local queue before it."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.layout import label_ends, panels
from longhaul.plots.measured import scaled_to_shared_window
from longhaul.plots.registry import Options, has_samples, register
from longhaul.results import Results


def _has_proxies(run: Results) -> bool:
    return has_samples(run) and "proxies" in run.tables


def _over_time(runs: Sequence[Results], column: str, y: str) -> Figure:
    """Draw a column of the samples of proxies: a panel for each proxy, a line for each run."""
    names = list(dict.fromkeys(name for run in runs for name in run.proxies["name"]))

    def overlaid(axes: Axes, name: str) -> None:
        for run, style in zip(runs, styles.of_runs(len(runs)), strict=True):
            samples = run.proxy_series.filter(pl.col("name") == name)
            axes.plot(samples["t_s"], samples[column], label=run.name, **styles.as_line(style))
        axes.set_ylabel(y)

    return label_ends(scaled_to_shared_window(panels(names, overlaid, names), runs))


@register(
    "proxy-window",
    "congestion window of the connection between the nodes of each proxy",
    _has_proxies,
    table="proxies",
)
def _window(runs: Sequence[Results], options: Options) -> Figure:
    return _over_time(runs, "cwnd_pkts", "congestion window (segments)")


@register(
    "proxy-queue",
    "packets waiting in the local queue of each proxy",
    _has_proxies,
    table="proxies",
)
def _queue(runs: Sequence[Results], options: Options) -> Figure:
    return _over_time(runs, "queue_pkts", "local queue (packets)")
