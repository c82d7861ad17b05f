"""Command `python -m validation.nist_2010`, which writes docs/published_analyses.md."""

from pathlib import Path

from validation.nist_2010.checks import CHECKS, printed_differences
from validation.pages import DOCS, filled, table

PAGE = DOCS / "published_analyses.md"

CHECKED = (
    "place in the report", "recomputed values", "compared with", "number of values:",
    "values that agree:", "errors of the report:",
)  # fmt: skip
ERRORS = ("place in the report", "value", "printed:", "recomputed:", "error of the report")


def page() -> str:
    """Return the text of `docs/published_analyses.md`."""
    rows: list[list[object]] = []
    notes: list[list[object]] = []
    for check in CHECKS:
        values = list(check.values())
        agree = sum(value.agrees for value in values)
        wrong = [value for value in values if value.error]
        against = "printed values" if check.is_printed else "a second calculation"
        counts = [len(values), agree, len(wrong) or ""]
        rows.append([check.source, check.what, against, *counts])
        for value in wrong:
            printed, computed = value.pair
            shown = (f"{printed:g}", f"{computed:.3g}")
            notes.append([check.source, value.metric, *shown, value.error])
    return filled(
        Path(__file__).with_name("page.md"),
        checks=table(CHECKED, rows),
        errors=table(ERRORS, notes),
        **{name: str(count) for name, count in _estimated().items()},
    )


def _estimated() -> dict[str, int]:
    """Count goodput differences of chapter 8 by the distance of recomputed from printed values.

    `all` counts all differences, `exact` those that agree, and `two` and `five` those whose
    recomputed and printed values are at most 2 and 5 percentage points apart.
    """
    values = [v for e in ("ch8high", "ch8low") for v in printed_differences(e, "larger")]
    distances = [value.distance for value in values]
    return {
        "all": len(values),
        "exact": sum(value.agrees for value in values),
        "two": sum(points <= 2 for points in distances),
        "five": sum(points <= 5 for points in distances),
    }


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
