"""The study's metrics of one run.

Experiment FL-PKT has the rate of received packets (`throughput_pkts_per_ms`), the loss rate, and
means of window, round-trip time and queue. HY-PKT and HY-MN have three sets of flows, and for each
set the throughput and mean round-trip time of a flow (`throughput_1_pps` to `rtt_3_s`). Further
metrics are the utilisation of the bottleneck, the hours of wall-clock time for eleven simulated
hours, and in HY-PKT only loss events (timeouts included) per flow and hour.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul.models.abilene_lee import FLOWS_PER_SET, HOURS, RATE_PPS

Row = dict[str, Any]

# Payload of a packet of 1024 bytes in FL-PKT, of 1000 bytes in HY-PKT.
PAYLOAD_BYTES = {"FL-PKT": 972, "HY-PKT": 948}


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    if run.experiment == "FL-PKT":
        return _of_thousand(kept)
    row = _of_mesonet(kept, run) if run.experiment == "HY-MN" else _of_links(kept)
    return row | _cost(kept, run)


def _of_thousand(kept: Kept) -> Row:
    (label,), (link,) = kept["labels"], kept["links"]
    delivered = label["delivered_bytes"] / PAYLOAD_BYTES["FL-PKT"]
    return {
        "throughput_pkts_per_ms": delivered / kept["run"]["measured_s"] / 1e3,
        "loss": link["dropped_pkts"] / link["arrived_pkts"],
        "window_pkts": label["cwnd_mean_pkts"],
        "rtt_s": label["rtt_mean_s"],
        "queue_pkts": link["queue_mean_pkts"],
        "utilisation": link["utilization"],
        "timeouts_per_loss": label["timeouts"] / max(1, label["cuts_loss"] + label["timeouts"]),
    }


def _of_links(kept: Kept) -> Row:
    measured_s = kept["run"]["measured_s"]
    row: Row = {}
    labels = {label["label"]: label for label in kept["labels"]}
    for number in (1, 2, 3):
        members = [labels[f"set{number}-{n}"] for n in range(FLOWS_PER_SET)]
        delivered = sum(member["delivered_bytes"] for member in members) / PAYLOAD_BYTES["HY-PKT"]
        row[f"throughput_{number}_pps"] = delivered / FLOWS_PER_SET / measured_s
        row[f"rtt_{number}_s"] = sum(member["rtt_mean_s"] for member in members) / FLOWS_PER_SET
    cuts = sum(label["cuts_loss"] + label["timeouts"] for label in labels.values())
    return row | {
        "utilisation": kept["links"][0]["utilization"],
        "queue_pkts": kept["links"][0]["queue_mean_pkts"],
        "reductions_per_flow_h": cuts / len(labels) / (measured_s / 3600.0),
        # Only runs of MesoNet keep this value.
        "peak_memory_bytes": None,
    }


def _of_mesonet(kept: Kept, run: Run) -> Row:
    row: Row = {}
    flows = {flow["flow"]: flow for flow in kept["long_lived"]}
    for number in (1, 2, 3):
        members = [flows[f"set{number}-{n}"] for n in range(FLOWS_PER_SET)]
        for name, column in ((f"throughput_{number}_pps", "throughput_pps"),
                             (f"rtt_{number}_s", "srtt_s")):  # fmt: skip
            row[name] = sum(member[column] for member in members) / FLOWS_PER_SET
    total = sum(row[f"throughput_{number}_pps"] for number in (1, 2, 3)) * FLOWS_PER_SET
    return row | {
        "utilisation": total / RATE_PPS,
        "peak_memory_bytes": kept["run"]["peak_memory_bytes"],
    }


def _cost(kept: Mapping[str, Any], run: Run) -> Row:
    hours = run.resolved.duration_s / 3600.0
    return {"hours_for_eleven": kept["run"]["wall_s"] / 3600.0 / hours * HOURS}


def trajectory(kept: Kept) -> list[dict[str, Any]]:
    """Return no samples, because this study plots none over time."""
    return []
