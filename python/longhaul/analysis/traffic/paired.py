"""Paired comparison of the same connections in two runs.

With common random numbers each connection has the same first request at the same time in both runs,
so its two response times differ only by the change between the runs. Paired differences vary far
less than response times, whose variance is mostly due to sizes and round trips.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from longhaul._engine import LonghaulError
from longhaul.analysis.statistics import percentile_interval

KEYS = ("name", "connection")
# Columns, other than name and number, in which a connection must be equal in both runs.
ASKED = ("start_s", "request_bytes", "response_bytes", "extra_rtt_s")
SAMPLES, BLOCKS = 999, 50


class NotPairedError(LonghaulError):
    """Error: two runs do not have the same connections."""


def matched(exchanges: pl.DataFrame, other: pl.DataFrame, from_s: float = 0.0) -> pl.DataFrame:
    """Return the first exchange of each connection that both runs have, ordered by start.

    The arguments are tables of exchanges. Later exchanges of a connection start at times that
    depend on the network, and are left out, as are connections that start before `from_s`. The
    result has the columns of the request, and the response times `response_s` and
    `other_response_s` of the two runs. A time is null if its run ended before the response was
    complete. Raises NotPairedError if no connection is in both runs, or if connections with the
    same number have different requests, which is the case if seeds, rates or sizes differ.
    """
    took = pl.col("end_s") - pl.col("start_s")
    tables = [
        table.group_by(KEYS, maintain_order=True)
        .first()
        .filter(pl.col("start_s") >= from_s)
        .select(*KEYS, *ASKED, took.alias(name))
        for table, name in ((exchanges, "response_s"), (other, "other_response_s"))
    ]
    both = tables[0].join(tables[1], on=KEYS, suffix="_other")
    if both.is_empty():
        raise NotPairedError("the runs have no connection in common")
    same = [
        pl.col(name).eq(pl.col(f"{name}_other")).fill_null(value=True)  # no response began
        for name in ASKED
    ]
    asked = both.filter(~pl.all_horizontal(same))
    if len(asked):
        first = asked.row(0, named=True)
        raise NotPairedError(
            f"connection {first['connection']} of {first['name']} is not the same in both runs: "
            "they have common random numbers if seed, replication, rates and sizes are the same"
        )
    return both.drop([f"{name}_other" for name in ASKED]).sort("start_s", *KEYS)


@dataclass(frozen=True)
class Paired:
    """Statistics of paired differences: the value in the second run minus that in the first."""

    count: int
    mean: float
    mean_interval: tuple[float, float]
    median: float
    median_interval: tuple[float, float]
    smaller: float
    """Fraction of pairs whose second value is below the first by more than the tolerance."""
    larger: float
    """Fraction of pairs whose second value is above the first by more than the tolerance."""


def paired(first: ArrayLike, second: ArrayLike, tolerance: float = 0.0, seed: int = 1) -> Paired:
    """Compare paired values `first` and `second`, which are in order of time.

    Differences of at most `tolerance` count as equal. The 95 % intervals are percentile intervals
    of a moving-block bootstrap, because connections that are close in time see the same queue
    (Kuensch, Annals of Statistics 17(3), 1989). It has 50 to 99 blocks, or one for each pair if
    pairs are fewer.
    """
    before, other = np.asarray(first, float), np.asarray(second, float)
    if before.shape != other.shape or before.ndim != 1 or len(before) < 2:
        raise ValueError("expected two lists of as many values, at least two")
    gained = other - before
    length = max(1, len(gained) // BLOCKS)
    random = np.random.default_rng(seed)
    begins = random.integers(0, len(gained) - length + 1, (SAMPLES, -(-len(gained) // length)))
    means, medians = np.empty(SAMPLES), np.empty(SAMPLES)
    offsets = np.arange(length)
    for number, begin in enumerate(begins):
        sample = gained[(begin[:, None] + offsets).ravel()[: len(gained)]]
        means[number], medians[number] = sample.mean(), np.median(sample)
    return Paired(
        len(gained),
        float(gained.mean()), percentile_interval(means.tolist()),
        float(np.median(gained)), percentile_interval(medians.tolist()),
        float((gained < -tolerance).mean()), float((gained > tolerance).mean()),
    )  # fmt: skip
