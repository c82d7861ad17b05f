"""Plots of flows over time: one line per flow, or for many flows a band per label."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.arrangements import side_by_side
from longhaul.plots.layout import MAX_MARKED, label_ends
from longhaul.plots.measured import scaled_to_windows
from longhaul.plots.rates import rates
from longhaul.plots.registry import Draw, Options, has_samples
from longhaul.plots.styles import Style
from longhaul.results import Results

# Maximum number of flows of a label drawn as lines; more are drawn as median and 10 % to 90 % band.
MAX_LINES = 12
# Style of the sum over all labels, which is grey and behind all other lines.
SUM: dict[str, Any] = {"color": "#8c8c8c", "linewidth": 0.9, "zorder": 1.5, "label": "sum"}

DrawRun = Callable[[Axes, Results, dict[str, Style]], None]


def _of_flows(
    name: str, help: str, suits: Callable[[Results], bool] = has_samples, *, over_time: bool = True
) -> Callable[[DrawRun], Draw]:
    """Return a decorator that registers a plot: a panel per run, a line per flow or label."""

    def scaled(drawing: Figure, runs: Sequence[Results]) -> Figure:
        return label_ends(scaled_to_windows(drawing, [run.measured_from_s for run in runs]))

    def add(draw: DrawRun) -> Draw:
        finish = scaled if over_time else None

        @side_by_side(name, help, suits, ["colour_by"], finish=finish)
        def one(axes: Axes, run: Results, options: Options) -> None:
            draw(axes, run, styles.of_labels(run.algorithms(), options.colour_by))

        return one

    return add


def _draw_flows(
    column: str, scale: float, y: str, axes: Axes, run: Results, style_of: dict[str, Style]
) -> None:
    """Draw a column of the flows' samples, multiplied by `scale`, over time.

    There is a line per flow. If a label has more than `MAX_LINES` flows, their median and a band
    from their 10 % to their 90 % quantile are drawn instead.
    """
    series = run.flow_series.select("t_s", "name", "label", (pl.col(column) * scale).fill_nan(None))
    # Flows without a window, such as datagrams and traffic with many connections, have no line.
    series = series.filter(pl.col(column).count().over("name") > 0)
    for label, flows in series.group_by("label", maintain_order=True):
        style = style_of[str(label[0])]
        names = flows["name"].unique(maintain_order=True)
        if len(names) > MAX_LINES:
            band = flows.group_by("t_s", maintain_order=True).agg(
                pl.col(column).quantile(0.1).alias("low"),
                pl.col(column).median().alias("middle"),
                pl.col(column).quantile(0.9).alias("high"),
            )
            axes.fill_between(
                band["t_s"], band["low"], band["high"], color=style.colour, alpha=0.2, linewidth=0
            )
            _line(axes, band["t_s"], band["middle"], style)
        else:
            for name in names:
                flow = flows.filter(pl.col("name") == name)
                _line(axes, flow["t_s"], flow[column], style)
    axes.set_ylabel(y)
    _name_labels(axes, run, style_of)


def _line(axes: Axes, x: pl.Series, y: pl.Series, style: Style) -> None:
    line = styles.as_line(style)
    if len(x) <= MAX_MARKED:
        line |= {"marker": style.marker, "markersize": 3.5}
    axes.plot(x, y, alpha=0.85, **line)


def _name_labels(axes: Axes, run: Results, style_of: dict[str, Style]) -> None:
    """Add an entry for each label to the legend."""
    for label, count in run.label_counts().items():
        text = label if count == 1 else f"{label} ({count} flows)"
        axes.plot([], [], label=text, **styles.as_line(style_of[label]))


for _name, _what, _column, _scale, _y in (
    ("cwnd", "congestion window", "cwnd_pkts", 1.0, "congestion window (segments)"),
    ("rtt", "smoothed round-trip time", "srtt_s", 1e3, "smoothed round-trip time (ms)"),
    ("in-flight", "segments in flight", "in_flight_pkts", 1.0, "in flight (segments)"),
):
    _of_flows(_name, f"{_what} of every flow over time")(partial(_draw_flows, _column, _scale, _y))


@_of_flows(
    "throughput", "rate at which payload arrives for the first time, by label, and their sum"
)
def _throughput(axes: Axes, run: Results, style_of: dict[str, Style]) -> None:
    every = rates(run.flow_series, "name", "delivered_bytes", run.sample_times)
    by_label = every.group_by("label", "t_s", maintain_order=True).agg(pl.col("rate").sum())
    for label, part in by_label.group_by("label", maintain_order=True):
        _line(axes, part["t_s"], part["rate"] * 8e-6, style_of[str(label[0])])
    total = every.group_by("t_s", maintain_order=True).agg(pl.col("rate").sum()).sort("t_s")
    axes.plot(total["t_s"], total["rate"] * 8e-6, **SUM)
    axes.set_ylabel("goodput (Mbit/s)")
    _name_labels(axes, run, style_of)


@_of_flows("delivered", "payload that arrived for the first time since the start, by label")
def _delivered(axes: Axes, run: Results, style_of: dict[str, Style]) -> None:
    samples = run.flow_series.filter(pl.col("delivered_bytes").is_not_nan())
    totals = samples.group_by("label", "t_s", maintain_order=True).agg(
        pl.col("delivered_bytes").sum() * 8e-9
    )
    for label, part in totals.group_by("label", maintain_order=True):
        _line(axes, part["t_s"], part["delivered_bytes"], style_of[str(label[0])])
    axes.set_ylabel("delivered (Gbit)")
    _name_labels(axes, run, style_of)


def _windows(run: Results) -> pl.DataFrame:
    """Return the samples of those flows that have a congestion window."""
    return run.flow_series.filter(pl.col("cwnd_pkts").is_not_nan())


def _has_two_windows(run: Results) -> bool:
    return has_samples(run) and _windows(run)["name"].n_unique() > 1


@_of_flows(
    "window-phase",
    "the first flow's window against the second's, one point per sample",
    _has_two_windows,
    over_time=False,
)
def _window_phase(axes: Axes, run: Results, style_of: dict[str, Style]) -> None:
    series = _windows(run)
    firsts = series.group_by("label", maintain_order=True).agg(pl.col("name").first())
    names = firsts["name"].to_list()
    if len(names) < 2:
        names = series["name"].unique(maintain_order=True).to_list()[:2]
    first, second = (series.filter(pl.col("name") == name) for name in names[:2])
    # Only times at which both flows exist: a flow has no samples before its start.
    both = first.join(second, on="t_s", suffix="_2", maintain_order="left")
    x, y = both["cwnd_pkts"], both["cwnd_pkts_2"]
    axes.plot(x, y, color="#555555", linewidth=0.5)
    axes.plot(x[:1], y[:1], "o", color="#000000", markersize=4, label="start")
    axes.plot(x[-1:], y[-1:], "s", color="#000000", markersize=4, label="end")
    top = max(float(x.max() or 0), float(y.max() or 0))  # type: ignore[arg-type]
    axes.plot([0, top], [0, top], color="#999999", linestyle=":", label="equal windows")
    axes.set_xlabel(f"window of {names[0]} (segments)")
    axes.set_ylabel(f"window of {names[1]} (segments)")
