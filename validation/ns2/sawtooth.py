"""Measurement and comparison of the sawteeth of windows at a drop-tail queue.

Each value of each algorithm must be within 5 % of ns-2's value. The number of reductions may also
differ by one, because the measurement window begins and ends in the middle of a tooth.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from longhaul.analysis.judging import Expected
from validation.ns2.cases import Case
from validation.ns2.runs import FlowFigures, Run, Sawtooth
from validation.rows import Row, judged

TOLERANCE = 0.05


def measure(
    case: Case, times_s: Sequence[float], cwnd: Sequence[float], cut_times_s: Sequence[float]
) -> Sawtooth | None:
    """Return the mean sawtooth of a flow of TCP/Linux after the warm-up; None for other flows.

    `times_s` has the times of the samples `cwnd` (packets), `cut_times_s` the times of reductions.
    """
    if not case.linux:
        return None
    cuts = [time for time in cut_times_s if time >= case.warm_up_s]
    if len(cuts) < 2:
        return Sawtooth(len(cuts), None, None, None)
    teeth = [
        cwnd[bisect_right(times_s, begin) : bisect_left(times_s, end)]
        for begin, end in pairwise(cuts)
    ]
    sampled = [tooth for tooth in teeth if len(tooth) > 0]
    return Sawtooth(
        cuts=len(cuts),
        period_s=(cuts[-1] - cuts[0]) / len(teeth),
        peak_pkts=fmean(float(tooth[-1]) for tooth in sampled),
        trough_pkts=fmean(float(min(tooth)) for tooth in sampled),
    )


def judge_sawtooth(case: Case, peer: Run, ours: Run) -> Iterator[Row]:
    """Yield verdicts on the sawtooth of every flow, and on the link's utilisation.

    `peer` is ns-2's run.
    """
    for index, (there, here) in enumerate(zip(peer.flows, ours.flows, strict=True)):
        prefix = f"flow {index}: " if len(peer.flows) > 1 else ""
        yield from _judge_flow(case, prefix, there, here)
    yield _verdict(case, "utilisation", peer.link.utilisation_window, ours.link.utilisation_window)


def _judge_flow(case: Case, prefix: str, peer: FlowFigures, ours: FlowFigures) -> Iterator[Row]:
    there, here = peer.sawtooth, ours.sawtooth
    assert there is not None
    assert here is not None
    yield _verdict(case, f"{prefix}reductions", there.cuts, here.cuts, slack=1.0)
    for metric, theirs, mine in (
        ("mean period, s", there.period_s, here.period_s),
        ("mean window before a reduction, packets", there.peak_pkts, here.peak_pkts),
        ("smallest window after a reduction, packets", there.trough_pkts, here.trough_pkts),
    ):
        if theirs is not None:
            yield _verdict(case, prefix + metric, theirs, mine or 0.0)
    yield _verdict(
        case, f"{prefix}mean window, packets", peer.cwnd_mean_window, ours.cwnd_mean_window
    )


def _verdict(case: Case, metric: str, peer: float, ours: float, slack: float = 0.0) -> Row:
    band = Expected.within_part(peer, TOLERANCE, at_least=slack)
    return judged(case.name, metric, peer, ours, band, "5 %, or one" if slack else "5 %")
