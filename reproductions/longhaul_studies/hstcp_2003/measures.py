"""Measures that only this study needs; other claims use general measures.

The bandwidth stolen is the goodput that REGTCP (standard TCP) loses because half of the flows are
HSTCP; `alone` is the experiment with REGTCP flows only.
"""

import numpy as np

from longhaul.analysis.fairness import bandwidth_stolen
from longhaul.analysis.statistics import crossing, rank_correlation
from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.measures import GENERAL, Measures

from . import theory

MEASURES = Measures(GENERAL | theory.MEASURES)
measure = MEASURES.register

# Levels of the axis `queue`.
QUEUES = ("red", "droptail")


def rank_trend(curve: Curve) -> float:
    """Return the rank correlation between x and y of a curve; it needs at least three points."""
    if len(curve.x) < 3:
        raise NotRunError("a trend needs three points")
    return rank_correlation(curve.x, curve.y)


# Bandwidth stolen (chapter 5.5), relative to half of the homogeneous set's aggregate.


def stolen(data: Data, of: str, alone: str, axis: str, queue: str, **cell: str | float) -> Curve:
    """Return along `axis` the goodput that REGTCP loses if half of the flows are HSTCP.

    The loss, in percent of the link, is half of the goodput in experiment `alone`, which has only
    REGTCP flows, minus the goodput of REGTCP in `of`. `cell` selects further levels.
    """
    x, half, mixed = together(
        data.curve("lu_regtcp", axis, alone, queue=queue, **cell),
        data.curve("lu_regtcp", axis, of, queue=queue, **cell),
    )
    return Curve(
        x, np.array([bandwidth_stolen(h / 2, m) for h, m in zip(half, mixed, strict=True)])
    )


@measure
def stolen_droptail_above(data: Data, of: str, alone: str, axis: str) -> float:
    """Return the share of points at which HSTCP steals more with drop-tail than with RED."""
    _, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return float((droptail > red).mean())


def stolen_gap(data: Data, of: str, alone: str, axis: str) -> Curve:
    """Return the bandwidth stolen by HSTCP with drop-tail minus that with RED, by level of `axis`.

    The difference is in percentage points of the link's rate.
    """
    x, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return Curve(x, droptail - red)


@measure
def stolen_gap_trend(data: Data, of: str, alone: str, axis: str) -> float:
    """Return the rank correlation between `stolen_gap` and the values of `axis`."""
    return rank_trend(stolen_gap(data, of, alone, axis))


@measure
def stolen_gap_growth(data: Data, of: str, alone: str, axis: str) -> float:
    """Return the last value of `stolen_gap` along `axis` minus the first, in percentage points."""
    gap = stolen_gap(data, of, alone, axis).y
    if len(gap) < 2:
        raise NotRunError("no points to compare")
    return float(gap[-1] - gap[0])


@measure
def stolen_by_one_trend(data: Data, of: str, alone: str, queue: str) -> float:
    """Return the rank correlation of n and the bandwidth that an HSTCP flow steals from n flows.

    The stolen bandwidth (chapter 5.5) is the goodput of n REGTCP flows beside one more REGTCP flow
    (in `alone`, interpolated) minus their goodput beside one HSTCP flow (in `of`).
    """
    beside = data.curve("lu_regtcp", "n", of, queue=queue)
    homogeneous = data.curve("lu_regtcp", "n", alone, queue=queue)
    inside = beside.x + 1 <= homogeneous.x.max()
    n = beside.x[inside]
    whole = np.interp(n + 1, homogeneous.x, homogeneous.y)
    return rank_trend(Curve(n, n / (n + 1) * whole - beside.y[inside]))


# Distances from derived values.


@measure
def deviation(data: Data, of: str, metric: str, axis: str, expected: str, queue: str) -> float:
    """Return the largest relative deviation of `metric` from expected values along `axis`.

    `expected` lists them as `x:y,x:y`.
    """
    curve = data.curve(metric, axis, of, queue=queue)
    pairs = [(float(x), float(y)) for x, y in (pair.split(":") for pair in expected.split(","))]
    wanted = dict(pairs)
    off = [abs(y / wanted[x] - 1) for x, y in zip(curve.x, curve.y, strict=True) if x in wanted]
    if not off:
        raise NotRunError("no points in this range")
    return float(max(off))


# Single experiments.


@measure
def equivalence(data: Data, of: str, queue: str) -> float:
    """Return the number of REGTCP flows that together have the goodput of one HSTCP flow."""
    hstcp, regtcp = (data.curve(f"lu_{name}", "n", of, queue=queue) for name in ("hstcp", "regtcp"))
    flows = crossing(hstcp.x, hstcp.y, regtcp.y)
    if flows is None:
        raise NotRunError("the curves do not cross where there are points")
    return flows


@measure
def flows_at_departure(data: Data, of: str, metric: str, queue: str, loss: float) -> float:
    """Return the number of flows above which the loss rate exceeds 1.5 times `loss`.

    `metric` is the name of the loss rate. Between simulated numbers of flows, the logarithm of the
    rate is interpolated.
    """
    curve = data.curve(metric, "n", of, queue=queue)
    above = np.log(curve.y / (1.5 * loss))
    last = np.flatnonzero(above <= 0)
    if not len(last) or last[-1] == len(above) - 1:
        raise NotRunError("the rate does not leave the loss rate where there are points")
    at = last[-1]
    part = above[at] / (above[at] - above[at + 1])
    return float(curve.x[at] + part * (curve.x[at + 1] - curve.x[at]))


@measure
def two_levels(data: Data, of: str, metric: str, queue: str) -> float:
    """Return how clearly the values of `metric` in runs with bursts form two groups.

    The result is the share of the variance of log(`metric`) that lies between the two groups, for
    the best split of all values by size (Otsu 1979, IEEE Transactions on Systems, Man and
    Cybernetics 9, pp. 62-66). This share is 1 for two exact levels, 3/4 for a uniform distribution,
    2/pi for a normal distribution.
    """
    points = data.points(of, queue=queue)
    values = np.sort(np.log(points.filter(points["k"] > 0)[metric].to_numpy().astype(float)))
    if len(values) < 10:
        raise NotRunError("levels need ten runs")
    count = len(values)
    low = np.arange(1, count)
    sums = np.cumsum(values)[:-1]
    between = (sums / low - (values.sum() - sums) / (count - low)) ** 2
    return float((low * (count - low) * between).max() / count**2 / values.var())


@measure
def windows_keep_level(data: Data, of: str, label: str) -> float:
    """Compare the mean windows in the four quarters of a run: return the largest over the smallest.

    The windows are those of the flow with the label `label`.
    """
    trajectory = data.trajectory(of).filter(label=label)
    end = float(trajectory["t_s"].max())  # type: ignore[arg-type]

    def mean(low: float, high: float) -> float:
        inside = trajectory.filter(trajectory["t_s"].is_between(low * end, high * end))
        return float(inside["cwnd_pkts"].mean())  # type: ignore[arg-type]

    means = [mean(quarter / 4, (quarter + 1) / 4) for quarter in range(4)]
    return max(means) / min(means)


@measure
def fastest_but_lossy(data: Data, of: str) -> float:
    """Return the share of limited slow starts that end later but lose less than standard ones."""
    variants, seconds, lost = together(
        data.curve("change_s", "max_ssthresh", of),
        data.curve("change_lost_pkts", "max_ssthresh", of),
    )
    if variants[0] != 0:
        raise NotRunError("the standard slow start was not run")
    if len(variants) < 2:
        raise NotRunError("no points to compare")
    return float(((seconds[1:] > seconds[0]) & (lost[1:] < lost[0])).mean())


@measure
def progress(data: Data, of: str, max_ssthresh: float, than: float, at_s: float) -> float:
    """Return the packets delivered by `at_s` with `max_ssthresh`, divided by those with `than`.

    `than` is the `max_ssthresh` of another slow start.
    """

    def delivered(variant: float) -> float:
        trajectory = data.trajectory(of, max_ssthresh=variant)
        return float(trajectory.filter(trajectory["t_s"] <= at_s)["delivered_pkts"].max())  # type: ignore[arg-type]

    return delivered(max_ssthresh) / delivered(than)
