"""Effects of two-level factors on a response, with intervals if runs are replicated.

An effect is the mean at the plus level minus the mean at the minus level. The definitions are those
of the ten-step analysis of screening experiments (Mills et al. 2010, NIST SP 500-282, appendix D;
NIST/SEMATECH e-Handbook of Statistical Methods, section 5.5.9).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.analysis.prediction import uniform_medians
from longhaul.designs.properties import alias_groups, contrast
from longhaul.libraries import special

# A term of the model: the indices of the factors whose product it is.
Term = tuple[int, ...]


@dataclass(frozen=True)
class Effect:
    """The effect of a factor, or of an interaction, in the response's unit."""

    name: str
    """Name of the factor or interaction, such as `x1` or `x1*x2`."""
    term: Term
    low: float
    """Mean response at the minus level of the factor or interaction."""
    high: float
    """Mean response at the plus level of the factor or interaction."""
    grand_mean: float
    interval: tuple[float, float] | None = None
    """95 % interval of the effect, from differences between replications.

    It is None without replications.
    """
    aliases: tuple[str, ...] = ()
    """Other main effects and interactions that the design confounds with this effect."""

    @property
    def effect(self) -> float:
        """Mean at the plus level minus the mean at the minus level."""
        return self.high - self.low

    @property
    def percent(self) -> float:
        """Absolute effect in percent of the grand mean.

        NaN if the grand mean is zero except for rounding, as for scores of a principal component.
        """
        rounding = 1e-12 * max(abs(self.low), abs(self.high))
        is_zero = abs(self.grand_mean) <= rounding
        return float("nan") if is_zero else 100.0 * abs(self.effect / self.grand_mean)


def effects(
    coded: ArrayLike,
    response: ArrayLike,
    names: Sequence[str],
    *,
    order: int = 2,
    coverage: float = 0.95,
    cells: Sequence[object] | None = None,
) -> list[Effect]:
    """Return the effects of all factors and of their interactions of up to `order` factors.

    `coded` has a row per run and a column per factor, -1 or +1. Runs with equal rows are
    replications: the variance between them gives intervals by Student's t. If other factors vary
    as well, replications are runs with equal values in `cells`, which has a value per run. If
    effects are aliased with one another, only the first is returned, with the others as its
    `aliases`. The sign of an alias is not returned.
    """
    matrix, y = np.asarray(coded, float), np.asarray(response, float)
    error = pure_error(matrix if cells is None else np.asarray(cells, str)[:, None], y)
    grand_mean = float(y.mean())
    found = []
    for group in alias_groups(matrix, order):
        (_, term), *_ = group
        name, *aliases = ("*".join(names[j] for j in alias) for _, alias in group)
        plus = contrast(matrix, term) > 0
        interval = _interval(y, plus, error, coverage)
        low, high = float(y[~plus].mean()), float(y[plus].mean())
        found.append(Effect(name, term, low, high, grand_mean, interval, tuple(aliases)))
    return found


def pure_error(cells: np.ndarray, response: np.ndarray) -> tuple[float, int] | None:
    """Return the variance between replications, and its degrees of freedom.

    Replications are runs with equal rows of `cells`. Return None if there are none.
    """
    _, which, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    freedom = int((count - 1).sum())
    if freedom == 0:
        return None
    means = np.bincount(which.ravel(), weights=response) / count
    return float(((response - means[which.ravel()]) ** 2).sum() / freedom), freedom


def _interval(
    y: np.ndarray, plus: np.ndarray, error: tuple[float, int] | None, coverage: float
) -> tuple[float, float] | None:
    if error is None:
        return None
    variance, freedom = error
    spread = np.sqrt(variance * (1.0 / plus.sum() + 1.0 / (~plus).sum()))
    reach = float(special.stdtrit(freedom, 0.5 + coverage / 2.0) * spread)
    effect = float(y[plus].mean() - y[~plus].mean())
    return effect - reach, effect + reach


def by_size(effects: Sequence[Effect]) -> list[Effect]:
    """Return the effects in descending order of absolute value."""
    return sorted(effects, key=lambda effect: -abs(effect.effect))


def half_normal_quantiles(count: int) -> np.ndarray:
    """Return the values expected for `count` ordered absolute effects if all effects are noise.

    They are the half-normal quantiles of the medians of uniform order statistics.
    """
    quantiles: np.ndarray = special.ndtri((1.0 + uniform_medians(count)) / 2.0)
    return quantiles


def cumulative_residual_sd(
    coded: ArrayLike, response: ArrayLike, effects: Sequence[Effect]
) -> np.ndarray:
    """Return the residual standard deviation of models with more and more effects.

    The first model is the grand mean alone; each further one adds the largest remaining effect.
    Sums of squares are divided by the number of runs minus the number of coefficients; models with
    as many coefficients as runs are left out.
    """
    matrix, y = np.asarray(coded, float), np.asarray(response, float)
    residual = y - y.mean()
    deviations = [np.sqrt((residual**2).sum() / (len(y) - 1))]
    for count, effect in enumerate(by_size(effects)[: len(y) - 2], start=2):
        residual = residual - effect.effect / 2.0 * contrast(matrix, effect.term)
        deviations.append(np.sqrt((residual**2).sum() / (len(y) - count)))
    return np.array(deviations)


def predicted(coded: ArrayLike, grand_mean: float, chosen: Sequence[Effect]) -> np.ndarray:
    """Return the response that a linear model with the `chosen` effects predicts for each run.

    The prediction is the grand mean plus or minus half of each effect. The sign is the product of
    the levels (-1 or +1) that the effect's factors have in the run's row of `coded`.
    """
    matrix = np.asarray(coded, float)
    value = np.full(len(matrix), grand_mean)
    for effect in chosen:
        value += effect.effect / 2.0 * contrast(matrix, effect.term)
    return value


def block_means(
    coded: ArrayLike, response: ArrayLike, primary: int, secondary: Sequence[int]
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return the mean responses at the two levels of a primary factor, for each block.

    `primary` and `secondary` are columns of `coded`. A block is a combination of levels of the
    secondary factors. The primary factor is robust if the same level has the higher mean in all
    blocks. Without an effect, the probability of this is 2^(1 - blocks). Blocks without runs at
    both levels of the primary factor are left out.
    """
    matrix, y = np.asarray(coded, int), np.asarray(response, float)
    blocks: dict[tuple[int, ...], tuple[float, float]] = {}
    for levels in np.unique(matrix[:, list(secondary)], axis=0):
        inside = (matrix[:, list(secondary)] == levels).all(axis=1)
        ends = [inside & (matrix[:, primary] == sign) for sign in (-1, 1)]
        if all(end.any() for end in ends):
            low, high = (float(y[end].mean()) for end in ends)
            blocks[tuple(int(level) for level in levels)] = (low, high)
    return blocks


def corner_means(
    coded: ArrayLike, response: ArrayLike, first: int, second: int
) -> dict[tuple[int, int], float]:
    """Return the mean response at each combination (-1 or +1) of the levels of two factors.

    `first` and `second` are columns of `coded`.
    """
    matrix, y = np.asarray(coded, int), np.asarray(response, float)
    return {
        (a, b): float(y[(matrix[:, first] == a) & (matrix[:, second] == b)].mean())
        for a in (-1, 1)
        for b in (-1, 1)
    }
