"""Means of a response at each level of a factor, with intervals; for any number of levels."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longhaul.analysis.cells import cell_means
from longhaul.analysis.comparisons import MeanInterval, mean_interval
from longhaul.analysis.table import Level, Matched, ResponseTable, TableError
from longhaul.analysis.variance import anova


@dataclass(frozen=True)
class FactorMeans:
    """Mean of a response at each level of one factor, over all levels of the others."""

    factor: str
    levels: tuple[Level, ...]
    means: tuple[MeanInterval, ...]
    share: float | None
    """Fraction of the variance: the factor's sum of squares divided by the total over all runs.

    It is None if all responses are equal, or if no degree of freedom is left for the residual.
    """
    p: float | None
    """P-value of the F test that all levels have the same mean.

    It is None without `share`, without a residual, or if the factor has no degree of freedom of its
    own.
    """

    @property
    def span(self) -> float:
        """The largest mean minus the smallest, in the response's unit."""
        values = [mean.mean for mean in self.means]
        return max(values) - min(values)


def factor_means(table: ResponseTable, response: str) -> list[FactorMeans]:
    """Return means at the levels of every varying factor, the most influential factor first.

    The interval of a mean shows its variation between replications, which differ in random numbers.
    For this, each replication gives the mean of its runs at the level. Without replications there
    is no interval.
    """
    y = table.values(response)
    columns = {name: table.frame[name].to_list() for name in table.varying}
    sources = {name: source for source in anova(columns, y, order=1) for name in source.names}
    found = []
    for name in table.varying:
        means = tuple(cell.mean for cell in cell_means(table, response, [name]))
        source = sources.get(name)
        share, p = (None, None) if source is None else (source.share, source.p)
        found.append(FactorMeans(name, tuple(table.factors[name]), means, share, p))
    return sorted(found, key=lambda factor: -(factor.share or 0.0))


@dataclass(frozen=True)
class Comparison:
    """Difference of a response between two levels of a factor, in runs that are equal otherwise."""

    first: Level
    second: Level
    difference: MeanInterval
    """Response at the first level minus that at the second, as a mean over conditions."""
    ahead: int
    """Number of conditions in which the first level has the larger mean."""
    conditions: int
    """Number of conditions in which both levels were run in every replication."""
    left_out: list[str]
    """Descriptions of all other conditions, which name the missing level."""
    is_over_replications: bool = True
    """True if the interval is over replications; false if it is over conditions."""


def compare_levels(table: ResponseTable, factor: str, response: str) -> list[Comparison]:
    """Compare each pair of levels of a factor in runs that are equal otherwise.

    Runs of one replication share their random numbers, so differences within a replication vary
    less than the compared values. Each replication gives one mean difference over all conditions,
    and the interval shows how these means vary between replications. With a single replication, the
    interval shows how differences vary between conditions.
    """
    matched = table.matched(factor, response)
    pairs = combinations(table.factors[factor], 2)
    return [_comparison(matched, first, other) for first, other in pairs]


def _comparison(matched: Matched, first: Level, other: Level) -> Comparison:
    # A row per condition, a column per replication.
    rows, left_out = [], []
    for condition, replications in matched.items():
        missing = [str(one) for one in (first, other) if not all(one in at for at in replications)]
        if missing:
            where = " in a replication" if len(replications) > 1 else ""
            left_out.append(f"{condition} lacks {', '.join(missing)}{where}")
        else:
            rows.append([values[first] - values[other] for values in replications])
    if not rows:
        raise TableError(f"no condition has both {first} and {other}")
    differences = np.array(rows)
    several = differences.shape[1] > 1
    interval = mean_interval(differences.mean(axis=0) if several else differences[:, 0])
    ahead = int((differences.mean(axis=1) > 0).sum())
    return Comparison(first, other, interval, ahead, len(rows), left_out, several)
