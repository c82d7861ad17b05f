"""Reduction of a run in which one connection is traced: its window at each acknowledgement."""

from typing import Any

import polars as pl

from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

# Points of each quantity; fewer than twice this number are kept. QUANTITIES is not used: all
# quantities are kept.
POINTS = 1500
QUANTITIES = ("cwnd", "in_flight", "queueing_delay", "largest_queueing_delay")


def reduce(run: Results) -> Kept:
    """Return the tables to store of the connection with the most acknowledgements."""
    acks = run.table("acks")
    busiest = acks.group_by("flow", "connection").len().sort("len", descending=True).row(0)
    mine = acks.filter(pl.col("flow") == busiest[0], pl.col("connection") == busiest[1])
    exchange = run.exchanges.filter(
        pl.col("flow") == busiest[0], pl.col("connection") == busiest[1]
    )
    named = mine["quantity"].unique().to_list()
    wide = mine.pivot("quantity", index="t_s", values="value", aggregate_function="last")
    wide = wide.sort("t_s")
    every = max(1, wide.height // POINTS)
    kept_columns = ["t_s", *(name for name in wide.columns if name != "t_s")]
    table: dict[str, list[Any]] = wide[::every].select(kept_columns).to_dict(as_series=False)
    return {
        "traffic": "trace",
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"]},
        "exchange": exchange.drop("flow").row(0, named=True),
        "largest": {name: mine.filter(pl.col("quantity") == name)["value"].max() for name in named},
        "flow_series": table,
    }
