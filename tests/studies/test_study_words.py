"""Words of claims: selection of levels, arithmetic on metrics, and unknown names."""

from typing import Any

import pytest

from longhaul.studies import arithmetic, selection
from longhaul.studies.errors import unknown


@pytest.mark.parametrize(
    ("word", "chosen", "others"),
    [
        # Results have text in place of numbers if an axis has both.
        ("8", [8, 8.0, "8"], [8.1, "8.1", "BIC", None]),
        (8.0, [8, 8 * (1 + 1e-10)], [8.01]),
        ("8,21", [8, 21], [9]),
        ("BIC,CTCP", ["BIC", "CTCP"], ["BI", None]),
        ("!FAST,FAST-AT", ["BIC", "FAST-A"], ["FAST", "FAST-AT"]),
        ("!8", [9], [8]),
        ("5..", [5, 5 * (1 - 1e-10), 1e9], [4.99]),
        ("..5", [5, 5 * (1 + 1e-10), -1], [5.01]),
        ("-5..", [-5, -5 * (1 + 1e-10)], [-5.01]),
        ("..-5", [-5, -5 * (1 - 1e-10)], [-4.99]),
        ("50..79", [50, 60, 79], [49.9, 79.1]),
        ("-5..-2", [-5, -2], [-5.1, -1.9]),
        ("!50..79", [49.9, 79.1], [50, 79]),
        ("75-*", ["75-cubic", "75-"], ["7-5", "x75-"]),
        ("0", [0], [1e-12]),
        (1e-5, [0.00001], [1.1e-5]),
    ],
)
def test_a_word_selects_levels(word: selection.Word, chosen: list[Any], others: list[Any]) -> None:
    """Check which levels of an axis are selected by a word such as `8,21`, `!8` or `50..79`.

    Ranges include both ends; rounding errors of levels are tolerated.
    """
    selects = selection.selects(word)
    assert [level for level in (*chosen, *others) if selects(level)] == chosen


def test_one_level_is_written_as_such() -> None:
    words: list[selection.Word] = [8.0, "8", "BIC", "8,21", "!8", "5..", "75-*"]
    assert [word for word in words if selection.is_one_level(word)] == [8.0, "8", "BIC"]
    assert selection.is_written_as(1e-05, "1e-5")
    assert selection.is_written_as(50, "50.0")
    assert selection.is_written_as("BIC", "BIC")
    assert not selection.is_written_as(50, "51")
    assert not selection.is_written_as("BIC", "bic")


@pytest.mark.parametrize(
    ("text", "value", "metrics"),
    [
        ("rf", 0.25, ("rf",)),
        ("T.y1", 7.0, ("T.y1",)),
        ("100*rf/(1+rf)", 20.0, ("rf",)),
        ("a-b-rf", 2.75, ("a", "b", "rf")),
        ("abs(b-a)*-2", -6.0, ("b", "a")),
        ("b + 2 * a", 12.0, ("b", "a")),
        ("a + abs(rf) + a", 10.25, ("a", "rf")),
        ("2.5", 2.5, ()),
    ],
)
def test_arithmetic_on_metrics(text: str, value: float, metrics: tuple[str, ...]) -> None:
    values = {"rf": 0.25, "a": 5.0, "b": 2.0, "T.y1": 7.0}
    assert arithmetic.number(text)(values) == pytest.approx(value)
    assert sorted(arithmetic.metrics(text)) == sorted(metrics)
    assert arithmetic.is_metric(text) == (text in ("rf", "T.y1"))


@pytest.mark.parametrize(
    "text", ["a+", "f(a)", "a**2", "'x'", "abs(a, b)", "abs + 1", "a if b else 1", "a.b + 1", "+a"]
)
def test_other_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected metrics, numbers, .* found"):
        arithmetic.number(text)
    with pytest.raises(ValueError, match=r"expected metrics, numbers, .* found"):
        arithmetic.metrics(text)


def test_a_name_that_does_not_exist_is_answered_with_one_that_does() -> None:
    """Check that the message about an unknown name suggests a similar name that exists.

    Names of experiments are short, so 40 % of equal letters suffice for a suggestion.
    """
    error = str(unknown("experiment", "N7-MAN", ["N7-MAIN", "FTP-TODAY"], "longhaul study list"))
    assert error.startswith("no experiment is called `N7-MAN` (did you mean `N7-MAIN`?)")
    assert "did you mean `PEP-E02`" in str(unknown("experiment", "E2", ["PEP-E02"]))
    # Four equal letters out of twelve are too few for a suggestion.
    assert "did you mean" not in str(unknown("experiment", "MAUST", ["N7-MAIN"]))
