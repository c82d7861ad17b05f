"""Lookup of an experiment's rows by the levels of its axes (factors).

Measures look up rows of small tables many thousand times. For this, plain lists and dictionaries,
built on first use, are faster than Polars expressions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from longhaul._engine import LonghaulError
from longhaul.studies.selection import Word, is_level, selects

Where = Mapping[str, Any]
Key = tuple[tuple[str, Any], ...]
Column = Callable[[str], list[Any]]
Levels = tuple[Any, ...]


class NotRunError(LonghaulError):
    """Error: results that a measure needs are missing, or are not unique."""


class UnevenError(LonghaulError):
    """Error: bootstrap samples have different rows, so they must be evaluated one by one."""


def at(where: Where) -> str:
    """Return levels as text, such as ` at condition 32, algorithm FAST-AT`; empty for no levels."""
    levels = (
        f"{axis} {level:g}" if isinstance(level, float) else f"{axis} {level}"
        for axis, level in where.items()
    )
    return f" at {', '.join(levels)}" if where else ""


class RowIndex:
    """Index of rows by level of the axes, shared by tables whose axes are equal."""

    def __init__(self, experiment: str, names: frozenset[str], height: int, column: Column) -> None:
        self._experiment = experiment
        self._names = names
        self._height = height
        self._column = column
        # For each axis, the row numbers at each level.
        self._rows: dict[str, dict[Any, list[int]]] = {}
        self._found: dict[Key, list[int]] = {}
        self._levels: dict[tuple[str, Key], list[Any]] = {}
        self._selected: dict[tuple[Key, Key, tuple[str, ...]], list[tuple[int, Levels]]] = {}

    def having(self, where: Where) -> list[int]:
        """Return the numbers of the rows with the levels `where`; raise NotRunError if none."""
        key = tuple(where.items())
        if key not in self._found:
            self._found[key] = self._find(where)
        rows = self._found[key]
        if not rows:
            raise NotRunError(f"{self._experiment} was not run{at(where)}")
        return rows

    def levels(self, axis: str, where: Where) -> list[Any]:
        """Return the sorted levels of `axis` in the rows that have the levels `where`."""
        key = axis, tuple(where.items())
        if key not in self._levels:
            column = self._column(axis)
            self._levels[key] = sorted({column[place] for place in self.having(where)} - {None})
        return self._levels[key]

    def selected(
        self, where: Where, words: Mapping[str, Word], axes: tuple[str, ...]
    ) -> list[tuple[int, Levels]]:
        """Return the rows that have the levels in `where` and match `words` such as `flows=5..`.

        A row is returned as its number and its levels of `axes`. The level is None for an axis that
        is not a column.
        """
        key = tuple(where.items()), tuple(words.items()), axes
        if key not in self._selected:
            fits = [(self._column(axis), selects(word)) for axis, word in words.items()]
            columns = [self._column(axis) if axis in self._names else None for axis in axes]
            self._selected[key] = [
                (row, tuple(None if column is None else column[row] for column in columns))
                for row in self.having(where)
                if all(is_in(column[row]) for column, is_in in fits)
            ]
        return self._selected[key]

    def _find(self, where: Where) -> list[int]:
        if not where:
            return list(range(self._height))
        for axis in where:
            if axis not in self._names:
                raise NotRunError(f"{self._experiment}: there is no axis {axis}")
        each = [self._at(axis, level) for axis, level in where.items()]
        return sorted(set(each[0]).intersection(*each[1:]))

    def _at(self, axis: str, level: Any) -> list[int]:  # noqa: ANN401
        """Return the numbers of the rows with this level of an axis."""
        if axis not in self._rows:
            rows: dict[Any, list[int]] = {}
            for place, own in enumerate(self._column(axis)):
                rows.setdefault(own, []).append(place)
            self._rows[axis] = rows
        fits = (rows for own, rows in self._rows[axis].items() if is_level(own, level))
        return [place for rows in fits for place in rows]


class Lookup(ABC):
    """Access to the rows of one experiment by levels of axes.

    Methods raise NotRunError if no row has the requested levels.
    """

    def __init__(self, schema: pl.Schema) -> None:
        self._schema = schema
        self._columns: dict[str, list[Any]] = {}
        self._tables: dict[Key, pl.DataFrame] = {}

    @cached_property
    def table(self) -> pl.DataFrame:
        """Table of all rows."""
        return self._read_all()

    @abstractmethod
    def _read_all(self) -> pl.DataFrame:
        """Return the table of all rows."""

    @abstractmethod
    def _read(self, name: str) -> list[Any]:
        """Return a column as a list."""

    @abstractmethod
    def _places(self, *axes: str) -> RowIndex:
        """Return an index that finds rows by their levels of `axes`."""

    def column(self, name: str) -> list[Any]:
        """Return a column as a list, read once."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(self._schema)

    def has(self, name: str) -> bool:
        """Return true if the table has a column with this name."""
        return name in self._schema

    def levels(self, axis: str, where: Where) -> list[Any]:
        """Return the sorted levels of `axis` in the rows that have the levels `where`."""
        return self._places(axis, *where).levels(axis, where) if axis in self._schema else []

    def having(self, where: Where) -> pl.DataFrame:
        """Return the rows with the levels `where` as a table."""
        places = self._places(*where).having(where)
        key = tuple(where.items())
        if key not in self._tables:
            whole = len(places) == len(self.table)
            self._tables[key] = self.table if whole else self.table[places]
        return self._tables[key]

    def measured(self, metric: str, where: Where) -> tuple[list[Any], list[int]]:
        """Return the whole column of a metric, and row numbers of its values at levels `where`.

        Both are empty if there is no such column.
        """
        places = self._places(*where).having(where)
        if metric not in self._schema:
            return [], []
        values = self.column(metric)
        return values, [place for place in places if values[place] is not None]

    def selected(
        self, where: Where, words: Mapping[str, Word], axes: tuple[str, ...]
    ) -> list[tuple[int, Levels]]:
        """Return the rows that have the levels in `where` and match `words` such as `flows=5..`.

        A row is returned as its number and its levels of `axes`. The level is None for an axis that
        is not a column.
        """
        there = (axis for axis in axes if axis in self._schema)
        return self._places(*where, *words, *there).selected(where, words, axes)

    def picked(self, names: Iterable[str], places: Sequence[int]) -> pl.DataFrame:
        """Return the rows with the row numbers `places` as a table.

        Its columns are those of `names` that exist.
        """
        schema = {name: self._schema[name] for name in names if name in self._schema}
        columns = {name: self.column(name) for name in schema}
        return pl.DataFrame(
            {name: [whole[place] for place in places] for name, whole in columns.items()}, schema
        )


class TableLookup(Lookup):
    """Lookup in a Polars table."""

    def __init__(self, experiment: str, table: pl.DataFrame) -> None:
        super().__init__(table.schema)
        self._whole = table
        self._every_place = RowIndex(experiment, frozenset(table.columns), len(table), self.column)

    def _read_all(self) -> pl.DataFrame:
        return self._whole

    def _read(self, name: str) -> list[Any]:
        return self._whole[name].to_list()

    def _places(self, *axes: str) -> RowIndex:
        return self._every_place


class Samples:
    """Time series of an experiment, which can be looked up by levels of axes."""

    def __init__(self, experiment: str, table: pl.DataFrame, *, keep: bool = False) -> None:
        self._experiment = experiment
        self._table = table
        self._masks: dict[str, list[tuple[Any, np.ndarray]]] = {}
        # Results of earlier lookups; None if they are not kept, since the same lookup rarely
        # recurs.
        self._found: dict[Key, pl.DataFrame] | None = {} if keep else None

    def having(self, where: Where) -> pl.DataFrame:
        """Return the samples of runs with the levels `where`; raise NotRunError if none."""
        key = tuple(where.items())
        if self._found is not None and key in self._found:
            return self._found[key]
        rows = self._find(where)
        if rows.is_empty():
            raise NotRunError(f"{self._experiment} was not run{at(where)}")
        if self._found is not None:
            self._found[key] = rows
        return rows

    def _find(self, where: Where) -> pl.DataFrame:
        if not where:
            return self._table
        every = np.ones(len(self._table), bool)
        for axis, level in where.items():
            fits = [mask for own, mask in self._levels(axis) if is_level(own, level)]
            every &= np.logical_or.reduce(fits) if fits else False
        return self._table[np.flatnonzero(every)]

    def _levels(self, axis: str) -> list[tuple[Any, np.ndarray]]:
        """Return each level of an axis, with a mask that is true for the rows with this level."""
        if axis not in self._table.columns:
            raise NotRunError(f"{self._experiment}: there is no axis {axis}")
        if axis not in self._masks:
            column = self._table[axis]
            levels = column.unique(maintain_order=True)
            self._masks[axis] = [
                (level, column.eq_missing(level).to_numpy()) for level in levels.to_list()
            ]
        return self._masks[axis]
