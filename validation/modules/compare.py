"""Comparison of a Linux module's values with those of Longhaul's algorithm, case by case."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

import longhaul
from validation.linux import bands
from validation.linux.bands import Verdict
from validation.linux.figures import period, thinned
from validation.modules.cases import Case

FIGURES = {
    "goodput": bands.FIGURES["goodput"],
    "cwnd": bands.FIGURES["cwnd"],
    "rtt_ms": replace(bands.FIGURES["srtt_ms"], title="mean RTT, ms"),
    **{name: bands.FIGURES[name] for name in ("reductions", "period", "exit_cwnd")},
}
"""Compared quantities, with the bands of the comparison with recordings (`validation.linux`)."""


class Measured(NamedTuple):
    """Measured values of the first flow of one run, and sparse samples of its congestion window."""

    figures: dict[str, float]
    """Value of each quantity in `FIGURES`; NaN if there is none."""
    windows: list[tuple[float, float]]
    """Samples: time in s, and cwnd in segments."""


def measure(case: Case, congestion: dict[str, Any]) -> Measured:
    """Simulate a case with the first flow's table `congestion`, and return measured values."""
    results = longhaul.run(case.scenario(congestion))
    row = results.flows.row(0, named=True)
    of_flow = (pl.col("kind") == "flow") & (pl.col("id") == 0) & pl.col("cwnd_pkts").is_not_null()
    samples = results.series.filter(of_flow)
    events = results.events.filter(pl.col("flow") == 0)
    reductions = events.filter(pl.col("event").is_in(["cut", "timeout"]))
    times = reductions["t_s"].to_numpy()
    begin = case.duration_s - case.settled_s
    settled = times[times >= begin]
    figures = {
        "goodput": row["goodput_bps"] / 1e6,
        "cwnd": row["cwnd_mean_pkts"],
        "rtt_ms": 1e3 * row["rtt_mean_s"],
        "reductions": float(len(settled)),
        "period": period(settled),
        "exit_cwnd": _exit_window(samples, reductions),
    }
    times_s, windows = samples["t_s"].to_numpy(), samples["cwnd_pkts"].to_numpy()
    return Measured(figures, thinned(times_s, windows))


def _exit_window(samples: pl.DataFrame, reductions: pl.DataFrame) -> float:
    """Return the window at the end of slow start in segments; NaN if slow start does not end.

    The result is the window before the first reduction, or ssthresh if ssthresh changes earlier.
    """
    thresholds = samples["ssthresh_pkts"]
    known = samples.filter(thresholds != thresholds[0]) if len(thresholds) else samples
    by_cut = float(reductions["cwnd_before_pkts"][0]) if reductions.height else math.nan
    if not known.height:
        return by_cut
    first_s = known["t_s"][0]
    if reductions.height and reductions["t_s"][0] <= first_s:
        return by_cut
    return float(known["ssthresh_pkts"][0])


def judge(module: str, case: str, kernel: Measured, ours: Measured) -> list[Verdict]:
    """Return verdicts on our algorithm's values (`ours`), compared with a module's (`kernel`).

    `module` and `case` are names. If both values of a quantity are NaN, the verdict is `within`.
    """
    verdicts = []
    for name, figure in FIGURES.items():
        theirs, own = kernel.figures[name], ours.figures[name]
        within = abs(own - theirs) <= figure.allowed(theirs)
        within = within or (math.isnan(theirs) and math.isnan(own))
        verdicts.append(Verdict(case, module, name, theirs, own, within))
    return verdicts
