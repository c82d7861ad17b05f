"""Computation of the metrics of a run."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from longhaul.figures.registry import (
    LABEL,
    LINK,
    MERIT,
    PROXY,
    RUN,
    Figure,
    PreparedRun,
    Run,
    every,
)
from longhaul.files.code import code_digest

Number = float | None


def measured(run: Run, wanted: Iterable[Figure]) -> Iterator[tuple[str | None, Figure, Number]]:
    """Yield the metrics of a run: owner (label, link or proxy), metric, and value.

    The owner of a metric of the whole run is empty; that of a metric of labels is None for all
    flows together. A metric is left out if the run lacks its table, or if its source returns None.
    If successive metrics in `wanted` are computed from the same data, all of them are yielded for
    one owner, and then for the next owner. Texts, and numbers that are not finite, become None.
    """
    prepared = PreparedRun(run)
    there = (entry for entry in wanted if all(table in run.tables for table in entry.needs))
    for source, given in groupby(there, lambda entry: entry.source):
        figures = list(given)
        found = prepared.of(source)
        if found is None:
            continue
        for owner, values in _BY_OWNER[figures[0].of](found, figures):
            yield from ((owner, entry, _finite(values.get(entry.name))) for entry in figures)


def _finite(value: Any) -> Number:  # noqa: ANN401
    is_none = value is None or isinstance(value, str) or not isfinite(value)
    return None if is_none else float(value)


_Values = Iterator[tuple[str | None, Mapping[str, Any]]]


def _of_run(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    yield "", {entry.name: entry.compute(found) for entry in figures}


def _named(figures: list[Figure]) -> list[Any]:
    return [entry.compute.alias(entry.name) for entry in figures]


def _of_labels(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    named = _named(figures)
    rows = found.group_by(LABEL, maintain_order=True).agg(named).to_dicts()
    owners = [row[LABEL] for row in rows]
    yield from zip(owners, rows, strict=True)
    if None not in owners:
        yield None, found.select(named).to_dicts()[0]


def _of_rows(found: Any, figures: list[Figure]) -> _Values:  # noqa: ANN401
    owner = figures[0].of
    rows = found.select(owner, *_named(figures)).to_dicts()
    yield from ((row[owner], row) for row in rows)


_BY_OWNER = {RUN: _of_run, LABEL: _of_labels, LINK: _of_rows, PROXY: _of_rows}


def of_merit(run: Run) -> list[tuple[str, Number, str]]:
    """Return (name, value, meaning) of a run's metrics of RFC 5166, in the order of reports.

    Names of labels' metrics begin with the label. Metrics of all flows together are left out.
    """
    from longhaul.figures.runs import lengths

    # Delays of labels follow the delays at the busiest link.
    figures = [entry for entry in every() if MERIT in entry.listed and entry.of == RUN]
    behind = max((k for k, entry in enumerate(figures) if "delays" in entry.needs), default=-1) + 1
    figures[behind:behind] = [
        entry for entry in every() if MERIT in entry.listed and entry.of == LABEL
    ]
    windows = lengths(PreparedRun(run))
    return [
        (f"{owner}.{entry.name}" if owner else entry.name, value, entry.meaning(**windows))
        for owner, entry, value in measured(run, figures)
        if owner is not None
    ]


def digest() -> str:
    """Return a digest of the code of this package, `analysis.fairness` and `analysis.merit`.

    A change of this code makes stored values of metrics invalid.
    """
    from longhaul.analysis import fairness, merit

    own = sorted(Path(__file__).parent.glob("*.py"))
    sources = [*own, Path(fairness.__file__), Path(merit.__file__)]
    return code_digest(sources)
