"""Reduction of a run of the report's chapters 6 and 7 to the tables that are stored."""

from typing import Any

import polars as pl

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.mesonet import MesoNet
from longhaul.results import Results

# The beginning of a period, in intervals of 200 ms, over which falling windows are compared
# (figure 6-69).
BEGINNING = 100
WINDOW = pl.col("cwnd_pkts")
RATE = pl.col("throughput_pps")


def reduce(run: Results) -> Kept:
    """Return the tables that are stored of every run, and values for the study's claims."""
    tables = MesoNet.of(run)
    courses: list[dict[str, Any]] = []
    for period in tables.periods:
        flows = period.of(tables.long_lived).group_by("flow", maintain_order=True)
        courses += [
            {"period": period.name, **row}
            for row in flows.agg(
                cwnd_crossings=_crossings(WINDOW),
                # Null in shorter periods.
                cwnd_kept=WINDOW.get(BEGINNING - 1, null_on_oob=True) / WINDOW.first(),
                pps_min=_least_once_up(RATE),
                pps_max=RATE.max(),
                alpha_min=pl.col("fast_alpha_pkts").min(),
                # A stopped flow has no alpha; all flows have stopped at the end of a run.
                alpha_end=pl.col("fast_alpha_pkts").drop_nulls().last(),
            ).to_dicts()
        ]
    classes = [
        {"period": period.name, **row}
        for period in tables.periods
        for row in period.of(tables.classes)
        .group_by("class", maintain_order=True)
        .agg(cwnd_max=pl.col("cwnd_mean_pkts").max())
        .to_dicts()
    ]
    return reduce_run(run) | {
        "courses": courses,
        "class_windows": classes,
        "congestion": _abatement(tables),
    }


def _least_once_up(value: pl.Expr) -> pl.Expr:
    """Return the smallest value after the values have first reached their mean."""
    return value.filter((value >= value.mean()).cast(pl.Int8).cum_max() == 1).min()


def _abatement(tables: MesoNet) -> list[dict[str, Any]]:
    """Return the seconds from the start of each period until congestion abates (figure 7-2).

    Congestion abates when the number of flows in normal congestion control is at most its mean over
    the first period. If congestion does not abate in a period, the value is the period's length.
    """
    flows = pl.col("normal_mode_flows")
    usual = tables.periods[0].of(tables.network).select(flows.mean()).item()
    abated = []
    for period in tables.periods:
        few = period.of(tables.network).filter(flows <= usual)["t_s"].to_list()
        end = few[0] if few else period.to_s
        abated.append({"period": period.name, "abated_s": end - period.from_s})
    return abated


def _crossings(value: pl.Expr) -> pl.Expr:
    """Count how often a series of values crosses its mean."""
    above = (value > value.mean()).cast(pl.Int8)
    return (above.diff().abs()).sum()
