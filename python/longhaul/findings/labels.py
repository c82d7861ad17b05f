"""What pictures call the columns of a table: in words, with the unit."""

import re
from collections.abc import Sequence

from longhaul.campaign import meanings
from longhaul.mesonet.groups import short_name
from longhaul.mesonet.meanings import Meaning, meaning

# Of periods whose names say too much or too little: a run with one period has no other.
PERIODS = {"measured": "", "half": "second half"}
_COMPONENT = re.compile(r"PC\d+")
_NUMBERED = re.compile(r"(T\.)?y\d+")


def label(column: str) -> str:
    """Words and unit of a response's column, such as `smoothed round-trip time, TP1 (ms)`.

    A column of which nothing is known, not even a unit by its name, stays as it is.
    """
    unit = meanings.unit_of(column)
    if meanings.is_known(column):
        words = meanings.in_words(column)
    elif found := meaning(column):
        words, unit = found.what, found.unit
        if period := PERIODS.get(found.period, found.period):
            words = f"{words}, {period}"
    elif found := meaning(column.rpartition(".")[2]):
        words, unit = found.what + meanings.owner(column), found.unit
    elif _COMPONENT.fullmatch(column):
        words = f"score on {column}"
    elif unit:
        words = meanings.in_words(column)
    else:
        return column
    # Flows that were completed are flows.
    return f"{words} ({unit})" if unit and unit not in re.findall(r"\w+", words) else words


def codes(columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Short names where there is no room for labels, and lines that say what they are.

    Numbers of responses are without their period if all are of one; flow groups have their
    letters. Others are called by their labels without the unit, and need no line.
    """
    period = _common([meaning(column) for column in columns])
    shorter = [short_name(column) for column in columns]
    if len(set(shorter)) < len(shorter):
        shorter = list(columns)
    short, lines = [], []
    for column, code in zip(columns, shorter, strict=True):
        text = label(column)
        if code == column and not _NUMBERED.match(column):
            short.append(text.partition(" (")[0])
            continue
        short.append(code.removesuffix(f"_{period}") if period else code)
        lines.append(f"{short[-1]}: {text}")
    return (short, lines) if len(set(short)) == len(short) else (list(columns), [])


def _common(found: Sequence[Meaning | None]) -> str:
    """The period that all columns are of; empty if they are of several."""
    periods = {each.period if each else "" for each in found}
    return periods.pop() if len(periods) == 1 else ""


def factor_label(name: str) -> str:
    """A factor's name in words."""
    return name.replace("_", " ")


def words_and_unit(column: str) -> tuple[str, str]:
    """The label's words, and its unit, empty where none is known."""
    words, _, unit = label(column).partition(" (")
    return words, unit.removesuffix(")")
