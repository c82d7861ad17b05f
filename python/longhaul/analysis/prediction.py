"""Prediction intervals for one more run, from the runs that exist.

The confidence interval of a median narrows with every run. The prediction interval for one more run
does not: it describes the scatter of single runs, so that another group's run can be compared with
it. Sources: Hahn and Meeker, Statistical Intervals, 1991, chapters 4 (normal; of logarithms for
lognormal) and 5 (order statistics).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt

import numpy as np

from longhaul.libraries import special

NORMAL, LOGNORMAL, ORDER = "normal", "lognormal", "order statistics"
# Minimum number of runs from which a scatter is estimated.
MIN_RUNS = 3
# Minimum number of runs whose range is used as a distribution-free interval; its coverage is 0.9.
MIN_RUNS_ORDER = 19
# Number of samples that give the critical values of the correlation, and the level of the test.
SAMPLES, LEVEL = 4000, 0.05


@dataclass(frozen=True)
class Prediction:
    """A prediction interval for one more run."""

    low: float
    high: float
    shape: str
    """The assumed distribution; `order statistics` if no distribution is assumed."""
    coverage: float


def predict(values: Sequence[float], coverage: float = 0.95) -> Prediction | None:
    """Return the interval in which one more run would lie; None for fewer than three runs.

    The interval assumes a normal or a lognormal distribution, whichever fits the runs better. A
    lognormal distribution is also assumed if all runs are positive, but the normal interval reaches
    below 0. If there are at least 19 runs and neither distribution fits, the interval is the range
    of the runs, with a coverage of `(n - 1) / (n + 1)`.
    """
    count = len(values)
    if count < MIN_RUNS:
        return None
    runs = np.sort(np.asarray(values, float))
    if runs[0] == runs[-1]:
        return Prediction(float(runs[0]), float(runs[0]), NORMAL, coverage)
    shape = shape_of(runs)
    if shape == ORDER:
        return Prediction(float(runs[0]), float(runs[-1]), ORDER, (count - 1) / (count + 1))
    interval = _of_next(runs, coverage)
    # The interval of positive values must not reach below 0; few runs do not show skewness.
    if shape == LOGNORMAL or (runs[0] > 0.0 > interval[0]):
        low, high = _of_next(np.log(runs), coverage)
        return Prediction(exp(low), exp(high), LOGNORMAL, coverage)
    return Prediction(*interval, NORMAL, coverage)


def shape_of(runs: np.ndarray) -> str:
    """Return the distribution that fits sorted `runs` better: `normal` or `lognormal`.

    Return `order statistics` (no distribution) if neither fits and there are at least 19 runs.
    """
    correlations = {NORMAL: probability_plot_correlation(runs)}
    if runs[0] > 0:
        correlations[LOGNORMAL] = probability_plot_correlation(np.log(runs))
    best = max(correlations, key=lambda shape: correlations[shape])
    many = len(runs) >= MIN_RUNS_ORDER
    return ORDER if many and correlations[best] < _critical(len(runs)) else best


def probability_plot_correlation(ordered: np.ndarray) -> float:
    """Return the correlation of ordered values with the normal quantiles expected for them."""
    return float(np.corrcoef(ordered, _normal_medians(len(ordered)))[0, 1])


def uniform_medians(count: int) -> np.ndarray:
    """Return the medians of `count` uniform order statistics.

    Source: Filliben, Technometrics 17(1), 1975.
    """
    places = (np.arange(1, count + 1) - 0.3175) / (count + 0.365)
    places[-1] = 0.5 ** (1.0 / count)
    places[0] = 1.0 - places[-1]
    return places


@cache
def _normal_medians(count: int) -> np.ndarray:
    return np.asarray(special.ndtri(uniform_medians(count)))


@cache
def _critical(count: int) -> float:
    """Return the 5 % quantile of `probability_plot_correlation` for `count` normal values."""
    samples = np.sort(np.random.default_rng(1).standard_normal((SAMPLES, count)), axis=1)
    centred = samples - samples.mean(axis=1, keepdims=True)
    medians = _normal_medians(count)
    lengths = np.linalg.norm(centred, axis=1) * np.linalg.norm(medians)
    return float(np.quantile(centred @ medians / lengths, LEVEL))


def _of_next(runs: np.ndarray, coverage: float) -> tuple[float, float]:
    """Return the prediction interval of one more value of a normal distribution."""
    count = len(runs)
    factor = float(special.stdtrit(count - 1, 0.5 + coverage / 2.0)) * sqrt(1.0 + 1.0 / count)
    half = factor * float(runs.std(ddof=1))
    return float(runs.mean()) - half, float(runs.mean()) + half
