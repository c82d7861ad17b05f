"""Values to store of a run of chapters 8 and 9: those of any run, and goodput by flow group."""

import polars as pl

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.mesonet import MesoNet, groups
from longhaul.results import Results

# Columns of intervals that the summary lacks, or weights by flows.
MEANS = (pl.col("growth_mean_pkts").alias("growth_pkts"), pl.col("retransmission_rate"))
LARGEST = ("document_flows", "service_pack_flows", "movie_flows")
# Columns kept over time, as means over some intervals.
STATES = (
    "active_flows", "connecting_flows", "initial_slow_start_flows", "normal_mode_flows",
    "above_threshold_flows", "retransmission_rate",
)  # fmt: skip
POINTS = 600


def reduce(run: Results) -> Kept:
    """Return the tables that are stored of every run, and values for the study's claims."""
    kept = reduce_run(run)
    tables = MesoNet.of(run)
    (half,) = tables.periods
    intervals = half.of(tables.network)
    macroscopic = intervals.select(
        *(column.mean() for column in MEANS), pl.col(LARGEST).max().name.suffix("_max")
    ).to_dicts()
    by_group = groups.of_batches(tables.goodput)
    return kept | {
        "macroscopic": macroscopic,
        "flow_groups": by_group.to_dicts(),
        "file_shares": dict(groups.shares_of_files(by_group)),
        "states": _states(tables.network),
    }


def _states(network: pl.DataFrame) -> list[dict[str, float]]:
    each = -(-len(network) // POINTS)
    point = (pl.int_range(pl.len()) // each).alias("point")
    means = network.group_by(point, maintain_order=True).agg(
        pl.col("t_s").last(), pl.col(STATES).mean()
    )
    return means.drop("point").to_dicts()
