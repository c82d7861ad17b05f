"""Measures that claims of any study may name: one number each, from medians over replications.

`of` names the experiment, `beside` another one to compare with; what is left names a cell, or what
a curve has in common. Shares of points are from 0 to 1, trends are rank correlations.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Curve, Data, NotRunError
from longhaul.studies.declared import DECLARED
from longhaul.studies.registry import Registry

# Levels of the axis `queue`, where two disciplines are compared.
QUEUES = ("red", "droptail")

Measure = Callable[..., float]

Measures = Registry[Measure]
GENERAL = Measures(DECLARED)
measure = GENERAL.register
# Measures that have no interval: drawn again with replacement, runs never exceed their extremes.
EXTREMES: set[Measure] = set()
# Measures in Python that need all runs of their experiments, whatever words they are given.
WHOLE_DESIGN: set[Measure] = set()
# What kind of number a measure in Python is, where some levels show something of all: see coverage.
KINDS: dict[Measure, str] = {}


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
def deviation(data: Data, of: str, metric: str, axis: str, expected: str, queue: str) -> float:
    """The largest relative deviation from values expected along an axis, as `x:y,x:y`."""
    found = data.curve(metric, axis, of, queue=queue)
    pairs = [(float(x), float(y)) for x, y in (pair.split(":") for pair in expected.split(","))]
    wanted = dict(pairs)
    off = [abs(y / wanted[x] - 1) for x, y in zip(found.x, found.y, strict=True) if x in wanted]
    return most(off)


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
