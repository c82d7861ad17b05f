"""The figures of a run, computed."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from longhaul.figures.registry import (
    ALL,
    LABEL,
    LINK,
    MERIT,
    PROXY,
    RUN,
    Figure,
    Prepared,
    Run,
    every,
)

Number = float | None


def measured(run: Run, wanted: Iterable[Figure]) -> Iterator[tuple[str, Figure, Number]]:
    """Yield the owner, the figure and its value; a run, which owns its own, has no name.

    Figures whose tables a run lacks are left out. Figures of one source stand together, by
    label, link or proxy. Numbers that are not finite become None.
    """
    prepared = Prepared(run)
    there = (one for one in wanted if all(table in run.tables for table in one.needs))
    for source, given in groupby(there, lambda one: one.source):
        figures = list(given)
        found = prepared.of(source)
        if found is None:
            continue
        for owner, values in _BY_OWNER[figures[0].of](found, figures):
            yield from ((owner, one, _finite(values.get(one.name))) for one in figures)


def _finite(value: Any) -> Number:  # noqa: ANN401
    is_none = value is None or isinstance(value, str) or not isfinite(value)
    return None if is_none else float(value)


_Values = Iterator[tuple[str, Mapping[str, Any]]]


def _of_run(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    yield "", {one.name: one.compute(found) for one in figures}


def _named(figures: list[Figure]) -> list[Any]:
    return [one.compute.alias(one.name) for one in figures]


def _of_labels(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    named = _named(figures)
    rows = found.group_by(LABEL, maintain_order=True).agg(named).to_dicts()
    owners = [row[LABEL] for row in rows]
    yield from zip(owners, rows, strict=True)
    if ALL not in owners:
        yield ALL, found.select(named).to_dicts()[0]


def _of_rows(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    owner = figures[0].of
    rows = found.select(owner, *_named(figures)).to_dicts()
    yield from ((row[owner], row) for row in rows)


_BY_OWNER = {RUN: _of_run, LABEL: _of_labels, LINK: _of_rows, PROXY: _of_rows}


def of_merit(run: Run) -> list[tuple[str, Number, str]]:
    """Return name, value and meaning of the figures of merit of a run, in the order of a report."""
    from longhaul.figures.runs import lengths

    # Delays of labels follow those of the busiest link.
    figures = [one for one in every() if MERIT in one.listed and one.of == RUN]
    behind = max((k for k, one in enumerate(figures) if "delays" in one.needs), default=-1) + 1
    figures[behind:behind] = [one for one in every() if MERIT in one.listed and one.of == LABEL]
    windows = lengths(Prepared(run))
    return [
        (f"{owner}.{one.name}" if owner else one.name, value, one.meaning(**windows))
        for owner, one, value in measured(run, figures)
        if owner != ALL
    ]


def digest() -> str:
    """Return a digest of the figures' code, by which stores distinguish other versions' values."""
    from longhaul.analysis import fairness, merit

    own = sorted(Path(__file__).parent.glob("*.py"))
    sources = [*own, Path(fairness.__file__), Path(merit.__file__)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
