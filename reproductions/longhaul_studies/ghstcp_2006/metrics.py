"""The study's metrics of one run, over its measurement window.

Metrics of the adaptation of max_p cover the whole run. Throughputs of chapters 2, 3 and 5 include
headers: the printed utilisations reach 97.6 % of the link, which payload alone could not. Fairness
is Jain's index of each flow's throughput divided by its max-min fair share; `fairness_groups` is
the index of the means of the two groups, which does not depend on differences within a group.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from longhaul.analysis.fairness import jain
from longhaul.campaign import Run
from longhaul.campaign.store import Kept

from .adaptation import adaptation

# Max-min fair shares in Mbit/s: five flows behind 100 Mbit/s and five behind 1 Gbit/s share 2500.
FAIR_MBPS = {"s1": 100.0, "s2": 400.0}
MBPS = 2500.0
# The links of the testbed's two scenarios.
TESTBED_MBPS = {"GH4-E0-E4": 100, "GH4-P100": 100, "GH4-E5-E9": 200, "GH4-P200": 200}
# Table 4.1: fair throughputs of Flow-1 and of each connection of Flow-2, by the link's rate
# (Mbit/s) and Flow-2's socket buffer (KB).
TESTBED_FAIR_MBPS = {
    (100, 64): (76.0, 12.0),
    (100, 512): (100.0 / 3.0, 100.0 / 3.0),
    (200, 64): (176.0, 12.0),
    (200, 512): (100.0, 50.0),
}
# Experiments on the adaptation of max_p.
ADAPTING = "GH3-M"
# Payload of a packet of 1500 bytes without timestamps.
PAYLOAD_BYTES, PACKET_BYTES = 1460, 1500
# Percentiles of response times that are kept (Figure 2.9).
RESPONSE_PARTS = (*range(5, 100, 5), 99)

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    labels = {row["label"]: row for row in kept["labels"]}
    link, seconds = kept["links"][0], kept["run"]["measured_s"]
    row: Row = {
        "link_utilisation": 100.0 * link["utilization"],
        "loss_rate": link["dropped_pkts"] / link["arrived_pkts"],
        "queue_mean_pkts": link["queue_mean_pkts"],
    }
    if "s2" in labels:
        row |= _of_groups(labels, seconds)
        if run.experiment.startswith(ADAPTING):
            row |= adaptation(kept["link_series"])
    elif "flow2" in labels:
        row |= _of_testbed(
            labels, TESTBED_MBPS[run.experiment], int(run.cell["socket_kb"]), seconds
        )
    elif "parallel" in labels:
        row |= _of_parallel(labels["parallel"], link["rate_bps"], seconds)
    for exchanges in kept.get("exchanges", ()):
        row["response_mean_s"] = exchanges["response_mean_s"]
        for part in RESPONSE_PARTS:
            row[f"response_p{part}_s"] = exchanges["response_quantiles_s"][part - 1]
    return row


def _mbps(label: Mapping[str, Any], seconds: float) -> list[float]:
    """Return the payload rate (Mbit/s) of each flow with one label, over `seconds`."""
    return [8e-6 * delivered / seconds for delivered in label["each_delivered_bytes"]]


def _of_groups(labels: Mapping[str, Any], seconds: float) -> Row:
    """Return the metrics of Tables 2.1 to 3.2 for two groups of five flows.

    `seconds` is the length of the measurement window.
    """
    row: Row = {}
    shares: list[float] = []
    groups: list[float] = []
    total = 0.0
    for name, fair in FAIR_MBPS.items():
        wire = [x * PACKET_BYTES / PAYLOAD_BYTES for x in _mbps(labels[name], seconds)]
        shares += [x / fair for x in wire]
        groups.append(sum(wire) / len(wire) / fair)
        total += sum(wire)
        row |= {f"mbps_{name}": sum(wire), f"timeouts_{name}": labels[name]["timeouts"]}
    return row | {
        "total_mbps": total,
        "utilisation": 100.0 * total / MBPS,
        "fairness": jain(shares),
        "fairness_groups": jain(groups),
    }


def _of_testbed(labels: Mapping[str, Any], mbps: int, socket_kb: int, seconds: float) -> Row:
    """Return the metrics of Figures 4.7 to 4.10; the connections of Flow-1 count as one flow."""
    fair = TESTBED_FAIR_MBPS[mbps, socket_kb]
    first, second = sum(_mbps(labels["flow1"], seconds)), _mbps(labels["flow2"], seconds)
    used = (first + sum(second)) / mbps
    fairness = jain([first / fair[0], *(x / fair[1] for x in second)])
    return {
        "utilisation": 100.0 * used,
        "fairness": fairness,
        "tradeoff": None if fairness is None else used * fairness,
        "mbps_flow1": first,
        "mbps_flow2": sum(second),
        "timeouts_flow1": labels["flow1"]["timeouts"],
        "timeouts_flow2": labels["flow2"]["timeouts"],
    }


def _of_parallel(label: Mapping[str, Any], rate_bps: float, seconds: float) -> Row:
    """Return the metrics of chapter 5: loss rate, and goodput as a fraction of the link's rate."""
    payload_bps = 8.0 * label["delivered_bytes"] / seconds
    return {
        "loss": label["dropped_pkts"] / label["sent_pkts"],
        "goodput": payload_bps * PACKET_BYTES / PAYLOAD_BYTES / rate_bps,
        "retransmitted": label["retransmitted_pkts"] / label["sent_pkts"],
        "timeouts": label["timeouts"],
    }


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return windows and round trips of flows, and the link's queue and `max_p`, over time.

    Flows are left out if the queue adapts `max_p`, because figures then show only the queue.
    Additional rows have the times at which traced flows change between gHSTCP's modes.
    """
    links = pl.DataFrame(kept["link_series"], infer_schema_length=None)
    parts = [links.select("t_s", "name", "queue_pkts", "queue_avg_pkts", "max_p")]
    if links["max_p"].n_unique() == 1:
        flows = pl.DataFrame(kept["flow_series"], infer_schema_length=None)
        parts.insert(0, flows.select("t_s", "name", "label", "cwnd_pkts", "srtt_s"))
    if "modes" in kept:
        parts.append(pl.DataFrame(kept["modes"], infer_schema_length=None))
    return pl.concat(parts, how="diagonal_relaxed")
