"""Writer of docs/linux.md: cases, agreement, and values outside their bands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.linux.bands import FIGURES, MAIN, count
from validation.linux.judge import Verdict
from validation.pages import filled, table

SUMMARY = (
    "quantity",
    "allowed difference",
    "within the band, first 56 cases",
    "within the band, later cases",
)
OUTSIDE = ("case", "flow", "quantity", "Linux 6.18:", "Longhaul:", "difference:")


def page(verdicts: Sequence[Verdict]) -> str:
    """Return the text of `docs/linux.md`."""
    outside = (
        [verdict.case, verdict.flow, *verdict.cells()] for verdict in verdicts if not verdict.within
    )
    return filled(
        Path(__file__).parent / "page.md",
        summary=table(SUMMARY, _summary(verdicts)),
        outside=table(OUTSIDE, outside),
    )


def _summary(verdicts: Sequence[Verdict]) -> Iterable[list[object]]:
    for name, figure in FIGURES.items():
        yield _row(figure.title, [v for v in verdicts if v.figure == name], figure.band)
    main = [verdict for verdict in verdicts if verdict.figure in MAIN]
    yield _row("all five main quantities", main)
    for kind in dict.fromkeys(verdict.kind for verdict in main):
        yield _row(f"of these, {kind}", [v for v in main if v.kind == kind])
    yield _row("all quantities", verdicts)
    widened = [sum(verdict.repeats for verdict in some) for some in _sets(verdicts)]
    yield ["of these, only within a widened band", "", *widened]


def _row(title: str, verdicts: Sequence[Verdict], band: str = "") -> list[object]:
    return [title, band, *(count(some) if some else "" for some in _sets(verdicts))]


def _sets(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Split the verdicts into those on the 56 cases recorded first and those on all later cases."""
    return [v for v in verdicts if v.first], [v for v in verdicts if not v.first]
