"""Reduction of a run to totals, and to time series of the link, the proxy and the flows.

Rates are in Mbit/s: on the wire for the link, payload for flows. Windows and queues are in packets.
"""

from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.fairness import jain
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.connections.reduce import BOTTLENECK
from longhaul.results import Results

# Flow that is examined alone: number 23 of 50, number 547 of 750; the last of fewer. With other
# labels it is the first.
ONE = {"ftp": 22, "web": 546}
# Samples in a window for fairness, and the fraction of the mean over all flows and samples below
# which a flow starves.
WINDOW, STARVING = 10, 0.01

_FLOWS = (
    "total_delivered_bytes", "total_sent_pkts", "total_retransmitted_pkts", "total_timeouts",
    "cwnd_mean_pkts", "rtt_mean_s",
)  # fmt: skip


def reduce(run: Results) -> Kept:
    """Return the tables of a run to store.

    Sums with `total_` in their names are over the whole run, others over the time after warm-up.
    """
    flows = run.flows
    link = run.links.filter(pl.col("name") == BOTTLENECK).to_dicts()[0]
    settled_s = run.meta["measured_from_s"]
    kept: Kept = {
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"], "settled_s": settled_s},
        "link": {
            key: link[key]
            for key in ("rate_bps", "total_departed_bytes", "departed_bytes", "total_dropped_pkts",
                        "queue_mean_pkts", "total_arrived_pkts")
        },
        "flows": {
            "count": flows.height,
            "label": flows["label"][0],
            **{name: flows[name].sum() for name in _FLOWS[:4]},
            **{name: flows[name].mean() for name in _FLOWS[4:]},
            "settled_delivered_bytes": flows["delivered_bytes"].sum(),
            "jain": jain(flows["delivered_bytes"].to_list()),
        },
    }  # fmt: skip
    if "proxies" in run.tables:
        kept["proxy"] = run.proxies.to_dicts()[0]
    if "series" in run.tables:
        kept["flow_series"] = _every_second(run)
        kept["flows"] |= _by_flow(run, settled_s)
    if "exchanges" in run.tables:
        took = run.exchanges.filter(pl.col("start_s") >= settled_s)
        times = (took["end_s"] - took["start_s"]).drop_nulls()
        kept["responses"] = {
            "complete": len(times),
            "p50_s": times.quantile(0.5, "linear"),
            "p95_s": times.quantile(0.95, "linear"),
        }
    return kept


def _every_second(run: Results) -> dict[str, list[Any]]:
    """Return samples after time 0, as one list per quantity; missing samples are zero.

    `cwnd` is the mean of all flows, `one_mbps` the rate of the flow `_one`.
    """
    series = _series(run)
    link = series.filter((pl.col("kind") == "link") & (pl.col("name") == BOTTLENECK))
    flows = series.filter(pl.col("kind") == "flow")
    proxy = series.filter(pl.col("kind") == "proxy")
    parts = [
        link.select("t_s", _rate("departed_bytes").alias("mbps"), link_queue="queue_pkts"),
        flows.filter(pl.col("id") == _one(run)).select(
            "t_s", _rate("delivered_bytes").alias("one_mbps")
        ),
        flows.group_by("t_s").agg(cwnd=pl.col("cwnd_pkts").mean()),
        proxy.select("t_s", proxy_cwnd="cwnd_pkts", local_queue="queue_pkts"),
    ]
    whole = series.select(pl.col("t_s").unique()).filter(pl.col("t_s") > 0).collect()
    for part in pl.collect_all(parts):
        if part.height:
            whole = whole.join(part, on="t_s", how="left")
    table = whole.sort("t_s").fill_null(0.0).with_columns(pl.all().round(4))
    return table.to_dict(as_series=False)


def _series(run: Results) -> pl.LazyFrame:
    """Return all samples in order of time, as a lazy frame: only the columns used are read."""
    return pl.scan_parquet(run.path / "series.parquet")


def _one(run: Results) -> int:
    """Return the number of the flow whose samples are stored."""
    flows = run.flows
    return int(flows["flow"][min(ONE.get(flows["label"][0], 0), flows.height - 1)])


def _rate(counter: str) -> pl.Expr:
    """Return the rate in Mbit/s between samples of a counter of bytes that begins at zero."""
    grown = pl.col(counter).diff().fill_null(pl.col(counter).first())
    return 8e-6 * grown / pl.col("t_s").diff().fill_null(pl.col("t_s").first()).clip(1e-9)


def _by_flow(run: Results, settled_s: float) -> dict[str, float | None]:
    """Return the flows' mean fairness in windows of ten samples, and how long flows starve.

    The latter is the median and the maximum over flows of each flow's longest time of starvation.
    Only samples after `settled_s` count.
    """
    flows_ = _series(run).filter((pl.col("kind") == "flow") & (pl.col("t_s") >= settled_s))
    got = (
        flows_.select(
            "id",
            got=pl.col("delivered_bytes").diff().over("id").cast(pl.Float64),
            window=pl.int_range(pl.len()).over("id") // WINDOW,
        )
        .drop_nulls("got")
        .collect()
    )
    sums = got.group_by("window", "id").agg(pl.col("got").sum())
    fairness = sums.group_by("window").agg(
        jain=pl.col("got").sum() ** 2 / (pl.len() * (pl.col("got") ** 2).sum())
    )
    spells = (
        got.select("id", starves=pl.col("got") < STARVING * pl.col("got").mean())
        .with_columns(spell=pl.col("starves").rle_id().over("id"))
        .filter("starves")
        .group_by("id", "spell")
        .len()
    )
    longest = spells.group_by("id").agg(pl.col("len").max())["len"].to_numpy()
    every = np.zeros(run.flows.height)
    every[: len(longest)] = longest * _step_s(run)
    return {
        "jain_windows": float(np.mean(fairness["jain"].to_numpy())),
        "starved_median_s": float(np.median(every)),
        "starved_most_s": float(every.max()),
    }


def _step_s(run: Results) -> float:
    """Return the time between two samples in seconds."""
    times = _series(run).select(pl.col("t_s").unique()).collect()["t_s"].sort().to_numpy()
    return float(times[2] - times[1])
