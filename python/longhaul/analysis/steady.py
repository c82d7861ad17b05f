"""Analysis of time series: warm-up, drift, means of periods with intervals, and lags."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.analysis.comparisons import MeanInterval, mean_interval
from longhaul.libraries import stats

# Number of samples that a batch of MSER-5 averages.
BATCH = 5
# Number of batches whose means count as independent values of a steady series.
BATCHES = 20
# Tolerance in seconds for rounding of sample times, which are multiples of the sampling interval.
ROUNDING_S = 1e-9


def warm_up(values: ArrayLike, batch: int = BATCH) -> int:
    """Return the number of samples to discard at the beginning of a series, by the rule MSER-5.

    The number is a multiple of `batch` and less than half of the series. It minimises the standard
    error of the mean of the remaining batches (White 1997, Simulation 69, pp. 323-334). It is 0 for
    fewer than four batches.
    """
    given = np.asarray(values, float)
    means = given[: len(given) // batch * batch].reshape(-1, batch).mean(axis=1)
    if len(means) < 4:
        return 0
    errors = [
        float(((rest := means[cut:]) - rest.mean()).var()) / len(rest)
        for cut in range(len(means) // 2)
    ]
    return int(np.argmin(errors)) * batch


@dataclass(frozen=True)
class Drift:
    """Trend of a series that should be steady."""

    change: float
    """Change along the fitted line from the middle of the first batch to that of the last."""
    percent: float
    """`change` in percent of the mean of the series; NaN if this mean is zero."""
    p: float
    """P-value of the hypothesis that the fitted line's slope is zero."""


def drift(values: ArrayLike, batches: int = BATCHES) -> Drift:
    """Fit a line to the means of batches of a series, by least squares.

    Successive samples are correlated; the means of long batches hardly are.
    """
    means = np.array([part.mean() for part in np.array_split(np.asarray(values, float), batches)])
    if np.ptp(means) == 0.0:
        return Drift(0.0, 0.0, 1.0)
    line = stats.linregress(np.arange(batches), means)
    change = float(line.slope) * (batches - 1)
    mean = float(means.mean())
    return Drift(change, 100.0 * change / mean if mean else float("nan"), float(line.pvalue))


def steady_mean(values: ArrayLike, batches: int = BATCHES) -> MeanInterval:
    """Return the mean of a steady series, with a 95 % interval computed from means of batches."""
    parts = np.array_split(np.asarray(values, float), batches)
    return mean_interval([float(part.mean()) for part in parts])


def period_means(
    times: ArrayLike, values: ArrayLike, periods: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Return the mean of the samples in each period; NaN for a period without samples.

    `periods` maps names to start and end in seconds. A sample at the start of a period is excluded,
    one at the end is included.
    """
    at, given = np.asarray(times, float), np.asarray(values, float)
    means = {}
    for name, (begin, end) in periods.items():
        inside = (at > begin + ROUNDING_S) & (at <= end + ROUNDING_S)
        means[name] = float(given[inside].mean()) if inside.any() else float("nan")
    return means


def lag(
    times: ArrayLike, values: ArrayLike, begin: float, level: float, end: float = float("inf")
) -> float | None:
    """Return the time from `begin` until a series rises to a level; None if it has not by `end`.

    The time is 0 if the last sample at or before `begin` has reached the level.
    """
    at, given = np.asarray(times, float), np.asarray(values, float)
    before = np.flatnonzero(at <= begin + ROUNDING_S)
    if len(before) and given[before[-1]] >= level:
        return 0.0
    later = (at > begin + ROUNDING_S) & (at <= end + ROUNDING_S)
    reached = np.flatnonzero(later & (given >= level))
    return float(at[reached[0]] - begin) if len(reached) else None
