"""Verdicts of an evaluation on invented figures."""

from collections.abc import Mapping, Sequence

import pytest

from longhaul.evaluation.suite import Criterion, Figure, Suite, find
from longhaul.evaluation.verdicts import (
    BETTER,
    NOT,
    SAME,
    STARVES,
    TRADE,
    WORSE,
    Outcome,
    RunFigures,
    judge,
)

STANDARDS = ("cubic", "reno")


def _outcome(
    values: Mapping[str, Sequence[float]],
    figure: Figure | None = None,
    standards: Sequence[str] = STANDARDS,
) -> Outcome:
    """Judge the first algorithm in `values` by one figure, with a value per replication."""
    figure = figure or Figure("delay", "delay", better="less", slack=0.01)
    criterion = Criterion("0", "made up", "must", experiments=("e",), figures=(figure,))
    rfc9743 = find("rfc9743")
    suite = Suite("made up", rfc9743.head, rfc9743.terms, {}, (criterion,))
    runs = [
        RunFigures("e", {"algorithm": name, "buffer": "1 BDP"}, replication, {figure.name: value})
        for name, of in values.items()
        for replication, value in enumerate(of)
    ]
    (outcome,) = judge(suite, runs, next(iter(values)), standards)
    return outcome


@pytest.mark.parametrize(
    ("own", "verdict"),
    [
        ([0.5, 0.51, 0.52], WORSE),  # above the worst of both
        ([0.25, 0.26, 0.27], SAME),  # between both
        ([0.05, 0.06, 0.07], BETTER),  # below the best
        ([0.41, 0.41, 0.41], SAME),  # within 5 % of the worst
        ([0.2, 0.5, 2.0], SAME),  # above on average, but by chance
    ],
)
def test_worse_is_worse_than_the_worst_of_the_standards(own: Sequence[float], verdict: str) -> None:
    values = {"mine": own, "cubic": [0.4, 0.4, 0.4], "reno": [0.2, 0.2, 0.2]}
    assert _outcome(values).verdict == verdict


def test_pairs_of_replications_are_compared() -> None:
    """Check that algorithms are compared within replications.

    Values scatter between replications, but the difference of two algorithms is the same in each.
    """
    values = {"mine": [2.0, 4.0, 9.0], "cubic": [1.5, 3.5, 8.5], "reno": [1.5, 3.5, 8.5]}
    assert _outcome(values).verdict == WORSE


def test_others_than_standards_do_not_decide() -> None:
    values = {"mine": [0.4] * 3, "cubic": [0.4] * 3, "bbr3": [0.1] * 3}
    outcome = _outcome(values)
    assert outcome.verdict == SAME
    assert list(outcome.points[0].values) == ["mine", "cubic", "bbr3"]


def test_a_standard_is_no_worse_than_itself() -> None:
    values = {"cubic": [0.9] * 3, "reno": [0.1] * 3}
    assert _outcome(values).verdict == SAME


def test_a_bound_holds_whatever_others_do() -> None:
    figure = Figure("delay", "delay", at_most=1.5)
    assert _outcome({"mine": [1.4], "cubic": [9.0]}, figure).verdict == SAME
    assert _outcome({"mine": [1.6], "cubic": [9.0]}, figure).verdict == WORSE


def test_who_starves_where_no_standard_does_fails() -> None:
    figure = Figure("starves", "starvation", starves=True)
    starving = {"mine": [1.0, 1.0, 0.0], "cubic": [0.0] * 3, "reno": [0.0] * 3}
    # Two of three against none of three happens by chance in one case of five.
    assert _outcome(starving, figure).verdict == SAME
    starving["mine"] = [1.0] * 3
    outcome = _outcome(starving, figure)
    assert outcome.verdict == STARVES
    assert outcome.fails
    starving["reno"] = [0.0, 0.0, 1.0]
    assert _outcome(starving, figure).verdict == SAME
    # Seven of ten against two of ten is significant.
    often = {"mine": [1.0] * 7 + [0.0] * 3, "cubic": [1.0] * 2 + [0.0] * 8}
    assert _outcome(often, figure, standards=("cubic",)).verdict == STARVES


def test_what_was_not_run_is_not_judged() -> None:
    assert _outcome({"mine": []}).verdict == NOT
    assert not _outcome({"mine": []}).fails


def test_points_without_a_standard_are_not_judged() -> None:
    assert _outcome({"mine": [0.4] * 3, "bbr3": [0.1] * 3}, standards=()).verdict == NOT


def test_points_that_are_not_judged_do_not_count() -> None:
    """Check a criterion that is worse at its only judged point, of more than ten."""
    figure = Figure("delay", "delay", better="less", slack=0.01)
    criterion = Criterion("0", "made up", "must", experiments=("e",), figures=(figure,))
    rfc9743 = find("rfc9743")
    suite = Suite("made up", rfc9743.head, rfc9743.terms, {}, (criterion,))
    runs = [
        RunFigures("e", {"algorithm": name, "flows": flows}, 0, {"delay": value})
        for name, value in (("mine", 0.9), ("cubic", 0.2))
        for flows in range(20)
        if name == "mine" or flows == 0
    ]
    (outcome,) = judge(suite, runs, "mine", STANDARDS)
    assert (outcome.judged, outcome.count(NOT), outcome.verdict) == (1, 19, WORSE)


def test_what_failed_runs_leave_shows_no_more_than_what_is_bad() -> None:
    figure = Figure("delay", "delay", better="less", slack=0.01)
    criterion = Criterion("0", "made up", "must", experiments=("e",), figures=(figure,))
    rfc9743 = find("rfc9743")
    suite = Suite("made up", rfc9743.head, rfc9743.terms, {}, (criterion,))
    for own, verdict in ((0.1, NOT), (0.9, WORSE)):
        runs = [
            RunFigures("e", {"algorithm": name}, 0, {"delay": value})
            for name, value in (("mine", own), ("cubic", 0.2), ("reno", 0.2))
        ]
        (outcome,) = judge(suite, runs, "mine", STANDARDS, broken=["e"])
        assert outcome.verdict == verdict


@pytest.mark.parametrize(
    ("goodput", "wait", "verdict"),
    [
        (0.8, 0.01, TRADE),  # worse in one, better in the other
        (0.8, 0.1, WORSE),
        (1.0, 0.01, BETTER),
        (1.0, 0.1, SAME),
    ],
)
def test_a_discipline_may_trade_goodput_for_delay(
    goodput: float, wait: float, verdict: str
) -> None:
    figures = (
        Figure("goodput", "goodput", better="more", slack=0.02),
        Figure("wait", "wait", better="less", slack=0.002),
        Figure("losses", "losses"),
    )
    criterion = Criterion("0", "made up", "must", experiments=("e",), figures=figures)
    rfc7928 = find("rfc7928")
    suite = Suite("made up", rfc7928.head, rfc7928.terms, {}, (criterion,))
    runs = [
        RunFigures("e", {"discipline": name}, 0, {"goodput": one, "wait": other, "losses": losses})
        for name, one, other, losses in (
            ("mine", goodput, wait, 0.9),
            ("droptail", 1.0, 0.1, 0.0),
        )
    ]
    (outcome,) = judge(suite, runs, "mine", ["droptail"])
    assert outcome.verdict == verdict
    assert outcome.fails == (verdict == WORSE)
    # A figure that is only shown has no verdict and does not count.
    assert [point.verdict for point in outcome.points if point.figure.name == "losses"] == [""]
    assert outcome.judged == 2
