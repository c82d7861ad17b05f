"""Labels of a table's columns in plots: descriptions with units."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from longhaul.analysis.table import LOGARITHM
from longhaul.figures import words
from longhaul.figures.registry import OF_ROWS, with_unit
from longhaul.mesonet.groups import short_name
from longhaul.mesonet.meanings import Meaning, meaning
from longhaul.results.table import UNITS

# Names of periods in labels that differ from those in columns; `measured` is a run's only period,
# and is not named.
PERIODS = {"measured": "", "half": "second half"}
_LOGARITHM = re.compile(rf"{LOGARITHM}\((.+)\)")
_COMPONENT = re.compile(r"PC\d+")
_NUMBERED = re.compile(r"(T\.)?y\d+")


def label(column: str) -> str:
    """Return a response's description and unit, such as `smoothed round-trip time, TP1 (ms)`."""
    return with_unit(*words_and_unit(column))


def in_row_unit(column: str, values: Iterable[float]) -> tuple[str, float]:
    """Return a column's label with the unit for tables, and the factor that converts to this unit.

    The factor multiplies `values`, which are in the column's base unit. The values also select the
    unit: seconds become milliseconds if all values are below one second.
    """
    return in_unit_of_rows(*words_and_unit(column), values)


def in_unit_of_rows(words: str, unit: str, values: Iterable[float]) -> tuple[str, float]:
    """Return `words` with the unit for tables, and the factor that converts values to this unit.

    `unit` is the base unit of `values`. Bit/s are always converted, seconds if all values are below
    1 s, other units never.
    """
    if unit == "bit/s" or (unit == "s" and max(map(abs, values), default=1.0) < 1.0):
        shown = UNITS[OF_ROWS[unit]][0]
        return with_unit(words, shown.name), shown.scale
    return with_unit(words, unit), 1.0


def words_and_unit(column: str) -> tuple[str, str]:
    """Return the description of a column and its unit.

    The unit is empty if there is none, or if it is unknown. The description of an unknown column is
    its name, or its name in words if the name ends with a unit.
    """
    if logarithm := _LOGARITHM.fullmatch(column):
        of, unit = words_and_unit(logarithm[1])
        return f"{LOGARITHM} of {of}{f' in {unit}' if unit else ''}", ""
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
    """Return short names of columns for plots with little space, and lines that explain the names.

    Renamed responses keep the new name; `places` maps new to original names. Flow groups are
    abbreviated as in NIST SP 500-282, table 8-6, unless two abbreviations are equal. Numbered
    responses, such as `y6_TP1`, are named without their time period (`TP1`) if all columns have the
    same. Other columns get a description without unit, and no line. If two short names would be
    equal, return `columns` and no lines.
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
    """Return the period that all columns have in common; empty if the periods differ."""
    periods = {each.period if each else "" for each in found}
    return periods.pop() if len(periods) == 1 else ""


def factor_label(name: str) -> str:
    """Return the name of a factor with spaces instead of underscores."""
    return name.replace("_", " ")
