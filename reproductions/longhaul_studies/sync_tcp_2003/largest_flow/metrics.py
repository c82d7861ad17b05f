"""Metrics of runs in which the flow with the largest response is traced."""

import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul_studies.sync_tcp_2003.web.curves import curve

Row = dict[str, float | None]

DRAWN = ("cwnd", "in_flight", "queueing_delay", "largest_queueing_delay")


def metrics(kept: Kept, run: Run) -> Row:
    """Return the traced flow's rate in kbit/s, its retransmissions, and its delays in ms.

    `flow_round_trip` is without queueing. A flow that did not end has no duration (`flow_s`) and no
    rate.
    """
    exchange, largest = kept["exchange"], kept["largest"]
    row: Row = {
        "flow_retransmitted": exchange["retransmitted_pkts"],
        "flow_round_trip": 14.0 + 1e3 * exchange["extra_rtt_s"],
        "flow_MB": 1e-6 * exchange["response_bytes"],
        "flow_early_cuts": largest.get("early_cuts"),
    }
    if exchange["end_s"] is not None:
        took_s = exchange["end_s"] - exchange["start_s"]
        row |= {"flow_s": took_s, "flow_rate": 8e-3 * exchange["response_bytes"] / took_s}
    if "largest_queueing_delay" in largest:
        row["flow_largest_delay"] = 1e3 * largest["largest_queueing_delay"]
    return row


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of this run."""
    return run.experiment == "Z1"


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return the traced flow's window and segments in flight, and its delays in ms, over time."""
    series = kept["flow_series"]
    parts = []
    for name in DRAWN:
        if name in series:
            scale = 1e3 if name.endswith("delay") else 1.0
            values = [None if value is None else scale * value for value in series[name]]
            parts.append(curve(name, series["t_s"], pl.Series(values, dtype=pl.Float64), 2))
    return pl.concat(parts)
