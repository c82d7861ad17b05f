"""Convergence of the statistics of a long series: running means and quantiles.

Means of heavy-tailed sizes do not settle in any run (Crovella and Lipsky, "Long-lasting transient
conditions in simulations with heavy-tailed workloads", Winter Simulation Conference 1997).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Running:
    """A statistic of the first n values of a series, as a function of n."""

    counts: np.ndarray
    """Values of n, in ascending order."""
    values: np.ndarray
    """The statistic of the first n values, for each n in `counts`."""

    def after(self, count: int) -> np.ndarray:
        """Return the values of the running statistic from n = `count` on."""
        return self.values[self.counts >= count]

    def range_after(self, count: int) -> float:
        """Return the maximum minus the minimum of the running statistic from n = `count` on."""
        return float(np.ptp(self.after(count)))

    def variation_after(self, count: int) -> float:
        """Return the coefficient of variation of the running statistic from n = `count` on."""
        later = self.after(count)
        return float(later.std() / later.mean())


def running_mean(values: ArrayLike, every: int = 100) -> Running:
    """Return the mean of the first n values, for n = `every`, 2 `every` and so on."""
    given = np.asarray(values, float)
    counts = np.arange(every, len(given) + 1, every)
    return Running(counts, np.cumsum(given)[counts - 1] / counts)


def running_quantile(values: ArrayLike, part: float, every: int = 100) -> Running:
    """Return a quantile of the first n values, for n = `every`, 2 `every` and so on.

    The quantile is the smallest value such that at least the fraction `part` of the values is at or
    below it.
    """
    given = np.asarray(values, float)
    counts = np.arange(every, len(given) + 1, every)
    ordered = np.empty(0)
    quantiles = np.empty(len(counts))
    for number, count in enumerate(counts):
        # Both parts are sorted, so that a merge sort joins them in one pass.
        ordered = np.sort(np.concatenate([ordered, np.sort(given[count - every : count])]),
                          kind="stable")  # fmt: skip
        quantiles[number] = ordered[max(int(np.ceil(part * count)) - 1, 0)]
    return Running(counts, quantiles)
