"""Measures that claims of any study may name: one number each, from medians over replications.

`of` names the experiment, `beside` another one to compare with; what is left names a cell, or what
a curve has in common. Shares of points are from 0 to 1, trends are rank correlations.
"""

from collections.abc import Callable, Sequence

import numpy as np

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Curve, NotRunError
from longhaul.studies.declared import DECLARED
from longhaul.studies.registry import Registry

# Levels of the axis `queue`, where two disciplines are compared.
QUEUES = ("red", "droptail")

Measure = Callable[..., float]

# Measures that have no interval: drawn again with replacement, runs never exceed their extremes.
EXTREMES: set[Measure] = set()
# Measures in Python that need all runs of their experiments, whatever words they are given.
WHOLE_DESIGN: set[Measure] = set()
# What kind of number a measure in Python is, where some levels show something of all: see coverage.
KINDS: dict[Measure, str] = {}


class Measures(Registry[Measure]):
    """Measures by their names."""

    def register_of_design(self, function: Measure) -> Measure:
        """Add a measure that needs all runs of its experiments; a decorator."""
        WHOLE_DESIGN.add(function)
        return self.register(function)


GENERAL = Measures(DECLARED)


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
