"""Mean of a response, with its interval, for each combination of factor levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import polars as pl

from longhaul.analysis.comparisons import MeanInterval, mean_interval
from longhaul.analysis.table import REPLICATION, Level, ResponseTable


@dataclass(frozen=True)
class Cell:
    """A combination of factor levels, with the mean of a response."""

    levels: tuple[Level, ...]
    """Levels of the combination, in the order of the factors."""
    mean: MeanInterval


def cell_means(table: ResponseTable, response: str, factors: Sequence[str]) -> list[Cell]:
    """Return the mean response at each combination of levels that was run.

    Combinations are in the order of the levels; the first factor varies slowest. Intervals show the
    variation between replications, which differ in random numbers. Each replication counts with its
    mean over the levels of the other factors. Without replications, intervals are infinite. If the
    table has no column `replication`, rows with equal levels of all the table's factors are
    replications. Their number must then be the same throughout a cell; otherwise the cell has a
    single mean without an interval.
    """
    names = [table.require(factor) for factor in factors]
    table.values(response)
    frame = table.frame
    if REPLICATION not in frame.columns:
        number = pl.int_range(pl.len()).over(list(table.factors))
        frame = frame.with_columns(pl.len().over(list(table.factors)).alias(REPLICATION))
        is_even = pl.col(REPLICATION).n_unique().over(names) == 1
        frame = frame.with_columns(pl.when(is_even).then(number).alias(REPLICATION))
    each = frame.group_by([*names, REPLICATION], maintain_order=True).agg(
        pl.col(response).cast(pl.Float64).mean()
    )
    values: dict[tuple[Level, ...], list[float]] = {}
    for *levels, value in each.select(*names, response).iter_rows():
        values.setdefault(tuple(levels), []).append(value)
    order = product(*(table.factors[name] for name in names))
    return [Cell(levels, mean_interval(values[levels])) for levels in order if levels in values]
