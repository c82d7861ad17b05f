"""What is taken of the values that words select, and of the numbers of several groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from longhaul.analysis.statistics import correlations, rank_correlations
from longhaul.studies.data import REPLICATION, Data, NotRunError
from longhaul.studies.data.lookup import UnevenError
from longhaul.studies.declared.comparison import Values, ratio, values_of
from longhaul.studies.declared.points import groups_of
from longhaul.studies.declared.words import SEVERAL, SHARED, Words, split
from longhaul.studies.partial import COUNT, LARGEST, LEAST, RATIO, SHARE, SIGN
from longhaul.studies.selection import AND, REST, Word, selects

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
        chosen, compared = split(where)
        groups = groups_of(data, chosen)
        numbers = np.stack(
            [self._of_group(data, chosen | group, compared) for group in groups], axis=-1
        )
        if "order" in chosen:
            numbers = _ratios_in_order(numbers, groups, str(chosen["order"]))
        return THEN[str(chosen.get("then", "largest"))](_counted(numbers, chosen))

    def kind(self, where: Mapping[str, Word], axis: str) -> str:
        """Which number some levels of an axis are part of: see `partial`.

        Nothing where more levels may move it either way, and no order is said.
        """
        _, compared = split(where)
        kind = "" if "against" in compared else KINDS.get(self.name, "")
        if "each" in where:
            each, then = str(where["each"]).split(SEVERAL), str(where.get("then", "largest"))
            if axis in each and "order" in where:
                # Of more levels the smallest is smaller, and the largest larger.
                return "" if then in (COUNT, SHARE) else LEAST
            alike = kind == then and "order" not in where
            kind = then if axis in each or alike else ""
            if then in (COUNT, SHARE):
                # A level may count several times.
                return kind if then == SHARE or each == [axis] else ""
        return kind if kind in (SHARE, LEAST, LARGEST) else self._order(where, compared)

    def _order(self, where: Mapping[str, Word], compared: Mapping[str, Words]) -> str:
        """Whether it is a number that says which side is the larger, and of which kind."""
        if "order" in where or "against" in compared:
            return RATIO
        if self.name in ORDERS:
            return ORDERS[self.name]
        if self.name not in MIDDLES:
            return ""
        return RATIO if "over" in compared else SIGN if "less" in compared else ""

    def is_extreme(self, where: Mapping[str, Word]) -> bool:
        """Whether it is an extreme of single runs, which runs drawn again never exceed."""
        return "runs" in where and self.name in ("least", "largest")

    def _of_group(
        self, data: Data, chosen: dict[str, Word], compared: dict[str, Words]
    ) -> np.ndarray:
        number = self.take(values_of(data, chosen, compared))
        if against := compared.get("against"):
            return ratio(number, self.take(values_of(data, {**chosen, **against}, compared)))
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
KINDS = {"least": LEAST, "largest": LARGEST, "furthest": LARGEST, "range": LARGEST, "share": SHARE}
# Those that say which of two sides is the larger, and those that do if values are compared.
ORDERS = {"trend": SIGN, "correlation": SIGN, "fall": SIGN, "ends": RATIO}
MIDDLES = ("value", "mean", "middle")


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
        ratio(numbers[..., now].min(axis=-1), numbers[..., following].max(axis=-1))
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
