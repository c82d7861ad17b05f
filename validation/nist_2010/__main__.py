"""Writes docs/published_analyses.md: `python -m validation.nist_2010`."""

from collections.abc import Iterator

from validation.nist_2010.checks import CHECKS, printed_differences
from validation.pages import DOCS, table
from validation.rows import Row
from validation.tables import distance, pair

PAGE = DOCS / "published_analyses.md"

HEAD = """\
# Published analyses, repeated

NIST SP 500-282 (Mills, Filliben, Cho, Schwartz, Genin 2010) prints the tables behind some of its
analyses. `longhaul.analysis` and `longhaul.designs` are fed with them, and what they return is
compared to the printed digits. Where the report prints only the input, the figures are compared
with a second calculation, made by other means. Written by `python -m validation.nist_2010`;
`tests/validation/test_published_analyses.py` asserts it.

"""
COLUMNS = ("printed in", "analysis", "compared with", "figures:", "agree:", "errors of the report:")

NOTES = """
Where the report does not agree with itself:
"""
NOTE_COLUMNS = ("printed in", "figure", "printed:", "follows:", "why")

FOOT = """
Table 8-30 prints ranges of goodputs of chapter 8 in whole percent, without saying of what. With the
larger value as base, {exact} of {all} are exact, {two} within 2 points and {five} within 5: they
were estimated. (Table 9-12, for chapter 9, is exact with the smaller value as base.)

Some input had to be rebuilt. The effects behind the ranks of factors (tables 4-25, 4-26 and C-13)
are not printed: sizes in the order of the printed ranks replace them, so that those rows test ties,
averages and ordinal ranks alone. The groups of correlations come from a matrix that has the
sixteen printed coefficients and, inside the published groups, as many others above the threshold
as are counted: that tests the grouping and the counts, not the coefficients.

What cannot be repeated: the report prints no run-by-run table of responses (64 x 22 for either
sensitivity analysis, 32 conditions by 7 or 8 algorithms by 45 responses for the comparisons), so
that correlations, principal components, dendrograms and residual plots have no published input.
Their tests have cases with known answers (`tests/analysis/test_analysis.py`). The rates behind the
rankings of congestion are not printed either, only the order of chapter 8's conditions: it is that
of the rows of the rank matrices.
"""


def page() -> str:
    """Return the page."""
    rows: list[list[object]] = []
    notes: list[list[object]] = []
    for check in CHECKS:
        values = list(check.values())
        agree = sum(value.agrees for value in values)
        wrong = [value for value in values if value.error]
        against = "printed figures" if check.is_printed else "a second calculation"
        counts = [len(values), agree, len(wrong) or ""]
        rows.append([check.source, check.what, against, *counts])
        notes += [[check.source, *note] for note in _notes(wrong)]
    tables = [
        *table(COLUMNS, rows),
        NOTES,
        *table(NOTE_COLUMNS, notes),
        FOOT.format(**_estimated()),
    ]
    return HEAD + "\n".join(tables)


def _estimated() -> dict[str, int]:
    """Count chapter 8's ranges by their distance from the printed values."""
    values = [v for e in ("ch8high", "ch8low") for v in printed_differences(e, "larger")]
    distances = [distance(value) for value in values]
    return {
        "all": len(values),
        "exact": sum(value.agrees for value in values),
        "two": sum(points <= 2 for points in distances),
        "five": sum(points <= 5 for points in distances),
    }


def _notes(wrong: list[Row]) -> Iterator[list[str]]:
    for value in wrong:
        printed, computed = pair(value)
        yield [value.metric, f"{printed:g}", f"{computed:.3g}", value.error]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
