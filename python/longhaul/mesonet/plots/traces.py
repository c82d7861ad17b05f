"""Plots of events of a MesoNet run's first traced flows, and of packets of the first one."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from longhaul.mesonet.plots.runs import has_table, in_part_of_run
from longhaul.mesonet.tables import MesoNet
from longhaul.plots import styles
from longhaul.plots.arrangements import side_by_side
from longhaul.plots.registry import PART_OF_RUN, Options
from longhaul.results import Results

# Maximum number of traced flows in the plot `trace-cwnd`.
MOST_TRACED = 4


def _traced(run: Results) -> list[tuple[int, str]]:
    """Return numbers and names of the first traced flows."""
    flows = MesoNet.of(run).flow_trace.unique("flow", keep="first", maintain_order=True)
    source = "source " + pl.col("source").cast(pl.String)
    name = pl.coalesce("long_lived", source + ", flow " + pl.col("flow").cast(pl.String))
    return flows.select("flow", name.alias("name")).rows()[:MOST_TRACED]


def _part(trace: pl.DataFrame, flow: int, options: Options) -> pl.DataFrame:
    """Return the events of a flow in the part of the run that is shown."""
    return in_part_of_run(trace.filter(pl.col("flow") == flow), pl.col("t_s"), options)


@side_by_side(
    "trace-cwnd", "congestion window and threshold of traced flows, at every event",
    has_table("flow_trace"), PART_OF_RUN,
)  # fmt: skip
def _trace_cwnd(axes: Axes, run: Results, options: Options) -> None:
    flows = _traced(run)
    for (flow, name), look in zip(flows, styles.of_runs(len(flows)), strict=True):
        states = _part(MesoNet.of(run).flow_trace, flow, options)
        line: Any = {"drawstyle": "steps-post", "color": look.colour, "linewidth": 1.0}
        axes.plot(states["t_s"], states["cwnd_pkts"], label=name, **line)
        below = pl.col("ssthresh_pkts") <= 2 * pl.col("cwnd_pkts").max()
        threshold = states.select("t_s", pl.when(below).then("ssthresh_pkts"))
        axes.plot(threshold["t_s"], threshold["ssthresh_pkts"], linestyle=":", **line)
        timeouts = states.filter(pl.col("event") == "timeout")
        axes.plot(timeouts["t_s"], timeouts["cwnd_pkts"], "v", color=look.colour, markersize=5)
    axes.set_ylabel("window, dotted threshold (packets)")


# Maximum number of packets with large markers. More packets get small markers, which are bitmaps in
# SVG files, where each marker would otherwise be an element.
MANY = 3000
SMALL: dict[str, Any] = {"markersize": 1.0, "rasterized": True}
# Symbols of a time-sequence plot: label, event, kinds of packets, marker.
PACKETS: tuple[tuple[str, str, list[str], Any], ...] = (
    ("sent", "sent", ["DT"], {"marker": ".", "color": "#0072b2", "markersize": 3.0}),
    ("delivered", "delivered", ["DT"], {"marker": ".", "color": "#009e73", "markersize": 3.0}),
    ("acknowledged", "delivered", ["ACK"], {"marker": "_", "color": "#999999", "markersize": 4.0}),
    ("gap reported", "delivered", ["NAK"], {"marker": "D", "color": "#e69f00", "markersize": 3.5}),
    ("dropped", "dropped", ["DT"], {"marker": "x", "color": "#d55e00", "markersize": 6.0}),
)


@side_by_side(
    "trace-packets", "numbers of a traced flow's packets over time: sent, delivered, dropped",
    has_table("packet_trace"), PART_OF_RUN, from_zero=False,
)  # fmt: skip
def _trace_packets(axes: Axes, run: Results, options: Options) -> None:
    flow, name = _traced(run)[0]
    packets = _part(MesoNet.of(run).packet_trace, flow, options)
    for label, event, kinds, look in PACKETS:
        part = packets.filter(pl.col("event") == event, pl.col("kind").is_in(kinds))
        if part.is_empty():
            continue
        # An acknowledgement has the next expected sequence number.
        number = part["number"] - (kinds != ["DT"])
        axes.plot([], [], linestyle="none", label=label, **look)
        drawn = look | SMALL if part.height > MANY else look
        axes.plot(part["t_s"], number, linestyle="none", **drawn)
    axes.set_title(name)
    axes.set_ylabel("number of the packet")
