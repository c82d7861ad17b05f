"""Writer of `docs/mesonet_validation.md` from `page.md` and recorded rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from validation.mesonet import goodput_readings, readings, report
from validation.mesonet.differences import DIFFERENCES, Difference
from validation.mesonet.tables import HERE, recorded
from validation.pages import DOCS, filled, table
from validation.rows import VALUE, Row

DOCUMENT = DOCS / "mesonet_validation.md"
NOTEBOOK = "5bbc4b27b543"
"""Last commit in which docs/mesonet_validation.md lists every row and all experiments."""
CHAPTERS = {
    3: "definitions and worked examples",
    4: "64 runs: tables 4-25, 4-26 and 4-28, sections 4.1.5 and 4.4 to 4.6",
    5: "two flows through a slow router: tables 5-10 and 5-11, section 5.4",
    6: "conditions 1, 2, 4, 31 and 32: tables 6-28 to 6-32, sections 6.3 to 6.5",
    7: "conditions 3, 5, 8, 12, 14, 21, 28 and 32; long-lived flows alone; long-lived flows with "
    "jumbo files: tables 7-9 to 7-20",
    8: "conditions 1, 2, 31 and 32, shortened runs",
    9: "files without losses: tables 9-10 and 9-11",
}
SHORTENED = 8
"""Number of the study's chapter whose values are compared with shortened runs only.

The shortened runs tested interpretations of the study's text (`readings.py`).
"""


def write(parts: Mapping[str, Sequence[Row]]) -> None:
    """Write `docs/mesonet_validation.md`, given the rows of each part."""
    DOCUMENT.write_text(page(parts), encoding="utf-8")


def page(parts: Mapping[str, Sequence[Row]]) -> str:
    """Return the text of `docs/mesonet_validation.md`, given the rows of each part."""
    outside = [row for rows in parts.values() for row in rows if row.within is False]
    unjudged = [row for row in parts["dumbbell"] if row.within is None]
    return filled(
        HERE / "page.md",
        by_chapter=table(BY_CHAPTER, _by_chapter(parts)),
        outside=str(len(outside)),
        explained=_differences(outside, explained=True),
        unexplained=[*_differences(outside, explained=False), *_undescribed(outside)],
        ctcp_buffer=_spread(unjudged, "CTCP", "buffer utilisation"),
        tuning_fairness=_spread(unjudged, "FAST tuning", "Jain's index"),
        active_flows=_active_flows("chapter 8, condition 1, BIC"),
        readings=_readings(),
        goodput_readings=_goodput_readings(),
        resources=_resources(),
        parts=", ".join(f"`{part}`" for part in parts),
        notebook=NOTEBOOK,
    )


BY_CHAPTER = (
    "chapter", "runs and printed values", "values:", "within:", "outside:", "not judged:",
    "median distance:", "90th percentile:",
)  # fmt: skip


def _by_chapter(parts: Mapping[str, Sequence[Row]]) -> Iterator[list[object]]:
    """Yield a table row per chapter: counts of verdicts, and differences from printed values."""
    rows: dict[int, list[Row]] = {chapter: [] for chapter in CHAPTERS}
    for part, of_part in parts.items():
        for row in of_part:
            rows[report.chapter(part, row)].append(row)
    for chapter, title in CHAPTERS.items():
        verdicts = [row.within for row in rows[chapter]]
        distances = [*_distances(rows[chapter])]
        if chapter == SHORTENED:
            distances = [*_distances_of_shortened_runs(f"chapter {chapter},")]
            verdicts = [None] * len(distances)
        counts = (len(verdicts), verdicts.count(True), verdicts.count(False), verdicts.count(None))
        sizes = (median(distances), _nine_of_ten(distances)) if distances else ()
        yield [chapter, title, *counts, *map(_percent, sizes)]


def _distances(rows: Sequence[Row]) -> Iterator[float]:
    """Yield the relative difference between measured and printed value of each row with a verdict.

    Rows about a mean or a trend are left out, as are rows in which a value is missing or 0.
    """
    for row in rows:
        if row.within is not None and row.kind == VALUE and row.expected and row.measured:
            yield _distance(row.measured, row.expected)


def _distances_of_shortened_runs(chapter: str) -> Iterator[float]:
    for case, response, measured in readings.beside_print():
        if case.startswith(chapter):
            yield _distance(measured[-1], response.published)


def _nine_of_ten(distances: Sequence[float]) -> float:
    return sorted(distances)[math.ceil(0.9 * len(distances)) - 1]


def _distance(measured: float, published: float) -> float:
    return abs(measured / published - 1.0)


def _differences(outside: Sequence[Row], *, explained: bool) -> Iterator[str]:
    for difference in DIFFERENCES:
        if difference.explained == explained and (values := [*_values(difference, outside)]):
            yield f"- **{difference.title}** ({'; '.join(values)}). {difference.text}"


def _values(difference: Difference, outside: Sequence[Row]) -> Iterator[str]:
    rows = {(row.case, row.metric): row for row in outside}
    for name, label in difference.rows.items():
        if (row := rows.get(name)) is not None:
            yield f"{label}: {_change(row)}"


def _undescribed(outside: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each value in `outside` that `differences.toml` does not mention."""
    described = {name for difference in DIFFERENCES for name in difference.rows}
    for row in outside:
        if (row.case, row.metric) not in described:
            yield f"- **{row.case}**, {row.metric}: {_change(row)}."


def _change(row: Row) -> str:
    return f"{_value(row.expected)} → {_value(row.measured)}"


def _spread(rows: Sequence[Row], algorithm: str, metric: str) -> str:
    """Return the ranges of published and of measured values of `metric`, joined by an arrow."""
    chosen = [row for row in rows if f" {algorithm} " in row.case and row.metric == metric]
    sides = ([row.expected or 0.0 for row in chosen], [row.measured or 0.0 for row in chosen])
    return " → ".join(f"{min(values):.2f} to {max(values):.2f}" for values in sides if values)


def _active_flows(name: str) -> str:
    """Return the number of active flows in shortened run `name`, as `published → measured`."""
    (change,) = (
        f"{_value(response.published)} → {_value(measured[-1])}"
        for case, response, measured in readings.beside_print()
        if (case, response.response) == (name, "y1")
    )
    return change


def _readings() -> list[str]:
    """Return the table of mean distances from the printed values, by chapter and reading.

    A reading is an interpretation of the study's text where it is ambiguous (`readings.py`).
    """
    beside_print = [*readings.beside_print()]
    rows: list[list[object]] = []
    chapters = dict.fromkeys(case.split(",")[0] for case, *_ in beside_print)
    for chapter in (*chapters, "all"):
        distances = [
            [_distance(value, response.published) for value in measured]
            for case, response, measured in beside_print
            if chapter in ("all", case.split(",")[0])
        ]
        means = map(_percent, _means(distances))
        rows.append([chapter.removeprefix("chapter "), len(distances), *means])
    titles = (f"{reading.title}:" for reading in readings.READINGS.values())
    return table(["chapter", "values:", *titles], rows)


def _goodput_readings() -> str:
    """Return the mean distance of our from the printed goodputs, by interpretation, as text."""
    distances = [
        [_distance(value, published) for value in measured]
        for *_, published, measured in goodput_readings.beside_print()
    ]
    means = zip(goodput_readings.TITLES, _means(distances), strict=True)
    return "; ".join(f"{_percent(mean)} for {title}" for title, mean in means)


def _means(rows: Sequence[Sequence[float]]) -> Iterator[float]:
    return map(fmean, zip(*rows, strict=True))


def _resources() -> list[str]:
    rows = recorded(HERE / "measured" / "resources.csv")
    first, *others = rows[0]
    return table([first, *(f"{name}:" for name in others)], (list(row.values()) for row in rows))


def _percent(part: float) -> str:
    return f"{part * 100:.1f} %"


def _value(value: float | None) -> str:
    if value is None:
        return "never"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
