"""Verdicts on Longhaul's runs of a case, compared with ns-2's runs.

In a case without randomness each flow needs as many cwnd reductions and timeouts as in ns-2, each
within one base round trip of its time in ns-2. The packets delivered by all flows have to agree
within 0.5 %. In a case with randomness, each mean over seeds has to lie in the 95 % confidence
interval of ns-2's mean, or within 3 % of ns-2's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from statistics import fmean, stdev

from longhaul.analysis.comparisons import half_width
from longhaul.analysis.judging import Expected
from validation.ns2.cases import Case
from validation.ns2.runs import Run
from validation.rows import Row, judged

DELIVERED_TOLERANCE = 0.005
MEAN_TOLERANCE = 0.03


def judge(case: Case, peer: list[Run], ours: list[Run]) -> list[Row]:
    """Return the verdicts on all values of a case; `peer` has ns-2's runs, `ours` Longhaul's."""
    if case.deterministic:
        return list(judge_exactly(case, peer[0], ours[0]))
    return list(_judge_means(case, peer, ours))


def judge_exactly(case: Case, peer: Run, ours: Run) -> Iterator[Row]:
    """Yield rows that compare two runs of a case event by event.

    Rows on numbers of events have sums over flows, and are accepted if all flows' numbers agree.
    """
    round_trip_s = base_round_trip_s(case)
    for metric, count, times in _EVENTS:
        there, here = list(map(count, peer.flows)), list(map(count, ours.flows))
        same = there == here
        total_there, total_here = float(sum(there)), float(sum(here))
        yield Row(case.name, metric, total_there, total_here, "the same number", same)
        if same and total_there > 0:
            apart = _furthest_apart(map(times, peer.flows), map(times, ours.flows))
            rule = f"at most {round_trip_s:g} s from ns-2's"
            named = f"{metric}: largest distance in time, s"
            yield judged(case.name, named, 0.0, apart, Expected(high=round_trip_s), rule)
    delivered = _delivered(peer), _delivered(ours)
    band = Expected.within_part(delivered[0], DELIVERED_TOLERANCE)
    yield judged(case.name, "delivered packets", *delivered, band, "0.5 %")


def base_round_trip_s(case: Case) -> float:
    """Return the smallest base round-trip time of any flow of the case, in seconds."""
    access_s = min(group.access_delay_s for group in case.flow_groups)
    return 2.0 * (case.number("delay") + access_s)


def _judge_means(case: Case, peer: list[Run], ours: list[Run]) -> Iterator[Row]:
    for metric, value in _means(case):
        there = [value(run) for run in peer]
        here = [value(run) for run in ours]
        mean, ours_mean = fmean(there), fmean(here)
        inside = Expected.within(mean, half_width(there) or 0.0).holds(ours_mean)
        close = Expected.within_part(mean, MEAN_TOLERANCE).holds(ours_mean)
        rule = "inside the 95 % interval" if inside else "3 %"
        yield Row(
            case.name, metric, mean, ours_mean, rule, inside or close,
            expected_sd=_deviation(there), measured_sd=_deviation(here),
        )  # fmt: skip


def _means(case: Case) -> Iterator[tuple[str, Callable[[Run], float]]]:
    """Yield name and function of each value that is compared as a mean over seeds."""
    kinds = list(dict.fromkeys(group.kind for group in case.flow_groups))
    for kind in kinds:
        yield f"goodput {kind}, Mbit/s", partial(_goodput_mbps, kind)
        yield f"mean window {kind}, packets", partial(_mean_window, kind)
    yield "cwnd reductions", lambda run: sum(flow.cuts for flow in run.flows)
    yield "timeouts", lambda run: sum(flow.timeouts for flow in run.flows)
    yield "dropped packets", lambda run: run.link.dropped_pkts
    if case.number("loss") > 0:
        # ns-2's queue monitor does not see packets that the error model before it drops.
        return
    yield "marked packets", lambda run: run.link.marked_pkts
    yield "utilisation", lambda run: run.link.utilisation_window
    yield "mean queue, packets", lambda run: run.link.queue_mean_window_pkts
    if not any(group.jitter_s > 0 for group in case.flow_groups):
        yield (
            "first cwnd reduction, s",
            lambda run: min(
                (flow.cut_times_s[0] for flow in run.flows if flow.cut_times_s),
                default=case.duration_s,
            ),
        )


def _goodput_mbps(kind: str, run: Run) -> float:
    return 1e-6 * sum(flow.goodput_window_bps for flow in run.flows if flow.kind == kind)


def _mean_window(kind: str, run: Run) -> float:
    return fmean(flow.cwnd_mean_window for flow in run.flows if flow.kind == kind)


def _delivered(run: Run) -> int:
    return sum(flow.delivered_pkts for flow in run.flows)


# Kinds of events, with functions that return their number and their times from `FlowFigures`.
_EVENTS = (
    ("cwnd reductions", attrgetter("cuts"), attrgetter("cut_times_s")),
    ("timeouts", attrgetter("timeouts"), attrgetter("timeout_times_s")),
)


def _furthest_apart(there: Iterable[list[float]], here: Iterable[list[float]]) -> float:
    """Return the largest time difference between corresponding events of both simulators.

    `there` has the event times (s) of each flow in ns-2, and `here` those in Longhaul. Some
    recordings have only the first 400 events of a flow, so later events are not compared.
    """
    return max(
        abs(b - a)
        for theirs, mine in zip(there, here, strict=True)
        for a, b in zip(theirs, mine, strict=False)
    )


def _deviation(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0
