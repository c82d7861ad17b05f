"""Declared measures: statistics of the values, or of each group of values, that a claim selects."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from longhaul.analysis.statistics import correlations, rank_correlations
from longhaul.studies import arithmetic
from longhaul.studies.data import REPLICATION, Data, NotRunError
from longhaul.studies.data.lookup import UnevenError
from longhaul.studies.experiments import Experiment
from longhaul.studies.partial import LARGEST, LEAST, RATIO, SHARE, SIGN
from longhaul.studies.questions.comparison import ComparedValues, ratio, values_of
from longhaul.studies.questions.points import groups_of
from longhaul.studies.questions.question import FULL, Experiments, Question
from longhaul.studies.questions.shape import BEFORE, COUNTING, Shape, is_axis, whole
from longhaul.studies.questions.words import (
    METRIC,
    OF,
    SELECTING,
    SHAPING,
    SHARED,
    WHEN,
    Sides,
    Words,
    is_when,
    names,
)
from longhaul.studies.selection import AND, REST, Word, selects

Take = Callable[[ComparedValues], np.ndarray]


def _only(values: ComparedValues) -> np.ndarray:
    if values.count != 1:
        raise NotRunError(f"{values.count} values are there, not one")
    number: np.ndarray = values.y[..., 0]
    return number


def _best(values: ComparedValues) -> np.ndarray:
    x, y = np.broadcast_arrays(values.x, values.y)
    best: np.ndarray = np.take_along_axis(x, y.argmax(axis=-1, keepdims=True), axis=-1)[..., 0]
    return best


def _of(count: int, what: str, take: Take) -> Take:
    """Return the statistic `take` with a check: fewer than `count` values raise NotRunError.

    `what` is the name of the statistic in the error.
    """

    def checked(values: ComparedValues) -> np.ndarray:
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
        _of(2, "a spread", lambda values: ratio(values.y.max(axis=-1), values.y.min(axis=-1))),
        "the largest value over the smallest",
    ),
    "fall": (
        _of(2, "a fall", lambda values: values.y[..., 0] - values.y[..., -1]),
        "the first value along an axis less the last",
    ),
    "ends": (
        _of(2, "a ratio of both ends", lambda values: ratio(values.y[..., -1], values.y[..., 0])),
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
    "best": (_best, "where an axis has the largest value"),
}


@dataclass(frozen=True)
class DeclaredMeasure:
    """A named statistic, such as `share`, of values that a claim's `key=value` words select."""

    name: str
    take: Take
    help: str

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, data: Data, **words: Word) -> float:
        """Return the statistic of the values that the `key=value` words select."""
        return self.question(words, tuple(names(words[OF]))).value(data)

    def question(self, words: Words, experiments: Sequence[str]) -> "DeclaredQuestion":
        """Parse the `key=value` words of a claim on `experiments`; raise ValueError if invalid."""
        sides, shape = Sides.read(words), Shape.read(words)
        shape.check(sides)
        return DeclaredQuestion(words, tuple(experiments), sides, whole(words), self, shape)


@dataclass(frozen=True)
class DeclaredQuestion(Question):
    """A claim's number: a statistic of values that `key=value` words select and compare."""

    measure: DeclaredMeasure
    shape: Shape

    def check(self, known: Experiments) -> None:
        """Raise ValueError if the claim lacks `of` or `metric`, or if one of its words is invalid.

        Words with an unknown experiment or axis, or with bad arithmetic, are invalid, and so is
        `along=` with an axis whose levels are texts. Names of metrics are not checked.

        `known` has the study's experiments by name.
        """
        axes = {name: {*experiment.axes, *experiment.columns} for name, experiment in known.items()}
        for words in self.sides.all:
            self._check_side(words, axes)
        along = self.shape.along
        if along is not None and along != REPLICATION:
            for name in names(self.sides.own[OF]):
                _check_along(along, known[name])

    def _check_side(self, words: Words, axes: Mapping[str, Collection[str]]) -> None:
        if missing := [word for word in SELECTING if word not in words]:
            raise ValueError(f"where: missing {', '.join(missing)}")
        for text in names(words[METRIC]):
            arithmetic.metrics(text)
        experiments = names(words[OF])
        for experiment in experiments:
            if experiment not in axes:
                raise ValueError(f"where: there is no experiment {experiment}")
        known = {axis for experiment in experiments for axis in axes[experiment]}
        if self.shape.of_runs:
            known.add(REPLICATION)
        levels = [word for word, level in words.items() if level != "" and not is_when(word)]
        shapes = [*self.shape.axes, *filter(is_axis, (self.whole,))]
        for word in (*levels, *shapes):
            if word not in SELECTING and word not in known:
                raise ValueError(
                    f"where: {', '.join(experiments)} has no axis `{word}`; "
                    f"axes: {', '.join(sorted(known))}; other words: "
                    f"{', '.join((*SELECTING, *SHAPING))}, metrics after {WHEN}, "
                    f"and all of these after less., over., with. or against."
                )

    def value(self, data: Data) -> float:
        """Return the number, computed from the results of the study."""
        return float(self._numbers(data))

    def in_samples(self, samples: Data) -> np.ndarray | None:
        """Return the number for each bootstrap sample; None if samples need calls of `value`."""
        if REPLICATION in self.shape.each:
            return None
        try:
            with np.errstate(divide="raise", invalid="raise"):
                return self._numbers(samples)
        except (UnevenError, NotRunError, ZeroDivisionError, FloatingPointError):
            return None

    def _numbers(self, data: Data) -> np.ndarray:
        groups = groups_of(data, self.sides.own, self.shape)
        numbers = np.stack([self._of_group(data, group) for group in groups], axis=-1)
        if self.shape.order is not None:
            numbers = _ratios_in_order(numbers, groups, self.shape.order)
        return self.shape.reduced(numbers)

    def _of_group(self, data: Data, group: Words) -> np.ndarray:
        sides, take = self.sides.narrowed(group), self.measure.take
        number = take(values_of(data, sides, self.shape))
        if "against" in sides.compared:
            against = replace(sides, own=sides.side("against"))
            return ratio(number, take(values_of(data, against, self.shape)))
        return number

    def metrics_of(self, words: Words) -> list[str]:
        """Return the metrics that `metric=` names in `words`.

        `words` are the `key=value` words of one side of a comparison.
        """
        return [name for text in names(words[METRIC]) for name in arithmetic.metrics(text)]

    def kind(self, axis: str) -> str:
        """Return the kind of the question's number, such as `count` or `largest`.

        The kind decides what can be concluded about all levels of `axis` if only some were run. It
        is empty if nothing can be concluded.
        """
        name, shape = self.measure.name, self.shape
        kind = "" if "against" in self.sides.compared else KINDS.get(name, "")
        if shape.each:
            if axis in shape.each and shape.order is not None:
                # Further levels can only lower the minimum and raise the maximum of a place, and so
                # lower the ratio.
                return "" if shape.then in COUNTING else LEAST
            # The smallest number of the groups' smallest is the smallest of all; a share of groups
            # is no share of levels.
            alike = kind == shape.then != SHARE and shape.order is None
            kind = shape.then if axis in shape.each or alike else ""
            if shape.then in COUNTING:
                # A count is bounded only if each level of the axis has a single group.
                return kind if shape.then == SHARE or shape.each == (axis,) else ""
        return kind if kind in (SHARE, LEAST, LARGEST) else self._order

    @property
    def _order(self) -> str:
        """Kind of the claim's number: `ratio`, `sign`, or empty for all other kinds.

        A `ratio` is 1 for equal values. A `sign` (a difference or a trend) is 0 for equal values.
        """
        name, compared = self.measure.name, self.sides.compared
        if self.shape.order is not None or "against" in compared:
            return RATIO
        if name in ORDERS:
            return ORDERS[name]
        if name not in MIDDLES:
            return ""
        return RATIO if "over" in compared else SIGN if "less" in compared else ""

    @property
    def is_extreme(self) -> bool:
        """True if the number is the minimum or maximum over single runs."""
        return self.shape.of_runs and self.measure.name in ("least", "largest")


def _check_along(axis: str, experiment: Experiment) -> None:
    """Raise ValueError unless an experiment has an axis, with numbers as levels."""
    if axis not in {*experiment.axes, *experiment.columns}:
        raise ValueError(f"where: along: {experiment.name} has no axis `{axis}`")
    levels = experiment.levels(axis, FULL) if axis in experiment.axes else ()
    texts = [level for level in levels if isinstance(level, str)]
    if texts or axis in experiment.words:
        raise ValueError(
            f"where: along: expected an axis with numbers as levels, found `{axis}` of "
            f"{experiment.name}"
        )


# Kinds of measures whose values at some levels bound their values at all levels.
KINDS = {"least": LEAST, "largest": LARGEST, "furthest": LARGEST, "range": LARGEST, "share": SHARE}
# Kinds of measures that compare values, and measures that do so only with `less.` or `over.`.
ORDERS = {"trend": SIGN, "correlation": SIGN, "fall": SIGN, "ends": RATIO}
MIDDLES = ("value", "mean", "middle")


def _ratios_in_order(
    numbers: np.ndarray, groups: Sequence[Mapping[str, Word]], order: str
) -> np.ndarray:
    """Return a ratio for each `>` in an order of levels such as `a+b>c`.

    All ratios exceed 1 if, and only if, the numbers follow the order. A ratio is the smallest
    number of the levels directly before the `>` (a and b), divided by the largest number of the
    levels directly after it (c). `numbers` has one number per group of `groups`.
    """
    levels = [level for group in groups for level in group.values()]
    places = [_selected_by(name, levels) for name in order.split(BEFORE)]
    rest = np.flatnonzero(~np.logical_or.reduce([place for place in places if place is not None]))
    chosen = [rest if place is None else np.flatnonzero(place) for place in places]
    if not all(map(len, chosen)):
        raise NotRunError(f"not every place of {order} was run")
    steps = [
        ratio(numbers[..., now].min(axis=-1), numbers[..., following].max(axis=-1))
        for now, following in pairwise(chosen)
    ]
    return np.stack(steps, axis=-1)


def _selected_by(level: str, levels: Sequence[Word]) -> np.ndarray | None:
    """Return a mask of the `levels` that the word `level` selects; None for the word `*`."""
    if level == REST:
        return None
    is_one = selects(level.replace(SHARED, AND))
    return np.array([is_one(level) for level in levels], bool)


DECLARED = {name: DeclaredMeasure(name, *take) for name, take in TAKES.items()}
