"""Selection of a metric's values at the levels that a claim fixes.

There is a value for each combination of the levels of the other factors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from longhaul.studies import arithmetic
from longhaul.studies.data import REPLICATION, Cell, Data, NotRunError
from longhaul.studies.data.lookup import Lookup, UnevenError
from longhaul.studies.questions.shape import Shape
from longhaul.studies.questions.words import (
    METRIC,
    OF,
    SELECTING,
    WHEN,
    Key,
    Number,
    Words,
    is_when,
    names,
)
from longhaul.studies.selection import Predicate, Word, is_one_level, selects


@dataclass(frozen=True)
class Points:
    """A metric's values, one for each combination of levels of axes that a claim leaves open."""

    experiments: tuple[str, ...]
    fixed: Words
    axes: tuple[str, ...]
    """Axes of the keys: first `of`, whose level is an index into `experiments`; then open axes."""
    values: dict[Key, Number]

    def count(self, axis: str) -> int:
        """Return the number of different levels of an axis among the points."""
        place = self.axes.index(axis)
        return len({key[place] for key in self.values})

    def cell(self, key: Key) -> Cell:
        """Return the cell of a point: its experiment, and its levels of all axes."""
        levels = dict(zip(self.axes, key, strict=True))
        experiment = self.experiments[levels.pop(OF)]
        there = {axis: level for axis, level in levels.items() if level is not None}
        return experiment, {**self.fixed, **there}


def points_of(data: Data, words: Words, shape: Shape) -> Points:
    """Return a metric's values at the points that `words` select; raise NotRunError if none."""
    selection = Selection.read(tuple(words.items()))
    exact = selection.exact
    lookups = [data.lookup(name, of_runs=shape.of_runs) for name in selection.experiments]
    there = frozenset[str]().union(*(lookup.names for lookup in lookups))
    possible = (*data.axes, REPLICATION) if shape.of_runs else data.axes
    axes = tuple([axis for axis in possible if axis in there and axis not in exact])
    values = {
        (place, *key): number
        for place, (name, lookup) in enumerate(zip(selection.experiments, lookups, strict=True))
        for key, number in selection.numbers(name, lookup, axes)
    }
    if not values:
        raise NotRunError(f"{words[OF]} has no {words[METRIC]} at {selection.levels}")
    return Points(selection.experiments, exact, (OF, *axes), values)


@dataclass(frozen=True)
class Selection:
    """Experiments, levels and metrics for one side of a claim's comparison."""

    experiments: tuple[str, ...]
    exact: Words
    """Selected level by axis, for axes of which a single level is selected."""
    several: Words
    """Selections of several levels, such as `5..` or `8,21`, by axis."""
    when: Words
    """Ranges of values, by metric; only points with all these metrics in range are used."""
    texts: tuple[str, ...]
    """Metrics, or arithmetic on metrics; a point's value is the mean of these texts' values."""

    @classmethod
    @lru_cache(maxsize=1000)
    def read(cls, pairs: tuple[tuple[str, Word], ...]) -> "Selection":
        """Parse `key=value` words, given as pairs; pairs with an empty value are ignored."""
        words = {word: level for word, level in pairs if level != ""}
        when = {word.removeprefix(WHEN): level for word, level in words.items() if is_when(word)}
        levels = {
            word: level
            for word, level in words.items()
            if word not in SELECTING and not is_when(word)
        }
        return cls(
            tuple(names(words[OF])),
            {axis: level for axis, level in levels.items() if is_one_level(level)},
            {axis: level for axis, level in levels.items() if not is_one_level(level)},
            when,
            tuple(names(words[METRIC])),
        )

    @property
    def levels(self) -> dict[str, Word]:
        """Words that select points: levels by axis, and ranges by metric (`when.METRIC`)."""
        when = {f"{WHEN}{metric}": word for metric, word in self.when.items()}
        return {**self.exact, **self.several, **when}

    @cached_property
    def metrics(self) -> list[str]:
        """Names of all metrics that occur in `texts`."""
        names = (name for text in self.texts for name in arithmetic.metrics(text))
        return list(dict.fromkeys(names))

    def numbers(
        self, experiment: str, lookup: Lookup, axes: tuple[str, ...]
    ) -> Iterator[tuple[Key, Number]]:
        """Yield, for each selected row, its levels of `axes` and its value of the claim's metric.

        If the claim names several metrics, the value is their mean in the row. Raise NotRunError if
        a selected row lacks a metric.
        """
        rows = lookup.selected(self.exact, self.several, axes)

        def measured(metric: str) -> Sequence[Any]:
            column = lookup.column(metric) if lookup.has(metric) else None
            lacking = [key for row, key in rows if column is None or column[row] is None]
            if lacking:
                there = self.levels | _differing(axes, lacking[0], rows)
                raise NotRunError(f"{experiment} has no {metric} at {there}")
            return column or ()

        for metric, word in self.when.items():
            rows = _those_with(rows, measured(metric), selects(word))
        columns = {name: measured(name) for name in self.metrics}
        if list(self.texts) == self.metrics and len(self.texts) == 1:
            plain = columns[self.texts[0]]
            yield from ((key, plain[row]) for row, key in rows)
            return
        numbers = [arithmetic.number(text) for text in self.texts]
        for row, key in rows:
            values = {name: column[row] for name, column in columns.items()}
            yield key, np.mean([made(values) for made in numbers], axis=0)


def _differing(axes: Sequence[str], key: Key, rows: Sequence[tuple[int, Key]]) -> dict[str, Word]:
    """Return the levels in `key` by axis, but only for axes on which the `rows` differ."""
    return {
        axis: level
        for place, (axis, level) in enumerate(zip(axes, key, strict=True))
        if any(other[place] != level for _, other in rows)
    }


def _those_with(
    rows: Sequence[tuple[int, Key]], column: Sequence[Any], is_chosen: Predicate
) -> list[tuple[int, Key]]:
    """Return the rows whose value in `column` satisfies the predicate `is_chosen`."""
    chosen = []
    for row, key in rows:
        value = column[row]
        if isinstance(value, np.ndarray):  # rows differ between samples
            raise UnevenError
        if is_chosen(value):
            chosen.append((row, key))
    return chosen


def groups_of(data: Data, words: Words, shape: Shape) -> list[dict[str, Word]]:
    """Group values by the words `shape.each`, if any; return the levels of each group by word."""
    if not shape.each:
        return [{}]
    if METRIC not in shape.each:
        return _groups_of(data, words, shape)
    return [
        {METRIC: metric, **group}
        for metric in names(words[METRIC])
        for group in _groups_of(data, {**words, METRIC: metric}, shape)
    ]


def _groups_of(data: Data, words: Words, shape: Shape) -> list[dict[str, Word]]:
    """Group the values of one metric by the axes `shape.each`; return the levels of each group."""
    points = points_of(data, words, shape)
    # Axes with one selected level are not among the points' axes.
    axes = [axis for axis in shape.each if axis in points.axes]
    places = [points.axes.index(axis) for axis in axes]
    levels = dict.fromkeys(tuple(key[place] for place in places) for key in points.values)
    return [dict(zip(axes, level, strict=True)) for level in levels]
