"""Measured values (figures) of a simulated case, for comparison with recordings of Linux."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import longhaul
from validation.linux.cases import SETTLED_S, Case, Flow

WINDOWS_EVERY_S = 0.25
"""Seconds between two samples of the window that are kept for plots."""


class Simulated(NamedTuple):
    """Results of the simulation of one case."""

    figures: dict[tuple[str, str], float]
    """Values of the simulation by pairs of algorithm and name of the quantity."""
    windows: list[list[tuple[float, float]]]
    """Sparse samples (time in s, cwnd in segments) of each flow's window."""


def simulate(case: Case, instead: Mapping[str, Path] | None = None) -> Simulated:
    """Simulate a case; `instead` maps algorithms to files of modules that replace them."""
    scenario = case.scenario()
    for flow in scenario["flows"]:
        module = (instead or {}).get(flow["congestion"]["kind"])
        if module:
            flow["congestion"] = {"module": str(module)}
    results = longhaul.run(scenario)
    each = [
        (flow.algorithm, _of_flow(results, number, case, flow))
        for number, flow in enumerate(case.flows)
    ]
    windows = []
    for number, _ in enumerate(case.flows):
        samples = _samples(results, number)
        windows.append(thinned(samples["t_s"].to_numpy(), samples["cwnd_pkts"].to_numpy()))
    return Simulated(together(each), windows)


def _samples(results: longhaul.Results, number: int) -> pl.DataFrame:
    of_flow = (pl.col("kind") == "flow") & (pl.col("id") == number)
    return results.series.filter(of_flow & pl.col("cwnd_pkts").is_not_null())


def together(each: Sequence[tuple[str, dict[str, float]]]) -> dict[tuple[str, str], float]:
    """Combine the values of flows into values of each algorithm.

    `each` has the algorithm and the values of every flow. If an algorithm has several flows, their
    goodputs, retransmissions and reductions are added, and their windows and srtts are averaged.
    Other quantities of these flows are left out.
    """
    figures: dict[tuple[str, str], float] = {}
    for algorithm in dict.fromkeys(algorithm for algorithm, _ in each):
        flows = [of_flow for other, of_flow in each if other == algorithm]
        if len(flows) == 1:
            figures |= {(algorithm, name): value for name, value in flows[0].items()}
            continue
        for name in ("retrans", "reductions", "goodput"):
            figures[algorithm, name] = sum(of_flow[name] for of_flow in flows)
        for name in ("cwnd", "srtt_ms"):
            figures[algorithm, name] = float(np.mean([of_flow[name] for of_flow in flows]))
    return figures


def _of_flow(results: longhaul.Results, number: int, case: Case, flow: Flow) -> dict[str, float]:
    row = results.flows.row(number, named=True)
    samples = _samples(results, number)
    reductions = _reductions(results.events, number)
    figures = {"retrans": float(row["total_retransmitted_pkts"])}
    if flow.algorithm != "bbr":
        figures["exit_cwnd"], figures["sampled_exit_cwnd"] = _exit_windows(samples, reductions)
    if flow.size_bytes is not None:
        return figures | {"completion": row["completion_s"]}
    settled = samples.filter(pl.col("t_s") >= case.duration_s - SETTLED_S)
    times = reductions["t_s"].to_numpy()
    return figures | {
        "reductions": float(len(times)),
        "period": period(times[times >= case.duration_s - SETTLED_S]),
        "cwnd": float(np.mean(settled["cwnd_pkts"].to_numpy())),
        "srtt_ms": 1e3 * float(np.nanmean(settled["srtt_s"].cast(pl.Float64).to_numpy())),
        "goodput": row["goodput_bps"] / 1e6,
    }


def _reductions(events: pl.DataFrame, flow: int) -> pl.DataFrame:
    """Return the reductions and timeouts of `flow`, except repeated timeouts of the same data.

    Recordings show a reduction as a transition of `ca_state` to recovery, CWR or loss, or as a
    change of ssthresh in one of these states. They do not show repeated timeouts, as the kernel
    then changes neither `ca_state` nor ssthresh (`tcp_enter_loss`).
    """
    kinds = pl.col("event").is_in(["cut", "timeout"])
    own = events.filter((pl.col("flow") == flow) & kinds)
    again = (pl.col("event") == "timeout") & (pl.col("cwnd_before_pkts") <= 1)
    return own.filter(~again)


def _exit_windows(samples: pl.DataFrame, reductions: pl.DataFrame) -> tuple[float, float]:
    """Return the simulated window at the end of slow start, and in the last sample before that end.

    Both are in segments, and NaN if slow start does not end. The kernel's window is known only from
    samples. The kernel's last sample before the end of slow start should lie between these windows.
    """
    thresholds = samples["ssthresh_pkts"].to_numpy()
    known = np.nonzero(thresholds != thresholds[0])[0]
    if not len(known):
        return math.nan, math.nan
    first = int(known[0])
    before = float(samples["cwnd_pkts"][max(0, first - 1)])
    by_then = reductions.filter(pl.col("t_s") <= samples["t_s"][first])
    if by_then.height:
        return float(by_then["cwnd_before_pkts"][0]), before
    return float(thresholds[first]), before


def thinned(
    times: np.ndarray[tuple[int], np.dtype[np.float64]],
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> list[tuple[float, float]]:
    """Return points at multiples of `WINDOWS_EVERY_S`, each with the latest value at that time."""
    if not len(times):
        return []
    begin = math.ceil(float(times[0]) / WINDOWS_EVERY_S) * WINDOWS_EVERY_S
    grid = np.arange(begin, float(times[-1]), WINDOWS_EVERY_S)
    last = values[np.searchsorted(times, grid, side="right") - 1]
    return [(round(float(at), 3), float(value)) for at, value in zip(grid, last, strict=True)]


def period(times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the mean interval between the reductions at `times`, over an even number of intervals.

    If their number is odd, the first interval is left out, because CUBIC's intervals alternate in
    length. The result is NaN with fewer than three reductions.
    """
    intervals = (len(times) - 1) // 2 * 2
    return float((times[-1] - times[-1 - intervals]) / intervals) if intervals > 0 else math.nan
