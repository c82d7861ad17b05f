"""Whether a run was steady where it was measured, from its samples over time."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from longhaul.analysis import steady
from longhaul.findings.registry import Text
from longhaul.results import Results

HEADS = (
    "series", "warm-up (s)", "mean from there", "95 % from", "to", "drift, % of mean", "p of drift",
)  # fmt: skip


def steady_state(run: Results) -> Text:
    """For each series of a run: warm-up by MSER-5, the mean after it, and drift.

    Warm-up counts from the first sample; a run should be measured from the longest on. The drift is
    the change from the end of the warm-up to the end of the run.
    """
    rows = []
    for name, times, values in _series(run):
        cut = steady.warm_up(values)
        rest = values[cut:]
        if len(rest) < 2 * steady.BATCHES:
            continue
        mean, drift = steady.steady_mean(rest), steady.drift(rest)
        interval = (mean.mean, mean.low, mean.high)
        rows.append((name, float(times[cut]), *interval, drift.percent, drift.p))
    return Text(f"{run.name}: measured from {run.meta['measured_from_s']:g} s", HEADS, rows)


def _series(run: Results) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, times in seconds and values of what is worth looking at."""
    if run.kind is not None:
        yield from run.kind.time_series(run)
        return
    flows = run.flow_series
    for label, part in flows.group_by("label", maintain_order=True):
        whole = part.group_by("t_s", maintain_order=True).agg(
            pl.col("delivered_bytes").sum(), pl.col("cwnd_pkts").mean()
        )
        t = whole["t_s"].to_numpy()
        rate = np.diff(whole["delivered_bytes"].to_numpy()) * 8.0 / np.diff(t)
        yield f"{label[0]}: goodput (bit/s)", t[1:], rate
        yield f"{label[0]}: mean window (segments)", t, whole["cwnd_pkts"].to_numpy()
    link = run.bottleneck_series
    queue = link["queue_pkts"].cast(pl.Float64).to_numpy()
    yield f"{run.bottleneck}: queue (packets)", link["t_s"].to_numpy(), queue
