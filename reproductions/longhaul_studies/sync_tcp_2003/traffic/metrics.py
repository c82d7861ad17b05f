"""Metrics of runs that examine the traffic itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul_studies.sync_tcp_2003.web.curves import curve

Row = dict[str, float | None]

HURST = {"aggregated variance": "hurst_variance", "R/S": "hurst_ranges", "wavelet": "hurst_wavelet"}
# Warm-up in seconds; the ranges of the running goodput over this time before and after its end are
# compared.
WARM_UP_S = 120


def metrics(kept: Kept, run: Run) -> Row:
    """Return loads in percent, sizes in bytes and shares in percent."""
    row: Row = {f"offered_{name}": value for name, value in kept["load"].items()}
    for name, value in kept["sizes"].items():
        if isinstance(value, list):
            continue
        is_share = name.startswith(("within_", "requests_below")) or name.endswith("variation")
        row[f"size_{name}"] = 100.0 * value if is_share else value
    for method, name in HURST.items():
        if "hurst" in kept:
            row[name] = kept["hurst"][method]["value"]
    if "over_time" in kept:
        running = np.array(kept["over_time"]["running_mbps"])
        row["range_in_warm_up"] = _range(running[1:WARM_UP_S])
        row["range_after_warm_up"] = _range(running[WARM_UP_S : 2 * WARM_UP_S])
    return row


def _range(values: np.ndarray) -> float:
    return float(np.ptp(values) / values.mean())


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of `run`.

    Figures plot only first replications, in experiment A-LOAD (traffic over time at 85 % load).
    """
    return run.experiment == "A-LOAD" and run.replication == 0


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return the points of the curves that figures plot.

    The curves are response sizes over the number of responses, rates over time, and statistics for
    Hurst parameters over the time scale.
    """
    return pl.concat(list(_curves(kept)))


def _curves(kept: Kept) -> Iterator[pl.DataFrame]:
    sizes: dict[str, Any] = kept["sizes"]
    for name in ("mean", "p90", "p99"):
        yield curve(f"running-{name}", sizes["count"], sizes[name], 0)
    over_time = kept.get("over_time", {"t_s": []})
    every = max(1, len(over_time["t_s"]) // 600)
    for name, values in over_time.items():
        if name != "t_s":
            yield curve(name, over_time["t_s"][::every], values[::every], 3)
    for method, name in HURST.items():
        if "hurst" in kept:
            estimate = kept["hurst"][method]
            yield curve(f"{name}-points", estimate["scale_s"], np.log10(estimate["statistic"]))
            yield curve(f"{name}-line", estimate["scale_s"], np.log10(estimate["line"]))
