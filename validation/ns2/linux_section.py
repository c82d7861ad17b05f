"""Writer of the page's section on ns-2's Linux modules: notes, a table, and cases left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.ns2.cases import Case
from validation.ns2.linux_modules import NOT_COMPARED, REASONS
from validation.pages import table
from validation.rows import Row
from validation.tables import pair

NOTES = Path(__file__).parent / "linux_modules.md"

# Columns of a flow: metric and format.
_FIGURES = (
    ("reductions", ".0f"),
    ("mean period, s", ".3f"),
    ("mean window before a reduction, packets", ".0f"),
    ("smallest window after one, packets", ".0f"),
    ("mean window, packets", ".0f"),
)

HEADS = (
    "Case, flow", "Reductions:", "Period, s:", "Window before:", "Smallest after:", "Mean window:",
    "Utilisation:", "Outside",
)  # fmt: skip

Judged = Sequence[tuple[Case, list[Row]]]


def linux_section(judged: Judged) -> Iterable[str]:
    """Return the lines of the page's section on Linux's algorithms in ns-2."""
    yield "## Linux's algorithms in ns-2"
    yield ""
    yield NOTES.read_text(encoding="utf-8").rstrip()
    yield ""
    yield "### Sawteeth"
    yield ""
    yield (
        "Each cell has ns-2's value, then Longhaul's value (- if there are too few reductions). "
        "Windows are in packets. *Window before* is the mean window before a reduction, and "
        "*smallest after* is the smallest window after a reduction. The last column names the "
        "values that are outside their bounds."
    )
    yield ""
    yield from table(HEADS, (row for case, verdicts in judged for row in _rows(case, verdicts)))
    yield ""
    yield from _reasons(judged)
    yield "### Not compared"
    yield ""
    yield from (f"- {cases}: {reason}." for cases, reason in NOT_COMPARED.items())


def _rows(case: Case, verdicts: list[Row]) -> Iterable[list[str]]:
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    utilisation = _pair(by_metric["utilisation"], ".3f")
    several = "flow 0: reductions" in by_metric
    for flow in range(2 if several else 1):
        name = f"{case.name}, {flow}" if several else case.name
        prefix = f"flow {flow}: " if several else ""
        cells = [_pair(by_metric.get(prefix + metric), form) for metric, form in _FIGURES]
        yield [name, *cells, utilisation, _outside(verdicts, flow)]


def _pair(verdict: Row | None, form: str) -> str:
    if verdict is None:
        return "-, -"
    return ", ".join(format(figure, form) for figure in pair(verdict))


def _outside(verdicts: list[Row], flow: int) -> str:
    """Return the names of figures out of bounds: those of flow number `flow` and of the link."""
    others = f"flow {1 - flow}: "
    names = (
        verdict.metric.removeprefix(f"flow {flow}: ")
        for verdict in verdicts
        if not verdict.within and not verdict.metric.startswith(others)
    )
    return ", ".join(f"**{name}**" for name in names)


def _reasons(judged: Judged) -> Iterable[str]:
    """Return a line for every case with figures outside their bounds: the reason, or unknown."""
    for case, verdicts in judged:
        if not all(verdict.within for verdict in verdicts):
            yield f"- Reason for {case.name}: {REASONS.get(case.name, 'the reason is not known')}."
            yield ""
