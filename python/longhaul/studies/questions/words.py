"""Parser of the `key=value` words in a claim's `where`, for each side of a comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from longhaul.studies.selection import Word, selects

Words = Mapping[str, Word]
Key = tuple[Any, ...]
# The number of a point, or an array of it over bootstrap samples.
Number = float | np.ndarray

OF, METRIC = "of", "metric"
# Words that select experiments and metrics instead of levels.
SELECTING = (OF, METRIC)
COMPARING = ("less", "over", "with", "against")
SHAPING = ("along", "each", "order", "then", "above", "below", "whole", "by", "runs")
# Prefix of words that select points by another metric.
WHEN = "when."
SEVERAL = ","
# Separates levels that share a place of an order.
SHARED = "+"


def words_of(text: str) -> dict[str, Word]:
    """Parse the text of a claim's words: `key=value` separated by spaces.

    A value is a number if it can be read as one, otherwise text; values of `of` and `metric` are
    always text. If a key occurs twice, its last value counts. Raise ValueError for any other form.
    """
    return dict(_words_of(text))


def _words_of(text: str) -> Iterator[tuple[str, Word]]:
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, found `{word}`")
        if _sided(key)[1] in SELECTING:
            yield key, value
            continue
        try:
            yield key, float(value)
        except ValueError:
            yield key, value


def _sided(word: str) -> tuple[str, str]:
    """Split `less.n` into `less` and `n`; the first part is empty for a word of the first side."""
    start, dot, rest = word.partition(".")
    return (start, rest) if dot and start in COMPARING else ("", word)


@dataclass(frozen=True)
class Sides:
    """The `key=value` words that select values, for each side of a claim's comparisons."""

    own: Words
    compared: Mapping[str, Words]
    """Words (`key=value`) that apply only to a comparison's second side, by the comparison's name.

    The names are `less`, `over`, `with` and `against`.
    """

    @classmethod
    def read(cls, words: Words) -> "Sides":
        """Divide a claim's words between the two sides of its comparison.

        A prefix such as `less.` or `over.` marks a word of the second side: `over.flows=5` selects
        the divisor of a ratio. Words in `SHAPING` belong to no side. Raise ValueError for a bad
        range of levels.
        """
        own: dict[str, Word] = {}
        compared: dict[str, dict[str, Word]] = {}
        for word, value in words.items():
            side, key = _sided(word)
            if key not in (*SELECTING, *SHAPING):
                check_level(word, value)
            if side:
                compared.setdefault(side, {})[key] = value
            elif key not in SHAPING:
                own[key] = value
        return cls(own, compared)

    def side(self, name: str) -> Words:
        """Return all words of the second side of the comparison `name`.

        The second side inherits the words of the first side, except for keys that it sets itself.
        """
        return {**self.own, **self.compared[name]}

    @property
    def all(self) -> list[Words]:
        """Words of the first side, followed by the words of the second side of each comparison."""
        return [self.own, *(self.side(name) for name in COMPARING if name in self.compared)]

    def narrowed(self, levels: Words) -> "Sides":
        """Add words to the first side, from which the others inherit them; return all sides."""
        return replace(self, own={**self.own, **levels})


def names(word: Word) -> list[str]:
    """Split the value of a `key=value` word into names at commas."""
    return str(word).split(SEVERAL)


def check_level(word: str, level: Word) -> None:
    """Raise ValueError if the value of a word is a range whose ends are not numbers."""
    try:
        selects(level)
    except ValueError as error:
        raise ValueError(f"where: {word}: {error}") from None


def is_when(word: str) -> bool:
    """Return true for a word `when.METRIC`, which restricts points by another metric's value."""
    return word.startswith(WHEN)
