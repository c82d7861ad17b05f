"""Plots of traced flows of MesoNet: every event, and every packet."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from longhaul.mesonet.plots.side_by_side import of_mesonet
from longhaul.mesonet.tables import MesoNet
from longhaul.plots import styles
from longhaul.plots.registry import Options
from longhaul.results import Results

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
def _trace_cwnd(axes: Axes, run: Results, options: Options) -> None:
    del options
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
def _trace_packets(axes: Axes, run: Results, options: Options) -> None:
    del options
    flow, name = _traced(run)[0]
    packets = MesoNet.of(run).packet_trace.filter(pl.col("flow") == flow)
    for label, event, kinds, look in PACKETS:
        part = packets.filter(pl.col("event") == event, pl.col("kind").is_in(kinds))
        # An acknowledgement has the number that is expected next.
        number = part["number"] - (kinds != ["DT"])
        axes.plot(part["t_s"], number, linestyle="none", label=label, **look)
    axes.set_title(name)
    axes.set_ylabel("number of the packet")
