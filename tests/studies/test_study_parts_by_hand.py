"""Verdicts on incomplete results, texts of conclusions, citations and links."""

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    Expected,
    Interval,
)
from longhaul.studies import adoption, citations, conclusions, exploration
from longhaul.studies.partial import (
    COUNT,
    LARGEST,
    LEAST,
    RATIO,
    SHARE,
    SIGN,
    CoveredLevels,
    bounds,
    judge,
    reason,
)

INF = float("inf")
PART = CoveredLevels("condition", tuple(range(8)), 32)


def test_covered_levels_are_counted_and_selected() -> None:
    assert (PART.text, PART.is_whole) == ("on 8 of 32 conditions", False)
    assert PART.words == {"condition": "0,1,2,3,4,5,6,7"}
    one = CoveredLevels("delay", (5.0,), 1)
    assert (one.text, one.is_whole, one.words) == ("on 1 of 1 delay", True, {"delay": 5.0})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (COUNT, (2.0, 28.0)), (SHARE, (0.5, (4.0 * 8 + 24) / 32)), (LEAST, (-INF, 4.0)),
        (LARGEST, (2.0, INF)), (RATIO, (-INF, INF)), ("mean", (-INF, INF)),
    ],
)  # fmt: skip
def test_a_number_over_all_levels_has_bounds(kind: str, expected: Interval) -> None:
    """Check the bounds of a number over 32 levels, of which only 8 were run.

    Over these 8 levels, the number is 2 to 4. A count, for example, gains 0 to 24 from the other 24
    levels; its bounds are 2 and 28.
    """
    assert bounds(kind, (2.0, 4.0), PART) == expected


@pytest.mark.parametrize(
    ("kind", "interval", "expected", "verdict", "so_far"),
    [
        # With further levels, a minimum can only fall, a maximum only rise.
        (LEAST, (1.0, 2.0), Expected(low=5.0), OUTSIDE, ""),
        (LEAST, (1.0, 2.0), Expected(low=5.0, opposite=3.0), CONTRADICTED, ""),
        (LEAST, (6.0, 7.0), Expected(low=5.0), UNDECIDED, REPRODUCED),
        (LEAST, (4.0, 7.0), Expected(low=5.0), UNDECIDED, UNDECIDED),
        (LEAST, (6.0, 7.0), Expected(high=5.0), UNDECIDED, ""),
        (LARGEST, (6.0, 7.0), Expected(low=5.0), REPRODUCED, ""),
        (LARGEST, (1.0, 2.0), Expected(low=5.0), UNDECIDED, ""),
        (LARGEST, (1.0, 2.0), Expected(high=5.0), UNDECIDED, REPRODUCED),
        # Counts are scaled: 6 of 8 become 24 of 32; a band from 21 to 23 has no multiple of 4.
        (COUNT, (6.0, 6.0), Expected(20.0, 32.0), UNDECIDED, REPRODUCED),
        (COUNT, (2.0, 2.0), Expected(20.0, 32.0), UNDECIDED, OUTSIDE),
        (COUNT, (6.0, 6.0), Expected(21.0, 23.0), UNDECIDED, ""),
        (COUNT, (8.0, 8.0), Expected(32.0, 32.0), UNDECIDED, REPRODUCED),
        (COUNT, (0.0, 0.0), Expected(30.0, 32.0), OUTSIDE, ""),
        (COUNT, (0.0, 0.0), Expected(0.0, 0.0), UNDECIDED, REPRODUCED),
        (SHARE, (0.75, 0.75), Expected(0.7, 1.0), UNDECIDED, REPRODUCED),
        (SHARE, (0.25, 0.25), Expected(0.7, 1.0), UNDECIDED, OUTSIDE),
        (SHARE, (0.0, 0.0), Expected(0.8, 1.0), OUTSIDE, ""),
        # For comparisons, only the larger side counts.
        (RATIO, (1.3, 1.4), Expected(low=1.2, opposite=1.0), UNDECIDED, REPRODUCED),
        (RATIO, (1.05, 1.1), Expected(low=1.2, opposite=1.0), UNDECIDED, ""),
        (RATIO, (1.0, 1.1), Expected(low=1.2, opposite=0.9), UNDECIDED, OUTSIDE),
        (RATIO, (0.8, 0.9), Expected(low=1.2, opposite=1.0), UNDECIDED, CONTRADICTED),
        (RATIO, (0.9, 0.95), Expected(high=0.8, opposite=1.0), UNDECIDED, ""),
        (RATIO, (1.1, 1.2), Expected(high=0.8, opposite=1.0), UNDECIDED, CONTRADICTED),
        (RATIO, (0.9, 1.1), Expected(high=0.8, opposite=1.0), UNDECIDED, OUTSIDE),
        (RATIO, (1.3, 1.4), Expected(low=1.2), UNDECIDED, ""),
        (SIGN, (0.1, 0.2), Expected(low=0.5, opposite=0.0), UNDECIDED, ""),
        (SIGN, (-0.2, -0.1), Expected(low=0.5, opposite=0.0), UNDECIDED, CONTRADICTED),
        ("mean", (1.3, 1.4), Expected(low=1.2, opposite=1.0), UNDECIDED, ""),
    ],
)
def test_a_verdict_on_some_levels_is_no_surer_than_they_allow(
    kind: str, interval: Interval, expected: Expected, verdict: str, so_far: str
) -> None:
    def decide(given: Interval) -> tuple[str, str]:
        return expected.judge(given[0], given), ""

    assert judge(kind, interval, PART, expected, decide) == (verdict, so_far)


def test_a_prediction_interval_decides_nothing_on_its_own() -> None:
    """Check that a claim may be undecided although its prediction interval lies in the band.

    The interval is 6 to 7, the band 5 or more. A verdict also needs a second judgement that agrees.
    Here, the second judgement is `undecided`.
    """
    expected = Expected(low=5.0)
    assert judge(LARGEST, (6.0, 7.0), PART, expected, lambda _: (UNDECIDED, "scatter")) == (
        UNDECIDED, UNDECIDED
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "verdict", "so_far", "text"),
    [
        (COUNT, OUTSIDE, "", ""), (COUNT, UNDECIDED, REPRODUCED, ", and in the band in proportion"),
        (SHARE, UNDECIDED, CONTRADICTED, ", and the contrary there"),
        (LEAST, UNDECIDED, UNDECIDED, ", and undecided there"),
        (SHARE, UNDECIDED, OUTSIDE, ", and outside the band there"),
        ("mean", UNDECIDED, "", ", which cannot be compared with all"),
    ],
)  # fmt: skip
def test_the_levels_behind_a_verdict_are_named(
    kind: str, verdict: str, so_far: str, text: str
) -> None:
    assert reason(kind, PART, verdict, so_far) == f"on 8 of 32 conditions{text}"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ([REPRODUCED] * 3, conclusions.AGREES), ([OUTSIDE, CONTRADICTED], conclusions.DIFFERS),
        ([UNDECIDED] * 2, conclusions.OPEN), ([], conclusions.OPEN),
        ([REPRODUCED, OUTSIDE, REPRODUCED], "2 of 3 statements hold"),
        ([REPRODUCED, UNDECIDED], "1 of 2 statements hold, 1 undecided"),
        ([OUTSIDE, UNDECIDED], "0 of 2 statements hold, 1 undecided"),
    ],
)  # fmt: skip
def test_a_conclusion_says_how_many_statements_hold(said: list[str], word: str) -> None:
    assert conclusions._word(said) == word


@pytest.mark.parametrize(
    ("verdicts", "said", "is_part", "worst"),
    [
        ([], [], False, NOT_RUN), ([REPRODUCED], [REPRODUCED], False, REPRODUCED),
        ([REPRODUCED], [REPRODUCED], True, UNDECIDED),
        ([REPRODUCED, OUTSIDE], [REPRODUCED, OUTSIDE], True, OUTSIDE),
        ([OUTSIDE, CONTRADICTED], [OUTSIDE, CONTRADICTED], False, CONTRADICTED),
        ([REPRODUCED, UNDECIDED], [REPRODUCED, UNDECIDED], False, UNDECIDED),
        ([UNDECIDED], [OUTSIDE], True, UNDECIDED),
    ],
)  # fmt: skip
def test_the_worst_verdict_of_a_conclusion(
    verdicts: list[str], said: list[str], is_part: bool, worst: str
) -> None:
    """Check the worst verdict of a conclusion's claims.

    Agreement counts as undecided as long as runs are missing.
    """
    assert conclusions._worst(verdicts, said, is_part=is_part) == worst


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        ("Figures 4.17 to 4.19", ["4.17", "4.18", "4.19"]), ("Fig. 3, Figure 5", ["3", "5"]),
        ("section 4.3, Figure 4.2", ["4.2"]), ("figures 1, 2 and 4", ["1", "2", "4"]),
        ("Figures 4.1 to 5.2", ["4.1", "5.2"]), ("Figures A-1 to A-3", ["A-1", "A-2", "A-3"]),
        ("Figure 2a and 2b, Figure 2a", ["2a", "2b"]), ("section 4.3", []),
        ("Figures B.3a to B.3c", ["B.3a", "B.3b", "B.3c"]), ("Figures 3c to 3a", ["3c", "3a"]),
        ("Figures 4.17\N{EN DASH}4.19", ["4.17", "4.18", "4.19"]),
        ("Figures 1 to 2", ["1", "2"]), ("Figures 3 to 1", ["3", "1"]),
        ("Figures 1 to 99", [*map(str, range(1, 42)), "99"]),
    ],
)  # fmt: skip
def test_cited_figures_are_those_of_ranges_too(source: str, cited: list[str]) -> None:
    """Check the list of figures that a citation such as `Figures 4.17 to 4.19` names.

    At most forty figures between the ends of a range are listed.
    """
    assert citations.figures(source) == cited


def test_levels_of_an_experiment_that_are_missing_are_counted() -> None:
    """Check the text that counts the finished runs of an experiment.

    If some levels of an axis have no runs, the text lists up to eight of the levels with runs.
    """
    experiment: Any = SimpleNamespace(conditions={"n": {}})

    def there(levels: list[int], of: int) -> str:
        rows = pl.DataFrame({"n": levels[::-1]}, schema={"n": pl.Int64})
        return exploration._there(experiment, rows, [{"n": n} for n in range(of)])

    assert there([0, 1, 1], 2) == "3 of 2 runs are there"
    assert there([0, 2], 3) == "2 of 3 runs are there: of 2 of 3 levels of n (0, 2)"
    assert there([*range(8)], 9).endswith("of 8 of 9 levels of n (0, 1, 2, 3, 4, 5, 6, 7)")
    assert there([*range(9)], 10).endswith("of 9 of 10 levels of n (0, 1, 2, 3, 4, 5, 6, 7, ...)")
    assert exploration._there(experiment, pl.DataFrame(), [{"n": 1}]).endswith(
        "of 0 of 1 levels of n ()"
    )


def test_a_link_opens_an_explorer_at_a_table() -> None:
    """Check the address that opens an explorer at a table.

    Its fragment has the state as JSON in base 64.
    """
    name, _, state = exploration.link_to(Path("here/e.html"), "Ü", "t").partition("#")
    assert name == "e.html"
    assert json.loads(base64.urlsafe_b64decode(state)) == {
        "page": "Ü", "table": "t", "filters": [], "logarithmic": [], "views": {},
    }  # fmt: skip


def test_scenarios_are_compared_whatever_the_order_of_their_keys() -> None:
    assert adoption._text({"a": 1, "b": {"c": 2, "d": 3}}) == adoption._text(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )
    assert adoption._text({"a": 1}) != adoption._text({"a": 2})
