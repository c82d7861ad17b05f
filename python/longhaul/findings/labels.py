"""Labels of a table's columns in plots: words with the unit."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from longhaul.figures import words
from longhaul.figures.registry import with_unit
from longhaul.mesonet.groups import short_name
from longhaul.mesonet.meanings import Meaning, meaning

# Names of periods in labels, if not their own: a run with one period needs none.
PERIODS = {"measured": "", "half": "second half"}
_COMPONENT = re.compile(r"PC\d+")
_NUMBERED = re.compile(r"(T\.)?y\d+")


def label(column: str) -> str:
    """Return a response's words and unit, such as `smoothed round-trip time, TP1 (ms)`.

    A column of which nothing is known, not even a unit by its name, stays as it is.
    """
    return with_unit(*words_and_unit(column))


def words_and_unit(column: str) -> tuple[str, str]:
    """Return the label's words, and its unit, empty if unknown."""
    unit = words.unit_at(column)
    if words.is_known(column):
        return words.title(column), unit
    if found := meaning(column):
        period = PERIODS.get(found.period, found.period)
        return (f"{found.what}, {period}" if period else found.what), found.unit
    if found := meaning(column.rpartition(".")[2]):
        return found.what + words.owner(column), found.unit
    if _COMPONENT.fullmatch(column):
        return f"score on {column}", ""
    return (words.title(column), unit) if unit else (column, "")


def codes(
    columns: Sequence[str], places: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], list[str]]:
    """Return short names for where there is no room for labels, and lines that explain them.

    Those that a campaign named itself, of the figures at `places`, are called by these names.

    Numbers of responses are without their period if all are of one; flow groups have their
    letters. Others are called by their labels without the unit, and need no line.
    """
    period = _common([meaning(column) for column in columns])
    shorter = [short_name(column) for column in columns]
    if len(set(shorter)) < len(shorter):
        shorter = list(columns)
    short, lines = [], []
    for column, code in zip(columns, shorter, strict=True):
        named = places.get(column, column) != column
        text = label(places.get(column, column))
        if not named and code == column and not _NUMBERED.match(column):
            short.append(words_and_unit(column)[0])
            continue
        short.append(code.removesuffix(f"_{period}") if period else code)
        lines.append(f"{short[-1]}: {text}")
    return (short, lines) if len(set(short)) == len(short) else (list(columns), [])


def _common(found: Sequence[Meaning | None]) -> str:
    """Return the common period of all columns; empty if there are several."""
    periods = {each.period if each else "" for each in found}
    return periods.pop() if len(periods) == 1 else ""


def factor_label(name: str) -> str:
    """Return a factor's name in words."""
    return name.replace("_", " ")
