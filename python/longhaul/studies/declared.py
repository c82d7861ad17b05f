"""Measures that a claim declares itself: of which values, beside which others, and what of them.

A claim names what it takes of some values (`TAKES`), and says in `where` which values these are:

    of=E1 metric=goodput queue=red      an experiment, a metric, and levels of axes
    flows=5..  condition=8,21           levels of an axis from one to another, or some of them
    algorithm=!FAST                     all levels but these
    pair=75-*                           levels whose names begin so
    metric=a,b                          at each point the mean of several metrics
    metric=100*rf/(1+rf)                what is made of metrics at each point
    when.utilisation=..95               points at which another metric is so, written as levels are
    less.queue=droptail                 point by point less the values where these words are others
    over.of=E2                          point by point divided by such values
    by=replication                      compared in each replication: the median of what comes out
    runs=each                           values of single runs in place of medians
    along=flows                         points along an axis, in order, one at each of its levels
    with.metric=rtt                     points by such values, in place of levels of an axis
    against.queue=droptail              what is taken of all, divided by what is taken of others
    each=flows,queue                    at each level of these axes alone,
    each=metric                         or of each of several metrics alone;
    order=a+b>c>*                       of these numbers the ratio of each to the next: at levels
                                        that share a place the smaller over the larger; * is all
                                        that are not named
    then=least                          and of these numbers the least; the largest without it;
    then=count above=1.1                or how many are above a bound, or below one
    whole=condition                     the statement is about all levels of this axis: see coverage
    whole=*                             it says nothing of some of the runs

Words of `less.`, `over.`, `with.` and `against.` are those of `where` that differ; an empty one,
`over.n=`, does not hold on that side. Values of both sides are of the same levels of all axes of
which either side has several. Where a comparison names several levels of an axis of which the other
side has one, that one is compared with each of them.

Numbers are arrays: of no dimension, or with one number for each of several bootstrap samples, whose
points are the same and are selected once. Points are along the last axis.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from longhaul.analysis.statistics import correlations, rank_correlations
from longhaul.studies import arithmetic
from longhaul.studies.data import REPLICATION, Cell, Combine, Data, NotRunError
from longhaul.studies.data.lookup import Lookup, UnevenError
from longhaul.studies.selection import AND, REST, Predicate, Word, is_one_level, selects

Words = Mapping[str, Word]
Key = tuple[Any, ...]
# Of a point; in several samples an array.
Number = float | np.ndarray

# Words that are no levels of axes.
SELECTING = ("of", "metric")
COMPARING = ("less", "over", "with", "against")
SHAPING = ("along", "each", "order", "then", "above", "below", "whole", "by", "runs")
# How words begin that select points by another metric.
WHEN = "when."
SEVERAL = ","
# Between levels that share a place of an order.
SHARED = "+"
METRIC = "metric"
# The only values of `by` and of `runs`.
BY, RUNS = "replication", "each"


@dataclass(frozen=True)
class Values:
    """Values, with what they are beside; they may be differences or ratios."""

    x: np.ndarray
    """The level of each along an axis, or another value at the same point."""
    y: np.ndarray
    same: float
    """What a value is where both sides of a comparison are equal."""

    @property
    def count(self) -> int:
        """How many points there are."""
        return int(self.y.shape[-1])


Take = Callable[[Values], np.ndarray]


def _only(values: Values) -> np.ndarray:
    if values.count != 1:
        raise NotRunError(f"{values.count} values are there, not one")
    number: np.ndarray = values.y[..., 0]
    return number


def _of(count: int, what: str, take: Take) -> Take:
    """What is taken of so many points at least."""

    def checked(values: Values) -> np.ndarray:
        if values.count < count:
            raise NotRunError(f"{what} needs {count} points, and {values.count} are there")
        return take(values)

    return checked


TAKES: dict[str, tuple[Take, str]] = {
    "value": (_only, "the only value"),
    "least": (lambda values: values.y.min(axis=-1), "the smallest value"),
    "largest": (lambda values: values.y.max(axis=-1), "the largest value"),
    "mean": (lambda values: values.y.mean(axis=-1), "the mean"),
    "middle": (lambda values: np.median(values.y, axis=-1), "the median"),
    "range": (
        _of(2, "a range", lambda values: values.y.max(axis=-1) - values.y.min(axis=-1)),
        "the largest value less the smallest",
    ),
    "spread": (
        _of(2, "a spread", lambda values: values.y.max(axis=-1) / values.y.min(axis=-1)),
        "the largest value over the smallest",
    ),
    "fall": (
        _of(2, "a fall", lambda values: values.y[..., 0] - values.y[..., -1]),
        "the first value along an axis less the last",
    ),
    "ends": (
        _of(2, "a ratio of both ends", lambda values: values.y[..., -1] / values.y[..., 0]),
        "the last value along an axis over the first",
    ),
    "trend": (
        _of(3, "a trend", lambda values: rank_correlations(values.x, values.y)),
        "the rank correlation with an axis, or with other values; of three points at least",
    ),
    "correlation": (
        _of(3, "a correlation", lambda values: correlations(values.x, values.y)),
        "Pearson's coefficient with other values, of three points at least",
    ),
    "share": (
        lambda values: (values.y > values.same).mean(axis=-1),
        "the share of the points at which a difference is above 0, a ratio above 1",
    ),
    "furthest": (
        lambda values: np.abs(values.y - values.same).max(axis=-1),
        "the largest distance of a difference from 0, of a ratio from 1",
    ),
    "ninth_decile": (
        lambda values: np.percentile(values.y, 90, axis=-1),
        "what nine in ten of the values do not exceed",
    ),
    "best": (
        lambda values: values.x[values.y.argmax(axis=-1)],
        "where an axis has the largest value",
    ),
}


@dataclass(frozen=True)
class Declared:
    """A measure of all values that a claim's `where` selects."""

    name: str
    take: Take
    help: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, data: Data, **where: Word) -> float:
        """The number of a claim."""
        return float(self._numbers(data, where))

    def in_samples(self, samples: Data, where: Words) -> np.ndarray | None:
        """The number in each of several samples; none if they do not all have the same points."""
        if REPLICATION in str(where.get("each", "")).split(SEVERAL):
            return None
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return self._numbers(samples, where)
        except (UnevenError, NotRunError, ZeroDivisionError, FloatingPointError):
            return None

    def _numbers(self, data: Data, where: Words) -> np.ndarray:
        chosen, compared = _split(where)
        groups = _groups(data, chosen)
        numbers = np.stack(
            [self._of_group(data, chosen | group, compared) for group in groups], axis=-1
        )
        if "order" in chosen:
            numbers = _ratios_in_order(numbers, groups, str(chosen["order"]))
        return THEN[str(chosen.get("then", "largest"))](_counted(numbers, chosen))

    def kind(self, where: Mapping[str, Word], axis: str) -> str:
        """Which number some levels of an axis are part of: its name among `THEN` or `TAKES`.

        Nothing where more levels may move it either way.
        """
        compared = any(word.startswith("against.") for word in where)
        own = "" if compared else KINDS.get(self.name, "")
        if "each" not in where:
            return own
        then = str(where.get("then", "largest"))
        return then if axis in str(where["each"]).split(",") or own == then else ""

    def is_extreme(self, where: Mapping[str, Word]) -> bool:
        """Whether it is an extreme of single runs, which runs drawn again never exceed."""
        return "runs" in where and self.name in ("least", "largest")

    def _of_group(
        self, data: Data, chosen: dict[str, Word], compared: dict[str, Words]
    ) -> np.ndarray:
        number = self.take(_values(data, chosen, compared))
        if against := compared.get("against"):
            return _ratio(number, self.take(_values(data, {**chosen, **against}, compared)))
        return number


# What is taken of the numbers of groups; those that are above or below a bound are 1, others 0.
THEN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "largest": lambda numbers: numbers.max(axis=-1),
    "least": lambda numbers: numbers.min(axis=-1),
    "mean": lambda numbers: numbers.mean(axis=-1),
    "middle": lambda numbers: np.median(numbers, axis=-1),
    "count": lambda numbers: numbers.sum(axis=-1),
    "share": lambda numbers: numbers.mean(axis=-1),
}
# Measures of which some levels show something of all: what kind of number they are.
KINDS = {"least": "least", "largest": "largest", "furthest": "largest", "range": "largest",
         "share": "share"}  # fmt: skip


def _counted(numbers: np.ndarray, chosen: Words) -> np.ndarray:
    """The numbers, or of each whether it is beyond a bound, if there is one."""
    if "above" in chosen:
        return (numbers > float(chosen["above"])).astype(float)
    if "below" in chosen:
        return (numbers < float(chosen["below"])).astype(float)
    return numbers


def _ratios_in_order(
    numbers: np.ndarray, groups: Sequence[Mapping[str, Word]], order: str
) -> np.ndarray:
    """The numbers at each place of an order over those at the next."""
    levels = [level for group in groups for level in group.values()]
    places = [_selected_by(name, levels) for name in order.split(">")]
    rest = np.flatnonzero(~np.logical_or.reduce([place for place in places if place is not None]))
    chosen = [rest if place is None else np.flatnonzero(place) for place in places]
    if not all(map(len, chosen)):
        raise NotRunError(f"not every place of {order} was run")
    steps = [
        _ratio(numbers[..., now].min(axis=-1), numbers[..., following].max(axis=-1))
        for now, following in pairwise(chosen)
    ]
    return np.stack(steps, axis=-1)


def _selected_by(names: str, levels: Sequence[Word]) -> np.ndarray | None:
    """Which levels have one of these names; none if they are all others."""
    if names == REST:
        return None
    is_one = selects(names.replace(SHARED, AND))
    return np.array([is_one(level) for level in levels], bool)


DECLARED = {name: Declared(name, *take) for name, take in TAKES.items()}


def check(where: Words, axes: Mapping[str, Collection[str]]) -> None:
    """Refuse words that are neither known nor axes of the experiments that they are of."""
    chosen, compared = _split(where)
    _check_shape(chosen, compared)
    for words in (chosen, *({**chosen, **other} for other in compared.values())):
        if missing := [word for word in SELECTING if word not in words]:
            raise ValueError(f"where: missing {', '.join(missing)}")
        for part in str(words[METRIC]).split(SEVERAL):
            arithmetic.metrics(part)
        experiments = str(words["of"]).split(",")
        for experiment in experiments:
            if experiment not in axes:
                raise ValueError(f"where: there is no experiment {experiment}")
        known = {axis for experiment in experiments for axis in axes[experiment]}
        if "runs" in words:
            known.add(REPLICATION)
        shapes = [
            words.get("along", ""),
            str(words.get("whole", "")).replace(REST, ""),
            *(word for word in str(words.get("each", "")).split(",") if word != METRIC),
        ]
        levels = [
            word for word, level in words.items() if level != "" and not word.startswith(WHEN)
        ]
        for word in (*levels, *filter(None, shapes)):
            if word not in (*SELECTING, *SHAPING) and word not in known:
                raise ValueError(
                    f"where: {', '.join(experiments)} has no axis `{word}`; "
                    f"axes: {', '.join(sorted(known))}; other words: "
                    f"{', '.join((*SELECTING, *SHAPING))}, metrics after {WHEN}, "
                    f"and all of these after less., over., with. or against."
                )


def _check_shape(chosen: Words, compared: Mapping[str, Words]) -> None:
    """Refuse words that do not go together, and values that words cannot have."""
    for word, only in (("by", BY), ("runs", RUNS)):
        if chosen.get(word, only) != only:
            raise ValueError(f"where: {word}: expected {only}, found `{chosen[word]}`")
    sides = [side for side in COMPARED if side in compared]
    if "by" in chosen and (len(sides) != 1 or METRIC in compared[sides[0]]):
        raise ValueError("where: by needs either less. or over., of the same metric")
    metrics = str(chosen.get(METRIC)).split(SEVERAL)
    one_each = len(metrics) == 1 or METRIC in str(chosen.get("each", "")).split(SEVERAL)
    if "by" in chosen and not (one_each and all(map(arithmetic.is_metric, metrics))):
        raise ValueError("where: by needs one metric, or each=metric, and no arithmetic")
    then = str(chosen.get("then", "largest"))
    if then not in THEN:
        raise ValueError(f"where: then: expected one of {', '.join(THEN)}, found `{then}`")
    if (then in ("count", "share")) != any(bound in chosen for bound in ("above", "below")):
        raise ValueError("where: then=count and then=share need above= or below=, others have none")
    if "then" in chosen and "each" not in chosen:
        raise ValueError("where: then needs each")
    if "order" in chosen and (SEVERAL in str(chosen.get("each", SEVERAL)) or "then" not in chosen):
        raise ValueError("where: order needs each, of one axis, and then")
    if "with" in compared and "along" in chosen:
        raise ValueError("where: along and with. do not go together")


def _split(where: Words) -> tuple[dict[str, Word], dict[str, Words]]:
    """The words of `where`, and those of each comparison."""
    chosen: dict[str, Word] = {}
    compared: dict[str, dict[str, Word]] = {}
    for word, value in where.items():
        start, dot, rest = word.partition(".")
        if dot and start in COMPARING:
            compared.setdefault(start, {})[rest] = value
        else:
            chosen[word] = value
    return chosen, dict(compared)


def _groups(data: Data, chosen: Words) -> list[dict[str, Word]]:
    """The levels of the axes of `each`, one group after the other; a single one without it."""
    if "each" not in chosen:
        return [{}]
    each = str(chosen["each"]).split(",")
    if METRIC in each:
        others = {**chosen, "each": ",".join(axis for axis in each if axis != METRIC)}
        return [
            {METRIC: metric, **group}
            for metric in str(chosen[METRIC]).split(SEVERAL)
            for group in _groups(data, {**others, METRIC: metric})
        ]
    points = _points(data, chosen)
    # Not those of which a level is chosen.
    axes = [axis for axis in each if axis in points.axes]
    places = [points.axes.index(axis) for axis in axes]
    levels = dict.fromkeys(tuple(key[place] for place in places) for key in points.values)
    return [dict(zip(axes, level, strict=True)) for level in levels]


@dataclass(frozen=True)
class _Points:
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


def _ratio(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if (right == 0.0).any():
        raise ZeroDivisionError
    ratios: np.ndarray = left / right
    return ratios


def _ratio_of_runs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of replications, of which those without a denominator are left out."""
    ratios = np.full_like(left, np.nan)
    np.divide(left, right, out=ratios, where=right != 0)
    return ratios


# What a comparison makes of medians and of single runs, and what that is where sides are equal.
COMPARED: dict[str, tuple[Combine, Combine, float]] = {
    "less": (np.subtract, np.subtract, 0.0),
    "over": (_ratio, _ratio_of_runs, 1.0),
}


def _values(data: Data, chosen: Words, compared: Mapping[str, Words]) -> Values:
    points = _points(data, chosen)
    same = 0.0
    keys, values = list(points.values), _stacked(points.values.values())
    for how, (of_medians, of_runs, equal) in COMPARED.items():
        if how not in compared:
            continue
        others = _points(data, {**chosen, **compared[how]})
        pairs = _pairs(points, keys, others, compared[how])
        same = equal
        if "by" in chosen:
            cells = [(points.cell(keys[place]), others.cell(other)) for place, other in pairs]
            medians = _medians_of_runs(data, str(chosen[METRIC]), cells, of_runs)
            pairs = [pairs[place] for place in medians]
            values = _stacked(medians.values())
        else:
            right = _stacked(others.values[other] for _, other in pairs)
            values = of_medians(values[..., [place for place, _ in pairs]], right)
        keys = [keys[place] for place, _ in pairs]
    if not keys:
        raise NotRunError("no points in common")
    if "with" in compared:
        others = _points(data, {**chosen, **compared["with"]})
        pairs = _pairs(points, keys, others, compared["with"])
        beside = _stacked(others.values[other] for _, other in pairs)
        return Values(beside, values[..., [place for place, _ in pairs]], same)
    return _along(points, keys, values, same, chosen.get("along"))


def _stacked(numbers: Iterable[Number]) -> np.ndarray:
    """Numbers of points along the last axis; samples have to have them all."""
    stacked = np.ascontiguousarray(np.array(list(numbers)).T)
    if stacked.ndim > 1 and np.isnan(stacked).any():
        raise UnevenError
    return stacked


def _medians_of_runs(
    data: Data, metric: str, cells: Sequence[tuple[Cell, Cell]], combine: Combine
) -> dict[int, Number]:
    """What each pair of cells is compared in each replication, if any has both: by its place."""
    medians: dict[int, Number] = {}
    for place, (one, other) in enumerate(cells):
        try:
            medians[place] = data.paired(metric, one, other, combine)
        except NotRunError:
            continue
    return medians


def _along(
    points: _Points, keys: list[Key], values: np.ndarray, same: float, axis: Word | None
) -> Values:
    """Values in the order of an axis, of which each level has one; as they are without an axis."""
    if axis is None:
        return Values(np.zeros(len(keys)), values, same)
    if axis not in points.axes:
        raise NotRunError(f"no axis {axis} is left")
    place = points.axes.index(str(axis))
    levels = [key[place] for key in keys]
    if len(set(levels)) < len(levels):
        raise NotRunError(f"there are several values for each {axis}")
    order = sorted(range(len(levels)), key=levels.__getitem__)
    return Values(np.array([levels[at] for at in order]), values[..., order], same)


def _pairs(
    points: _Points, keys: Sequence[Key], others: _Points, words: Words
) -> list[tuple[int, Key]]:
    """The place of each key, with the points of the other side that it is compared with.

    By the axes that both sides leave open; with each level of axes of which only the words of the
    comparison select several.
    """
    common = [
        axis
        for axis in points.axes
        if axis in others.axes and _is_matched(axis, points.count(axis), others.count(axis))
    ]
    chosen = [axis for axis in others.axes if words.get(axis, "") != ""]
    named = [others.axes.index(axis) for axis in chosen if axis not in common]
    left, right = ([side.axes.index(axis) for axis in common] for side in (points, others))
    by_levels: dict[Key, dict[Key, Key]] = {}
    for key in others.values:
        beside = by_levels.setdefault(tuple(key[place] for place in right), {})
        several = tuple(key[place] for place in named)
        if several in beside:
            raise NotRunError("there are several values to compare with")
        beside[several] = key
    return [
        (number, other)
        for number, key in enumerate(keys)
        for other in by_levels.get(tuple(key[place] for place in left), {}).values()
    ]


def _is_matched(axis: str, count: int, other: int) -> bool:
    """Whether points are compared at the same levels of an axis, of which sides have so many."""
    return min(count, other) > 1 if axis == "of" else max(count, other) > 1


def _points(data: Data, chosen: Words) -> _Points:
    """The values of a metric at all points with these levels; some, or NotRunError."""
    selection = _selection(tuple(chosen.items()))
    exact = selection.exact
    of_runs = "runs" in chosen
    lookups = [data.lookup(experiment, of_runs=of_runs) for experiment in selection.experiments]
    there = frozenset[str]().union(*(lookup.names for lookup in lookups))
    possible = (*data.axes, REPLICATION) if of_runs else data.axes
    axes = tuple([axis for axis in possible if axis in there and axis not in exact])
    values = {
        (experiment, *key): number
        for experiment, lookup in enumerate(lookups)
        for key, number in selection.numbers(lookup, axes)
    }
    if not values:
        raise NotRunError(f"{chosen['of']} has no {chosen['metric']} at {selection.levels}")
    return _Points(selection.experiments, exact, ("of", *axes), values)


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

    def numbers(self, lookup: Lookup, axes: tuple[str, ...]) -> Iterator[tuple[Key, Number]]:
        """The number of each row that has all metrics, with its levels of axes."""
        rows = lookup.selected(self.exact, self.several, axes)
        if not lookup.names.issuperset((*self.metrics, *self.when)):
            return
        for metric, word in self.when.items():
            rows = _those_with(rows, lookup.column(metric), selects(word))
        if list(self.texts) == self.metrics and len(self.texts) == 1:
            plain = lookup.column(self.texts[0])
            yield from ((key, plain[row]) for row, key in rows if plain[row] is not None)
            return
        columns = {name: lookup.column(name) for name in self.metrics}
        numbers = [arithmetic.number(text) for text in self.texts]
        for row, key in rows:
            values = {name: column[row] for name, column in columns.items()}
            if all(value is not None for value in values.values()):
                yield key, np.mean([made(values) for made in numbers], axis=0)


def _those_with(
    rows: Sequence[tuple[int, Key]], column: Sequence[Any], is_chosen: Predicate
) -> list[tuple[int, Key]]:
    """The rows of which the value of a metric is chosen."""
    chosen = []
    for row, key in rows:
        value = column[row]
        if isinstance(value, np.ndarray):  # other rows in each sample
            raise UnevenError
        if value is not None and is_chosen(value):
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
