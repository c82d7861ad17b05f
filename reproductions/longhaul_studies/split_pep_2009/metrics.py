"""The study's metrics of one run.

Rates of the link are Mbit/s on the wire, except `mbps_payload`. The thesis gives means over the
whole run. As we read it, it counts payload for flows behind a proxy, because the proxy forwards no
headers, and whole packets for flows without a proxy, as ns-2's sinks do. `flow_mbps` follows the
thesis, `flow_payload_mbps` and `flow_wire_mbps` count payload and whole packets in all cases. These
rates, losses and counts are of the whole run; `mbps_settled`, windows, queues, round-trip times and
fairness are from the end of the warm-up on (100 s in most experiments).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

# A packet of 1040 bytes carries 1000 bytes of payload; packets of PEP-N01 to PEP-N05 are larger.
PACKET_BYTES, PAYLOAD_BYTES = 1040, 1000
# Experiments whose samples over time are drawn, without a proxy only once; Figure 4.7 is of
# PEP-E02.
DRAWN = ("PEP-E01", "PEP-E02", "PEP-E03", "PEP-E04", "PEP-E05", "PEP-E06", "PEP-E09", "PEP-E10",
         "PEP-E13")  # fmt: skip
BOTH_QUEUES = ("PEP-E02", "PEP-E05", "PEP-E06", "PEP-E10")
# Points drawn of a run (fewer than twice this number), and fraction of the link's rate that counts
# as full.
POINTS, FULL = 500, 0.99
# A window is reduced if it is below this fraction of the window one sample before.
REDUCED = 0.8

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    link, flows, times = kept["link"], kept["flows"], kept["run"]
    whole_s, settled_s = times["simulated_s"], times["simulated_s"] - times["settled_s"]
    payload = 8e-6 * flows["total_delivered_bytes"] / flows["count"] / whole_s
    wire = payload * PACKET_BYTES / PAYLOAD_BYTES
    row: Row = {
        "mbps": 8e-6 * link["total_departed_bytes"] / whole_s,
        "mbps_settled": 8e-6 * link["departed_bytes"] / settled_s,
        "flow_payload_mbps": payload,
        "flow_wire_mbps": wire,
        "flow_mbps": payload if "proxy" in kept else wire,
        "loss": link["total_dropped_pkts"] / link["total_arrived_pkts"],
        "link_queue": link["queue_mean_pkts"],
        "cwnd": flows["cwnd_mean_pkts"],
        "rtt_s": flows["rtt_mean_s"],
        "jain": flows["jain"],
        "timeouts": flows["total_timeouts"],
    }
    row["mbps_payload"] = row["mbps"] * PAYLOAD_BYTES / PACKET_BYTES  # type: ignore[operator]
    for name in ("jain_windows", "starved_median_s", "starved_most_s"):
        row[name] = flows.get(name)
    if "proxy" in kept:
        proxy = kept["proxy"]
        row |= {
            "local_queue": proxy["queue_mean_pkts"],
            "proxy_cwnd": proxy["cwnd_mean_pkts"],
            "proxy_timeouts": proxy["total_timeouts"],
            "proxy_reductions": proxy["total_cuts_loss"],
        }
    if "flow_series" in kept:
        row |= _over_time(kept["flow_series"], times["settled_s"], link["rate_bps"])
    if "responses" in kept:
        row |= {f"response_{name}": value for name, value in kept["responses"].items()}
    return row


def _over_time(series: Mapping[str, Sequence[float]], settled_s: float, rate_bps: float) -> Row:
    """Return metrics of the samples `series`: rates, the proxy queue, the first window reduction.

    Runs without proxies have metrics of rates only. `rate_bps` is the link's rate, `settled_s` the
    warm-up, which all metrics but the mean `one_mbps` leave out.
    """
    t = np.asarray(series["t_s"])
    settled = t > settled_s
    mbps, single = (np.asarray(series[name], float) for name in ("mbps", "one_mbps"))
    # `mbps` is on the wire, `one_mbps` payload. Gaps assume a sample each second.
    values: Row = {
        "mbps_min": float(mbps[settled].min()),
        "one_mbps": float(single.mean()),
        "one_min": float(single[settled].min()),
        "one_max": float(single[settled].max()),
        "one_deviation": float(single[settled].std() / single[settled].mean()),
        "one_below_half": float(np.mean(single[settled] < 0.5 * single[settled].mean())),
        "one_longest_gap_s": _longest(single[settled] < 0.01 * single[settled].mean()),
    }
    if "proxy_cwnd" in series:
        values |= _first_reduction(
            t, np.asarray(series["proxy_cwnd"], float), mbps, settled_s, rate_bps
        )
        queue = np.asarray(series["local_queue"], float)
        values["local_queue_empty"] = float(np.mean(queue[settled] < 1))
    return values


def _longest(spell: np.ndarray) -> float:
    """Return the largest number of consecutive true samples in `spell`."""
    longest = now = 0
    for holds in spell:
        now = now + 1 if holds else 0
        longest = max(longest, now)
    return float(longest)


def _first_reduction(
    t: np.ndarray, cwnd: np.ndarray, mbps: np.ndarray, settled_s: float, rate_bps: float
) -> Row:
    """Return the time of the first reduction of the window, and the recovery time, in seconds.

    The window is that of the connection between the proxies. The recovery ends when the link is
    full again. Without a reduction there is neither value, without an end no recovery time.
    """
    falls = np.flatnonzero((cwnd[1:] < REDUCED * cwnd[:-1]) & (t[1:] > settled_s)) + 1
    if not len(falls):
        return {}
    first = int(falls[0])
    # The link may still be full in the second of the reduction.
    lower = first + int(np.argmax(mbps[first:] < FULL * rate_bps * 1e-6))
    full = np.flatnonzero(mbps[lower:] >= FULL * rate_bps * 1e-6)
    values: Row = {"first_reduction_s": float(t[first])}
    if len(full):
        values["recovery_s"] = float(t[lower + full[0]] - t[first])
    return values


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of this run; only first replications are plotted."""
    again = run.experiment in BOTH_QUEUES and (
        run.cell["proxy"] != "cubic" and run.cell["queue"] == "red"
    )
    return run.experiment in DRAWN and run.replication == 0 and not again


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return the samples over time, thinned if there are at least `2 * POINTS`."""
    series: Mapping[str, Any] = kept["flow_series"]
    every = max(1, len(series["t_s"]) // POINTS)
    return pl.DataFrame({name: column[::every] for name, column in series.items()})
