"""Time-sequence graphs of a connection from its packets, as tcptrace draws them.

The graphs show segments and retransmissions, the cumulative acknowledgement, SACK blocks, and the
end of the receive window (S. Ostermann, *tcptrace manual*, section *time sequence graph*).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from longhaul.plots.arrangements import side_by_side
from longhaul.plots.registry import PART_OF_RUN, Options
from longhaul.results import Results, ResultsError, captures

COLOURS = {"sent": "#0072b2", "retransmitted": "#d55e00", "ack": "#009e73", "sack": "#cc79a7",
           "window": "#8c8c8c"}  # fmt: skip


def _is_captured(run: Results) -> bool:
    return run.is_tcp and (run.path / captures.FILE).is_file()


@side_by_side(
    "time-sequence",
    "segments of a captured connection over time: sent, retransmitted, dropped, and their "
    "acknowledgements, as tcptrace draws them",
    _is_captured,
    [*PART_OF_RUN, "parts"],
    columns=1,
)
def _time_sequence(axes: Axes, run: Results, options: Options) -> None:
    packets = captures.packets(run.path, options.from_s, options.to_s)
    start, end = _connection(run, packets, options.parts)
    data = packets.filter(pl.col("from") == start, pl.col("to") == end)
    # A capture of several links of a path contains a packet several times.
    first = data["link"][0]
    data = data.filter(pl.col("link") == first, (pl.col("payload_bytes") > 0) | pl.col("syn"))
    acks = packets.filter(pl.col("from") == end, pl.col("to") == start)
    if acks.height:
        acks = acks.filter(pl.col("link") == acks["link"][0])
    base = int(data["number"][0])
    numbers = _unwrapped(data["number"].to_numpy(), base)
    ends = numbers + np.maximum(data["payload_bytes"].to_numpy(), 1)
    times = data["t_s"].to_numpy()
    before = np.concatenate([[-1], np.maximum.accumulate(ends)[:-1]])
    again = numbers < before
    for mask, name in ((~again, "sent"), (again, "retransmitted")):
        _segments(axes, times[mask], numbers[mask], ends[mask], COLOURS[name], name)
    lost = data["dropped"].to_numpy()
    if lost.any():
        axes.plot(times[lost], ends[lost], "x", color="#000000", markersize=5, label="dropped")
    if acks.height:
        _draw_acks(axes, acks, base)
    axes.set_title(f"{start} to {end}, at {first}")
    axes.set_ylabel("sequence number (bytes)")
    axes.set_xlabel("time (s)")
    axes.autoscale_view()


def _draw_acks(axes: Axes, acks: pl.DataFrame, base: int) -> None:
    times = acks["t_s"].to_numpy()
    acked = _unwrapped(acks["ack"].to_numpy(), base)
    axes.step(times, acked, where="post", color=COLOURS["ack"], label="acknowledged", linewidth=1)
    window = acked + acks["window_bytes"].to_numpy()
    # The receive window may end far above all bytes sent, so it does not set the scale.
    axes.add_artist(Line2D(times, window, drawstyle="steps-post", color=COLOURS["window"],
                           linestyle=":", linewidth=1, label="receive window"))  # fmt: skip
    blocks = acks.select("t_s", "sack").explode("sack").drop_nulls()
    if blocks.height:
        ends = np.array(blocks["sack"].to_list())
        low, high = (_unwrapped(ends[:, at], base) for at in (0, 1))
        _segments(axes, blocks["t_s"].to_numpy(), low, high, COLOURS["sack"],
                  "acknowledged selectively")  # fmt: skip


def _segments(
    axes: Axes, times: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, name: str
) -> None:
    """Draw each segment as a vertical line from sequence number `low` to `high` at its time."""
    if not len(times):
        return
    ends = np.stack([np.stack([times, low], 1), np.stack([times, high], 1)], 1)
    axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=1.2))
    axes.plot([], [], color=colour, label=name)


def _unwrapped(numbers: np.ndarray, base: int) -> np.ndarray:
    """Return sequence numbers (modulo 2^32, RFC 9293 section 3.4) as byte offsets from `base`."""
    steps = np.diff(numbers.astype(np.int64), prepend=base)
    near: np.ndarray = np.cumsum(np.mod(steps + 2**31, 2**32) - 2**31)
    return near


def _connection(run: Results, packets: pl.DataFrame, parts: Sequence[str]) -> tuple[str, str]:
    """Return both ends (address and port) of the connection that has the end `parts[0]`.

    The first of the two sends data; `parts[0]` may be either. If `parts` is empty, return the ends
    of the first connection that sends data.
    """
    sending = packets.filter(pl.col("payload_bytes") > 0)
    pairs = sending.select("from", "to").unique(maintain_order=True).rows()
    if not pairs:
        raise ResultsError(f"{run.path}: the capture has no TCP data in this part of the run")
    if not parts:
        return pairs[0]
    for pair in pairs:
        if parts[0] in pair:
            return pair
    known = ", ".join(pair[0] for pair in pairs[:8])
    raise ResultsError(
        f"{run.path}: no connection from `{parts[0]}` is captured; there are {known}"
    )
