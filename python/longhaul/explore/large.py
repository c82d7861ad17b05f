"""Tables with more rows than a page can hold: the page has a sample.

A page that is served requests further rows from the server.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from longhaul._engine import LonghaulError
from longhaul.explore.blobs import Blobs
from longhaul.explore.tables import Content, Roles, add_table, entry_of

# Column with the rows' numbers in the whole table, from 1.
ROW = "row"
# Seed of the hash that selects the rows of a sample, and the hash's range.
SEED = 1
HASHES = float(2**64)
# Maximum number of rows that are added because they have extreme values.
MOST_RARE = 1000

# A filter of the page, as in `filters.ts`, but with names instead of codes.
Filter = Mapping[str, Any]


@dataclass(frozen=True)
class Large:
    """A table that is scanned lazily, because it may have more rows than a page can hold."""

    name: str
    scan: pl.LazyFrame
    roles: Roles
    size: int
    """Maximum number of rows in a sample for the page, without those of extreme values."""

    @cached_property
    def rows(self) -> int:
        """Number of rows of the table."""
        return int(self.scan.select(pl.len()).collect().item())

    @cached_property
    def numbered(self) -> pl.LazyFrame:
        """The table with a column of row numbers, from 1."""
        return self.scan.with_row_index(ROW, offset=1)

    @cached_property
    def schema(self) -> pl.Schema:
        """Names and types of the columns, including that of row numbers."""
        return self.numbered.collect_schema()

    def count(self, filters: Sequence[Filter]) -> int:
        """Return the number of rows that satisfy all filters."""
        passing = self._passing(filters).select(pl.len())
        return int(passing.collect(engine="streaming").item())

    def entry(self, blobs: Blobs, filters: Sequence[Filter] = ()) -> dict[str, Any]:
        """Return a sample of the rows that satisfy all filters, as a table of the page."""
        count = self.count(filters) if filters else self.rows
        sample = self._sample(filters, count)
        what = f"{count:,} {'selected ' if filters else ''}rows"
        drawn = "Plots show a random sample, with the smallest and largest values"
        whole = f"Plots show all {what}" if sample.height == count else f"{drawn}, of {what}"
        note = f"{self.roles.note} {whole}.".strip()
        roles = replace(self.roles, numbers=(ROW, *self.roles.numbers), note=note)
        entry = entry_of(blobs, self.name, sample, roles, exact=(ROW,))
        return entry | {"whole": count}

    def write(self, filters: Sequence[Filter], file: Path) -> None:
        """Write all rows that satisfy the filters as CSV or Parquet, by the suffix of `file`."""
        passing = self._passing(filters).drop(ROW)
        if file.suffix == ".csv":
            passing.sink_csv(file)
        else:
            passing.sink_parquet(file)

    def _sample(self, filters: Sequence[Filter], count: int) -> pl.DataFrame:
        passing = self._passing(filters)
        if count <= self.size:
            return passing.collect(engine="streaming")
        # Slightly fewer than the maximum, so that the sample is rarely truncated.
        share = 0.97 * self.size / count
        drawn = passing.filter(pl.col(ROW).hash(SEED) < int(share * HASHES))
        sample = drawn.collect(engine="streaming").head(self.size)
        rare = self._rare(passing, sample)
        return sample if rare is None else pl.concat([sample, rare]).unique(ROW).sort(ROW)

    def _rare(self, passing: pl.LazyFrame, sample: pl.DataFrame) -> pl.DataFrame | None:
        """Return rows with a column's minimum or maximum if `sample` lacks it, to show outliers."""
        numeric = [name for name, kind in self.schema.items() if kind.is_numeric() and name != ROW]
        if not numeric:
            return None
        ends = passing.select(
            pl.col(numeric).min().name.suffix(" min"), pl.col(numeric).max().name.suffix(" max")
        ).collect(engine="streaming")
        missed = [
            pl.col(name) == end
            for name in numeric
            for end in (ends[f"{name} min"][0], ends[f"{name} max"][0])
            if end is not None and not (sample[name] == end).any()
        ]
        if not missed:
            return None
        rows = passing.filter(pl.any_horizontal(missed)).head(MOST_RARE)
        return rows.collect(engine="streaming")

    def _passing(self, filters: Sequence[Filter]) -> pl.LazyFrame:
        passing = self.numbered
        for filter_ in filters:
            passing = passing.filter(self._expression(filter_))
        return passing

    def _expression(self, filter_: Filter) -> pl.Expr:
        match filter_:
            case {"kind": "range", "column": str(column), "range": [low, high]}:
                return self._within(column, low, high)
            case {"kind": "box", "x": str(x), "y": str(y), "xRange": xs, "yRange": ys}:
                return self._side(x, xs) & self._side(y, ys)
            case {"kind": "names", "column": str(column), "names": list(names)}:
                return self._text(column).is_in([str(name) for name in names])
            case {"kind": "groups", "column": str(column), "values": list(values)}:
                single = pl.Series(values, dtype=pl.Float64).cast(pl.Float32)
                return self._number(column).is_in(single.implode())
            case {"kind": "rows", "rows": list(rows)}:
                return pl.col(ROW).is_in([int(row) for row in rows])
        raise LonghaulError(f"expected a filter of a table, found {json.dumps(filter_)[:200]}")

    def _side(self, column: str, part: Sequence[Any]) -> pl.Expr:
        """Return a filter's condition on a column; `part` is an interval or a list of names."""
        if part and isinstance(part[0], str):
            return self._text(column).is_in(list(part))
        low, high = part
        return self._within(column, low, high)

    def _within(self, column: str, low: float, high: float) -> pl.Expr:
        # Numbers of long tables are in single precision on the page.
        bounds = pl.Series([low, high], dtype=pl.Float64).cast(pl.Float32)
        return self._number(column).is_between(bounds[0], bounds[1])

    def _number(self, column: str) -> pl.Expr:
        self._check(column)
        if column == ROW:
            return pl.col(ROW)
        return pl.col(column).cast(pl.Float32)

    def _text(self, column: str) -> pl.Expr:
        self._check(column)
        return pl.col(column).cast(pl.String).fill_null("none")

    def _check(self, column: str) -> None:
        if column not in self.schema:
            raise LonghaulError(f"table {self.name}: no column `{column}`")


def few_values(scan: pl.LazyFrame) -> dict[str, list[Any]]:
    """Return the columns by which the page may group rows, each with its values in order.

    In the first 100,000 rows, such a column has 2 to 12 different values, each of them in at least
    two rows on average.
    """
    columns = [column.drop_nulls() for column in scan.head(100_000).collect()]
    return {
        column.name: column.unique().sort().to_list()
        for column in columns
        if not column.dtype.is_nested() and 2 <= column.n_unique() <= min(12, len(column) / 2)
    }


def add_large(content: Content, name: str, scan: pl.LazyFrame, roles: Roles) -> None:
    """Add a table to a page, or a sample of its rows if the table is too large.

    Raise an error if a table that is too large has a column `row`.
    """
    large = Large(name, scan, roles, content.sample)
    if large.rows <= content.sample:
        add_table(content, name, scan.collect(), roles)
        return
    if ROW in scan.collect_schema():
        raise LonghaulError(
            f"{name}: column `{ROW}`: expected another name; the {large.rows:,} rows of the table "
            "are numbered in a column of this name"
        )
    content.large[name] = large
    content.tables.append(large.entry(content.blobs))
