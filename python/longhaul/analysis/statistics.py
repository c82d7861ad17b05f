"""Medians and bootstrap intervals, correlations, and crossings of curves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def median(values: Sequence[float]) -> float:
    """Return the median of values; NaN if there are none."""
    return float(np.median(values)) if len(values) else float("nan")


def medians(values: np.ndarray) -> np.ndarray:
    """Return medians along the last axis, ignoring NaN; NaN if all values are NaN."""
    ordered = np.sort(values, axis=-1)  # NaN is sorted to the end
    count = np.count_nonzero(~np.isnan(ordered), axis=-1)
    low, high = (
        np.take_along_axis(ordered, place[..., np.newaxis], axis=-1)[..., 0]
        for place in (np.maximum(count - 1, 0) // 2, count // 2)
    )
    return (low + high) / 2  # type: ignore[no-any-return]


def bootstrap_samples(items: Sequence[int], count: int, seed: int = 1) -> list[list[int]]:
    """Draw `count` bootstrap samples of `items`, of the same size and with replacement.

    The same arguments give the same samples. A single item has no samples, because it has no
    variation.
    """
    if len(items) < 2:
        return []
    random = np.random.default_rng(seed)
    return random.choice(np.asarray(items), (count, len(items))).tolist()  # type: ignore[no-any-return]


def percentile_interval(values: Sequence[float], coverage: float = 0.95) -> tuple[float, float]:
    """Return the interval between two percentiles that leave out equal parts of both tails.

    If each value is a statistic of one bootstrap sample, the result is the percentile interval of
    this statistic (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
    Percentiles are interpolated between two values. If one of them is infinite, the low end of the
    interval is the lower one, and the high end the higher one.
    """
    outside = (1.0 - coverage) / 2.0
    ends = outside, 1.0 - outside
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(values, ends)
    if not np.isfinite([low, high]).all():
        lowest = np.quantile(values, ends[0], method="lower")
        highest = np.quantile(values, ends[1], method="higher")
        low, high = np.where(np.isfinite([low, high]), [low, high], [lowest, highest])
    return float(low), float(high)


def correlations(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Pearson's coefficients of `x` and `y` along the last axis; zero if one is constant."""
    product: np.ndarray = (unit_deviations(x) * unit_deviations(y)).sum(axis=-1)
    return product


def unit_deviations(values: ArrayLike, axis: int = -1) -> np.ndarray:
    """Return deviations from the mean along `axis`, scaled to vectors of length 1.

    The deviations are zero if they are only rounding errors.
    """
    given = np.asarray(values, float)
    unit: np.ndarray = given - given.mean(axis=axis, keepdims=True)
    norm, whole = (np.linalg.norm(each, axis=axis, keepdims=True) for each in (unit, given))
    unit /= np.where(norm <= 1e-12 * whole, np.inf, norm)
    return unit


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's coefficient: 1 if `y` always rises with `x`, -1 if it always falls.

    Zero if `x` or `y` is constant; NaN if any value is NaN.
    """
    return float(rank_correlations(x, y))


def rank_correlations(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return Spearman's coefficient of `x` with each row along the last axis of `y`.

    See `rank_correlation`. The time grows with the square of the number of points, and is short for
    hundreds of points.
    """
    first, second = _ranks(x), _ranks(y)
    count = second.shape[-1]

    def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        sums = one.sum(axis=-1) * other.sum(axis=-1)
        return count * (one * other).sum(axis=-1) - sums  # type: ignore[no-any-return]

    spread = product(first, first) * product(second, second)
    varied = np.where(spread == 0.0, 1.0, spread)
    unknown = np.isnan(x).any() | np.isnan(y).any(axis=-1)
    return np.where(unknown, np.nan, product(first, second) / np.sqrt(varied))


def _ranks(values: ArrayLike) -> np.ndarray:
    """Return twice the rank of each value.

    Ranks begin at 1, and equal values share their mean rank. Twice a rank is a whole number, so
    sums are exact.
    """
    each, others = np.asarray(values)[..., np.newaxis], np.asarray(values)[..., np.newaxis, :]
    return 2.0 * (each > others).sum(axis=-1) + (each == others).sum(axis=-1) + 1.0  # type: ignore[no-any-return]


def crossing(x: ArrayLike, falling: ArrayLike, rising: ArrayLike) -> float | None:
    """Return the first x at which one curve falls to another, by linear interpolation.

    Both are curves over `x`: `falling` comes from above `rising`. Return None if it never does.
    """
    at = np.asarray(x, float)
    gap = np.asarray(falling, float) - np.asarray(rising, float)
    for left in range(len(at) - 1):
        if gap[left] > 0.0 >= gap[left + 1]:
            share = gap[left] / (gap[left] - gap[left + 1])
            return float(at[left] + share * (at[left + 1] - at[left]))
    return None
