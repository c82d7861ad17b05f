"""Measures that claims of any study may name: one number each, from medians over replications.

`of` names the experiment, `beside` another one to compare with; what is left names a cell, or what
a curve has in common. Shares of points are from 0 to 1, trends are rank correlations.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.registry import Registry

# Levels of the axis `queue`, where two disciplines are compared.
QUEUES = ("red", "droptail")

Measure = Callable[..., float]

Measures = Registry[Measure]
GENERAL = Measures()
measure = GENERAL.register
# Measures that have no interval: drawn again with replacement, runs never exceed their extremes.
EXTREMES: set[Measure] = set()


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
    return float(min(some(curve).y.min() for curve in curves))


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


EXTREMES.add(largest_run)


@measure
def scatter_of_runs(data: Data, of: str, metric: str, axis: str, low: float = -1,
                    high: float = 1e9, **cell: str | float) -> float:  # fmt: skip
    """The interquartile range of single runs over their median, in the middle of some cells."""
    points = data.points(of, **cell).filter(pl.col(axis).is_between(low, high))
    quarter, half, rest = (
        points.group_by(axis).agg(pl.col(metric).quantile(part, "linear")).sort(axis)[metric]
        for part in (0.25, 0.5, 0.75)
    )
    return float(((rest - quarter) / half).median())  # type: ignore[arg-type]


@measure
def scatter_droptail_over_red(data: Data, of: str, metric: str, axis: str, low: float = -1,
                              high: float = 1e9, **cell: str | float) -> float:  # fmt: skip
    """How widely single runs scatter under drop-tail, over how widely they do under RED."""
    red, droptail = (
        scatter_of_runs(data, of, metric, axis, low, high, queue=queue, **cell) for queue in QUEUES
    )
    return droptail / red


@measure
def trend(
    data: Data, of: str, metric: str, axis: str, low: float = -1, **cell: str | float
) -> float:
    """Rank correlation of a metric with an axis, from some point on."""
    return rank_trend(data.curve(metric, axis, of, **cell).where(low, np.inf))


@measure
def spread(
    data: Data, of: str, metric: str, axis: str, low: float = 0, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """Largest over smallest value between two points of an axis."""
    found = data.curve(metric, axis, of, **cell).where(low, high)
    if len(found.x) < 3:
        raise NotRunError("a spread needs three points")
    return float(found.y.max() / found.y.min())


@measure
def fall(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """The first value less the last."""
    found = data.curve(metric, axis, of, **cell)
    if len(found.x) < 2:
        raise NotRunError("a fall needs two points")
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
    return rank_trend(Curve(x, one - other))


@measure
def share_above(
    data: Data, of: str, metric: str, beside: str, over: str, axis: str,
    low: float = -1, high: float = 1e9, queue: str | None = None, **cell: str | float,
) -> float:  # fmt: skip
    """Share of the points, of both queues unless one is named, with one metric above another."""
    points = []
    for one in (queue,) if queue else QUEUES:
        x, first, second = together(
            data.curve(metric, axis, of, queue=one, **cell),
            data.curve(over, axis, beside, queue=one, **cell),
        )
        points.append((first > second)[(x >= low) & (x <= high)])
    return share(points)


@measure
def droptail_above(
    data: Data, of: str, metric: str, axis: str, low: float = -1, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """Share of the points at which a metric is larger under drop-tail than under RED."""
    x, red, droptail = by_queue(data, of, metric, axis, **cell)
    return share([(droptail > red)[(x >= low) & (x <= high)]])


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
    _, red, droptail = by_queue(data, of, metric, axis, **cell)
    return float((droptail / red).min())


@measure
def queues_differ(
    data: Data, of: str, metric: str, axis: str, low: float = -1, high: float = 1e9,
    **cell: str | float,
) -> float:  # fmt: skip
    """The largest relative difference of a metric between the queues."""
    x, red, droptail = by_queue(data, of, metric, axis, **cell)
    inside = (x >= low) & (x <= high)
    if not inside.any():
        raise NotRunError("no points in this range")
    return float(np.abs(droptail / red - 1)[inside].max())


@measure
def queues_differ_in_cells(data: Data, of: str, metric: str, axes: str) -> float:
    """The largest relative difference of a metric between the queues, in any cell."""
    names = axes.split(",")
    red, droptail = (
        {tuple(row[name] for name in names): row[metric] for row in cells.to_dicts()}
        for cells in (data.having(metric, of, queue=queue) for queue in QUEUES)
    )
    return most([abs(droptail[cell] / red[cell] - 1) for cell in red if cell in droptail])


@measure
def queues_apart(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """The largest difference of a metric between the queues."""
    _, red, droptail = by_queue(data, of, metric, axis, **cell)
    return float(np.abs(droptail - red).max())


@measure
def deviation(data: Data, of: str, metric: str, axis: str, expected: str, queue: str) -> float:
    """The largest relative deviation from values expected along an axis, as `x:y,x:y`."""
    found = data.curve(metric, axis, of, queue=queue)
    pairs = [(float(x), float(y)) for x, y in (pair.split(":") for pair in expected.split(","))]
    wanted = dict(pairs)
    off = [abs(y / wanted[x] - 1) for x, y in zip(found.x, found.y, strict=True) if x in wanted]
    return most(off)


@measure
def spread_ratio(
    data: Data, of: str, metric: str, beside: str, over: str, axis: str, low: float, queue: str
) -> float:
    """The spread of one metric along an axis from some point on, over that of another."""
    first = spread(data, of, metric, axis, low=low, queue=queue)
    return first / spread(data, beside, over, axis, low=low, queue=queue)


def rank_trend(curve: Curve) -> float:
    """Rank correlation of a curve with its axis; of at least three points."""
    if len(curve.x) < 3:
        raise NotRunError("a trend needs three points")
    return rank_correlation(curve.x, curve.y)


def some(curve: Curve) -> Curve:
    """The curve, if it has any point."""
    if not len(curve.x):
        raise NotRunError("no points in this range")
    return curve


def most(values: Sequence[float]) -> float:
    """The largest value, if there is any."""
    if not values:
        raise NotRunError("no points in this range")
    return float(max(values))


def share(points: list[np.ndarray]) -> float:
    """The part of the points that hold, of several lists."""
    every = np.concatenate(points)
    if not len(every):
        raise NotRunError("no points to compare")
    return float(every.mean())


def by_queue(
    data: Data, of: str, metric: str, axis: str, **cell: str | float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The axis, and the values of a metric under RED and under drop-tail."""
    return together(*(data.curve(metric, axis, of, queue=queue, **cell) for queue in QUEUES))
