"""The rows of one experiment, looked up by the levels of axes.

Measures look into small tables many thousand times: plain lists and dictionaries, each made when
it is first asked for, are faster than expressions.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from longhaul._engine import LonghaulError

Where = Mapping[str, Any]
Key = tuple[tuple[str, Any], ...]


class NotRunError(LonghaulError):
    """Results that a measure needs and that are not there."""


class Lookup:
    """A table of one experiment; where nothing fits, NotRunError."""

    def __init__(self, experiment: str, table: pl.DataFrame) -> None:
        self._experiment = experiment
        self._table = table
        self._names = frozenset(table.columns)
        self._columns: dict[str, list[Any]] = {}
        # By axis: each of its levels, and the rows that have it.
        self._rows: dict[str, dict[Any, list[int]]] = {}
        self._places: dict[Key, list[int]] = {}
        self._tables: dict[Key, pl.DataFrame] = {}

    def column(self, name: str) -> list[Any]:
        """A column as a list."""
        if name not in self._columns:
            self._columns[name] = self._table[name].to_list()
        return self._columns[name]

    def places(self, where: Where) -> list[int]:
        """The rows with these levels: some."""
        key = tuple(where.items())
        if key not in self._places:
            self._places[key] = self._find(where)
        found = self._places[key]
        if not found:
            raise NotRunError(f"{self._experiment} was not run at {dict(where)}")
        return found

    def having(self, where: Where) -> pl.DataFrame:
        """The rows with these levels as a table."""
        places = self.places(where)
        key = tuple(where.items())
        if key not in self._tables:
            whole = len(places) == len(self._table)
            self._tables[key] = self._table if whole else self._table[places]
        return self._tables[key]

    def measured(self, metric: str, where: Where) -> tuple[list[Any], list[int]]:
        """A metric in every row, and where rows with these levels have it."""
        places = self.places(where)
        if metric not in self._names:
            return [], []
        values = self.column(metric)
        return values, [place for place in places if values[place] is not None]

    def _find(self, where: Where) -> list[int]:
        if not where:
            return list(range(len(self._table)))
        for axis in where:
            if axis not in self._names:
                raise NotRunError(f"{self._experiment}: there is no axis {axis}")
        each = [self._at(axis, level) for axis, level in where.items()]
        return sorted(set(each[0]).intersection(*each[1:]))

    def _at(self, axis: str, level: Any) -> list[int]:  # noqa: ANN401
        """The rows at a level of an axis."""
        if axis not in self._rows:
            rows: dict[Any, list[int]] = {}
            for place, found in enumerate(self.column(axis)):
                rows.setdefault(found, []).append(place)
            self._rows[axis] = rows
        fits = (rows for found, rows in self._rows[axis].items() if _is_level(found, level))
        return [place for rows in fits for place in rows]


def _is_level(found: Any, level: Any) -> bool:  # noqa: ANN401
    """Whether a point of an axis is this level."""
    if isinstance(level, str) or isinstance(found, str) or found is None:
        return bool(found == level)
    return bool(found == level or (level and abs(found / level - 1) < 1e-9))
