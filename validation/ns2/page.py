"""Writer of `docs/validation.md` from `report.json`.

The page has notes, figures outside their bounds with reasons, a comparison with published figures,
and a table with a row per case. `long_report.py` writes all figures and plots.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.ns2.anchors import PUBLISHED
from validation.ns2.cases import Case, gold_cases
from validation.ns2.linux_section import linux_section
from validation.pages import table
from validation.rows import Row
from validation.tables import difference, distance, pair, yes_or_no

HERE = Path(__file__).parent
NOTES = HERE / "notes.md"

# Columns of the table of cases; each has the largest difference of some metrics.
_DIFFERENCES = {
    "Goodput": ("goodput", "delivered packets", "run by run: delivered packets"),
    "Mean window": ("mean window",),
    "Utilisation": ("utilisation",),
    "Mean queue": ("mean queue",),
}


# Keys of `report.json`, with the fields of a row.
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
    """Return the text of the page; `verdicts` has the rows on cases and on published figures."""
    return "\n".join(_page(verdicts)) + "\n"


def _page(verdicts: Sequence[Row]) -> Iterable[str]:
    compared = [verdict for verdict in verdicts if verdict.case != PUBLISHED]
    cases = list(gold_cases())
    linux = [case for case in cases if case.linux]
    inside = sum(verdict.agrees for verdict in compared)
    yield NOTES.read_text(encoding="utf-8").rstrip()
    yield ""
    yield "## Summary"
    yield ""
    yield f"{inside} of {len(compared)} values of {len(cases)} cases are within their bounds."
    yield ""
    yield from _outside(compared)
    yield "## Published figures"
    yield ""
    heads = ("Value of the study", "Published:", "Longhaul:", "Difference:", "Within 5 %")
    yield from table(heads, (_published(row) for row in verdicts if row.case == PUBLISHED))
    yield ""
    yield from linux_section([(case, _of(case, compared)) for case in linux])
    yield ""
    yield "## Cases of ns-2's own agents"
    yield ""
    yield from _table([(case, _of(case, compared)) for case in cases if not case.linux])


def _published(row: Row) -> list[str]:
    there, here = pair(row)
    change = f"{100 * (here / there - 1):+.1f} %"
    return [row.metric, f"{there:.6g}", f"{here:.6g}", change, yes_or_no(row.within)]


def _of(case: Case, verdicts: Iterable[Row]) -> list[Row]:
    return [verdict for verdict in verdicts if verdict.case == case.name]


def _outside(verdicts: Iterable[Row]) -> Iterable[str]:
    outside = [verdict for verdict in verdicts if not verdict.within]
    for verdict in outside:
        yield (
            f"- outside: {verdict.case}, {verdict.metric}: ns-2 {verdict.expected:.6g}, "
            f"Longhaul {verdict.measured:.6g}"
        )
    if outside:
        yield ""


def _table(cases: Iterable[tuple[Case, list[Row]]]) -> Iterable[str]:
    """Return a table with a row per case: the largest difference of each figure.

    The largest is taken over flows and seeds.
    """
    yield (
        "Cells of reductions and timeouts have ns-2's number, then Longhaul's number. Percentages "
        "are the relative difference of Longhaul's value from ns-2's value. For a case with "
        "several algorithms the largest difference is shown. In cases without randomness goodput "
        "is the number of delivered packets. In names of cases, `bdp` and `bdp5` are a buffer of "
        "one BDP and of a fifth of the BDP, `ms` is followed by MAX_SSTHRESH, `p` by the loss "
        "probability, and A5 by the numbers of HSTCP and SACK flows. `dt` is drop-tail, and A5j "
        "has random send times. `validation/ns2/gold/cases.csv` has ns-2's settings."
    )
    yield ""
    columns = ("Reductions", "Timeouts", *_DIFFERENCES, "Values within bounds")
    heads = ["Case", "Comparison", *(f"{column}:" for column in columns)]
    yield from table(heads, (_case(case, verdicts) for case, verdicts in cases))


def _case(case: Case, verdicts: list[Row]) -> list[str]:
    how = "event by event" if case.deterministic else "means over seeds"
    counts = [_counts(verdicts, metric) for metric in ("window cuts", "timeouts")]
    shown = [_largest(verdicts, metrics) for metrics in _DIFFERENCES.values()]
    inside = sum(verdict.agrees for verdict in verdicts)
    return [case.name, how, *counts, *shown, f"{inside} of {len(verdicts)}"]


def _counts(verdicts: Iterable[Row], metric: str) -> str:
    there, here = pair(next(verdict for verdict in verdicts if verdict.metric == metric))
    return f"{there:g}, {here:g}"


def _largest(verdicts: Iterable[Row], metrics: tuple[str, ...]) -> str:
    shown = [verdict for verdict in verdicts if verdict.metric.startswith(metrics)]
    if not shown:
        return ""
    return difference(max(shown, key=lambda row: distance(row) / (row.expected or 1.0)))
