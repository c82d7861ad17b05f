"""Selection of levels of an axis by one word of a claim.

A word is an axis and the levels that are selected:

    condition=8              one level
    condition=8,21           several levels
    algorithm=!FAST,FAST-AT  all levels except these
    flows=5..                levels from 5 on
    load=50..79              levels from 50 to 79, both ends included
    pair=75-*                levels whose names begin with `75-`
"""

from collections.abc import Callable
from math import inf
from typing import Any

Word = str | float
Predicate = Callable[[Any], bool]

BETWEEN = ".."
EXCEPT = "!"
AND = ","
REST = "*"


def selects(word: Word) -> Predicate:
    """Return a predicate that is true for the levels that `word`, such as `5..`, selects.

    Raise ValueError for a range whose ends are not numbers.
    """
    if isinstance(word, str) and word.startswith(EXCEPT):
        excluded = selects(word.removeprefix(EXCEPT))
        return lambda level: not excluded(level)
    if isinstance(word, str) and BETWEEN in word:
        low, _, high = word.partition(BETWEEN)
        try:
            return _between(float(low or -inf), float(high or inf))
        except ValueError:
            raise ValueError(f"expected a range of numbers such as 5..79, found `{word}`") from None
    if isinstance(word, str) and word.endswith(REST):
        start = word.removesuffix(REST)
        return lambda level: str(level).startswith(start)
    wanted = [_number(part) for part in word.split(AND)] if isinstance(word, str) else [word]
    return lambda level: any(is_level(level, chosen) for chosen in wanted)


def is_one_level(word: Word) -> bool:
    """Return true if `word` selects a single level."""
    several = (BETWEEN, EXCEPT, AND, REST)
    return not isinstance(word, str) or not any(sign in word for sign in several)


def is_level(own: Any, level: Any) -> bool:  # noqa: ANN401
    """Return true if the levels `own` and `level` of an axis are equal, up to rounding errors.

    If `own` is a text and `level` a number, they are equal if the text reads as this number.
    """
    if isinstance(own, str) and not isinstance(level, str):
        own = _number(own)
    if isinstance(level, str) or isinstance(own, str) or own is None:
        return bool(own == level)
    return bool(own == level or (level and abs(own / level - 1) < 1e-9))


def is_written_as(level: Any, text: str) -> bool:  # noqa: ANN401
    """Return true if a text means a level: `1e-5` on the command line means `1e-05`."""
    return str(level) == text or is_level(level, _number(text))


def widened(low: float, high: float) -> tuple[float, float]:
    """Return the ends of a range, moved apart by rounding errors so that both are included."""
    return low - 1e-9 * abs(low), high + 1e-9 * abs(high)


def _between(low: float, high: float) -> Predicate:
    """Return a predicate for levels from `low` to `high`, ends included."""
    least, most = widened(low, high)
    return lambda level: bool(least <= level <= most)


def _number(text: str) -> Word:
    try:
        return float(text)
    except ValueError:
        return text
