"""Longhaul's run of a case, with the same values (`runs.py`) as ns-2's run.

The measurement window extends, as in ns-2's run, from the sample at the end of the warm-up to the
last sample before the end of the run. ns-2 counts acknowledged data at the sender. Longhaul's
counter is at the receiver, and is therefore read earlier, by the one-way delay of an ACK.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import longhaul
from validation.ns2.cases import Case
from validation.ns2.runs import FlowFigures, LinkFigures, Run, Trace
from validation.ns2.sawtooth import measure
from validation.ns2.scenario import scenario

Column = NDArray[np.float64]


def run(case: Case, seed: int) -> Run:
    """Simulate a case in Longhaul with one seed, and return the measured values and samples."""
    return read(case, seed, longhaul.run(scenario(case, seed)))


def read(case: Case, seed: int, results: longhaul.Results) -> Run:
    """Return the run of a case with one seed, computed from its `results`."""
    groups = [group for group in case.flow_groups for _ in range(group.count)]
    samples = [_samples(results.series, "flow", index) for index in range(len(groups))]
    link = _samples(results.series, "link", 0)
    flows = [
        _flow(case, group.kind, group.access_delay_s, row, samples[index], results.events)
        for index, (group, row) in enumerate(
            zip(groups, results.flows.iter_rows(named=True), strict=True)
        )
    ]
    trace = Trace(
        link["t_s"].tolist(),
        [_since_zero(columns["cwnd_pkts"], len(link["t_s"])) for columns in samples],
        link["queue_pkts"].tolist(),
    )
    row = results.links.row(0, named=True)
    return Run(seed, flows, _link(case, row, link), trace)


def _samples(series: pl.DataFrame, kind: str, index: int) -> dict[str, Column]:
    rows = series.filter((pl.col("kind") == kind) & (pl.col("id") == index))
    numbers = rows.drop("kind", "name", "id").fill_null(0)
    return {name: numbers[name].cast(pl.Float64).to_numpy() for name in numbers.columns}


def _since_zero(samples: Column, length: int) -> list[float]:
    """Return the samples of a flow, with zeros for the time before its start.

    `length` is the number of samples in the whole run.
    """
    return [0.0] * (length - len(samples)) + [float(sample) for sample in samples]


def _flow(
    case: Case,
    kind: str,
    access_delay_s: float,
    row: dict[str, Any],
    samples: dict[str, Column],
    events: pl.DataFrame,
) -> FlowFigures:
    mine = events.filter(pl.col("flow") == row["flow"])
    timeouts = mine.filter(pl.col("event") == "timeout")["t_s"].to_list()
    cuts = mine.filter(pl.col("event") == "cut")["t_s"].to_list()
    way_back_s = case.number("delay") + access_delay_s

    def acked_b(time_s: float) -> float:
        delivered = samples["in_order_bytes"]
        return float(np.interp(time_s - way_back_s, samples["t_s"], delivered))

    cut_times_s = sorted(cuts + timeouts)
    start, end = _window(case, samples["t_s"])
    from_s, to_s = float(samples["t_s"][start]), float(samples["t_s"][end])
    return FlowFigures(
        kind=kind,
        start_s=row["start_s"],
        sent_pkts=row["total_sent_pkts"],
        retransmitted_pkts=row["total_retransmitted_pkts"],
        delivered_pkts=round(acked_b(case.duration_s) / case.payload_b),
        cuts=len(cuts) + len(timeouts),
        ecn_cuts=row["total_cuts_ecn"],
        timeouts=len(timeouts),
        cut_times_s=cut_times_s,
        timeout_times_s=timeouts,
        goodput_window_bps=8.0 * (acked_b(to_s) - acked_b(from_s)) / (to_s - from_s),
        cwnd_mean_window=float(samples["cwnd_pkts"][start : end + 1].mean()),
        cwnd_max=float(samples["cwnd_pkts"].max()),
        sawtooth=measure(case, samples["t_s"].tolist(), samples["cwnd_pkts"].tolist(), cut_times_s),
    )


def _link(case: Case, row: dict[str, Any], samples: dict[str, Column]) -> LinkFigures:
    start, end = _window(case, samples["t_s"])
    span_s = samples["t_s"][end] - samples["t_s"][start]
    bits = 8.0 * (samples["departed_bytes"][end] - samples["departed_bytes"][start])
    waiting = samples["queue_integral_pkt_s"][end] - samples["queue_integral_pkt_s"][start]
    return LinkFigures(
        utilisation_window=float(bits / (row["rate_bps"] * span_s)),
        queue_mean_window_pkts=float(waiting / span_s),
        dropped_pkts=row["total_dropped_pkts"],
        marked_pkts=row["total_marked_pkts"],
    )


def _window(case: Case, times: Column) -> tuple[int, int]:
    """Return the indices in `times` of the first and last sample of the measurement window."""
    start = int(np.abs(times - case.warm_up_s).argmin())
    before_end = np.nonzero(times < case.duration_s - 1e-6)[0]
    return start, int(before_end[-1])
