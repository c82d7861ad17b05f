"""Reader and writer of `measured/comparison.csv`: the latest rows of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longhaul.files.rows import number, write_rows
from validation.mesonet.tables import HERE, recorded
from validation.rows import Row

FILE = HERE / "measured" / "comparison.csv"
HEAD = (
    "# NIST SP 500-282: published and measured (python -m validation.mesonet). "
    "An empty value: never reached; an empty within: not judged\n"
)
COLUMNS = (
    "chapter", "part", "kind", "case", "metric", "published", "measured", "tolerance", "within",
)  # fmt: skip

_EXPERIMENTS = {"SA64 ": 4, "N6-MAIN ": 6, "N7-MAIN ": 7}
_PARTS = {"units": 3, "dumbbell": 5, "long-lived": 7, "direct-routers": 7, "loss-free": 9}
_WITHIN = {"yes": True, "no": False, "": None}
_JUDGED = {within: cell for cell, within in _WITHIN.items()}


def chapter(part: str, row: Row) -> int:
    """Return the number of the chapter to which `row`, a row of `part`, counts on the page.

    All rows of the part `units` count to chapter 3, also those with values of later chapters.
    """
    for experiment, number_of_chapter in _EXPERIMENTS.items():
        if row.case.startswith(experiment):
            return number_of_chapter
    return _PARTS[part]


def read() -> dict[str, list[Row]]:
    """Return the latest rows of each part, by the part's name."""
    parts: dict[str, list[Row]] = {}
    for cells in recorded(FILE):
        row = Row(
            cells["case"],
            cells["metric"],
            number(cells["published"]),
            number(cells["measured"]),
            cells["tolerance"],
            _WITHIN[cells["within"]],
            cells["kind"],
        )
        parts.setdefault(cells["part"], []).append(row)
    return parts


def write(parts: Mapping[str, Sequence[Row]]) -> None:
    """Write the rows of all parts to `measured/comparison.csv`."""
    write_rows(FILE, _cells(parts), COLUMNS, HEAD)


def _cells(parts: Mapping[str, Sequence[Row]]) -> Iterator[dict[str, str]]:
    for part, rows in parts.items():
        for row in rows:
            yield {
                "chapter": str(chapter(part, row)),
                "part": part,
                "kind": row.kind,
                "case": row.case,
                "metric": row.metric,
                "published": _cell(row.expected),
                "measured": _cell(row.measured),
                "tolerance": row.rule,
                "within": _JUDGED[row.within],
            }


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value)).removesuffix(".0")
