"""Reduction of a run to the traffic statistics of the dissertation's appendix A.

These are loads, rates of new connections and of bytes over time, Hurst parameters of packet counts,
running mean and quantiles of response sizes, and running goodput.
"""

from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.traffic import convergence, hurst
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

FIRST, FIRST_BACK = "hop-0", "hop-4-reverse"
# Responses between values of sizes, and responses after which sizes have settled.
EVERY, SETTLED = 100, 100_000
# Points kept of what changes over time.
POINTS = 500
# Sampling interval of runs with Hurst parameters, and their smallest scale in seconds.
STEP = "100 ms"
SCALE_S = 0.1


def reduce(run: Results) -> Kept:
    """Return the tables of `run` that are stored."""
    measured_from_s = run.meta["measured_from_s"]
    begun = run.exchanges.filter(pl.col("start_s") >= measured_from_s)
    name = pl.col("name").str.replace(r"-\d+$", "")
    forward = begun.filter(name == "forward").sort("start_s")
    window_s = run.meta["simulated_s"] - measured_from_s
    links = dict(run.links.select("name", "arrived_bytes").iter_rows())
    kept: Kept = {
        "traffic": "offered",
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"]},
        "load": {
            "forward": 8e-5 * links[FIRST] / window_s,
            "reverse": 8e-5 * links[FIRST_BACK] / window_s,
            "connections_per_s": forward.height / window_s,
            "exchanges": forward.height,
        },
        "sizes": _sizes(forward),
    }
    if run.scenario["measure"]["every"] == STEP:
        kept["hurst"] = _hurst(run, measured_from_s)
        kept["over_time"] = _over_time(run)
    return kept


def _sizes(forward: pl.DataFrame) -> dict[str, Any]:
    """Return running statistics of response sizes, in the order of the requests."""
    sizes = forward["response_bytes"].drop_nulls().to_numpy().astype(float)
    requests = forward["request_bytes"].drop_nulls().to_numpy().astype(float)
    running = {
        "mean": convergence.running_mean(sizes, EVERY),
        "p90": convergence.running_quantile(sizes, 0.90, EVERY),
        "p99": convergence.running_quantile(sizes, 0.99, EVERY),
    }
    thinned = max(1, len(running["mean"].counts) // POINTS)
    kept: dict[str, Any] = {
        "count": running["mean"].counts[::thinned].tolist(),
        **{name: curve.values[::thinned].round(1).tolist() for name, curve in running.items()},
        "median_bytes": float(np.median(sizes)),
        "p90_bytes": float(np.quantile(sizes, 0.9)),
        "p99_bytes": float(np.quantile(sizes, 0.99)),
        "max_bytes": float(sizes.max()),
        "mean_bytes": float(sizes.mean()),
        "requests_below_1_kB": float(np.mean(requests < 1000)),
        "max_request_bytes": float(requests.max()),
        "round_trip_median_s": float(np.median(forward["extra_rtt_s"].to_numpy())),
    }
    for segments in (1, 5, 10, 18):
        kept[f"within_{segments}"] = float(np.mean(sizes <= 1420 * segments))
    if running["p90"].counts[-1] > SETTLED:
        kept["p90_range_bytes"] = running["p90"].range_after(SETTLED)
        kept["p90_variation"] = running["p90"].variation_after(SETTLED)
        kept["mean_range"] = running["mean"].range_after(SETTLED) / kept["mean_bytes"]
    return kept


def _hurst(run: Results, measured_from_s: float) -> dict[str, Any]:
    """Return Hurst parameters of packet counts on the first link, with the points of each fit."""
    samples = run.series.filter(pl.col("name") == FIRST, pl.col("t_s") >= measured_from_s)
    packets = samples["departed_pkts"].diff().drop_nulls().to_numpy().astype(float)
    step_s = float(samples["t_s"][1] - samples["t_s"][0])
    kept: dict[str, Any] = {"step_s": step_s}
    for estimate in hurst.estimates(packets, max(1, round(SCALE_S / step_s))):
        kept[estimate.method] = {
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "scale_s": (estimate.scales * step_s).tolist(),
            "statistic": estimate.statistics.tolist(),
            "line": estimate.line().tolist(),
        }
    return kept


def _over_time(run: Results) -> dict[str, list[float]]:
    """Return new connections, bytes on the first link and running goodput for each second."""
    end = int(run.meta["simulated_s"])
    starts = run.exchanges.filter(pl.col("name").str.starts_with("forward-"))["start_s"].to_numpy()
    connections = np.histogram(starts, bins=np.arange(end + 1))[0]
    columns = {"t_s": np.arange(1, end + 1.0), "connections_per_s": connections.astype(float)}
    whole = pl.col("t_s").is_in(np.arange(1, end + 1.0).tolist())
    for link, direction in ((FIRST, "forward"), (FIRST_BACK, "reverse")):
        sampled = run.series.filter(pl.col("name") == link).with_columns(pl.col("t_s").round(6))
        counted = sampled.filter(whole).sort("t_s")["departed_bytes"].to_numpy()[:end]
        columns[f"{direction}_mbps"] = 8e-6 * np.diff(counted, prepend=0)
    columns["running_mbps"] = np.cumsum(columns["forward_mbps"]) / columns["t_s"]
    return {name: values.round(4).tolist() for name, values in columns.items()}
