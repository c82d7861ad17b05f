"""Metrics of a run's measurement window, in the bottleneck's forward direction (chapter 5.5).

The window is the second half of the run, except in `EXP-7.2b`, where it is the whole run. Metrics
of a single flow's slow start and reductions cover the whole run.

Names of metrics:

- `lu`: link utilisation in per cent
- `ce`: number of congestion events (drops and marks)
- `cer`: congestion events per transmitted packet
- `rate`: packets per round trip without queueing, `RTT_S`
- `rf`: throughput of competing flows (parallel streams or HSTCP) relative to all REGTCP flows
- `frf`: throughput of competing flows relative to the mean of the ten long-lived REGTCP flows

The first four names are followed by a class of flows, as in `lu_hstcp`.
"""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import Any

from longhaul.analysis.fairness import relative_fairness
from longhaul.campaign import Run
from longhaul.campaign.store import Kept

CLASSES = ("hstcp", "regtcp", "streams")
PERTURBATION = "perturbation"
PACKET_BITS = 1500 * 8
PAYLOAD_BYTES = 1460
RTT_S = 0.1
# Bandwidth-delay product in packets.
PIPE_PKTS = 1e9 * RTT_S / PACKET_BITS
# Time without a loss or mark that ends a transient: longer than a recovery within it, shorter than
# the 7 s between sawteeth of one HSTCP flow.
QUIET_S = 5.0
# The long-lived flows of the bulk transfer experiments.
LONG_LIVED = 10

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run's link and of its classes of flows, from its stored results."""
    labels = {row["label"]: row for row in kept["labels"]}
    link, measured_s = kept["links"][0], kept["run"]["measured_s"]
    capacity = link["rate_bps"] / PACKET_BITS * measured_s
    row: Row = {
        "lu_total": 100 * link["utilization"],
        "ce_total": link["dropped_pkts"] + link["marked_pkts"],
        "cer_total": (link["dropped_pkts"] + link["marked_pkts"]) / link["departed_pkts"],
        "dropped_total": link["dropped_pkts"],
        "marked_total": link["marked_pkts"],
        "queue_mean_pkts": link["queue_mean_pkts"],
    }
    for name in CLASSES:
        if name in labels:
            row |= _of_class(name, labels[name], capacity, measured_s)
    _add_perturbations(row, labels, link, capacity)
    competitor = next((name for name in ("streams", "hstcp") if f"lu_{name}" in row), None)
    if competitor and row.get("lu_regtcp"):
        row["rf"] = relative_fairness(_of(row, f"lu_{competitor}"), _of(row, "lu_regtcp"))
        share = _of(row, "lu_regtcp") / LONG_LIVED
        row["frf"] = relative_fairness(_of(row, f"lu_{competitor}"), share)
    if "events" in kept:
        row |= _of_one_flow(kept, run)
    return row


def _of(row: Row, metric: str) -> float:
    return row[metric] or 0.0


def _of_class(name: str, label: Mapping[str, Any], capacity: float, measured_s: float) -> Row:
    departed = label["sent_pkts"] - label["dropped_pkts"]
    events = label["dropped_pkts"] + label["marked_pkts"]
    return {
        f"lu_{name}": 100 * departed / capacity,
        f"ce_{name}": events,
        f"cer_{name}": events / departed if departed else None,
        f"dropped_{name}": label["dropped_pkts"],
        f"marked_{name}": label["marked_pkts"],
        f"timeouts_{name}": label["timeouts"],
        f"rate_{name}": departed / measured_s * RTT_S,
    }


def _add_perturbations(
    row: Row, labels: Mapping[str, Any], link: Mapping[str, Any], capacity: float
) -> None:
    """Add metrics of the perturbing traffic (bursts) to `row`.

    `capacity` is the number of packets that the link can carry in the measurement window. Drops of
    background noise cannot be told apart from those of the bursts, and are included.
    """
    dropped = link["dropped_pkts"] - sum(_of(row, f"dropped_{name}") for name in CLASSES
                                         if f"dropped_{name}" in row)  # fmt: skip
    sent = labels[PERTURBATION]["sent_pkts"] if PERTURBATION in labels else 0
    row["lu_perturbation"] = max(0.0, 100 * (sent - dropped) / capacity) if sent else 0.0
    row["dropped_perturbation"] = dropped if sent else 0
    known = sum(_of(row, key) for key in row if key.startswith("lu_") and key != "lu_total")
    row["lu_noise"] = _of(row, "lu_total") - known


def _of_one_flow(kept: Kept, run: Run) -> Row:
    """Return times and windows of a single flow: its slow start, reductions and sawteeth.

    As in Table 6.1, slow start ends at the last sample before the first reduction.
    """
    name = kept["flow_series"][0]["name"]
    samples = [row for row in kept["flow_series"] if row["name"] == name]
    events = [row for row in kept["events"] if row["name"] == name]
    start = next(row["t_s"] for row in events if row["event"] == "start")
    cuts = [row for row in events if row["event"] in ("cut", "timeout")]
    reached = next((row["t_s"] for row in samples if row["cwnd_pkts"] >= PIPE_PKTS), None)
    half = run.resolved.duration_s / 2
    late = [row["t_s"] for row in cuts if row["t_s"] >= half]
    second = [row for row in samples if row["t_s"] >= half]
    row: Row = {
        "reach_s": None if reached is None else reached - start,
        "return_s": _return_s(samples, cuts),
        "double_cuts": sum(
            after["event"] == "cut" and after["t_s"] - before["t_s"] < 2 * RTT_S
            for before, after in pairwise(cuts)
        ),
        "cwnd_max_pkts": max(row["cwnd_pkts"] for row in second),
        "cwnd_min_pkts": min(row["cwnd_pkts"] for row in second),
    }
    if cuts:
        last = next(row for row in reversed(samples) if row["t_s"] < cuts[0]["t_s"])
        row |= {
            "change_s": last["t_s"] - start,
            "change_cwnd_pkts": last["cwnd_pkts"],
            "change_lost_pkts": _lost_in_first_transient(kept["link_series"]),
        }
    if len(late) > 2:
        between = (late[-1] - late[0]) / (len(late) - 1)
        row |= {"cycle_s": between, "cycle_pkts": between * _packets_per_s(samples, late)}
    return row


def _return_s(samples: list[dict[str, Any]], cuts: list[dict[str, Any]]) -> float | None:
    """Return the time (s) at which the window fills the pipe again after the first reduction.

    It is the first such time after the smallest window of the rest of the run; infinite if the
    window never fills the pipe again, None without a reduction. `cuts` are the reductions.
    """
    if not cuts:
        return None
    after = [row for row in samples if row["t_s"] > cuts[0]["t_s"] + RTT_S]
    low = min(after, key=lambda row: float(row["cwnd_pkts"]))
    back = (row["t_s"] for row in after[after.index(low) :] if row["cwnd_pkts"] >= PIPE_PKTS)
    return float(next(back, inf))


def _lost_in_first_transient(link: list[dict[str, Any]]) -> float:
    """Return the number of drops and marks in the first transient.

    The transient begins with the first drop or mark, and ends after `QUIET_S` without any.
    """
    lost, since = 0.0, None
    for row in link:
        so_far = float(row["dropped_pkts"] + row["marked_pkts"])
        if so_far > lost:
            lost, since = so_far, row["t_s"]
        elif since is not None and row["t_s"] - since > QUIET_S:
            break
    return lost


def _packets_per_s(samples: list[dict[str, Any]], cuts: list[float]) -> float:
    """Return the packets delivered per second between the first and last time in `cuts`."""
    times = [row["t_s"] for row in samples]
    first, last = (samples[min(bisect_left(times, t), len(times) - 1)] for t in (cuts[0], cuts[-1]))
    payload = 1460
    return float(
        (last["delivered_bytes"] - first["delivered_bytes"])
        / payload
        / (last["t_s"] - first["t_s"])
    )


def trajectory(kept: Kept) -> list[dict[str, Any]]:
    """Return samples of windows and delivered packets over time, for figures."""
    return [
        {
            "t_s": row["t_s"],
            "label": row["label"],
            "cwnd_pkts": row["cwnd_pkts"],
            "delivered_pkts": row["delivered_bytes"] / PAYLOAD_BYTES,
        }
        for row in kept["flow_series"]
    ]
