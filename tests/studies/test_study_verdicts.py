"""Claims of studies: each kind of verdict, and refused files."""

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

import longhaul
from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    SINGLE,
    UNDECIDED,
    Expected,
)
from longhaul.studies.claims import Claim, read_claims
from longhaul.studies.questions import DECLARED


def claim(low: float, high: float, opposite: float | None = None) -> Claim:
    band = Expected(low, high, opposite, rounding=0.5, precision=SINGLE)
    question = DECLARED["value"].question({"of": "E", "metric": "m"}, ("E",))
    return Claim("C", ("E",), "value", question, "it is so", band, "", "", "")


def of_one_run(claim: Claim, printed: float | None) -> Claim:
    """Return a copy of `claim` whose source prints the number `printed`, the result of one run."""
    return replace(claim, expected=replace(claim.expected, printed=printed), runs="1")


@pytest.mark.parametrize(
    ("band", "measured", "interval", "verdict"),
    [
        ((5, 8, None), 6.0, None, REPRODUCED),
        ((5, 8, None), 6.0, (5.0, 8.0), REPRODUCED),
        ((5, 8, None), 8.0, (4.0, 12.0), UNDECIDED),
        ((5, 8, None), 6.0, (5.5, 8.1), UNDECIDED),
        ((5, 8, None), 9.0, (7.9, 9.5), UNDECIDED),
        ((5, 8, None), 9.0, (8.1, 9.5), OUTSIDE),
        ((5, 8, None), 9.0, None, OUTSIDE),
        ((5, 8, None), None, None, NOT_RUN),
        # A trend that should fall: -1 to -0.8, contradicted from 0 on.
        ((-1, -0.8, 0), -0.5, None, OUTSIDE),
        ((-1, -0.8, 0), 0.3, None, CONTRADICTED),
        ((-1, -0.8, 0), 0.3, (-0.2, 0.9), OUTSIDE),
        ((-1, -0.8, 0), 0.3, (-0.9, 0.9), UNDECIDED),
        ((-1, -0.8, 0), 0.3, (0.1, 0.9), CONTRADICTED),
        # A trend that should rise: 0.8 to 1.
        ((0.8, 1, 0), 0.2, (-0.3, 0.5), OUTSIDE),
        ((0.8, 1, 0), -0.2, (-0.4, -0.1), CONTRADICTED),
        # The band has an open end, or ends where the contrary begins.
        ((97, inf, 80), 90.0, None, OUTSIDE),
        ((97, inf, 80), 79.0, (78.0, 79.5), CONTRADICTED),
        ((-inf, 1, 1), 1.2, (1.1, 1.3), CONTRADICTED),
        ((-inf, 1, 1), 1.2, (0.9, 1.3), UNDECIDED),
        # All points have to agree (a share of 1), as they do in some samples.
        ((1, 1, 0.5), 1.0, (0.9, 1.0), UNDECIDED),
        ((1, 1, 0.5), 0.9, (0.8, 0.95), OUTSIDE),
        ((1, 1, 0.5), 0.4, (0.2, 0.5), CONTRADICTED),
    ],
)
def test_every_verdict(
    band: tuple[float, float, float | None],
    measured: float | None,
    interval: tuple[float, float] | None,
    verdict: str,
) -> None:
    assert claim(*band).expected.judge(measured, interval) == verdict


@pytest.mark.parametrize(
    ("band", "printed", "interval", "median", "verdict"),
    [
        # Our whole interval is in the band, so the printed number need not be in our interval.
        ((5, 8, None), 6.0, (6.5, 7.9), 7.0, REPRODUCED),
        # Our interval contains print and our median is in the band; parts of it may be outside.
        ((5, 8, None), 6.0, (4.0, 9.0), 6.5, REPRODUCED),
        # The interval contains print before its rounding to half a unit.
        ((5, 8, None), 6.0, (6.4, 9.0), 7.5, REPRODUCED),
        # The median is in the band, but the interval does not contain print.
        ((5, 8, None), 6.0, (6.6, 9.0), 7.5, UNDECIDED),
        # The interval contains print, but the median is outside the band.
        ((5, 8, None), 6.0, (5.9, 11.0), 8.5, OUTSIDE),
        # Median and print disagree, although part of the interval may be in the band.
        ((5, 8, None), 6.0, (6.6, 11.0), 8.5, OUTSIDE),
        ((5, 8, None), 6.0, (8.1, 9.0), 8.5, OUTSIDE),
        ((5, 8, 10), 6.0, (10.0, 12.0), 11.0, CONTRADICTED),
        # An interval with half or twice the number, or the contrary, is too wide to decide.
        ((5, 8, None), 6.0, (3.0, 9.0), 6.0, UNDECIDED),
        ((5, 8, None), 6.0, (4.0, 12.0), 6.0, UNDECIDED),
        ((5, 8, None), 6.0, (3.1, 11.9), 6.0, REPRODUCED),
        ((5, 8, None), 6.0, (2.0, 11.0), 8.5, UNDECIDED),
        ((5, 8, 10), 6.0, (4.0, 10.5), 6.0, UNDECIDED),
        # The same is true for negative numbers.
        ((-8, -5, None), -6.0, (-12.0, -4.0), -6.0, UNDECIDED),
        ((-8, -5, None), -6.0, (-11.9, -3.1), -6.0, REPRODUCED),
    ],
)
def test_every_verdict_of_a_number_from_one_run(
    band: tuple[float, float, float | None],
    printed: float,
    interval: tuple[float, float],
    median: float,
    verdict: str,
) -> None:
    one = of_one_run(claim(*band), printed)
    assert one.of_one_run
    found, reason = one.expected.judge_one_run(interval, median)
    assert found == verdict
    assert bool(reason) == (verdict == UNDECIDED)


@pytest.mark.parametrize(
    ("printed", "runs", "expected"),
    [
        (6.0, "10", False),
        (None, "1", False),
        (0.0, "1", False),
        (5.0, "1", False),
        (6.0, "1", True),
    ],
)
def test_what_is_judged_as_one_run(printed: float | None, runs: str, expected: bool) -> None:
    assert replace(of_one_run(claim(5, 8), printed), runs=runs).of_one_run == expected


def test_the_last_bits_decide_nothing() -> None:
    assert claim(0.9, 1).expected.judge(0.8999999999999998) == REPRODUCED
    assert claim(-1, 0.3).expected.judge(0.1 + 0.2) == REPRODUCED
    assert claim(-inf, 0, 0).expected.judge(1e-15) == REPRODUCED
    assert claim(0.9, 1).expected.judge(0.8999) == OUTSIDE


def test_open_ends_are_null_in_json() -> None:
    assert claim(97, inf).expected_as_json() == {"value": None, "low": 97, "high": None}


@pytest.mark.parametrize(
    ("value", "tolerance", "low", "high"),
    [
        ("40", "5 %", 38, 42),
        ("-40", "5 %", -42, -38),
        ("39.4", "0.4 s", 39, 39.8),
        ("1", "0.05", 0.95, 1.05),
        ("2.8", "30 % or 0.4 s", 1.96, 3.64),
        ("0.6", "30 % or 0.4 s", 0.2, 1),
    ],
)
def test_a_tolerance_that_is_a_width_makes_the_band(
    value: str, tolerance: str, low: float, high: float, tmp_path: Path
) -> None:
    (tmp_path / "claims.csv").write_text(HEAD + f"A,E,mean,,s,{value},,,,{tolerance},,\n")
    [read] = read_claims(tmp_path / "claims.csv")
    assert read.expected.low == pytest.approx(low)
    assert read.expected.high == pytest.approx(high)


HEAD = "id,experiment,measure,where,statement,value,low,high,opposite,tolerance,runs,source\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("A,E,mean,,s,,1,2,,,,\nA,E,mean,,s,,1,2,,,,\n", "claims given twice: A"),
        ("A,E,mean,,s,,,,,,,\n", "claims.csv:2: A: expected low <= high"),
        ("A,E,mean,,s,,,,,5 %,,\n", "claims.csv:2: A: expected low <= high"),
        ("A,E,mean,,s,3,,,,,,\n", "or a value and a tolerance such as `5 %`"),
        ("A,E,mean,,s,3,,,,5 % of it,,\n", "or a value and a tolerance such as `5 %`"),
        ("A,E,mean,,s,,3,2,,,,\n", "expected low <= high"),
        ("A,E,mean,queue,s,,1,2,,,,\n", "claims.csv:2: expected key=value, found `queue`"),
        ("A,E,mean,,s,,one,2,,,,\n", "claims.csv:2:"),
        ("A,E,mean,,s,,1,2,,,one,\n", "claims.csv:2: runs: expected .* found `one`"),
        ("A,E,mean,,s,,1,2,,,0,\n", "found `0`"),
        ("A,E,mean,,s,,1,2,,,\n", "claims.csv:2: expected 12 columns"),
    ],
)
def test_a_bad_claims_file_is_refused(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text(HEAD + rows)
    with pytest.raises(longhaul.ScenarioError, match=message):
        read_claims(tmp_path / "claims.csv")
