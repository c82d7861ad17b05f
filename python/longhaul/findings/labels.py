"""What pictures call the columns of a table: in words, with the unit."""

import re

from longhaul.campaign import meanings
from longhaul.mesonet.meanings import meaning

# Of periods whose names say too much or too little: a run with one period has no other.
PERIODS = {"measured": "", "half": "second half"}


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
    elif unit:
        words = meanings.in_words(column)
    else:
        return column
    # Flows that were completed are flows.
    return f"{words} ({unit})" if unit and unit not in re.findall(r"\w+", words) else words


def factor_label(name: str) -> str:
    """A factor's name in words."""
    return name.replace("_", " ")


def words_and_unit(column: str) -> tuple[str, str]:
    """The label's words, and its unit, empty where none is known."""
    words, _, unit = label(column).partition(" (")
    return words, unit.removesuffix(")")
