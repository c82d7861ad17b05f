"""Reduction of a run: end and delays of the main download, and payload of each of two downloads.

The payload counts only while both downloads are active.
"""

import polars as pl

from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

# Stored quantiles of one-way delays, in per cent of the packets.
QUANTILES = {
    "min_s": 0.0, "p1_s": 1.0, "p5_s": 5.0, "p25_s": 25.0, "p50_s": 50.0, "p75_s": 75.0,
    "p90_s": 90.0, "p95_s": 95.0, "p99_s": 99.0, "p999_s": 99.9, "max_s": 100.0,
}  # fmt: skip


def reduce(run: Results) -> Kept:
    """Return the tables of the run that are stored."""
    main = run.flows.filter(pl.col("label") == "main").to_dicts()[0]
    delays = run.delays.filter((pl.col("kind") == "label") & (pl.col("name") == "main")).to_dicts()
    link = run.links.filter(pl.col("name") == "bottleneck").to_dicts()[0]
    names = ("start_s", "finish_s", "total_rtt_mean_s", "total_delivered_pkts")
    return {
        "run": facts(run.meta),
        "main": {name: main[name] for name in names},
        "delays": {name: delays[0][name] for name in QUANTILES},
        "rate_bps": link["rate_bps"],
        "bytes": _together(run),
    }


def _together(run: Results) -> dict[str, int] | None:
    """Return the payload of each download while both were active; None for a single download."""
    if run.flows.height == 1:
        return None
    start_s = run.flows["start_s"].max()
    end_s = run.flows["finish_s"].fill_null(run.meta["simulated_s"]).min()
    flows = pl.scan_parquet(run.path / "series.parquet").filter(pl.col("kind") == "flow")
    during = flows.filter(pl.col("t_s").is_between(start_s, end_s)).group_by("id")
    got = during.agg(pl.col("delivered_bytes").max() - pl.col("delivered_bytes").min()).collect()
    named = run.flows.select("flow", "label").join(got, left_on="flow", right_on="id")
    return dict(named.select("label", "delivered_bytes").iter_rows())
