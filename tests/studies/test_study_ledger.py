"""The ledger of a study's claims as text: numbers, bands, intervals, counts, and its table."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import pytest
from test_study_verdicts import claim

from longhaul.analysis.families import LOGARITHM, Family
from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    Expected,
    Interval,
)
from longhaul.analysis.prediction import Prediction
from longhaul.studies import ledger
from longhaul.studies.data import NotRunError
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.judgement import Judgement
from longhaul.studies.partial import CoveredLevels

SCARCE = "on 2 of 3 runs"


def judged(
    name: str, verdict: str, source: str = "", *, replications: int = 3, sentence: str = "",
    family: FamilyJudgement | None = None,
) -> Judgement:  # fmt: skip
    of = replace(claim(0, 1), id=name, source=source, sentence=sentence)
    measured = None if verdict == NOT_RUN else 0.5
    return Judgement(of, measured, None, verdict, "full", replications, family=family)


def family(title: str, verdict: str) -> FamilyJudgement:
    of = Family((0.1,), (0.0, 1.0), LOGARITHM)
    return FamilyJudgement(title, "loss", ("A", "B"), of, verdict)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (inf, "not reached"), (-inf, "not reached"), (0.0, "0"),
        # Numbers have four digits down to a thousandth, and three below.
        (0.00099984, "0.001"), (0.00071236, "0.000712"), (0.0015238, "0.001524"), (0.001, "0.001"),
        (-0.0015238, "-0.001524"), (7654.3, "7654"), (-9876.5, "-9876"), (9999.4, "9999"),
        # Whole numbers from ten thousand up to ten million, and powers of ten beyond.
        (9999.7, "10,000"), (1e4, "10,000"), (12345.6, "12,346"), (7654321.4, "7,654,321"),
        (-12345.6, "-12,346"),
        (1e7, "1e+07"), (12345678.0, "1.23e+07"), (-1e7, "-1e+07"),
    ],
)  # fmt: skip
def test_numbers_have_four_digits(value: float | None, text: str) -> None:
    assert ledger.number(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.0, 2.5, "1 to 2.5"), (3.0, 3.0, "3"), (0.0, 0.0, "0"), (-inf, 0.0, "at most 0"),
        (0.0, inf, "at least 0"), (-2.0, inf, "at least -2"), (12345.6, 2e7, "12,346 to 2e+07"),
    ],
)  # fmt: skip
def test_bands_are_written_by_their_ends(low: float, high: float, text: str) -> None:
    assert ledger.band(claim(low, high)) == text


@pytest.mark.parametrize(
    ("interval", "text"), [(None, ""), ((1.0, 2.5), "1 to 2.5"), ((1.0, inf), "1 to not reached")]
)
def test_intervals_are_written_by_their_ends(interval: Interval | None, text: str) -> None:
    assert ledger.span(interval) == text


def test_claims_checks_and_hypotheses_are_kept_apart() -> None:
    sources = ("derived", "set-up: a", "hypothesis: b", "section 2", "set-up: c")
    ones = [judged(source, REPRODUCED, source) for source in sources]
    found = ledger.kinds(ones)
    assert found.claims == [ones[0], ones[3]]
    assert found.checks == [ones[1], ones[4]]
    assert found.hypotheses == [ones[2]]


def test_claims_on_one_run_are_measured_in_one() -> None:
    ones = [judged("A", REPRODUCED, replications=1), judged("B", NOT_RUN, replications=1),
            judged("C", OUTSIDE, replications=2), judged("D", OUTSIDE, replications=0)]  # fmt: skip
    assert ledger.on_one_run(ones) == ones[:1]


def test_families_are_in_the_order_of_their_claims() -> None:
    first, other = family("first", OUTSIDE), family("other", "")
    ones = [judged(str(place), OUTSIDE, family=of)
            for place, of in enumerate((other, None, first, other))]  # fmt: skip
    assert ledger.families_of(ones) == [other, first]


@pytest.mark.parametrize(
    ("verdict", "of_family", "together"),
    [
        (REPRODUCED, OUTSIDE, UNDECIDED), (REPRODUCED, UNDECIDED, UNDECIDED),
        (REPRODUCED, "", REPRODUCED), (REPRODUCED, None, REPRODUCED),
        (OUTSIDE, UNDECIDED, OUTSIDE), (CONTRADICTED, OUTSIDE, CONTRADICTED),
    ],
)  # fmt: skip
def test_a_family_with_a_verdict_leaves_no_cell_reproduced(
    verdict: str, of_family: str | None, together: str
) -> None:
    of = None if of_family is None else family("loads", of_family)
    found = ledger._in_family(judged("A", verdict), of)
    assert (found.verdict, found.family) == (together, of)
    expected = of.text if of and verdict == REPRODUCED != together else ""
    assert found.reason == expected


def test_a_summary_counts_verdicts_of_each_kind() -> None:
    """Check the counts of verdicts of each kind in a summary.

    A statement of several claims counts once. Families of claims are counted separately.
    """
    loads = family("loads", UNDECIDED)
    ones = [
        judged("A", REPRODUCED, "derived", sentence="s"),
        judged("B", OUTSIDE, "derived", sentence="s", replications=1),
        judged("C", NOT_RUN, replications=1), judged("D", UNDECIDED, family=loads),
        judged("E", REPRODUCED, family=family("others", "")), judged("F", UNDECIDED, family=loads),
        judged("G", REPRODUCED, "set-up", replications=1), judged("H", OUTSIDE, "hypothesis"),
    ]  # fmt: skip
    assert ledger.summary(ones).splitlines() == [
        "5 statements in 6 claims: 1 reproduced, 2 undecided, 1 outside the band, 1 not run "
        "(1 of them derived, not the source's own)",
        "1 of them rest on one run: 1 outside the band",
        "2 families of cells: 1 undecided, 1 stand",
        "Checks of the set-up: 1 reproduced",
        "Hypotheses of ours: 1 outside the band",
    ]
    assert ledger.summary(ones[4:5]).splitlines() == [
        "1 claims: 1 reproduced", "1 families of cells: 1 stand"
    ]  # fmt: skip
    assert ledger.summary(ones[2:3]) == "1 claims: 1 not run"


def test_the_table_has_a_row_for_each_claim() -> None:
    ones = [
        replace(judged("A", REPRODUCED), interval=(0.25, 0.75)),
        replace(judged("B", UNDECIDED, replications=1), interval=(0.0, 2.0), shape="normal",
                reason="it is so"),
        judged("C", NOT_RUN, replications=0),
    ]  # fmt: skip
    shown = ledger.table(ones)
    assert [column.header for column in shown.columns] == [
        "claim", "experiment", "statement", "band", "measured", "interval", "verdict", "runs",
    ]  # fmt: skip
    cells = [[str(cell) for cell in column.cells] for column in shown.columns]
    assert list(zip(*cells, strict=True)) == [
        ("A", "E", "it is so", "0 to 1", "0.5", "0.25 to 0.75", "reproduced",
         "full, 3 replications"),
        ("B", "E", "it is so", "0 to 1", "0.5", "0 to 2 (one more run, normal)",
         "undecided: it is so", "full, one run"),
        ("C", "E", "it is so", "0 to 1", "", "", "not run", "full"),
    ]  # fmt: skip
    assert [cell.style for cell in shown.columns[6].cells] == ["green", "cyan", "dim"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("measured", "samples", "interval"),
    [
        (1.0, [], None), (1.0, [1.0], (1.0, 1.0)),
        # Of 100 samples, two are outside at either end.
        (50.0, [*range(1, 50), *range(51, 101)], (3.475, 97.525)),
        # The interval always contains the measured value.
        (200.0, range(99), (2.475, 200.0)), (-7.0, range(99), (-7.0, 95.525)),
    ],
)  # fmt: skip
def test_the_interval_of_samples_holds_the_measured_value(
    measured: float, samples: Sequence[float], interval: Interval | None
) -> None:
    """Check the interval of bootstrap samples, which covers the central 95 % of them.

    The interval is extended if it does not include the measured value.
    """
    assert ledger._interval(measured, samples) == pytest.approx(interval)


class Asked:
    """Stand-in for a claim's question, whose `value` is a given number or exception."""

    def __init__(self, answer: float | Exception) -> None:
        self.answer = answer

    def value(self, _: Any) -> float:  # noqa: ANN401
        """Return the scripted number, or raise the scripted exception."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (2.0, (2.0, "")), (inf, (inf, "")), (nan, (None, "the measured value is nan")),
        (NotRunError("E was not run"), (None, "E was not run")),
        (ZeroDivisionError(), (None, "a denominator is 0")),
    ],
)  # fmt: skip
def test_a_value_is_missing_for_a_reason(
    answer: float | Exception, expected: tuple[float | None, str]
) -> None:
    question: Any = Asked(answer)
    data: Any = None
    assert ledger._value(question, data) == expected


def test_replications_are_the_fewest_of_all_experiments() -> None:
    data: Any = SimpleNamespace(replications={"A": 3, "B": 2, "C": 1})
    assert ledger._replications(data, ["A", "B"]) == 2
    assert ledger._replications(data, ["A", "theory"]) == 3
    assert ledger._replications(data, ["theory"]) == 0


def measured(**facts: Any) -> ledger._MeasuredClaim:  # noqa: ANN401
    question: Any = SimpleNamespace(is_extreme=False, kind=lambda axis: f"kind of {axis}")
    return ledger._MeasuredClaim(**{"question": question, "part": None, "value": 0.5,
                                    "replications": 2, **facts})  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "resampled"),
    [
        ({}, True), ({"replications": 1}, False), ({"value": None}, False),
        ({"next_run": Prediction(0.0, 1.0, "normal", 0.95)}, False),
        ({"question": SimpleNamespace(is_extreme=True)}, False),
    ],
)  # fmt: skip
def test_claims_are_resampled_whose_interval_is_of_a_median(
    facts: dict[str, Any], resampled: bool
) -> None:
    assert measured(**facts).resampled == resampled


def test_the_kind_of_a_number_is_asked_for_its_axis_only() -> None:
    assert measured().kind == ""
    assert measured(part=CoveredLevels("n", (1,), 2)).kind == "kind of n"


BAND = Expected(0.0, 1.0)


@pytest.mark.parametrize(
    ("facts", "samples", "verdict", "reason"),
    [
        ({}, [], REPRODUCED, ""), ({"value": 1.5}, [], OUTSIDE, ""),
        ({"on_runs": SCARCE}, [], REPRODUCED, SCARCE),
        ({}, [0.5, 2.0], UNDECIDED, "more replications would decide"),
        ({"on_runs": SCARCE}, [0.5, 2.0], UNDECIDED, f"more replications would decide; {SCARCE}"),
        # If all levels were run, the claim is judged like one without levels.
        ({"part": CoveredLevels("n", (1, 2), 2)}, [], REPRODUCED, ""),
        ({"part": CoveredLevels("n", (1,), 2)}, [], UNDECIDED,
         "on 1 of 2 ns, which cannot be compared with all"),
    ],
)  # fmt: skip
def test_a_judgement_is_partial_if_runs_are_missing(
    facts: dict[str, Any], samples: list[float], verdict: str, reason: str
) -> None:
    found = ledger._judged(replace(claim(0, 1), expected=BAND), measured(**facts), samples, "full")
    assert (found.verdict, found.reason) == (verdict, reason)
    missing = "on_runs" in facts or (found.part is not None and not found.part.is_whole)
    assert found.is_partial == missing
    assert (found.scale, found.replications, found.shape) == ("full", 2, "")


def test_what_was_not_measured_is_not_run() -> None:
    part = CoveredLevels("n", (), 2)
    found = ledger._judged(
        claim(0, 1), measured(value=None, reason="why", part=part, replications=0), [], "quick"
    )
    assert (found.verdict, found.measured, found.interval) == (NOT_RUN, None, None)
    assert (found.reason, found.part, found.scale, found.replications) == ("why", part, "quick", 0)


def test_one_more_run_is_judged_by_its_prediction() -> None:
    printed = replace(claim(0, 1), expected=replace(BAND, printed=0.5))
    near, far = (measured(next_run=Prediction(low, high, "normal", 0.95))
                 for low, high in ((0.4, 0.9), (0.6, 1.5)))  # fmt: skip
    found = ledger._judged(printed, near, [], "full")
    assert (found.interval, found.shape, found.verdict) == ((0.4, 0.9), "normal", REPRODUCED)
    unlike = ledger._judged(printed, far, [], "full")
    assert unlike.verdict == UNDECIDED
    assert unlike.reason == "the printed run is not like ours, whose median is in the band"
