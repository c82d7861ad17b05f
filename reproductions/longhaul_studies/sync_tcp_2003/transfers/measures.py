"""Measures of claims about long transfers.

Parameters of the measures: `of` is an experiment; `one` and `other` are levels of the axis
`protocol`. `each` names a metric that every flow has: `goodput` stands for `goodput_1` to
`goodput_20`. Values of metrics are medians over runs. `flows` are numbers of flows, such as
`4+6+9`.
"""

from itertools import pairwise

import numpy as np
import polars as pl

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

from .figures import FLOWS, printed_flows
from .metrics import ROUND_TRIPS_MS

TRANSFERS = Measures()
measure = TRANSFERS.register

# The queue of 92 packets counts as full from 90 packets on, and as low below half of its limit.
FULL_PKTS, HALF_PKTS = 90, 46


@measure
def gain_of_best(data: Data, of: str, each: str, one: str, other: str, count: float) -> float:
    """Return the `count`-th largest of the flows' gains from protocol `one` over `other`.

    A gain is the ratio of metric `each` with `one` to that with `other`, as a median over runs.
    """
    gains = [
        data.paired(f"{each}_{flow}", (of, {"protocol": one}), (of, {"protocol": other}), np.divide)
        for flow in FLOWS
    ]
    return float(sorted(gains)[-int(count)])


@measure
def rank_as_printed(data: Data, of: str, each: str, column: str, protocol: str) -> float:
    """Return the rank correlation, over flows, of metric `each` with its printed values."""
    printed = printed_flows(of, column)[protocol]
    measured = [data.value(f"{each}_{flow}", of, protocol=protocol) for flow in printed]
    return rank_correlation(list(printed.values()), measured)


@measure
def off_printed(data: Data, of: str, each: str, column: str, protocol: str) -> float:
    """Return the median, over flows, of the relative deviation of `each` from its printed value.

    Measured and printed values of the metric `each` are for experiment `of` and `protocol`. Printed
    values are in `column` of the printed table. Signs of deviations are ignored.
    """
    printed = printed_flows(of, column)[protocol]
    off = [
        abs(data.value(f"{each}_{flow}", of, protocol=protocol) / value - 1)
        for flow, value in printed.items()
    ]
    return float(np.median(off))


@measure
def lead(data: Data, of: str, each: str, flows: str | float, protocol: str) -> float:
    """Return the smallest value of metric `each` in `flows` over the largest in other flows."""
    chosen, others = _chosen_and_others(data, of, each, flows, protocol)
    return min(chosen) / max(others)


@measure
def trail(data: Data, of: str, each: str, flows: str | float, protocol: str) -> float:
    """Return the largest value of metric `each` in `flows` over the smallest in other flows."""
    chosen, others = _chosen_and_others(data, of, each, flows, protocol)
    return max(chosen) / min(others)


def _chosen_and_others(
    data: Data, of: str, each: str, flows: str | float, protocol: str
) -> tuple[list[float], list[float]]:
    """Return metric `each` of every flow in `flows`, and of every other flow, as two lists."""
    named = {int(float(flow)) for flow in str(flows).split("+")}
    values = {flow: data.value(f"{each}_{flow}", of, protocol=protocol) for flow in FLOWS}
    return (
        [value for flow, value in values.items() if flow in named],
        [value for flow, value in values.items() if flow not in named],
    )


@measure
def rank_with_round_trip(data: Data, of: str, each: str, protocol: str) -> float:
    """Return the rank correlation, over flows, of metric `each` with the base RTT."""
    medians = [data.value(f"{each}_{flow}", of, protocol=protocol) for flow in FLOWS]
    return rank_correlation(ROUND_TRIPS_MS.tolist(), medians)


@measure
def seconds_at_one(data: Data, of: str, flow: float, protocol: str) -> float:
    """Return the share of one-second samples in which the flow's window is one packet."""
    samples = data.trajectory(of, protocol=protocol, sampled="seconds")
    return float((samples[f"cwnd_{flow:.0f}"] < 1.5).mean())  # type: ignore[arg-type]


@measure
def seconds_at_one_less(data: Data, of: str, flow: float, one: str, others: str) -> float:
    """Return a difference of shares of seconds in which the flow's window is one packet.

    The smallest share with any of the protocols `others` is subtracted from the share with protocol
    `one`.
    """
    shares = [seconds_at_one(data, of, flow, other) for other in others.split("+")]
    return seconds_at_one(data, of, flow, one) - min(shares)


@measure
def queue_peaks(data: Data, of: str, protocol: str) -> float:
    """Count how often the queue rises from below half to its limit in the period of Figure 4.6."""
    queue = data.trajectory(of, protocol=protocol, sampled="router").sort("t_s")["queue_pkts"]
    states = [size >= FULL_PKTS for size in queue if size >= FULL_PKTS or size < HALF_PKTS]
    return float(sum(now and not before for before, now in pairwise(states)))


@measure
def more_queue_peaks(data: Data, of: str, one: str, other: str) -> float:
    """Return `queue_peaks` with protocol `one` minus `queue_peaks` with protocol `other`."""
    return queue_peaks(data, of, one) - queue_peaks(data, of, other)


@measure
def running_goodput(data: Data, of: str, protocol: str, at_s: float) -> float:
    """Return the mean rate (kbit/s) of all flows up to `at_s`, in the run of Figure 4.2."""
    samples = _running(data, of, protocol)
    return 1000.0 * float(samples.filter(pl.col("t_s") <= at_s)["goodput_mbps"][-1])


@measure
def later_drift(data: Data, of: str, protocol: str, after_s: float) -> float:
    """Return the largest deviation (%) of the running goodput from its final value.

    Only times after `after_s` count.
    """
    samples = _running(data, of, protocol)
    late, end = (
        samples.filter(pl.col("t_s") >= after_s)["goodput_mbps"],
        samples["goodput_mbps"][-1],
    )
    return 100.0 * float((late / end - 1.0).abs().max())


def _running(data: Data, of: str, protocol: str) -> pl.DataFrame:
    return data.trajectory(of, protocol=protocol, length_s=300, sampled="seconds").sort("t_s")
