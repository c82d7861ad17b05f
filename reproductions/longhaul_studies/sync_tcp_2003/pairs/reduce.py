"""Reduction of a run to every hundredth connection, and to a map of the response times of all.

The connections are selected by number, so that each can be compared between protocols. The map has
the mean response time in each cell of base round-trip time and response size. It leaves out round
trips from 0.6 s on and responses of more than 80 segments.
"""

from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.traffic.maps import MeanMap, mean_map
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results
from longhaul_studies.sync_tcp_2003.web.reduce import MEASURED, PAYLOAD, PROPAGATION_S

# Cells of the map (Figure 4.55): round trips of 10 ms, sizes of one segment.
ROUND_TRIP_EDGES_S = np.arange(61) * 0.01
SEGMENT_EDGES = np.arange(1, 82) - 0.5
# One of this number of connections is stored.
EVERY = 100


def reduce(run: Results) -> Kept:
    """Return the tables to store for a run, from exchanges that began after the warm-up."""
    begun = run.exchanges.filter(
        pl.col("start_s") >= run.meta["measured_from_s"],
        pl.col("name").str.replace(r"-\d+$", "") == MEASURED,
    )
    return {
        "traffic": "pairs",
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"]},
        "map": _map(begun.drop_nulls("end_s")),
        "connections": _connections(begun),
    }


def _map(complete: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the map of response times by RTT and response size, as lists.

    The lists have the number and the sum (s) of the response times in each cell that contains any.
    A response time lasts from a request's arrival to the end of its response.
    """
    means = mean_map(
        (complete["extra_rtt_s"] + PROPAGATION_S).to_numpy(),
        np.ceil(complete["response_bytes"].to_numpy() / PAYLOAD),
        (complete["end_s"] - complete["requested_s"]).to_numpy(),
        ROUND_TRIP_EDGES_S,
        SEGMENT_EDGES,
    )
    filled = np.flatnonzero(means.counts)
    return {
        "cell": filled.tolist(),
        "count": means.counts.ravel()[filled].tolist(),
        "total_s": np.round(means.totals.ravel()[filled], 4).tolist(),
    }


def as_map(kept: dict[str, list[Any]]) -> MeanMap:
    """Return the map of response times that `_map` has converted to the lists `kept`."""
    shape = len(ROUND_TRIP_EDGES_S) - 1, len(SEGMENT_EDGES) - 1
    counts, totals = np.zeros(shape[0] * shape[1], int), np.zeros(shape[0] * shape[1])
    counts[kept["cell"]], totals[kept["cell"]] = kept["count"], kept["total_s"]
    return MeanMap(ROUND_TRIP_EDGES_S, SEGMENT_EDGES, counts.reshape(shape), totals.reshape(shape))


def _connections(begun: pl.DataFrame) -> dict[str, list[Any]]:
    """Return every hundredth connection, by start time; `took_ms` is null for unfinished ones."""
    chosen = begun.filter(pl.col("connection") % EVERY == 0).sort("start_s", "name")
    cloud = pl.col("name").str.extract(r"(\d+)$").cast(pl.Int64)
    table = chosen.select(
        # One number for cloud and connection.
        connection=cloud * 10_000_000 + pl.col("connection"),
        response_bytes="response_bytes",
        took_ms=(1e3 * (pl.col("end_s") - pl.col("start_s"))).round(1),
    )
    return table.to_dict(as_series=False)
