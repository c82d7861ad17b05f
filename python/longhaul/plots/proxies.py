"""Plots of split-TCP proxies: window of the connection between a proxy's nodes, and queue."""

from collections.abc import Sequence
from functools import partial

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.arrangements import overlaid
from longhaul.plots.layout import label_ends
from longhaul.plots.measured import scaled_to_shared_window
from longhaul.plots.registry import Options, has_samples, register
from longhaul.plots.styles import Style
from longhaul.results import Results


def _has_proxies(run: Results) -> bool:
    return has_samples(run) and "proxies" in run.tables


def _over_time(column: str, y: str, runs: Sequence[Results], options: Options) -> Figure:
    """Draw a column of the proxies' samples over time: a panel per proxy, a line per run."""
    names = list(dict.fromkeys(name for run in runs for name in run.proxies["name"]))

    def one(axes: Axes, run: Results, name: str, style: Style) -> None:
        samples = run.proxy_series.filter(pl.col("name") == name)
        axes.plot(samples["t_s"], samples[column], label=run.name, **styles.as_line(style))
        axes.set_ylabel(y)

    return label_ends(scaled_to_shared_window(overlaid(runs, names, one), runs))


for _name, _help, _column, _y in (
    ("proxy-window", "congestion window of the connection between the nodes of each proxy",
     "cwnd_pkts", "congestion window (segments)"),
    ("proxy-queue", "packets waiting in the local queue of each proxy",
     "queue_pkts", "local queue (packets)"),
):  # fmt: skip
    register(_name, _help, _has_proxies, table="proxies")(partial(_over_time, _column, _y))
