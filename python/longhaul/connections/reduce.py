"""Reduction of a run to the tables that campaigns store.

The tables have sums by label, the row of one link, and thinned time series.
"""

from typing import Any

import polars as pl

from longhaul.results import Results
from longhaul.results.kinds import RunData

# Name of a dumbbell's link, and by convention of the main link in other topologies.
BOTTLENECK = "bottleneck"
# Maximum number of flows of a label for its flows' delivered bytes to be kept, for fairness; with
# more flows, none are kept.
MOST_FLOWS = 64
# Probabilities of the quantiles of response times that are kept.
QUANTILES = tuple(part / 100 for part in range(1, 100))

_SUMS = (
    "sent_pkts", "sent_bytes", "retransmitted_pkts", "delivered_bytes", "dropped_pkts",
    "marked_pkts", "cuts_loss", "cuts_ecn", "timeouts",
)  # fmt: skip
_LINK = (
    "name", "rate_bps", "arrived_pkts", "departed_pkts", "departed_bytes", "dropped_pkts",
    "dropped_loss_pkts", "marked_pkts", "utilization", "queue_mean_pkts", "queue_max_pkts",
)  # fmt: skip


def reduced(data: RunData, points: int | None) -> dict[str, Any]:
    """Return the tables of a run that a campaign stores.

    Values are for the measurement window, but time series and events cover the whole run. Of n
    samples over time, every (n // points)-th is kept, that is, fewer than twice `points`; None
    keeps all. The series of links is that of the busiest link with samples, which may be a
    different link from that in `links`.
    """
    run: Results = data.own_tables
    kept: dict[str, Any] = {
        "labels": _labels(run).to_dicts(),
        "links": _links(run).to_dicts(),
    }
    if "series" in run.tables:
        kept["flow_series"] = _thinned(
            run.flow_series, points, "cwnd_pkts", "srtt_s", "delivered_bytes", "label"
        )
        kept["link_series"] = _thinned(
            run.bottleneck_series, points,
            "queue_pkts", "queue_avg_pkts", "max_p", "dropped_pkts", "marked_pkts",
        )  # fmt: skip
    if "events" in run.tables:
        kept["events"] = run.events.drop("flow").to_dicts()
    if "exchanges" in run.tables:
        kept["exchanges"] = [_exchanges(run)]
    return kept


def _labels(run: Results) -> pl.DataFrame:
    """Return sums and means over the flows of each label; parallel streams count as flows.

    A sum is null if a flow has no value.
    """
    known = [
        pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)
        for name in _SUMS
    ]
    means = pl.col("cwnd_mean_pkts", "rtt_mean_s").mean()
    few = pl.len() <= MOST_FLOWS
    each = pl.when(few).then(pl.col("delivered_bytes").implode()).alias("each_delivered_bytes")
    groups = run.flows.group_by("label", maintain_order=True)
    return groups.agg(pl.len().alias("flows"), *known, means, each)


def _exchanges(run: Results) -> dict[str, Any]:
    """Return response times of exchanges (request and response) in the measurement window.

    An exchange must be complete, and must have begun in the window.
    """
    took = run.measured_exchanges["response_s"].drop_nulls()
    quantiles = [took.quantile(part, "linear") for part in QUANTILES]
    return {
        "complete": len(took),
        "response_quantiles_s": quantiles,
        "response_mean_s": took.mean(),
    }


def _links(run: Results) -> pl.DataFrame:
    """Return the forward direction's row of the link `bottleneck`, if a link has this name.

    Otherwise, return the row of the busiest link with samples, in its busier direction. If no link
    has samples, all links are considered, including access links.
    """
    names = run.links["name"]
    name = BOTTLENECK if BOTTLENECK in names else run.bottleneck
    return run.links.filter(pl.col("name") == name).select(_LINK)


def _thinned(series: pl.DataFrame, points: int | None, *columns: str) -> list[dict[str, Any]]:
    every = max(1, series["t_s"].n_unique() // points) if points else 1
    kept = series.filter(pl.int_range(pl.len()).over("name") % every == 0)
    return kept.select("t_s", "name", *columns).to_dicts()
