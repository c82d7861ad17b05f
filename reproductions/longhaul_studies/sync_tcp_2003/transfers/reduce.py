"""Reduction of a run with long transfers: counters of links and of the measured flows.

Everything is counted from the start of the measured flows, which is time 0, as in the source. There
is no warm-up (section 4.1.3), but cross traffic begins earlier. Every acknowledgement of a single
traced flow is stored; of several traced flows, only the last state of their congestion detectors.
"""

from typing import Any

import polars as pl

from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

# Links at which packets meet congestion on the forward path, and the last link.
CONGESTED, LAST = ("hop-0", "hop-1", "hop-3"), "hop-4"
# Flows of the measured direction are called by this name and a number.
MEASURED = "forward-"
# Flows whose windows are drawn (Figures 4.8 to 4.10).
WINDOWS = (2, 6, 14)

_FLOW = (
    "delivered_pkts", "delivered_bytes", "sent_pkts", "sent_bytes", "dropped_pkts", "cuts_loss",
    "timeouts", "cwnd_mean_pkts",
)  # fmt: skip
_LINK = (
    "name", "rate_bps", "arrived_pkts", "arrived_bytes", "departed_pkts", "departed_bytes",
    "dropped_pkts", "queue_mean_pkts", "queue_found_mean_pkts", "queue_max_pkts",
)  # fmt: skip
_NUMBER = pl.col("label").str.strip_prefix(MEASURED).cast(pl.Int64)


def reduce(run: Results) -> Kept:
    """Return the tables to store for a run."""
    measured = run.flows.filter(pl.col("label").str.starts_with(MEASURED))
    links = run.links.filter(pl.col("name").is_in([*CONGESTED, LAST]))
    identity, begin_s = facts(run.meta), run.meta["measured_from_s"]
    kept: Kept = {
        "traffic": "transfers",
        "run": {**identity, "simulated_s": identity["measured_s"]},
        "links": links.select(_LINK).to_dicts(),
        "flows": measured.select(_NUMBER.alias("number"), *_FLOW)
        .join(_first_losses(_since(run.events, begin_s)), on="number", how="left")
        .sort("number")
        .to_dicts(),
    }
    series = _since(run.series, begin_s)
    kept["router"] = _router(series)
    kept["flow_series"] = _every_second(series)
    if "acks" in run.tables:
        traced = _since(run.acks, begin_s).with_columns(number=_numbers(pl.col("name")))
        if traced["number"].n_unique() == 1:
            kept["acks"] = _every_ack(traced)
        else:
            kept["detectors"] = _detectors(traced)
    return kept


def _since(rows: pl.DataFrame, begin_s: float) -> pl.DataFrame:
    """Return the rows from `begin_s` on, with times counted from `begin_s`."""
    if begin_s == 0.0:
        return rows
    return rows.filter(pl.col("t_s") >= begin_s).with_columns(pl.col("t_s") - begin_s)


def _numbers(names: pl.Expr) -> pl.Expr:
    """Return the flow numbers in names such as `forward-16-0`."""
    return names.str.extract(rf"^{MEASURED}(\d+)-", 1).cast(pl.Int64)


def _first_losses(events: pl.DataFrame) -> pl.DataFrame:
    """Return the time at which each flow first reacted to a loss."""
    reactions = events.filter(pl.col("event").is_in(["cut", "timeout"]))
    first = reactions.group_by("name").agg(first_loss_s=pl.col("t_s").min())
    return first.select(_numbers(pl.col("name")).alias("number"), "first_loss_s").drop_nulls()


def _router(series: pl.DataFrame) -> dict[str, list[Any]]:
    """Return samples of the first congested queue in packets and bytes, and its drops."""
    queue = series.filter((pl.col("kind") == "link") & (pl.col("name") == CONGESTED[0]))
    return queue.select("t_s", "queue_pkts", "queue_bytes", "dropped_pkts").to_dict(as_series=False)


def _every_second(series: pl.DataFrame) -> dict[str, list[Any]]:
    """Return samples of the measured flows in every second.

    They are the payload of all flows, and windows and retransmissions of those in `WINDOWS`.
    """
    flows = series.filter(
        (pl.col("kind") == "flow")
        & pl.col("name").str.starts_with(MEASURED)
        & (pl.col("t_s") == pl.col("t_s").round())
    ).with_columns(number=_numbers(pl.col("name")))
    whole = flows.group_by("t_s").agg(pl.col("delivered_bytes").sum()).sort("t_s")
    for number in WINDOWS:
        of_flow = flows.filter(pl.col("number") == number).select(
            "t_s",
            pl.col("cwnd_pkts").round(3).alias(f"cwnd_{number}"),
            pl.col("retransmitted_pkts").alias(f"lost_{number}"),
        )
        whole = whole.join(of_flow, on="t_s", how="left")
    return whole.sort("t_s").to_dict(as_series=False)


def _every_ack(traced: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the state of one flow's congestion detector at each acknowledgement."""
    table = traced.pivot("quantity", index="t_s", values="value", aggregate_function="last")
    wanted = [
        name
        for name in (
            "t_s", "queueing_delay", "largest_queueing_delay", "smallest_transit_time",
            "average_queueing_delay", "verdicts", "congested", "trend", "level", "cwnd",
        )
        if name in table.columns
    ]  # fmt: skip
    return table.select(wanted).sort("t_s").to_dict(as_series=False)


def _detectors(traced: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the last state of each flow's congestion detector, and counts of its verdicts."""
    last = traced.group_by("number", "quantity").agg(pl.col("value").last())
    ends = last.filter(
        pl.col("quantity").is_in(
            ["largest_queueing_delay", "smallest_transit_time", "early_cuts", "verdicts"]
        )
    ).pivot("quantity", index="number", values="value")
    if "trend" not in traced["quantity"].unique():
        return ends.sort("number").to_dicts()
    verdicts = (
        traced.filter(pl.col("quantity").is_in(["verdicts", "trend", "level"]))
        .pivot("quantity", index=["number", "t_s"], values="value", aggregate_function="last")
        .sort("number", "t_s")
        .filter(pl.col("verdicts").diff().over("number").fill_null(pl.col("verdicts")) > 0)
        .with_columns(quarter=(4 * pl.col("level")).floor().clip(0, 3))
    )
    # Number of verdicts by the delay's trend and the quarter of its level (Table 1.1).
    shares = verdicts.group_by("number").agg(
        ((pl.col("trend") * sign > 0) & (pl.col("quarter") == quarter))
        .sum()
        .alias(f"{name}_{quarter}")
        for name, sign in (("rising", 1), ("falling", -1))
        for quarter in range(4)
    )
    return ends.join(shares, on="number").sort("number").to_dicts()
