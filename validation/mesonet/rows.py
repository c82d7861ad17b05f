"""One figure of the comparison: what was published, what was measured, and whether they agree."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

VALUE = "value"
"""Printed of this very case."""
CONDITIONS_MEAN = "mean of all conditions"
"""Printed with the lowest and the highest condition, between which this one has to be."""
RUNS_MEAN = "mean of eight runs"
"""Printed as a mean over runs, of which this is one."""
TREND = "trend"
"""A statement: 1 where it holds."""
KINDS = (VALUE, CONDITIONS_MEAN, RUNS_MEAN, TREND)


@dataclass(frozen=True)
class Row:
    """A published figure beside ours."""

    case: str
    metric: str
    published: float | None
    """None where something was never seen, such as a flow that did not reach full speed."""
    measured: float | None
    tolerance: str
    """How `within` was decided."""
    within: bool | None
    """None where the figure is reported as found."""
    kind: str = VALUE
    """What is published, one of `KINDS`."""


def exactly(case: str, metric: str, published: float, measured: float) -> Row:
    """The same number."""
    return Row(case, metric, published, measured, "the same", measured == published)


def near(
    case: str, metric: str, published: float, measured: float, apart: float, unit: str = ""
) -> Row:
    """At most so far apart; a hair more, for figures that are written in decimals."""
    within = abs(measured - published) <= apart + 1e-9
    return Row(case, metric, published, measured, f"± {apart:g} {unit}".rstrip(), within)


def close(case: str, metric: str, published: float, measured: float, part: float) -> Row:
    """At most such a part of the published figure apart."""
    within = abs(measured - published) <= part * abs(published)
    return Row(case, metric, published, measured, f"± {100 * part:g} %", within)


def between(
    case: str,
    metric: str,
    published: float,
    measured: float,
    low: float,
    high: float,
    kind: str = VALUE,
) -> Row:
    """In a range."""
    within = low <= measured <= high
    return Row(case, metric, published, measured, f"{low:g} to {high:g}", within, kind)


def found(
    case: str, metric: str, published: float | None, measured: float | None, kind: str = VALUE
) -> Row:
    """Reported as found, not judged."""
    return Row(case, metric, published, measured, "as found", None, kind)


def published(name: str) -> list[dict[str, str]]:
    """The rows of a table of `published/`."""
    return table(HERE / "published" / f"{name}.csv")


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a table whose first line says where it comes from; none, if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        next(file)
        return list(csv.DictReader(file))


def write_table(
    path: Path, head: str, columns: Sequence[str], rows: Iterable[Mapping[str, str]]
) -> None:
    """Write such a table; `head` is its first line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def number(cell: str) -> float | None:
    """What a cell holds; nothing, where nothing was printed."""
    return float(cell) if cell else None
