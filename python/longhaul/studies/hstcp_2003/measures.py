"""What the study's claims measure: one number each, from medians over replications.

A measure gets the tables and the claim's `where`; `of` names the experiment, `beside` another one to
compare with. Shares of points are from 0 to 1; trends are rank correlations.
"""

from collections.abc import Callable, Sequence

import numpy as np

from longhaul.analysis.fairness import bandwidth_stolen
from longhaul.analysis.statistics import crossing, rank_correlation
from longhaul.studies.data import Curve, Data, NotRun, together

from . import theory

QUEUES = ("red", "droptail")

Measure = Callable[..., float]
MEASURES: dict[str, Measure] = {}


def measure(function: Measure) -> Measure:
    """Register a measure under its name."""
    MEASURES[function.__name__] = function
    return function


# Of one metric.


@measure
def value(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """A metric in one cell."""
    return data.value(metric, of, **cell)


@measure
def ratio(data: Data, of: str, metric: str, beside: str, over: str, **cell: str | float) -> float:
    """A metric in one cell, over another metric in the same cell of another experiment."""
    return data.value(metric, of, **cell) / data.value(over, beside, **cell)


@measure
def along(
    data: Data, of: str, metric: str, axis: str, low: float, high: float, **cell: str
) -> float:
    """A metric at one point of an axis over that at another."""
    curve = data.curve(metric, axis, of, **cell)
    return curve.at(high) / curve.at(low)


@measure
def least(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The smallest median of some cells."""
    return float(data.having(metric, of, **cell)[metric].min())  # type: ignore[arg-type]


@measure
def least_along(
    data: Data, of: str, metric: str, axis: str, low: float = -1, high: float = 1e9
) -> float:
    """The smallest median, under either queue, between two points of an axis."""
    curves = [data.curve(metric, axis, of, queue=queue).where(low, high) for queue in QUEUES]
    return float(min(_some(curve).y.min() for curve in curves))


@measure
def largest(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest median of some cells."""
    return float(data.having(metric, of, **cell)[metric].max())  # type: ignore[arg-type]


@measure
def middle(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The median over some cells."""
    return float(data.having(metric, of, **cell)[metric].median())  # type: ignore[arg-type]


@measure
def largest_run(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest value of any single run."""
    return float(data.points(of, **cell)[metric].max())  # type: ignore[arg-type]


@measure
def range_of_runs(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest value of any single run over the smallest."""
    points = data.points(of, **cell)[metric]
    return float(points.max() / points.min())  # type: ignore[operator, arg-type]


# Of curves.


@measure
def trend(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """Rank correlation of a metric with an axis."""
    return _trend(data.curve(metric, axis, of, **cell))


@measure
def spread(
    data: Data, of: str, metric: str, axis: str, low: float = 0, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """Largest over smallest value between two points of an axis."""
    found = data.curve(metric, axis, of, **cell).where(low, high)
    if len(found.x) < 3:
        raise NotRun("a spread needs three points")
    return float(found.y.max() / found.y.min())


@measure
def fall(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """The first value less the last."""
    found = data.curve(metric, axis, of, **cell)
    if len(found.x) < 2:
        raise NotRun("a fall needs two points")
    return float(found.y[0] - found.y[-1])


@measure
def fall_ratio(
    data: Data, of: str, metric: str, beside: str, over: str, axis: str, **cell: str | float
) -> float:
    """How far one metric falls, over how far another does."""
    return fall(data, of, metric, axis, **cell) / fall(data, beside, over, axis, **cell)


@measure
def gap_trend(data: Data, of: str, metric: str, over: str, axis: str, **cell: str | float) -> float:
    """Rank correlation of the difference of two metrics with an axis."""
    x, one, other = together(
        data.curve(metric, axis, of, **cell), data.curve(over, axis, of, **cell)
    )
    return _trend(Curve(x, one - other))


@measure
def share_above(
    data: Data, of: str, metric: str, beside: str, over: str, axis: str, slack: float = 1,
    low: float = -1, high: float = 1e9, queue: str | None = None, **cell: str | float,
) -> float:  # fmt: skip
    """Share of the points, of both queues unless one is named, at which one metric is above another.

    `slack` below 1 lets equality pass.
    """
    points = []
    for one in (queue,) if queue else QUEUES:
        x, first, second = together(
            data.curve(metric, axis, of, queue=one, **cell),
            data.curve(over, axis, beside, queue=one, **cell),
        )
        points.append((first > slack * second)[(x >= low) & (x <= high)])
    return _share(points)


@measure
def droptail_above(
    data: Data, of: str, metric: str, axis: str, low: float = -1, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """Share of the points at which a metric is larger under drop-tail than under RED."""
    x, red, droptail = _by_queue(data, of, metric, axis, **cell)
    return _share([(droptail > red)[(x >= low) & (x <= high)]])


@measure
def droptail_over_red(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """A metric in one cell under drop-tail, over that under RED."""
    red, droptail = (data.value(metric, of, queue=queue, **cell) for queue in QUEUES)
    return droptail / red


@measure
def fall_droptail_over_red(
    data: Data, of: str, metric: str, axis: str, **cell: str | float
) -> float:
    """How far a metric falls along an axis under drop-tail, over how far it falls under RED."""
    red, droptail = (fall(data, of, metric, axis, queue=queue, **cell) for queue in QUEUES)
    return droptail / red


@measure
def least_droptail_over_red(
    data: Data, of: str, metric: str, axis: str, **cell: str | float
) -> float:
    """The smallest ratio of a metric under drop-tail to that under RED."""
    _, red, droptail = _by_queue(data, of, metric, axis, **cell)
    return float((droptail / red).min())


@measure
def queues_differ(
    data: Data, of: str, metric: str, axis: str, low: float = -1, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """The largest relative difference of a metric between the queues."""
    x, red, droptail = _by_queue(data, of, metric, axis, **cell)
    inside = (x >= low) & (x <= high)
    if not inside.any():
        raise NotRun("no points in this range")
    return float(np.abs(droptail / red - 1)[inside].max())


@measure
def queues_apart(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """The largest difference of a metric between the queues."""
    _, red, droptail = _by_queue(data, of, metric, axis, **cell)
    return float(np.abs(droptail - red).max())


@measure
def deviation(data: Data, of: str, metric: str, axis: str, expected: str, queue: str) -> float:
    """The largest relative deviation from values expected along an axis, as `x:y,x:y`."""
    found = data.curve(metric, axis, of, queue=queue)
    pairs = [map(float, pair.split(":")) for pair in expected.split(",")]
    wanted = {x: y for x, y in pairs}
    off = [abs(y / wanted[x] - 1) for x, y in zip(found.x, found.y, strict=True) if x in wanted]
    return _largest(off)


# Bandwidth stolen (chapter 5.5; spec of mixed sets: half of the homogeneous set's aggregate).


def stolen(data: Data, of: str, alone: str, axis: str, queue: str) -> Curve:
    """What REGTCP flows lose when half of the flows are HSTCP, in per cent of the link."""
    x, half, mixed = together(
        data.curve("lu_regtcp", axis, alone, queue=queue),
        data.curve("lu_regtcp", axis, of, queue=queue),
    )
    return Curve(
        x, np.array([bandwidth_stolen(h / 2, m) for h, m in zip(half, mixed, strict=True)])
    )


def stolen_from_ten(data: Data, of: str, axis: str, queue: str, **cell: str | float) -> Curve:
    """What ten long-lived flows lose to a competitor, in per cent of the link."""
    alone = "EXP-6.9a" if of.startswith("EXP-6.9") else "EXP-6.10a"
    x, before, now = together(
        data.curve("lu_regtcp", axis, alone, queue=queue, n=0),
        data.curve("lu_regtcp", axis, of, queue=queue, **cell),
    )
    return Curve(x, before - now)


@measure
def stolen_trend(data: Data, of: str, alone: str, axis: str, queue: str) -> float:
    """Rank correlation of the bandwidth stolen with an axis."""
    return _trend(stolen(data, of, alone, axis, queue))


@measure
def stolen_droptail_above(data: Data, of: str, alone: str, axis: str) -> float:
    """Share of the points at which more is stolen under drop-tail."""
    _, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return _share([droptail > red])


@measure
def stolen_gap_trend(data: Data, of: str, alone: str, axis: str) -> float:
    """Rank correlation with an axis of how much more is stolen under drop-tail."""
    x, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return _trend(Curve(x, droptail - red))


@measure
def stolen_most(
    data: Data, of: str, alone: str, axis: str, low: float, high: float, queue: str
) -> float:
    """The largest bandwidth stolen between two points, either sign."""
    return float(np.abs(_some(stolen(data, of, alone, axis, queue).where(low, high)).y).max())


@measure
def stolen_from_ten_trend(data: Data, of: str, axis: str, queue: str) -> float:
    """The largest rank correlation, over the competitors, of what ten flows lose with an axis."""
    counts = [None] if of.endswith("b") else sorted(set(data.cells(of, queue=queue)["n"]) - {0})
    cells = [{} if n is None else {"n": n} for n in counts]
    return _largest([_trend(stolen_from_ten(data, of, axis, queue, **cell)) for cell in cells])


@measure
def stolen_by_streams_trend(data: Data, of: str, loss: float, queue: str) -> float:
    """Rank correlation of what ten flows lose with the number of streams beside them."""
    curve = data.curve("lu_regtcp", "n", of, queue=queue, loss=loss)
    return _trend(Curve(curve.x, -curve.y))


# Single experiments.


@measure
def equivalence(data: Data, of: str, queue: str) -> float:
    """How many REGTCP flows together get what one HSTCP flow gets."""
    hstcp, regtcp = (data.curve(f"lu_{name}", "n", of, queue=queue) for name in ("hstcp", "regtcp"))
    found = crossing(hstcp.x, hstcp.y, regtcp.y)
    if found is None:
        raise NotRun("the curves do not cross where there are points")
    return found


@measure
def equivalence_ratio(data: Data, of: str) -> float:
    """That number under drop-tail over that under RED."""
    return equivalence(data, of, "droptail") / equivalence(data, of, "red")


@measure
def knee(data: Data, of: str, metric: str, queue: str) -> float:
    """The largest loss rate at which the congestion event rate is above 1.5 times it."""
    found = data.curve(metric, "loss", of, queue=queue)
    above = found.x[found.y > 1.5 * found.x]
    if not len(above):
        raise NotRun("the rate follows the loss rate everywhere")
    return float(above.max())


@measure
def flows_at_knee(data: Data, of: str, metric: str, queue: str, loss: float) -> float:
    """The largest number of flows whose congestion event rate is still within 1.5 times the loss."""
    found = data.curve(metric, "n", of, queue=queue)
    below = found.x[found.y <= 1.5 * loss]
    return float(below.max()) if len(below) else 0.0


@measure
def rises_towards_limit(data: Data, of: str, metric: str, queue: str) -> float:
    """The largest ratio of a metric at one loss rate to that at the next higher one."""
    found = data.curve(metric, "loss", of, queue=queue)
    return float((found.y[:-1] / found.y[1:]).max())


def _part_of_drops(data: Data, of: str, queue: str) -> Curve:
    """The part that bursts have of the drops, where there are bursts."""
    x, theirs, every = together(
        data.curve("dropped_perturbation", "k", of, queue=queue),
        data.curve("dropped_total", "k", of, queue=queue),
    )
    return _some(Curve(x[x > 0], theirs[x > 0] / np.maximum(every[x > 0], 1)))


@measure
def perturbations_lose_less(data: Data, of: str) -> float:
    """Share of the points at which bursts have a smaller part of the drops under RED."""
    _, red, droptail = together(*(_part_of_drops(data, of, queue) for queue in QUEUES))
    return _share([red < droptail])


@measure
def perturbations_part_of_drops(data: Data, of: str, queue: str) -> float:
    """The smallest part that bursts have of the drops, where there are bursts."""
    return float(_part_of_drops(data, of, queue).y.min())


@measure
def spread_ratio(
    data: Data, of: str, metric: str, beside: str, over: str, axis: str, queue: str
) -> float:
    """The spread of one metric along an axis over that of another."""
    first = spread(data, of, metric, axis, queue=queue)
    return first / spread(data, beside, over, axis, queue=queue)


@measure
def streams_unaffected(data: Data, of: str, queue: str, full: float = 95) -> float:
    """The smallest part that ten flows keep of what they have alone, while the link is not full."""
    kept = []
    alone = data.curve("lu_regtcp", "loss", "EXP-6.9a", queue=queue, n=0)
    for row in data.cells(of, queue=queue).iter_rows(named=True):
        if row["lu_total"] < full and row.get("n") != 0:
            kept.append(row["lu_regtcp"] / alone.at(row["loss"]))
    return -_largest([-part for part in kept])


@measure
def streams_in_proportion(data: Data, of: str, queue: str, loss: float) -> float:
    """The largest deviation of the part of ten flows from 10/(10 + N) of what all streams get."""
    off = []
    for row in data.cells(of, queue=queue, loss=loss).iter_rows(named=True):
        if row["n"]:
            part = row["lu_regtcp"] / (row["lu_regtcp"] + row["lu_streams"])
            off.append(abs(part / (10 / (10 + row["n"])) - 1))
    return _largest(off)


@measure
def fairness_over_streams(
    data: Data, of: str, queue: str, axis: str, low: float = -1, high: float = 1e9
) -> float:
    """The largest deviation of a stream set's relative fairness from its number of streams."""
    off = []
    for row in data.cells(of, queue=queue).iter_rows(named=True):
        if row["n"] and low <= row[axis] <= high:
            off.append(abs(row["frf"] / row["n"] - 1))
    return _largest(off)


@measure
def grows_with_streams(data: Data, of: str, queue: str) -> float:
    """The smallest rank correlation, over loss rates, of the rate with the number of streams."""
    rates = sorted(set(data.cells(of, queue=queue)["loss"]))
    trends = [_trend(data.curve("rate_regtcp", "n", of, queue=queue, loss=p)) for p in rates]
    return -_largest([-trend for trend in trends])


@measure
def falls_with_loss(data: Data, of: str, queue: str) -> float:
    """The largest rank correlation, over numbers of streams, of the rate with the loss rate."""
    counts = sorted(set(data.cells(of, queue=queue)["n"]))
    trends = [_trend(data.curve("rate_regtcp", "loss", of, queue=queue, n=n)) for n in counts]
    return _largest(trends)


@measure
def hstcp_over_streams(
    data: Data, of: str, beside: str, loss: float, n: float, queue: str
) -> float:
    """The rate of one HSTCP flow over that of so many streams."""
    one = data.value("rate_hstcp", of, loss=loss, n=1, queue=queue)
    return one / data.value("rate_regtcp", beside, loss=loss, n=n, queue=queue)


@measure
def loses_more_than_streams(data: Data, of: str, queue: str) -> float:
    """What one HSTCP flow keeps of its share between the ends of the axis, over what six streams keep.

    Streams of one protocol share equally: six of 6 + n.
    """
    found = data.curve("lu_hstcp", "n", of, queue=queue)
    first, last = found.x[0], found.x[-1]
    if first == last:
        raise NotRun("both ends are needed")
    return float(found.y[-1] / found.y[0] / ((6 + first) / (6 + last)))


@measure
def share_falls_with_events(data: Data, of: str, queue: str) -> float:
    """Rank correlation of relative fairness with the link's congestion event rate, of all mixed sets."""
    rates, ratios = [], []
    for experiment in of.split(","):
        cells = data.cells(experiment, queue=queue).drop_nulls("rf")
        rates += cells["cer_total"].to_list()
        ratios += cells["rf"].to_list()
    return _trend(Curve(np.array(rates), np.array(ratios)))


@measure
def windows_keep_level(data: Data, of: str, label: str) -> float:
    """The mean window in the last quarter over that in the second."""
    course = data.course(of).filter(label=label)
    end = float(course["t_s"].max())  # type: ignore[arg-type]

    def mean(low: float, high: float) -> float:
        inside = course.filter(course["t_s"].is_between(low * end, high * end))
        return float(inside["cwnd_pkts"].mean())  # type: ignore[arg-type]

    return mean(0.75, 1.0) / mean(0.25, 0.5)


@measure
def window_band(data: Data, of: str, label: str) -> float:
    """The range of a window in the second half over its mean."""
    course = data.course(of).filter(label=label)
    late = course.filter(course["t_s"] >= float(course["t_s"].max()) / 2)["cwnd_pkts"]  # type: ignore[arg-type]
    return float((late.max() - late.min()) / late.mean())  # type: ignore[operator]


@measure
def fastest_but_lossy(data: Data, of: str) -> float:
    """Share of the variants that leave slow start later than the standard one and lose 100 times less."""
    standard, *others = data.having("change_s", of).sort("max_ssthresh").to_dicts()
    if standard["max_ssthresh"] != 0:
        raise NotRun("the standard slow start was not run")
    return _share(
        [
            np.array(
                [
                    one["change_s"] > standard["change_s"]
                    and 100 * one["change_lost_pkts"] < standard["change_lost_pkts"]
                    for one in others
                ]
            )
        ]
    )


@measure
def progress(data: Data, of: str, max_ssthresh: float, beside: float, at_s: float) -> float:
    """Packets delivered by some time with one slow start, over those with another."""

    def delivered(variant: float) -> float:
        course = data.course(of, max_ssthresh=variant)
        return float(course.filter(course["t_s"] <= at_s)["delivered_pkts"].max())  # type: ignore[arg-type]

    return delivered(max_ssthresh) / delivered(beside)


@measure
def noise(data: Data) -> float:
    """The largest part of the link that background traffic has, in per cent, in any run."""
    alone = ["EXP-6.1", "EXP-6.1-REG", "EXP-6.7", "EXP-6.11", "EXP-7.2"]
    swept = data.values.filter(~data.values["experiment"].is_in(alone))
    if swept.is_empty():
        raise NotRun("no run with background traffic")
    return float(swept["lu_noise"].max())  # type: ignore[arg-type]


@measure
def cost_of_windows(data: Data, of: str) -> float:
    """Time per packet with the largest windows over that with windows a hundred times smaller."""
    cells = {row["mbps"]: row["wall_s"] / row["data_packets"] for row in data.cells(of).to_dicts()}
    if not {100, 10000} <= set(cells):
        raise NotRun("both ends are needed")
    return cells[10000] / cells[100]


def _trend(curve: Curve) -> float:
    if len(curve.x) < 3:
        raise NotRun("a trend needs three points")
    return rank_correlation(curve.x, curve.y)


def _some(curve: Curve) -> Curve:
    if not len(curve.x):
        raise NotRun("no points in this range")
    return curve


def _largest(values: Sequence[float]) -> float:
    if not values:
        raise NotRun("no points in this range")
    return float(max(values))


def _share(points: list[np.ndarray]) -> float:
    every = np.concatenate(points)
    if not len(every):
        raise NotRun("no points to compare")
    return float(every.mean())


def _by_queue(
    data: Data, of: str, metric: str, axis: str, **cell: str | float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return together(*(data.curve(metric, axis, of, queue=queue, **cell) for queue in QUEUES))


# Theory.

MEASURES.update(theory.MEASURES)
