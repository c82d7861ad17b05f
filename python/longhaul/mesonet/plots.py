"""Plots of runs of MesoNet: over time, with the periods that the scenario names."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.mesonet.responses import CLASSES
from longhaul.mesonet.tables import MesoNet
from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.registry import Draw, Options, register
from longhaul.results import Results

# Points of a line; each is the mean of the intervals between.
MOST_POINTS = 600
# Routers drawn individually: those with the fullest queues.
MOST_ROUTERS = 4

STATES = (
    ("active_flows", "active", "#000000"),
    ("initial_slow_start_flows", "initial slow start", "#009e73"),
    ("normal_mode_flows", "like standard TCP", "#e69f00"),
    ("above_threshold_flows", "as their alternate", "#0072b2"),
    ("connecting_flows", "connecting", "#cc79a7"),
)


DrawRun = Callable[[Axes, Results], None]


def of_mesonet(name: str, help: str, needs: str) -> Callable[[DrawRun], Draw]:
    """Register a plot of a table of runs of MesoNet, which a scenario may leave out."""

    def suits(run: Results) -> bool:
        return isinstance(run.own_tables, MesoNet) and run.own_tables.has(needs)

    def add(draw: DrawRun) -> Draw:
        @register(name, help, suits)
        def side_by_side(runs: Sequence[Results], options: Options) -> Figure:
            return panels(runs, draw, [run.name for run in runs])

        return side_by_side

    return add


def _thinned(table: pl.DataFrame, columns: Sequence[str], key: str | None = None) -> pl.DataFrame:
    """Means of columns over as many intervals as there are for a point."""
    every = max(1, -(-int(table["interval"].max() or 1) // MOST_POINTS))  # type: ignore[arg-type]
    keys = [key] if key else []
    point = ((pl.col("interval") - 1) // every).alias("point")
    means = table.group_by(point, *keys, maintain_order=True).agg(
        pl.col("t_s").max(), pl.col(columns).mean()
    )
    return means.drop("point")


def _periods(axes: Axes, run: Results) -> None:
    """Mark where periods begin and end."""
    ends = {time for period in MesoNet.of(run).periods for time in (period.from_s, period.to_s)}
    for time in sorted(ends):
        axes.axvline(time, color="#999999", linewidth=0.8, linestyle=":")


@of_mesonet("flow-states", "flows by their state over time", "network")
def _flow_states(axes: Axes, run: Results) -> None:
    states = _thinned(MesoNet.of(run).network, [column for column, _, _ in STATES])
    for column, label, colour in STATES:
        axes.plot(states["t_s"], states[column], color=colour, label=label)
    axes.set_ylabel("flows")
    _periods(axes, run)


def _one_line(axes: Axes, run: Results, column: str, scale: float, label: str) -> None:
    table = _thinned(MesoNet.of(run).network, [column])
    axes.plot(table["t_s"], table[column] * scale, color="#0072b2")
    axes.set_ylabel(label)
    _periods(axes, run)


@of_mesonet("packets-out", "data packets delivered over time", "network")
def _packets_out(axes: Axes, run: Results) -> None:
    per_s = 1 / MesoNet.of(run).interval_s
    _one_line(axes, run, "out_pkts", 1e-3 * per_s, "thousand packets out per second")


@of_mesonet(
    "retransmission-rate", "what completed flows sent beyond the size of their files", "network"
)
def _retransmission_rate(axes: Axes, run: Results) -> None:
    _one_line(axes, run, "retransmission_rate", 100.0, "retransmission rate (%)")


def _lines(
    axes: Axes, run: Results, table: pl.DataFrame, key: str, names: Sequence[str], column: str
) -> None:
    """One line for each value of `key`."""
    means = _thinned(table, [column], key)
    for name, look in zip(names, styles.of_runs(len(names)), strict=True):
        part = means.filter(pl.col(key) == name).drop_nulls(column)
        if len(part):
            line = styles.as_line(look)
            axes.plot(part["t_s"], part[column], label=name, **line)
    _periods(axes, run)


def _of_classes(name: str, help: str, column: str, label: str, scale: float = 1.0) -> None:
    """Register a plot of the flow classes."""

    @of_mesonet(name, help, "classes")
    def _(axes: Axes, run: Results) -> None:
        table = MesoNet.of(run).classes.with_columns(pl.col(column) * scale)
        _lines(axes, run, table, "class", CLASSES, column)
        axes.set_ylabel(label)


_of_classes(
    "cwnd-classes", "mean congestion window of flow classes", "cwnd_mean_pkts",
    "congestion window (packets)",
)  # fmt: skip
_of_classes(
    "rtt-classes", "mean smoothed round-trip time of flow classes", "srtt_mean_s",
    "smoothed round-trip time (ms)", 1e3,
)  # fmt: skip
_of_classes(
    "throughput-classes", "packets per second of a flow of each class", "throughput_pps",
    "packets per second of a flow",
)  # fmt: skip


def _of_long_lived(name: str, help: str, column: str, label: str) -> None:
    """Register a plot of the long-lived flows."""

    @of_mesonet(name, help, "long_lived")
    def _(axes: Axes, run: Results) -> None:
        table = MesoNet.of(run).long_lived
        names = table["flow"].unique(maintain_order=True).to_list()
        _lines(axes, run, table, "flow", names, column)
        axes.set_ylabel(label)


_of_long_lived(
    "long-lived", "packets per second of long-lived flows", "throughput_pps", "packets per second"
)
_of_long_lived(
    "cwnd-long-lived", "congestion window of long-lived flows", "cwnd_pkts",
    "congestion window (packets)",
)  # fmt: skip


@of_mesonet(
    "router-queues", "the fullest queues of routers, as part of what they can hold", "routers"
)
def _router_queues(axes: Axes, run: Results) -> None:
    routers = MesoNet.of(run).routers
    fullest = (
        routers.group_by("router", maintain_order=True)
        .agg(pl.col("queue_share").mean())
        .sort("queue_share", descending=True, maintain_order=True)["router"]
    )
    _lines(axes, run, routers, "router", fullest[:MOST_ROUTERS].to_list(), "queue_share")
    axes.set_ylabel("share of the queues in use")
    axes.set_ylim(0, 1.05)


# Traced flows in a plot: the first ones.
MOST_TRACED = 4


def _traced(run: Results) -> list[tuple[int, str]]:
    """Numbers and names of the flows that were traced first."""
    flows = MesoNet.of(run).flow_trace.unique("flow", keep="first", maintain_order=True)
    source = "source " + pl.col("source").cast(pl.String)
    name = pl.coalesce("long_lived", source + ", flow " + pl.col("flow").cast(pl.String))
    return flows.select("flow", name.alias("name")).rows()[:MOST_TRACED]


@of_mesonet(
    "trace-cwnd", "congestion window and threshold of traced flows, at every event", "flow_trace"
)
def _trace_cwnd(axes: Axes, run: Results) -> None:
    flows = _traced(run)
    for (flow, name), look in zip(flows, styles.of_runs(len(flows)), strict=True):
        states = MesoNet.of(run).flow_trace.filter(pl.col("flow") == flow)
        line: Any = {"drawstyle": "steps-post", "color": look.colour, "linewidth": 1.0}
        axes.plot(states["t_s"], states["cwnd_pkts"], label=name, **line)
        below = pl.col("ssthresh_pkts") <= 2 * pl.col("cwnd_pkts").max()
        threshold = states.select("t_s", pl.when(below).then("ssthresh_pkts"))
        axes.plot(threshold["t_s"], threshold["ssthresh_pkts"], linestyle=":", **line)
        timeouts = states.filter(pl.col("event") == "timeout")
        axes.plot(timeouts["t_s"], timeouts["cwnd_pkts"], "v", color=look.colour, markersize=5)
    axes.set_ylabel("window, dotted threshold (packets)")


# A time-sequence plot: label, event, kinds of packets, marker.
PACKETS: tuple[tuple[str, str, list[str], Any], ...] = (
    ("sent", "sent", ["DT"], {"marker": ".", "color": "#0072b2", "markersize": 3.0}),
    ("delivered", "delivered", ["DT"], {"marker": ".", "color": "#009e73", "markersize": 3.0}),
    ("acknowledged", "delivered", ["ACK"], {"marker": "_", "color": "#999999", "markersize": 4.0}),
    ("gap reported", "delivered", ["NAK"], {"marker": "D", "color": "#e69f00", "markersize": 3.5}),
    ("dropped", "dropped", ["DT"], {"marker": "x", "color": "#d55e00", "markersize": 6.0}),
)


@of_mesonet(
    "trace-packets",
    "numbers of a traced flow's packets over time: sent, delivered, dropped",
    "packet_trace",
)
def _trace_packets(axes: Axes, run: Results) -> None:
    flow, name = _traced(run)[0]
    packets = MesoNet.of(run).packet_trace.filter(pl.col("flow") == flow)
    for label, event, kinds, look in PACKETS:
        part = packets.filter(pl.col("event") == event, pl.col("kind").is_in(kinds))
        # An acknowledgement has the number that is expected next.
        number = part["number"] - (kinds != ["DT"])
        axes.plot(part["t_s"], number, linestyle="none", label=label, **look)
    axes.set_title(name)
    axes.set_ylabel("number of the packet")
