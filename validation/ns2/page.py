"""Writer of `docs/validation.md` from `report.json`.

The page has notes, values outside their bounds with reasons, a comparison with published values, a
table of sawteeth of ns-2's Linux modules, and a table with a row for each other case.
`long_report.py` writes all values and plots.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, starmap
from pathlib import Path

from validation.ns2.anchors import PUBLISHED
from validation.ns2.cases import Case, gold_cases
from validation.ns2.linux_modules import NOT_COMPARED, REASONS
from validation.pages import filled, table
from validation.rows import Row

HERE = Path(__file__).parent

OF_PUBLISHED = ("Value of the study", "Published:", "Longhaul:", "Difference:", "Within 5 %")
OF_SAWTEETH = (
    "Case, flow", "Reductions:", "Period, s:", "Window before:", "Smallest after:", "Mean window:",
    "Utilisation:", "Outside",
)  # fmt: skip
# Columns of a sawtooth: metric and format.
_SAWTOOTH = (
    ("reductions", ".0f"),
    ("mean period, s", ".3f"),
    ("mean window before a reduction, packets", ".0f"),
    ("smallest window after a reduction, packets", ".0f"),
    ("mean window, packets", ".0f"),
)
# Columns of the table of cases; each has the largest difference of metrics with these beginnings.
_DIFFERENCES = {
    "Goodput": ("goodput", "delivered packets", "run by run: delivered packets"),
    "Mean window": ("mean window",),
    "Utilisation": ("utilisation",),
    "Mean queue": ("mean queue",),
}
OF_CASES = (
    "Case", "Comparison", "Reductions:", "Timeouts:", *(f"{name}:" for name in _DIFFERENCES),
    "Values within bounds:",
)  # fmt: skip

# Keys of `report.json`, with the fields of `Row` that they hold.
_KEYS = {
    "case": "case", "metric": "metric", "peer": "expected", "peer_sd": "expected_sd",
    "longhaul": "measured", "longhaul_sd": "measured_sd", "within": "within", "rule": "rule",
}  # fmt: skip


def read_report(file: Path) -> list[Row]:
    """Read the rows of a recorded comparison from `file`, a `report.json`."""
    entries = json.loads(file.read_text(encoding="utf-8"))
    return [Row(**{_KEYS[key]: value for key, value in entry.items()}) for entry in entries]


def as_json(row: Row) -> str:
    """Return a row as one line of JSON for `report.json`."""
    return json.dumps({key: getattr(row, field) for key, field in _KEYS.items()})


def report_text(rows: Iterable[Row]) -> str:
    """Return the text of `report.json`, with one row per line."""
    return "[\n" + ",\n".join(map(as_json, rows)) + "\n]\n"


def page(verdicts: Sequence[Row]) -> str:
    """Return the text of the page; `verdicts` has the rows on cases and on published values."""
    compared = [verdict for verdict in verdicts if verdict.case != PUBLISHED]
    judged = [(case, [row for row in compared if row.case == case.name]) for case in gold_cases()]
    linux = [(case, rows) for case, rows in judged if case.linux]
    own = [(case, rows) for case, rows in judged if not case.linux]
    return filled(
        HERE / "page.md",
        inside=str(sum(verdict.agrees for verdict in compared)),
        values=str(len(compared)),
        cases=str(len(judged)),
        outside=_outside(compared),
        published=table(
            OF_PUBLISHED, (_published(row) for row in verdicts if row.case == PUBLISHED)
        ),
        sawteeth=table(OF_SAWTEETH, chain.from_iterable(starmap(_sawteeth, linux))),
        reasons=_reasons(linux),
        not_compared=(f"- {names}: {reason}." for names, reason in NOT_COMPARED.items()),
        own_agents=table(OF_CASES, starmap(_case, own)),
    )


def _published(row: Row) -> list[str]:
    there, here = row.pair
    change = f"{100 * (here / there - 1):+.1f} %"
    return [row.metric, f"{there:.6g}", f"{here:.6g}", change, row.yes_or_no]


def _outside(verdicts: Iterable[Row]) -> str:
    """Return a Markdown list of the values outside their bounds; empty if there are none."""
    lines = [
        f"- outside: {verdict.case}, {verdict.metric}: ns-2 {verdict.expected:.6g}, "
        f"Longhaul {verdict.measured:.6g}\n"
        for verdict in verdicts
        if not verdict.within
    ]
    return "".join([*lines, "\n"] if lines else [])


def _sawteeth(case: Case, verdicts: list[Row]) -> Iterator[list[str]]:
    """Yield a table row for each flow of a case with ns-2's Linux modules."""
    by_metric = {verdict.metric: verdict for verdict in verdicts}
    utilisation = _pair(by_metric["utilisation"], ".3f")
    several = "flow 0: reductions" in by_metric
    for flow in range(2 if several else 1):
        name = f"{case.name}, {flow}" if several else case.name
        prefix = f"flow {flow}: " if several else ""
        cells = [_pair(by_metric.get(prefix + metric), form) for metric, form in _SAWTOOTH]
        yield [name, *cells, utilisation, _names_outside(verdicts, flow)]


def _pair(verdict: Row | None, form: str) -> str:
    if verdict is None:
        return "-, -"
    return ", ".join(format(figure, form) for figure in verdict.pair)


def _names_outside(verdicts: list[Row], flow: int) -> str:
    """Return the metrics outside their bounds: those of flow number `flow` and of the link."""
    others = f"flow {1 - flow}: "
    names = (
        verdict.metric.removeprefix(f"flow {flow}: ")
        for verdict in verdicts
        if not verdict.within and not verdict.metric.startswith(others)
    )
    return ", ".join(f"**{name}**" for name in names)


def _reasons(judged: Iterable[tuple[Case, list[Row]]]) -> str:
    """Return a line for each case with values outside their bounds: the reason, if known."""
    return "".join(
        f"- Reason for {case.name}: {REASONS.get(case.name, 'the reason is not known')}.\n\n"
        for case, verdicts in judged
        if not all(verdict.within for verdict in verdicts)
    )


def _case(case: Case, verdicts: list[Row]) -> list[str]:
    """Return the table row of a case of ns-2's own agents.

    Differences are the largest over algorithms and, if runs are compared one by one, over seeds.
    """
    how = "event by event" if case.deterministic else "means over seeds"
    counts = [_counts(verdicts, metric) for metric in ("cwnd reductions", "timeouts")]
    shown = [_largest(verdicts, metrics) for metrics in _DIFFERENCES.values()]
    inside = sum(verdict.agrees for verdict in verdicts)
    return [case.name, how, *counts, *shown, f"{inside} of {len(verdicts)}"]


def _counts(verdicts: Iterable[Row], metric: str) -> str:
    there, here = next(verdict for verdict in verdicts if verdict.metric == metric).pair
    return f"{there:g}, {here:g}"


def _largest(verdicts: Iterable[Row], metrics: tuple[str, ...]) -> str:
    shown = [verdict for verdict in verdicts if verdict.metric.startswith(metrics)]
    if not shown:
        return ""
    return max(shown, key=lambda row: row.distance / (row.expected or 1.0)).difference
