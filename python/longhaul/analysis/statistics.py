"""Medians with intervals, trends and crossings of curves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def median(values: Sequence[float]) -> float:
    """The median; not a number of no values."""
    return float(np.median(values)) if len(values) else float("nan")


def median_interval(values: Sequence[float], coverage: float = 0.95) -> tuple[float, float] | None:
    """An interval that holds the population's median, whatever the distribution.

    The narrowest pair of order statistics, equally far from both ends, whose binomial coverage is
    at least `coverage` (David and Nagaraja, Order Statistics, section 7.1). Of too few values for
    that it is their range; of one value there is none.
    """
    ordered = sorted(values)
    count = len(ordered)
    if count < 2:
        return None
    cut = 0
    while count > 2 * (cut + 1) and _coverage(count, cut + 1) >= coverage:
        cut += 1
    return ordered[cut], ordered[count - 1 - cut]


def _coverage(count: int, cut: int) -> float:
    """The probability that the median lies between all but the `cut` outermost values."""
    return 1.0 - 2.0 * float(stats.binom.cdf(cut, count, 0.5))


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's coefficient: 1 if `y` always rises with `x`, -1 if it always falls.

    Zero if one of the two is constant.
    """
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return 0.0
    return float(stats.spearmanr(x, y).statistic)


def crossing(x: ArrayLike, falling: ArrayLike, rising: ArrayLike) -> float | None:
    """Where the first curve comes down to the second, by straight lines between the points.

    None if it never does.
    """
    at = np.asarray(x, float)
    gap = np.asarray(falling, float) - np.asarray(rising, float)
    for left in range(len(at) - 1):
        if gap[left] > 0.0 >= gap[left + 1]:
            share = gap[left] / (gap[left] - gap[left + 1])
            return float(at[left] + share * (at[left + 1] - at[left]))
    return None
