"""Whether Longhaul agrees with ns-2 on a case.

Without randomness: the same number of cwnd reductions and timeouts, each within one round trip of
ns-2's time, and delivered packets within 0.5 %. With it: means over seeds inside the 95 % interval
of ns-2's mean, or within 3 % of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from validation.cases import Case
from validation.figures import FlowFigures, Run

DELIVERED_TOLERANCE = 0.005
MEAN_TOLERANCE = 0.03
PUBLISHED = "published"
"""What stands for the case in verdicts about published figures."""
# Quantiles 0.975 of Student's distribution with 1, 2, 3... degrees of freedom.
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """One figure of one case in both simulators."""

    case: str
    metric: str
    peer: float
    peer_sd: float | None
    """Over seeds; none where nothing is random."""
    longhaul: float
    longhaul_sd: float | None
    within: bool
    rule: str
    """How `within` was decided."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry of report.json."""
        return asdict(self)


def judge(case: Case, peer: list[Run], ours: list[Run]) -> list[Verdict]:
    """Judge all figures of a case."""
    if case.deterministic:
        return list(judge_exactly(case, peer[0], ours[0]))
    return list(_judge_means(case, peer, ours))


def judge_exactly(case: Case, peer: Run, ours: Run) -> Iterator[Verdict]:
    """Apply the rule for runs without randomness, all flows together."""
    round_trip_s = base_round_trip_s(case)
    for metric, count, times in _EVENTS:
        there = [count(flow) for flow in peer.flows]
        here = [count(flow) for flow in ours.flows]
        same = there == here
        total_there, total_here = float(sum(there)), float(sum(here))
        yield _exact(case, metric, total_there, total_here, same, "the same number")
        if same and total_there > 0:
            apart = _furthest_apart(map(times, peer.flows), map(times, ours.flows))
            within = apart <= round_trip_s
            rule = f"at most {round_trip_s:g} s from ns-2's"
            yield _exact(case, f"{metric}: largest distance in time, s", 0.0, apart, within, rule)
    delivered = _delivered(peer), _delivered(ours)
    within = abs(delivered[1] - delivered[0]) <= DELIVERED_TOLERANCE * delivered[0]
    yield _exact(case, "delivered packets", *delivered, within, "0.5 %")


def base_round_trip_s(case: Case) -> float:
    """Return the round trip without queues of the flow with the shortest path."""
    access_s = min(group.access_delay_s for group in case.flow_groups)
    return 2.0 * (case.number("delay") + access_s)


def interval(values: list[float]) -> float:
    """Return half the width of the 95 % interval of the mean."""
    if len(values) < 2:
        return 0.0
    return STUDENT[len(values) - 2] * stdev(values) / sqrt(len(values))


def _judge_means(case: Case, peer: list[Run], ours: list[Run]) -> Iterator[Verdict]:
    for metric, value in _means(case):
        there = [value(run) for run in peer]
        here = [value(run) for run in ours]
        a, b = fmean(there), fmean(here)
        inside = abs(b - a) <= interval(there)
        close = abs(b - a) <= MEAN_TOLERANCE * abs(a)
        rule = "inside the 95 % interval" if inside else "3 %"
        yield Verdict(
            case.name, metric, a, _deviation(there), b, _deviation(here), inside or close, rule
        )


def _means(case: Case) -> Iterator[tuple[str, Callable[[Run], float]]]:
    """Name the figures that are compared by their means."""
    kinds = list(dict.fromkeys(group.kind for group in case.flow_groups))
    for kind in kinds:
        yield f"goodput {kind}, Mbit/s", partial(_goodput_mbps, kind)
        yield f"mean window {kind}, packets", partial(_mean_window, kind)
    yield "window cuts", lambda run: sum(flow.cuts for flow in run.flows)
    yield "timeouts", lambda run: sum(flow.timeouts for flow in run.flows)
    yield "dropped packets", lambda run: run.link.dropped_pkts
    if case.number("loss") > 0:
        # ns-2's queue monitor stands behind its error model and does not see the lost packets.
        return
    yield "marked packets", lambda run: run.link.marked_pkts
    yield "utilisation", lambda run: run.link.utilisation_window
    yield "mean queue, packets", lambda run: run.link.queue_mean_window_pkts
    if not any(group.jitter_s > 0 for group in case.flow_groups):
        yield (
            "first cut, s",
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


def _exact(case: Case, metric: str, peer: float, ours: float, within: bool, rule: str) -> Verdict:
    return Verdict(case.name, metric, peer, None, ours, None, within, rule)


def _cut_times(flow: FlowFigures) -> list[float]:
    return flow.cut_times_s


def _timeout_times(flow: FlowFigures) -> list[float]:
    return flow.timeout_times_s


_EVENTS: list[tuple[str, Callable[[FlowFigures], int], Callable[[FlowFigures], list[float]]]] = [
    ("window cuts", lambda flow: flow.cuts, _cut_times),
    ("timeouts", lambda flow: flow.timeouts, _timeout_times),
]


def _furthest_apart(there: Iterable[list[float]], here: Iterable[list[float]]) -> float:
    """Return the largest distance of two events with the same number.

    Recordings list the first 400 events of a flow.
    """
    return max(
        abs(b - a)
        for theirs, mine in zip(there, here, strict=True)
        for a, b in zip(theirs, mine, strict=False)
    )


def _deviation(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0
