"""Paired comparisons under common random numbers, analysis of variance, and regression."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class MeanInterval:
    """A mean with a confidence interval by Student's t."""

    mean: float
    low: float
    high: float
    count: int


def mean_interval(values: ArrayLike, coverage: float = 0.95) -> MeanInterval:
    """The mean of values and its interval; without limits for a single value."""
    given = np.asarray(values, float)
    mean = float(given.mean()) if len(given) else float("nan")
    if len(given) < 2:
        return MeanInterval(mean, float("-inf"), float("inf"), len(given))
    spread = float(given.std(ddof=1)) / len(given) ** 0.5
    reach = float(stats.t.ppf(0.5 + coverage / 2.0, len(given) - 1)) * spread
    return MeanInterval(mean, mean - reach, mean + reach, len(given))


def half_width(values: ArrayLike, coverage: float = 0.95) -> float | None:
    """Half the width of the interval of a mean; none of a single value."""
    interval = mean_interval(values, coverage)
    return interval.high - interval.mean if interval.count > 1 else None


def paired(first: ArrayLike, second: ArrayLike, coverage: float = 0.95) -> MeanInterval:
    """The mean of first less second over pairs that share their random numbers.

    The interval is that of the differences, so that what a pair has in common cancels (Law 2015,
    Simulation Modeling and Analysis, section 11.2).
    """
    values, others = np.asarray(first, float), np.asarray(second, float)
    if values.shape != others.shape:
        raise ValueError("expected pairs: as many first values as second ones")
    return mean_interval(values - others, coverage)


@dataclass(frozen=True)
class Source:
    """A line of an analysis of variance."""

    name: str
    sum_of_squares: float
    freedom: int
    f: float | None
    p: float | None
    share: float
    """Of the total sum of squares."""


def anova(
    factors: Mapping[str, Sequence[object]], response: ArrayLike, *, order: int = 2
) -> list[Source]:
    """Analysis of variance of a response by factors of any number of levels.

    Main effects and interactions of up to `order` factors; the last line is the residual. Sums of
    squares are those of terms entered in this order (type I), which for balanced designs depend on
    no order. Factors with one level are left out, and so are interactions of more coefficients
    than runs can bear.
    """
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    y = np.asarray(response, float)
    varying = {name: list(v) for name, v in factors.items() if len({str(x) for x in v}) > 1}
    codes = {f"f{i}": [str(x) for x in v] for i, v in enumerate(varying.values())}
    names = dict(zip(codes, varying, strict=True))
    kept = _fitting_order(codes, len(y), order)
    if not codes or kept == 0 or float(y.var()) == 0.0:
        return []
    mains = " + ".join(f"C({code})" for code in codes)
    formula = f"y ~ ({mains}) ** {kept}" if kept > 1 else f"y ~ {mains}"
    table = anova_lm(ols(formula, pd.DataFrame({"y": y, **codes})).fit())
    total = float(table["sum_sq"].sum())
    return [_source(str(name), row, names, total) for name, row in table.iterrows()]


def _fitting_order(codes: Mapping[str, Sequence[str]], runs: int, order: int) -> int:
    """The highest order of interactions that leaves degrees of freedom for the residual."""
    from itertools import combinations

    levels = [len(set(values)) - 1 for values in codes.values()]
    for kept in range(min(order, len(levels)), 0, -1):
        spent = sum(
            int(np.prod(chosen))
            for size in range(1, kept + 1)
            for chosen in combinations(levels, size)
        )
        if spent + 1 < runs:
            return kept
    return 0


def _source(name: str, row: Any, names: Mapping[str, str], total: float) -> Source:  # noqa: ANN401
    parts = [part.removeprefix("C(").removesuffix(")") for part in name.split(":")]
    is_residual = name == "Residual"
    return Source(
        "residual" if is_residual else "*".join(names[part] for part in parts),
        float(row["sum_sq"]),
        int(row["df"]),
        None if is_residual or np.isnan(row["F"]) else float(row["F"]),
        None if is_residual or np.isnan(row["PR(>F)"]) else float(row["PR(>F)"]),
        float(row["sum_sq"]) / total,
    )


@dataclass(frozen=True)
class Regression:
    """Coefficients of a linear model, with their 95 % intervals and the share explained."""

    coefficients: Mapping[str, MeanInterval]
    r_squared: float


def regression(factors: Mapping[str, ArrayLike], response: ArrayLike) -> Regression:
    """Least squares of a response on numeric factors, with an intercept."""
    from statsmodels.api import OLS, add_constant

    columns = np.column_stack([np.asarray(values, float) for values in factors.values()])
    fit = OLS(np.asarray(response, float), add_constant(columns, has_constant="add")).fit()
    limits = fit.conf_int(alpha=0.05)
    names = ["intercept", *factors]
    return Regression(
        {
            name: MeanInterval(float(value), float(low), float(high), len(columns))
            for name, value, (low, high) in zip(names, fit.params, limits, strict=True)
        },
        float(fit.rsquared),
    )
