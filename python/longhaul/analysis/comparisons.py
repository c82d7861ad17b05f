"""Paired comparisons under common random numbers, and regression."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import linalg, special

# Notes on intervals of means, with and without replications, for tables, plots and pages.
INTERVAL = "95 % interval of the mean over replications"
NO_INTERVAL = "no interval without replications"


@dataclass(frozen=True)
class MeanInterval:
    """A mean with a confidence interval by Student's t."""

    mean: float
    low: float
    high: float
    count: int


def mean_interval(values: ArrayLike, coverage: float = 0.95) -> MeanInterval:
    """Return the mean of values and its confidence interval, infinite for fewer than two values.

    The mean is NaN if there are no values.
    """
    given = np.asarray(values, float)
    mean = float(given.mean()) if len(given) else float("nan")
    if len(given) < 2:
        return MeanInterval(mean, float("-inf"), float("inf"), len(given))
    spread = float(given.std(ddof=1)) / len(given) ** 0.5
    reach = float(special.stdtrit(len(given) - 1, 0.5 + coverage / 2.0)) * spread
    return MeanInterval(mean, mean - reach, mean + reach, len(given))


def over_replications(means: Iterable[MeanInterval]) -> str:
    """Return a note that says over how many replications the intervals are computed."""
    counts = {mean.count for mean in means}
    if max(counts, default=0) < 2:
        return NO_INTERVAL
    return f"{INTERVAL} ({' to '.join(str(count) for count in sorted({min(counts), max(counts)}))})"


def half_width(values: ArrayLike, coverage: float = 0.95) -> float | None:
    """Return half the width of the mean's confidence interval; None for fewer than two values."""
    interval = mean_interval(values, coverage)
    return interval.high - interval.mean if interval.count > 1 else None


def paired(first: ArrayLike, second: ArrayLike, coverage: float = 0.95) -> MeanInterval:
    """Return the mean of `first` minus `second` over pairs of runs with the same random numbers.

    The interval is computed from the differences, so effects common to both values of a pair cancel
    (Law 2015, Simulation Modeling and Analysis, section 11.2).
    """
    values, others = np.asarray(first, float), np.asarray(second, float)
    if values.shape != others.shape:
        raise ValueError("expected pairs: as many first values as second ones")
    return mean_interval(values - others, coverage)


@dataclass(frozen=True)
class Regression:
    """Coefficients of a linear model with 95 % intervals, and the explained share of variance."""

    coefficients: Mapping[str, MeanInterval]
    r_squared: float


def regression(factors: Mapping[str, ArrayLike], response: ArrayLike) -> Regression:
    """Fit a linear model of a response on numeric factors by least squares, with an intercept.

    The intervals use Student's t with the residual variance (Draper and Smith, Applied Regression
    Analysis, third edition, section 5.1). They are infinite if no degree of freedom is left for the
    residual.
    """
    y = np.asarray(response, float)
    columns = [np.asarray(values, float) for values in factors.values()]
    design = np.column_stack([np.ones_like(y), *columns])
    inverse, rank = linalg.pinv(design, return_rank=True)
    values = inverse @ y
    residual = float(np.square(y - design @ values).sum())
    freedom = len(y) - rank
    reach = np.full_like(values, np.inf)
    if freedom:
        # The pseudoinverse times its own transpose is the inverse of the normal equations' matrix.
        errors = np.sqrt(residual / freedom * np.square(inverse).sum(axis=1))
        reach = float(special.stdtrit(freedom, 0.975)) * errors
    names = ["intercept", *factors]
    intervals = zip(names, values, values - reach, values + reach, strict=True)
    total = float(np.square(y - y.mean()).sum())
    return Regression(
        {
            name: MeanInterval(float(value), float(low), float(high), len(y))
            for name, value, low, high in intervals
        },
        1 - residual / total if total else float("nan"),
    )
