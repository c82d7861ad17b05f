"""Distribution functions on fixed grids, with bands over replications."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def counts_above(values: ArrayLike, grid: ArrayLike) -> np.ndarray:
    """Return, for each point of a grid, the number of values above it."""
    ordered = np.sort(np.asarray(values, float))
    return len(ordered) - np.searchsorted(ordered, np.asarray(grid, float), side="right")


def ccdf(values: ArrayLike, grid: ArrayLike, of: int | None = None) -> np.ndarray:
    """Return the fraction of values above each point of a grid.

    `of` is the number of all values if some, such as unfinished transfers, are not in `values`;
    these count as larger than all points of the grid.
    """
    given = np.asarray(values, float)
    whole = len(given) if of is None else of
    if whole < len(given) or whole == 0:
        raise ValueError(f"expected at least {max(len(given), 1)} that began, found {whole}")
    return (counts_above(given, grid) + whole - len(given)) / whole


def cdf(values: ArrayLike, grid: ArrayLike, of: int | None = None) -> np.ndarray:
    """Return the fraction of values at or below each point of a grid.

    `of` is the number of all values if some are not in `values`; these count as larger than all
    points of the grid.
    """
    return 1.0 - ccdf(values, grid, of)


@dataclass(frozen=True)
class Band:
    """The median of several curves at each grid point, and an interval around it."""

    grid: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(grid: ArrayLike, curves: Sequence[ArrayLike], coverage: float = 1.0) -> Band:
    """Return the median of `curves` at each grid point, with an interval around it.

    `coverage` is the fraction of curves in the interval at each point. The default of 1 means the
    interval from the smallest to the largest value, because few replications do not determine
    percentiles.
    """
    every = np.asarray([np.asarray(curve, float) for curve in curves])
    if every.ndim != 2 or every.shape[1] != len(np.asarray(grid)):
        raise ValueError("expected curves with a value at each point of the grid")
    outside = (1.0 - coverage) / 2.0
    low, middle, high = np.quantile(every, [outside, 0.5, 1.0 - outside], axis=0)
    return Band(np.asarray(grid, float), middle, low, high)
