"""The flow matrix: packets from points of entry to access routers, by interval.

It is the example of a user-defined measure in NIST SP 500-282, chapter 3. It counts packets of all
kinds that their first access router accepted, for 28 observation points and 139 destination access
routers. The observation point is the point of presence above the first access router, or this
router itself if it is directly connected to the backbone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from longhaul.mesonet.tables import MesoNet
from longhaul.results.kinds import RunData

COLUMNS = ("observation_point", "access_router", "interval", "packets")


def flow_matrix(run: RunData) -> pl.DataFrame:
    """Return the flow matrix of a run, for the flows and the time that its scenario traces.

    There is a row for each observation point, access router and interval, in the order of the
    routers, with the columns `observation_point`, `access_router`, `interval`, `packets`. Rows
    without packets are included.
    """
    tables = MesoNet.of(run)
    ends = tables.network["t_s"].to_list()
    topology = tables.topology
    counted = counts(tables.packet_trace, topology, tables.interval_s)
    points = observation_points(topology)
    access = topology.filter(pl.col("tier") == "access").select(access_router="router")
    intervals = pl.DataFrame({"interval": pl.int_range(1, len(ends) + 1, eager=True)})
    every = pl.DataFrame({"observation_point": list(dict.fromkeys(points.values()))})
    every = every.join(access, how="cross").join(intervals, how="cross")
    full = every.join(counted, on=COLUMNS[:3], how="left", maintain_order="left")
    return full.with_columns(pl.col("packets").fill_null(0))


def counts(
    packets: pl.DataFrame | Mapping[str, Sequence[Any]], topology: pl.DataFrame, interval_s: float
) -> pl.DataFrame:
    """Count packets by observation point, access router and interval.

    Combinations without packets have no row. `packets` has the columns of the table `packet_trace`,
    and `topology` those of the table `topology`.
    """
    points = observation_points(topology)
    accepted = pl.DataFrame(packets).filter(
        pl.col("event") == "queued",
        pl.col("queue") == "up",
        pl.col("router").is_in(list(points)),
    )
    # The end of an interval belongs to the interval.
    interval = (pl.col("t_s") / interval_s - 1e-9).ceil().cast(pl.Int64).clip(lower_bound=1)
    keyed = accepted.select(
        pl.col("router").replace_strict(points, return_dtype=pl.String).alias(COLUMNS[0]),
        pl.col("to").alias(COLUMNS[1]),
        interval.alias(COLUMNS[2]),
    )
    return keyed.group_by(COLUMNS[:3], maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias(COLUMNS[3])
    )


def observation_points(topology: pl.DataFrame) -> dict[str, str]:
    """Return the observation point of each access router.

    It is the router's point of presence or, if it has none, the router itself.
    """
    access = topology.filter(pl.col("tier") == "access")
    pops = set(topology.filter(pl.col("tier") == "pop")["router"])
    rows = access.select("router", "above").iter_rows()
    return {router: above if above in pops else router for router, above in rows}
