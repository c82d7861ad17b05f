"""The values that words select: a number at each point of the axes that they leave open."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from longhaul.studies import arithmetic
from longhaul.studies.data import REPLICATION, Cell, Data, NotRunError
from longhaul.studies.data.lookup import Lookup, UnevenError
from longhaul.studies.declared.words import (
    METRIC,
    SELECTING,
    SEVERAL,
    SHAPING,
    WHEN,
    Key,
    Number,
    Words,
)
from longhaul.studies.selection import Predicate, Word, is_one_level, selects


@dataclass(frozen=True)
class Points:
    """Values by the levels of axes that are not fixed."""

    experiments: tuple[str, ...]
    fixed: Words
    axes: tuple[str, ...]
    values: dict[Key, Number]

    def count(self, axis: str) -> int:
        """How many levels an axis has."""
        place = self.axes.index(axis)
        return len({key[place] for key in self.values})

    def cell(self, key: Key) -> Cell:
        """The experiment of a point, and its levels of axes."""
        levels = dict(zip(self.axes, key, strict=True))
        experiment = self.experiments[levels.pop("of")]
        there = {axis: level for axis, level in levels.items() if level is not None}
        return experiment, {**self.fixed, **there}


def points_of(data: Data, chosen: Words) -> Points:
    """The values of a metric at all points with these levels; some, or NotRunError."""
    selection = _selection(tuple(chosen.items()))
    exact = selection.exact
    of_runs = "runs" in chosen
    lookups = [data.lookup(experiment, of_runs=of_runs) for experiment in selection.experiments]
    there = frozenset[str]().union(*(lookup.names for lookup in lookups))
    possible = (*data.axes, REPLICATION) if of_runs else data.axes
    axes = tuple([axis for axis in possible if axis in there and axis not in exact])
    values = {
        (place, *key): number
        for place, (name, lookup) in enumerate(zip(selection.experiments, lookups, strict=True))
        for key, number in selection.numbers(name, lookup, axes)
    }
    if not values:
        raise NotRunError(f"{chosen['of']} has no {chosen[METRIC]} at {selection.levels}")
    return Points(selection.experiments, exact, ("of", *axes), values)


@dataclass(frozen=True)
class _Selection:
    """Which values words select."""

    experiments: tuple[str, ...]
    exact: Words
    """Axes of which one level is chosen."""
    several: Words
    """Axes of which several are."""
    when: Words
    """Metrics by which points are chosen."""
    texts: tuple[str, ...]
    """Of each point the mean of these metrics, or of what these make of metrics."""

    @property
    def levels(self) -> dict[str, Word]:
        """What is chosen of all axes, and of other metrics."""
        when = {f"{WHEN}{metric}": word for metric, word in self.when.items()}
        return {**self.exact, **self.several, **when}

    @cached_property
    def metrics(self) -> list[str]:
        """All metrics of the texts."""
        names = (name for text in self.texts for name in arithmetic.metrics(text))
        return list(dict.fromkeys(names))

    def numbers(
        self, experiment: str, lookup: Lookup, axes: tuple[str, ...]
    ) -> Iterator[tuple[Key, Number]]:
        """The number of each row, with its levels of axes; NotRunError if one lacks a metric."""
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
    """The levels of one row of axes of which rows have several."""
    return {
        axis: level
        for place, (axis, level) in enumerate(zip(axes, key, strict=True))
        if any(other[place] != level for _, other in rows)
    }


def _those_with(
    rows: Sequence[tuple[int, Key]], column: Sequence[Any], is_chosen: Predicate
) -> list[tuple[int, Key]]:
    """The rows of which the value of a metric is chosen."""
    chosen = []
    for row, key in rows:
        value = column[row]
        if isinstance(value, np.ndarray):  # other rows in each sample
            raise UnevenError
        if is_chosen(value):
            chosen.append((row, key))
    return chosen


@lru_cache(maxsize=1000)
def _selection(chosen: tuple[tuple[str, Word], ...]) -> _Selection:
    words = dict(chosen)
    when = {
        word.removeprefix(WHEN): level
        for word, level in words.items()
        if word.startswith(WHEN) and level != ""
    }
    levels = {
        word: level
        for word, level in words.items()
        if word not in (*SELECTING, *SHAPING) and not word.startswith(WHEN) and level != ""
    }
    return _Selection(
        tuple(str(words["of"]).split(",")),
        {axis: level for axis, level in levels.items() if is_one_level(level)},
        {axis: level for axis, level in levels.items() if not is_one_level(level)},
        when,
        tuple(str(words[METRIC]).split(SEVERAL)),
    )


def groups_of(data: Data, chosen: Words) -> list[dict[str, Word]]:
    """The levels of the axes of `each`, one group after the other; a single one without it."""
    if "each" not in chosen:
        return [{}]
    each = str(chosen["each"]).split(",")
    if METRIC in each:
        others = {**chosen, "each": ",".join(axis for axis in each if axis != METRIC)}
        return [
            {METRIC: metric, **group}
            for metric in str(chosen[METRIC]).split(SEVERAL)
            for group in groups_of(data, {**others, METRIC: metric})
        ]
    points = points_of(data, chosen)
    # Not those of which a level is chosen.
    axes = [axis for axis in each if axis in points.axes]
    places = [points.axes.index(axis) for axis in axes]
    levels = dict.fromkeys(tuple(key[place] for place in places) for key in points.values)
    return [dict(zip(axes, level, strict=True)) for level in levels]
