"""Reduction of a run with web traffic.

The reduced run has counters of the congested links, and distributions of the forward responses,
which the dissertation measures. The distributions have fixed grids, so that replications and
protocols can be compared. Only responses that began after the warm-up count; times are those of
complete responses.
"""

from typing import Any

import numpy as np
import polars as pl

from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

# Links at which packets meet congestion on the forward path, and the last link.
CONGESTED, LAST = ("hop-0", "hop-1", "hop-3"), "hop-4"
MEASURED = "forward"
# The part of a round trip that all connections have (section 4.1.3); bytes of a full segment and of
# headers.
PROPAGATION_S, PAYLOAD, HEADER = 0.014, 1420, 54
# Responses of up to 18 segments are small: nine acknowledgements, when MixReact begins
# (Figure 4.29).
SMALL_BYTES = 18 * PAYLOAD
# Response times in seconds: those of the distribution functions, and of their complements.
CDF_S = np.arange(0, 61) * 0.025
CCDF_S = np.round(np.logspace(-2, 3, 101), 6)
LARGE_CDF_S = np.arange(0, 101) * 0.1
SIZES_BYTES = np.round(np.logspace(1, 9, 161))
ROUND_TRIPS_S = np.round(np.logspace(-2, 1, 61), 6)
# Number of the largest responses, which are kept one by one.
LARGEST = 10

_LINK = (
    "name", "rate_bps", "arrived_pkts", "arrived_bytes", "departed_pkts", "departed_bytes",
    "dropped_pkts", "marked_pkts", "queue_mean_pkts", "queue_found_mean_pkts", "queue_max_pkts",
    "utilization",
)  # fmt: skip
_FLOW = (
    "sent_pkts", "retransmitted_pkts", "delivered_pkts", "delivered_bytes", "timeouts", "cuts_loss",
    "cuts_ecn", "connections", "exchanges",
)  # fmt: skip


def reduce(run: Results) -> Kept:
    """Return the tables that are stored for a run."""
    begun = run.exchanges.filter(
        pl.col("start_s") >= run.meta["measured_from_s"],
        pl.col("name").str.replace(r"-\d+$", "") == MEASURED,
    )
    named = pl.col("name").is_in([*CONGESTED, LAST])
    labels = run.flows.group_by("label", maintain_order=True).agg(pl.col(*_FLOW).sum())
    kept: Kept = {
        "traffic": "web",
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"]},
        "links": run.links.filter(named).select(_LINK).to_dicts(),
        "labels": labels.to_dicts(),
        "responses": _responses(begun),
        "largest": begun.top_k(LARGEST, by="response_bytes").drop("flow").to_dicts(),
    }
    if "series" in run.tables:
        kept["queues"] = _queues(run)
    return kept


def _responses(begun: pl.DataFrame) -> dict[str, Any]:
    """Return counts of begun and complete exchanges, and response times by size class."""
    complete = begun.drop_nulls("end_s")
    columns = {name: complete[name].to_numpy() for name in complete.columns if name != "name"}
    took = columns["end_s"] - columns["start_s"]
    answered_after = columns["requested_s"] - columns["start_s"]
    size = columns["response_bytes"].astype(float)
    base = columns["extra_rtt_s"] + PROPAGATION_S
    hurt = (columns["retransmitted_pkts"] > 0) | (columns["timeouts"] > 0)
    small = size <= SMALL_BYTES
    requested = begun.drop_nulls("requested_s")["request_bytes"]
    return {
        "begun": begun.height,
        "complete": complete.height,
        "request_bytes": float(requested.sum()),
        "request_segments": float(np.ceil(requested.to_numpy() / PAYLOAD).sum()),
        "response_bytes": float(size.sum()),
        "response_segments": float(np.ceil(size / PAYLOAD).sum()),
        "retransmitting": int(hurt.sum()),
        # Mean rates of responses: from the SYN, and from the request's arrival at the server.
        "rate_bps": _mean(8 * size / took),
        "rate_from_request_bps": _mean(8 * size / np.maximum(took - answered_after, 1e-6)),
        "sizes_above": _above(size, SIZES_BYTES),
        "size_p90": float(np.quantile(size, 0.9)),
        "size_p99": float(np.quantile(size, 0.99)),
        "all": _times(took, base),
        "small": _times(took[small], base[small]),
        "large": _times(took[~small], base[~small]),
    }


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _times(took: np.ndarray, base: np.ndarray) -> dict[str, Any]:
    """Return distributions of response times `took` and base RTTs `base`, for one size class."""
    if not len(took):
        return {"count": 0}
    return {
        "count": len(took),
        "mean_s": float(took.mean()),
        "median_s": float(np.median(took)),
        "p90_s": float(np.quantile(took, 0.9)),
        "p99_s": float(np.quantile(took, 0.99)),
        "max_s": float(took.max()),
        "above": _above(took, CCDF_S),
        "above_fine": _above(took, CDF_S),
        "above_coarse": _above(took, LARGE_CDF_S),
        "round_trips_above": _above(base, ROUND_TRIPS_S),
    }


def _above(values: np.ndarray, grid: np.ndarray) -> list[int]:
    """Return the number of values above each point of the grid."""
    ordered = np.sort(values)
    return (len(values) - np.searchsorted(ordered, grid, side="right")).tolist()  # type: ignore[no-any-return]


def _queues(run: Results) -> dict[str, list[int]]:
    """Return, for each link, how many samples after the warm-up have each queue length."""
    samples = run.series.filter(
        pl.col("kind") == "link", pl.col("t_s") >= run.meta["measured_from_s"]
    )
    return {
        link: np.bincount(samples.filter(pl.col("name") == link)["queue_pkts"].to_numpy()).tolist()
        for link in CONGESTED
    }
