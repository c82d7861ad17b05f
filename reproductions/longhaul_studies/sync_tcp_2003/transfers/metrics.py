"""Metrics of one run with long transfers.

Rates are kbit/s of whole packets, as in the source, whose goodputs count 1474 bytes per packet over
300 s (Tables A.1 and A.2). Queues are means over samples taken after each arrival and departure.
Metrics of one flow end in its number, such as `goodput_6` for flow 6.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.fairness import jain
from longhaul.analysis.statistics import rank_correlation
from longhaul.campaign import Run
from longhaul.campaign.store import Kept

from . import detectors

PACKET_BYTES, ACK_BYTES = 1474, 54
ROUND_TRIPS_MS = np.array([
    54.77, 97.21, 85.70, 46.04, 88.02, 20.90, 98.48, 94.66, 17.41, 31.30,
    77.30, 31.11, 17.51, 16.54, 118.42, 52.97, 691.18, 410.78, 16.36, 26.56,
])  # fmt: skip
"""Base round trips of flows 1 to 20 (Table 4.2)."""
# Figure 4.6 shows ten seconds of the queue; figures of detectors show the first second and five
# others.
QUEUE_S = (100.0, 110.0)
# Experiments whose samples are drawn.
DRAWN = ("FTP-SB", "FTP-CONV", "DET", "DET-2L")

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    row = {**_links(kept), **_flows(kept), **_classes(kept), **_router(kept)}
    if kept.get("detectors"):
        row |= _detectors(kept)
    if "acks" in kept:
        row |= detectors.metrics(kept)
    return row


def _links(kept: Kept) -> Row:
    links = {link["name"]: link for link in kept["links"]}
    last, seconds = links["hop-4"], kept["run"]["simulated_s"]
    row: Row = {"utilisation": 800.0 * last["departed_bytes"] / last["rate_bps"] / seconds}
    for router in (0, 1, 3):
        link = links[f"hop-{router}"]
        row[f"loss_{router}"] = 100.0 * link["dropped_pkts"] / max(link["arrived_pkts"], 1)
        row[f"queue_{router}"] = link["queue_found_mean_pkts"] + 0.5
        row[f"queue_time_{router}"] = link["queue_mean_pkts"]
    row["loss_most"] = max(row[f"loss_{router}"] for router in (0, 1, 3))  # type: ignore[type-var]
    return row


def _flows(kept: Kept) -> Row:
    """Return the metrics of each flow, and Jain's index over all flows."""
    flows: list[Mapping[str, Any]] = kept["flows"]
    per_kbps = PACKET_BYTES * 8e-3 / kept["run"]["simulated_s"]
    goodput = np.array([flow["delivered_pkts"] for flow in flows]) * per_kbps
    row: Row = {
        "goodput": float(goodput.sum()),
        "jain": jain(goodput.tolist()),
        "goodput_max_over_min": float(goodput.max() / goodput.min()),
        "goodput_and_rtt": rank_correlation(ROUND_TRIPS_MS, goodput),
        "goodput_and_rtt_slope": float(np.polyfit(np.log(ROUND_TRIPS_MS), np.log(goodput), 1)[0]),
    }
    for flow, rate in zip(flows, goodput, strict=True):
        number = flow["number"]
        row[f"goodput_{number}"] = float(rate)
        row[f"dropped_{number}"] = flow["dropped_pkts"]
        row[f"lost_{number}"] = 100.0 * flow["dropped_pkts"] / flow["sent_pkts"]
        row[f"cwnd_{number}"] = flow["cwnd_mean_pkts"]
        row[f"reactions_{number}"] = flow["cuts_loss"] + flow["timeouts"]
    # Losses of the first second, noticed by timeouts of one second; the source omits flow 18.
    first = [flow["first_loss_s"] or np.inf for flow in flows if flow["number"] != 18]
    row["lost_by_2_s"] = 100.0 * float(np.mean(np.array(first) <= 2.0))
    return row


def _classes(kept: Kept) -> Row:
    """Return counts of arrivals and drops at the first congested link, and shares of ACKs in them.

    All data packets at this link belong to the measured flows, and all others are ACKs. The result
    is empty if another link drops packets.
    """
    links = {link["name"]: link for link in kept["links"]}
    if any(links[f"hop-{router}"]["dropped_pkts"] for router in (1, 3)):
        return {}
    link = links["hop-0"]
    data = sum(flow["sent_pkts"] for flow in kept["flows"])
    dropped = sum(flow["dropped_pkts"] for flow in kept["flows"])
    acks, dropped_acks = link["arrived_pkts"] - data, link["dropped_pkts"] - dropped
    counted = (data - dropped) * PACKET_BYTES + (acks - dropped_acks) * ACK_BYTES
    return {
        "segments": link["arrived_pkts"],
        "data_segments": data,
        "drops": link["dropped_pkts"],
        "ack_share": 100.0 * acks / link["arrived_pkts"],
        "ack_drop_share": 100.0 * dropped_acks / max(link["dropped_pkts"], 1),
        "bytes_over_counted": link["departed_bytes"] / counted,
    }


def _router(kept: Kept) -> Row:
    """Return the metrics of the first congested router's queue, computed from its samples."""
    router = kept["router"]
    queue = np.asarray(router["queue_pkts"], float)
    waited_ms = 8e3 * np.asarray(router["queue_bytes"], float) / 1e7
    # Samples do not include the packet in transmission.
    return {
        "router_delay_max_ms": float(waited_ms.max()),
        "router_above_half": float(np.mean(queue > 46)),
        # Equal if two runs have the same packets, since their samples are then the same.
        "router_checksum": zlib.crc32(waited_ms.tobytes()) % 2**24,
    }


def _detectors(kept: Kept) -> Row:
    """Return the flows' largest estimated queueing delays, and counts of window reductions."""
    flows: list[Mapping[str, Any]] = kept["detectors"]
    row: Row = {}
    largest = np.array([1e3 * flow["largest_queueing_delay"] for flow in flows])
    cuts = {flow["number"]: flow["early_cuts"] for flow in flows}
    for flow, estimate in zip(flows, largest, strict=True):
        row[f"largest_{flow['number']}"] = float(estimate)
    for flow in kept["flows"]:
        number = flow["number"]
        row[f"cuts_{number}"] = cuts[number] + flow["cuts_loss"] + flow["timeouts"]
    round_trips = 1e3 * kept["run"]["simulated_s"] / ROUND_TRIPS_MS
    for number in (2, 6, 14):
        row[f"cuts_per_rtt_{number}"] = 100.0 * row[f"cuts_{number}"] / round_trips[number - 1]  # type: ignore[operator]
    goodput = [flow["delivered_pkts"] for flow in kept["flows"]]
    row |= {
        "largest_min": float(largest.min()),
        "largest_max": float(largest.max()),
        "largest_spread": float(largest.max() - largest.min()),
        "largest_above_190": float((largest > 190.0).sum()),
        "goodput_and_largest": rank_correlation(largest, np.array(goodput, float)),
        "cuts": float(sum(row[f"cuts_{flow['number']}"] for flow in flows)),  # type: ignore[misc]
    }
    if "rising_0" in flows[0]:
        row |= _adjustments(flows)
    return row


def _adjustments(flows: list[Mapping[str, Any]]) -> Row:
    """Return percentages of window changes: increases, and changes by 10 or 50 % (Table 1.1)."""
    total = {
        f"{trend}_{quarter}": sum(flow[f"{trend}_{quarter}"] for flow in flows)
        for trend in ("rising", "falling")
        for quarter in range(4)
    }
    increases = total["rising_0"] + sum(total[f"falling_{quarter}"] for quarter in (0, 1, 2))
    decreases = sum(total[f"rising_{quarter}"] for quarter in (1, 2, 3))
    return {
        "increases": 100.0 * increases / (increases + decreases),
        "decreases_by_10": 100.0 * total["rising_1"] / decreases,
        "decreases_by_50": 100.0 * total["rising_3"] / decreases,
        "increases_by_50": 100.0 * total["falling_0"] / increases,
    }


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of this run."""
    return run.experiment in DRAWN and run.replication == 0


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return samples for figures: of all flows every second, and of the queue in some spans.

    If the ACKs of one flow are stored, return samples at these ACKs in place of those every second.
    """
    seconds = pl.DataFrame(kept["flow_series"])
    payload = PACKET_BYTES - ACK_BYTES
    running = 8e-6 * pl.col("delivered_bytes") * PACKET_BYTES / payload / pl.col("t_s")
    lost = [pl.col(name).diff().fill_null(0) for name in seconds.columns if name.startswith("lost")]
    parts = [
        seconds.filter(pl.col("t_s") > 0)
        .with_columns(goodput_mbps=running, sampled=pl.lit("seconds"))
        .with_columns(lost)
        .drop("delivered_bytes")
    ]
    router = pl.DataFrame(kept["router"]).select(
        "t_s", "queue_pkts", router_ms=8e-4 * pl.col("queue_bytes"), sampled=pl.lit("router")
    )
    spans = detectors.SPANS_S if "acks" in kept else (QUEUE_S,)
    inside = pl.any_horizontal(pl.col("t_s").is_between(*span) for span in spans)
    parts.append(router.filter(inside))
    if "acks" in kept:
        acks = pl.DataFrame(kept["acks"]).with_columns(sampled=pl.lit("acks")).filter(inside)
        parts = [parts[-1], acks]
    return pl.concat(parts, how="diagonal_relaxed")
