"""Outliers among several competitors: residuals and Grubbs' test."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import special

# The critical value that NIST SP 500-282 used for seven and eight algorithms alike.
NIST_CRITICAL = 2.08
NIST_COUNT = 7


def grubbs_critical(count: int, significance: float = 0.05, *, two_sided: bool = True) -> float:
    """Return the critical value of Grubbs' statistic for `count` normally distributed values.

    It follows from Student's t with `count` - 2 degrees of freedom (Grubbs 1969, Technometrics 11,
    pp. 1-21).
    """
    if count < 3:
        raise ValueError("Grubbs' test: expected at least three values")
    tail = significance / count / (2 if two_sided else 1)
    t = -float(special.stdtrit(count - 2, tail))
    return largest_grubbs(count) * math.sqrt(t * t / (count - 2 + t * t))


def largest_grubbs(count: int) -> float:
    """Return the maximum of Grubbs' statistic for `count` values, all but one of them equal."""
    return (count - 1) / math.sqrt(count)


def nist_critical(count: int) -> float:
    """Return NIST's critical value of Grubbs' statistic, adapted to fewer than seven values.

    NIST's value of 2.08 is beyond the maximum for six values (`largest_grubbs`). For fewer than
    seven, the value returned has the significance that 2.08 has for seven.
    """
    if count >= NIST_COUNT:
        return NIST_CRITICAL
    ratio = NIST_CRITICAL / largest_grubbs(NIST_COUNT)
    t = math.sqrt((NIST_COUNT - 2) * ratio**2 / (1 - ratio**2))
    return grubbs_critical(count, 2 * NIST_COUNT * float(special.stdtr(NIST_COUNT - 2, -t)))


@dataclass(frozen=True)
class Residuals:
    """Residuals of the competitors' values in one condition, from their mean."""

    residuals: np.ndarray
    mean: float
    extreme: int
    """Index of the value farthest from the mean; -1 if all values are equal."""
    statistic: float
    """Grubbs' G: the largest absolute residual, in sample standard deviations.

    It is 0 if all values are equal.
    """
    critical: float

    @property
    def is_outlier(self) -> bool:
        """True if the value farthest from the mean is a significant outlier."""
        return self.statistic > self.critical

    @property
    def largest(self) -> float:
        """Residual of the value farthest from the mean, with its sign."""
        return float(self.residuals[self.extreme]) if self.extreme >= 0 else 0.0

    @property
    def magnitude(self) -> float:
        """Decimal logarithm of the largest absolute residual."""
        return float(np.log10(abs(self.largest))) if self.largest else float("-inf")

    @property
    def percent(self) -> float:
        """Residual of the value farthest from the mean, in percent of the mean.

        NaN if the mean is zero.
        """
        return 100.0 * self.largest / self.mean if self.mean else float("nan")


def residuals(values: ArrayLike, critical: float | None = None) -> Residuals:
    """Return the residuals of competitors in one condition, with Grubbs' test of the largest.

    `critical` is the critical value, by default the exact one for a two-sided test at 5 %. The
    study of 2010 used `NIST_CRITICAL`. Two equal extremes mask each other: Grubbs' statistic of
    eight values is then only about 1.62.
    """
    given = np.asarray(values, float)
    limit = grubbs_critical(len(given)) if critical is None else critical
    mean = float(given.mean())
    difference = given - mean
    spread = float(given.std(ddof=1))
    # Residuals below this are rounding errors of equal values.
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return Residuals(np.zeros_like(given), mean, -1, 0.0, limit)
    extreme = int(np.abs(difference).argmax())
    return Residuals(difference, mean, extreme, abs(float(difference[extreme])) / spread, limit)


@dataclass(frozen=True)
class Standout:
    """An outlier: the competitor's index, and its residual in percent of the mean, with sign."""

    who: int
    is_high: bool
    percent: float


def standouts(
    values: ArrayLike, *, min_percent: float = 0.0, critical: float | None = None
) -> list[list[Standout | None]]:
    """Return the outlier for each condition and response; None where there is none.

    `values` is an array of shape (condition, response, competitor). An outlier must be significant,
    and its residual must exceed `min_percent` of the mean.
    """
    cells = np.asarray(values, float)
    return [[_standout(cell, min_percent, critical) for cell in row] for row in cells]


def _standout(cell: np.ndarray, min_percent: float, critical: float | None) -> Standout | None:
    values = residuals(cell, critical)
    if not values.is_outlier or abs(values.percent) <= min_percent:
        return None
    return Standout(values.extreme, values.largest > 0, values.percent)
