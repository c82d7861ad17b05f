"""Means of a response at each level of a factor, of any number of levels, with intervals."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from longhaul.analysis.comparisons import MeanInterval, mean_interval
from longhaul.analysis.table import REPLICATION, Level, Matched, ResponseTable, TableError
from longhaul.analysis.variance import Source, anova


@dataclass(frozen=True)
class FactorMeans:
    """What a response is at the levels of one factor, over all levels of the others."""

    factor: str
    levels: tuple[Level, ...]
    means: tuple[MeanInterval, ...]
    share: float | None
    """Of the variance of the response over all runs: sum of squares over the total."""
    p: float | None
    """Probability of such differences of means without any effect (F test)."""

    @property
    def span(self) -> float:
        """The largest mean less the smallest, in the response's unit."""
        values = [mean.mean for mean in self.means]
        return max(values) - min(values)


def factor_means(table: ResponseTable, response: str) -> list[FactorMeans]:
    """The means at the levels of every factor that varies, the most influential factor first.

    The interval of a mean is that of the means of replications, each over the whole design: what
    other random numbers change. Without replications there is none.
    """
    y = table.values(response)
    columns = {name: table.frame[name].to_list() for name in table.varying}
    sources = {name: source for source in anova(columns, y, order=1) for name in source.names}
    means = [_of_factor(table, name, response, sources.get(name)) for name in table.varying]
    return sorted(means, key=lambda factor: -(factor.share or 0.0))


def _of_factor(
    table: ResponseTable, factor: str, response: str, source: Source | None
) -> FactorMeans:
    keys = [factor, *([REPLICATION] if REPLICATION in table.frame.columns else [])]
    each = table.frame.group_by(keys, maintain_order=True).agg(pl.col(response).mean())
    levels = tuple(table.factors[factor])
    means = tuple(
        mean_interval(each.filter(pl.col(factor) == level)[response].to_numpy()) for level in levels
    )
    share, p = (None, None) if source is None else (source.share, source.p)
    return FactorMeans(factor, levels, means, share, p)


@dataclass(frozen=True)
class Comparison:
    """How much more a response is at one level than at another, in runs that are alike else."""

    first: Level
    second: Level
    difference: MeanInterval
    """Of the first less the second: mean over conditions, with the interval over replications."""
    ahead: int
    """Conditions in which the first has the larger mean,"""
    conditions: int
    """out of this number that have both."""


def compare_levels(table: ResponseTable, factor: str, response: str) -> list[Comparison]:
    """Paired comparisons of all pairs of levels of a factor.

    Runs of one replication share their random numbers, so that differences within it vary less than
    what they are of. Each replication gives one mean difference over all conditions; the interval
    is that of these, and says what other random numbers would change. Of a single replication it
    is that over conditions, and says what other conditions would.
    """
    matched = table.matched(factor, response)
    pairs = combinations(table.factors[factor], 2)
    return [_comparison(matched, first, other) for first, other in pairs]


def _comparison(matched: Matched, first: Level, other: Level) -> Comparison:
    # A row a condition, a column a replication; conditions without either level are left out.
    differences = np.array(
        [
            [values[first] - values[other] for values in replications]
            for replications in matched
            if all(first in values and other in values for values in replications)
        ]
    )
    if not len(differences):
        raise TableError(f"no condition has both {first} and {other}")
    several = differences.shape[1] > 1
    interval = mean_interval(differences.mean(axis=0) if several else differences[:, 0])
    ahead = int((differences.mean(axis=1) > 0).sum())
    return Comparison(first, other, interval, ahead, len(differences))
