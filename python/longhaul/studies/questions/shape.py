"""The `key=value` words of a claim that compare, order, group and reduce values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from longhaul.studies import arithmetic
from longhaul.studies.questions.words import METRIC, SHARED, Sides, Words, check_level, names
from longhaul.studies.selection import AND, REST

# Comparisons that combine two numbers into one.
PAIRING = ("less", "over")
# The only values of `by` and of `runs`.
BY, RUNS = "replication", "each"
# Reductions of the numbers of groups; `count` and `share` get 1 for numbers beyond a bound, else 0.
THEN: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "largest": lambda numbers: numbers.max(axis=-1),
    "least": lambda numbers: numbers.min(axis=-1),
    "mean": lambda numbers: numbers.mean(axis=-1),
    "middle": lambda numbers: np.median(numbers, axis=-1),
    "count": lambda numbers: numbers.sum(axis=-1),
    "share": lambda numbers: numbers.mean(axis=-1),
}
COUNTING = ("count", "share")
# Separates the places of an order.
BEFORE = ">"


@dataclass(frozen=True)
class Shape:
    """Operations on the values that a claim selects: comparison, order, grouping, and reduction."""

    along: str | None
    each: tuple[str, ...]
    """Axes whose levels form groups, or the word `metric` for a group per metric.

    The statistic is computed for each group.
    """
    order: str | None
    then: str
    above: float | None
    below: float | None
    by_replication: bool
    of_runs: bool

    @classmethod
    def read(cls, words: Words) -> "Shape":
        """Parse a claim's words that order, group and reduce values, such as `each=flows`.

        Raise ValueError for a bad value, or for words that do not go together.
        """
        for word, only in (("by", BY), ("runs", RUNS)):
            if words.get(word, only) != only:
                raise ValueError(f"where: {word}: expected {only}, found `{words[word]}`")
        then = str(words.get("then", "largest"))
        if then not in THEN:
            raise ValueError(f"where: then: expected one of {', '.join(THEN)}, found `{then}`")
        if (then in COUNTING) != sum(bound in words for bound in ("above", "below")):
            raise ValueError(
                "where: then=count and then=share need above= or below=, not both; others have none"
            )
        each = tuple(names(words["each"])) if "each" in words else ()
        if "then" in words and not each:
            raise ValueError("where: then needs each")
        if "order" in words and (len(each) != 1 or "then" not in words):
            raise ValueError("where: order needs each, of one axis, and then")
        if "order" in words:
            _check_order(str(words["order"]))
        return cls(
            along=_text(words, "along"),
            each=each,
            order=_text(words, "order"),
            then=then,
            above=_bound(words, "above"),
            below=_bound(words, "below"),
            by_replication="by" in words,
            of_runs="runs" in words,
        )

    def check(self, sides: Sides) -> None:
        """Raise ValueError if the words `by` or `along` cannot be combined with these `sides`."""
        if self.by_replication:
            _check_pairs(sides, self.each)
        if "with" in sides.compared and self.along is not None:
            raise ValueError("where: along and with. do not go together")

    def reduced(self, numbers: np.ndarray) -> np.ndarray:
        """Reduce the last axis of `numbers`, which counts groups, by the operation `then`."""
        if self.above is not None:
            numbers = (numbers > self.above).astype(float)
        if self.below is not None:
            numbers = (numbers < self.below).astype(float)
        return THEN[self.then](numbers)

    @property
    def axes(self) -> list[str]:
        """Axes that `along=` and `each=` name."""
        return [axis for axis in (self.along, *self.each) if axis and axis != METRIC]


def _check_order(order: str) -> None:
    """Raise ValueError for an order of a single place, or with a bad range of levels."""
    if BEFORE not in order:
        raise ValueError(
            f"where: order: expected levels separated by `{BEFORE}` such as a+b>c, found `{order}`"
        )
    for place in order.split(BEFORE):
        check_level("order", place.replace(SHARED, AND))


def _check_pairs(sides: Sides, each: tuple[str, ...]) -> None:
    """Raise ValueError for comparisons that cannot be made within each replication."""
    pairing = [side for side in PAIRING if side in sides.compared]
    if len(pairing) != 1 or METRIC in sides.compared[pairing[0]]:
        raise ValueError("where: by needs either less. or over., of the same metric")
    metrics = names(sides.own.get(METRIC, ""))
    one_each = len(metrics) == 1 or METRIC in each
    if not (one_each and all(map(arithmetic.is_metric, metrics))):
        raise ValueError("where: by needs one metric, or each=metric, and no arithmetic")


def _text(words: Words, word: str) -> str | None:
    return str(words[word]) if word in words else None


def _bound(words: Mapping[str, str | float], word: str) -> float | None:
    return float(words[word]) if word in words else None


def whole(words: Words) -> str:
    """Return the value of the word `whole`; empty if there is none.

    It is an axis if the claim is about all levels of this axis, and `*` if the claim needs all of
    its runs (see module `coverage`).
    """
    return str(words.get("whole", ""))


def is_axis(whole: str) -> bool:
    """Return true if the text `whole` names an axis; false if the text is empty or `*`."""
    return whole not in ("", REST)
