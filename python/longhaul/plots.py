"""Plots by name.

A plot is a name (`longhaul plot cwnd r1`), a line of help, and a function that draws one run on one
set of axes. Plots of flows keep each algorithm's look, and several runs stand side by side on the
same scales. Plots of the network lay several runs over one another, one look per run. Rates are
differences of stored counters; nothing is interpolated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul import identity
from longhaul.analysis.fairness import jain_of_column
from longhaul.identity import Look
from longhaul.results import Results, ResultsError

# More flows of one label than this are drawn as their median and range instead of one by one.
MOST_LINES = 12
# Rates are averages over this many intervals of the run, or over one sample where those are longer.
RATE_BINS = 200
# At most so many runs side by side in one row.
MOST_PANELS = 3

STYLE: Any = {  # matplotlib types its settings by their several hundred names
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "path.simplify_threshold": 0.5,
    "savefig.bbox": "tight",
    "svg.fonttype": "none",
}

Draw = Callable[[Axes, Results, dict[str, Look]], None]
DrawRun = Callable[[Axes, Results, Look, str | None], None]
DrawMesoNet = Callable[[Axes, Results], None]


@dataclass(frozen=True)
class Plot:
    """A named plot; exactly one of its functions is set.

    `needs` is the table that a plot of MesoNet shows: a scenario may leave it out.
    """

    name: str
    help: str
    flows: Draw | None = None
    network: DrawRun | None = None
    mesonet: DrawMesoNet | None = None
    needs: str | None = None

    def suits(self, run: Results) -> bool:
        """Whether the run has what the plot shows."""
        if run.is_mesonet != (self.mesonet is not None):
            return False
        return self.needs is None or run.mesonet.has(self.needs)


PLOTS: dict[str, Plot] = {}


def of_flows(name: str, help: str) -> Callable[[Draw], Draw]:
    """Register a plot whose lines are flows or labels."""

    def register(draw: Draw) -> Draw:
        PLOTS[name] = Plot(name, help, flows=draw)
        return draw

    return register


def of_network(name: str, help: str) -> Callable[[DrawRun], DrawRun]:
    """Register a plot with one line per run."""

    def register(draw: DrawRun) -> DrawRun:
        PLOTS[name] = Plot(name, help, network=draw)
        return draw

    return register


def of_mesonet(name: str, help: str, needs: str) -> Callable[[DrawMesoNet], DrawMesoNet]:
    """Register a plot of a table of runs of MesoNet."""

    def register(draw: DrawMesoNet) -> DrawMesoNet:
        PLOTS[name] = Plot(name, help, mesonet=draw, needs=needs)
        return draw

    return register


def _draw_flows(
    axes: Axes, run: Results, looks: dict[str, Look], column: str, scale: float = 1.0
) -> None:
    """Draw one column of every flow's samples, or each label's median and range."""
    series = run.flow_series.select("t_s", "name", "label", (pl.col(column) * scale).fill_nan(None))
    # Datagrams, and connections that come and go, have no window.
    series = series.filter(pl.col(column).count().over("name") > 0)
    for label, flows in series.group_by("label", maintain_order=True):
        look = looks[str(label[0])]
        names = flows["name"].unique(maintain_order=True)
        if len(names) > MOST_LINES:
            band = flows.group_by("t_s", maintain_order=True).agg(
                pl.col(column).quantile(0.1).alias("low"),
                pl.col(column).median().alias("middle"),
                pl.col(column).quantile(0.9).alias("high"),
            )
            axes.fill_between(
                band["t_s"], band["low"], band["high"], color=look.colour, alpha=0.2, linewidth=0
            )
            axes.plot(band["t_s"], band["middle"], **identity.as_line(look, marker=True))
        else:
            for offset, name in enumerate(names):
                flow = flows.filter(pl.col("name") == name)
                line = identity.as_line(look, marker=True, offset=offset)
                axes.plot(flow["t_s"], flow[column], alpha=0.85, **line)
    _legend(axes, run, looks)


def _legend(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    for label, count in run.label_counts().items():
        look = looks[label]
        text = label if count == 1 else f"{label} ({count} flows)"
        axes.plot([], [], label=text, marker=look.marker, markersize=4, **identity.as_line(look))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=4)


def _bins(series: pl.DataFrame, key: str, counter: str) -> pl.DataFrame:
    """Average rates per second of a counter, between every so many of its samples."""
    every = max(1, series["t_s"].n_unique() // RATE_BINS)
    thinned = series.filter(pl.int_range(pl.len()).over(key) % every == 0)
    step = pl.col("t_s").diff().over(key)
    rate = pl.col(counter).cast(pl.Float64).diff().over(key) / step
    return thinned.with_columns(rate=rate).drop_nulls("rate")


@of_flows("cwnd", "congestion window of every flow over time")
def _cwnd(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    _draw_flows(axes, run, looks, "cwnd_pkts")
    axes.set_ylabel("congestion window (segments)")


@of_flows("rtt", "smoothed round-trip time of every flow over time")
def _rtt(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    _draw_flows(axes, run, looks, "srtt_s", scale=1e3)
    axes.set_ylabel("smoothed round-trip time (ms)")


@of_flows("in-flight", "segments in flight of every flow over time")
def _in_flight(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    _draw_flows(axes, run, looks, "in_flight_pkts")
    axes.set_ylabel("in flight (segments)")


@of_flows("throughput", "delivered payload rate of each label, and their sum")
def _throughput(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    rates = _bins(run.flow_series, "name", "delivered_bytes")
    by_label = rates.group_by("label", "t_s", maintain_order=True).agg(pl.col("rate").sum())
    for label, part in by_label.group_by("label", maintain_order=True):
        look = looks[str(label[0])]
        axes.plot(part["t_s"], part["rate"] * 8e-6, **identity.as_line(look, marker=True))
    total = rates.group_by("t_s", maintain_order=True).agg(pl.col("rate").sum())
    axes.plot(total["t_s"], total["rate"] * 8e-6, color="#000000", linewidth=0.8, label="sum")
    axes.set_ylabel("goodput (Mbit/s)")
    _legend(axes, run, looks)


@of_flows("window-phase", "the first flow's window against the second's, one point per sample")
def _window_phase(axes: Axes, run: Results, looks: dict[str, Look]) -> None:
    series = run.flow_series
    firsts = series.group_by("label", maintain_order=True).agg(pl.col("name").first())
    names = firsts["name"].to_list()
    if len(names) < 2:
        names = series["name"].unique(maintain_order=True).to_list()[:2]
    if len(names) < 2:
        raise ResultsError(f"{run.path}: the window-phase plot needs two flows, the run has one")
    first, second = (series.filter(pl.col("name") == name) for name in names[:2])
    # A flow has no samples before its start.
    both = first.join(second, on="t_s", suffix="_2")
    x, y = both["cwnd_pkts"], both["cwnd_pkts_2"]
    axes.plot(x, y, color="#555555", linewidth=0.5)
    axes.plot(x[:1], y[:1], "o", color="#000000", markersize=4, label="start")
    axes.plot(x[-1:], y[-1:], "s", color="#000000", markersize=4, label="end")
    top = max(float(x.max() or 0), float(y.max() or 0))  # type: ignore[arg-type]
    axes.plot([0, top], [0, top], color="#999999", linestyle=":", label="equal windows")
    axes.set_xlabel(f"window of {names[0]} (segments)")
    axes.set_ylabel(f"window of {names[1]} (segments)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)


@of_network("queue", "packets waiting at the bottleneck, and the average that its discipline keeps")
def _queue(axes: Axes, run: Results, look: Look, name: str | None) -> None:
    link = run.bottleneck_series
    alone = name is None
    axes.plot(
        link["t_s"],
        link["queue_pkts"],
        color=look.colour,
        linewidth=0.6,
        alpha=0.6 if alone else 0.8,
        label=name or "waiting",
    )
    if alone and link["queue_avg_pkts"].count():
        axes.plot(link["t_s"], link["queue_avg_pkts"], color="#000000", label="average")
    axes.set_ylabel("queue (packets)")


@of_network("fairness", "Jain's index of the flows' rates over time")
def _fairness(axes: Axes, run: Results, look: Look, name: str | None) -> None:
    rates = _bins(run.flow_series, "name", "delivered_bytes").filter(pl.col("rate") >= 0)
    every = rates.group_by("t_s", maintain_order=True)
    index = every.agg(jain=jain_of_column(pl.col("rate"))).drop_nans()
    axes.plot(index["t_s"], index["jain"], label=name, **identity.as_line(look, marker=True))
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("Jain's fairness index")


@of_network("drops", "packets dropped and marked at the bottleneck so far")
def _drops(axes: Axes, run: Results, look: Look, name: str | None) -> None:
    link = run.bottleneck_series
    prefix = f"{name}: " if name else ""
    axes.plot(link["t_s"], link["dropped_pkts"], color=look.colour, label=f"{prefix}dropped")
    if link["marked_pkts"][-1]:
        axes.plot(
            link["t_s"],
            link["marked_pkts"],
            color=look.colour,
            linestyle=":",
            label=f"{prefix}marked",
        )
    axes.set_ylabel("packets so far")


@of_network("utilisation", "share of the bottleneck's capacity in use over time")
def _utilisation(axes: Axes, run: Results, look: Look, name: str | None) -> None:
    used = _bins(run.bottleneck_series, "name", "departed_bytes")
    share = used["rate"] / _bins(run.bottleneck_series, "name", "capacity_bytes")["rate"]
    axes.plot(used["t_s"], share, label=name, **identity.as_line(look, marker=True))
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("utilisation of the bottleneck")


def find(name: str) -> Plot:
    """The plot of that name."""
    if name not in PLOTS:
        raise ResultsError(f"no plot is called `{name}`; there are: {', '.join(PLOTS)}")
    return PLOTS[name]


def figure(name: str, runs: Sequence[Results]) -> Figure:
    """Draw one named plot of one or several runs."""
    wanted = find(name)
    for run in runs:
        if not wanted.suits(run):
            known = ", ".join(suitable([run]))
            raise ResultsError(f"{run.path}: `{name}` is no plot of this run; it has: {known}")
    with matplotlib.rc_context(STYLE):
        if wanted.mesonet is not None:
            return _side_by_side(wanted.mesonet, runs)
        if wanted.flows is not None:
            draw = wanted.flows
            return _side_by_side(
                lambda axes, run: draw(axes, run, identity.of_labels(run.algorithms())), runs
            )
        assert wanted.network is not None
        return _laid_over(wanted.network, runs)


def suitable(runs: Sequence[Results]) -> list[str]:
    """The names of the plots that all of the runs have."""
    return [name for name, plot in PLOTS.items() if all(plot.suits(run) for run in runs)]


def _side_by_side(draw: DrawMesoNet, runs: Sequence[Results]) -> Figure:
    columns = min(len(runs), MOST_PANELS)
    rows = -(-len(runs) // columns)
    drawing = Figure(figsize=(8.4 if columns > 1 else 7.2, 3.1 * rows), layout="constrained")
    grid = drawing.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for axes, run in zip(panels, runs, strict=False):
        axes.set_xlabel("time (s)")
        draw(axes, run)
        axes.set_title(run.name if len(runs) > 1 else "")
        if axes.get_subplotspec() is not None and axes not in grid[:, 0]:
            axes.set_ylabel("")
    # After all runs are drawn: a limit set earlier would stop the scales from growing.
    panels[0].set_ylim(bottom=0)
    for axes in panels[len(runs) :]:
        axes.set_visible(False)
    return drawing


def _laid_over(draw: DrawRun, runs: Sequence[Results]) -> Figure:
    drawing = Figure(figsize=(7.2, 3.1), layout="constrained")
    axes = drawing.subplots()
    for run, look in zip(runs, identity.of_runs(len(runs)), strict=True):
        draw(axes, run, look, run.name if len(runs) > 1 else None)
    axes.set_xlabel("time (s)")
    axes.set_ylim(bottom=0)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=4)
    return drawing


def save(drawing: Figure, path: Path) -> None:
    """Write a figure as SVG or PNG, by the path's suffix; the same figure gives the same bytes."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": path.stem}):
        if path.suffix == ".svg":
            nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            drawing.savefig(path, format="svg", metadata=nothing)
        elif path.suffix == ".png":
            drawing.savefig(path, format="png", dpi=160)
        else:
            raise ResultsError(f"{path}: plots are written as .svg or .png")


def plot(runs: Results | Sequence[Results], name: str, path: str | Path | None = None) -> Figure:
    """Draw a named plot of one or several runs, and write it to `path` if one is given."""
    drawing = figure(name, [runs] if isinstance(runs, Results) else runs)
    if path is not None:
        save(drawing, Path(path))
    return drawing


# Registers its plots behind those above.
import longhaul.mesonet.pictures  # noqa: E402, F401
