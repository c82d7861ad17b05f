"""Tests of plots on an evaluation's page: intervals are cut at the end of the axis."""

from pathlib import Path

import numpy as np
import pytest

from longhaul.analysis.comparisons import MeanInterval
from longhaul.evaluation import page
from longhaul.evaluation.suite import Criterion, Figure, find
from longhaul.evaluation.verdicts import Outcome, Point

ARROW = ">"


def _axis(*values: MeanInterval) -> tuple[float, list[float], int]:
    """Draw the intervals `values`, and return three properties of the plot.

    These are the upper end of the axis, the upper end of each drawn interval, and the number of
    arrows. An arrow marks an interval that is cut at the end of the axis.
    """
    named = {f"algorithm {number}": value for number, value in enumerate(values)}
    point = Point("e", {"buffer": "1 BDP"}, Figure("wait_p95_s", "wait"), named, "")
    drawn = page._drawn([[point]], "algorithm 0")
    assert drawn
    lines = drawn.axes[0].lines
    reaches = [np.asarray(line.get_xdata(), float) for line in lines]
    ends = [float(reach.max()) for reach in reaches if len(reach) == 2]
    arrows = sum(line.get_marker() == ARROW for line in lines)
    return drawn.axes[0].get_xlim()[1], ends, arrows


def test_intervals_end_within_the_axis() -> None:
    end, ends, arrows = _axis(MeanInterval(1.0, 0.5, 1.5, 3), MeanInterval(0.4, 0.1, 0.7, 3))
    assert ends == [1.5, 0.7]
    assert end > 1.5
    assert arrows == 0


def test_an_arrow_says_that_an_interval_goes_on() -> None:
    """Check that an interval that is cut at the end of the axis has an arrow.

    An interval far longer than the others is cut, to leave room for the others.
    """
    end, ends, arrows = _axis(MeanInterval(1.0, -40.0, 42.0, 3), MeanInterval(0.4, 0.1, 0.7, 3))
    assert ends == [end, 0.7]
    assert end == pytest.approx(2.05)
    assert arrows == 1


def test_single_values_have_no_intervals() -> None:
    none = float("inf")
    end, ends, arrows = _axis(MeanInterval(1.0, -none, none, 1), MeanInterval(0.4, -none, none, 1))
    assert (ends, arrows) == ([], 0)
    assert end == pytest.approx(1.05)


def test_the_legend_has_contenders_without_a_value_at_the_first_point() -> None:
    value, figure = MeanInterval(1.0, 0.5, 1.5, 3), Figure("wait_p95_s", "wait")
    points = [
        Point("e", {"flows": flows}, figure, dict.fromkeys(names, value), "")
        for flows, names in ((1, ["mine"]), (2, ["mine", "cubic"]))
    ]
    drawn = page._drawn([points], "mine")
    assert drawn
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["mine", "cubic"]


def _outcome(verdicts: dict[tuple[str, str], str]) -> Outcome:
    """Return the outcome of a criterion whose points have these verdicts, by buffer and rate."""
    points = [
        Point("e", {"buffer": buffer, "rate": rate}, Figure("wait_p95_s", "wait"), {}, verdict)
        for (buffer, rate), verdict in verdicts.items()
    ]
    criterion = Criterion("5.1", "Waits", "must", "", "", ("e",), ())
    return Outcome(criterion, "worse", points)


def test_the_page_says_at_which_levels_it_is_worse() -> None:
    outcome = _outcome({
        ("0.5 BDP", "10 Mbps"): "worse", ("0.5 BDP", "100 Mbps"): "worse",
        ("2 BDP", "10 Mbps"): "no worse", ("2 BDP", "100 Mbps"): "better",
    })  # fmt: skip
    said = "5.1 Waits is worse at 2 of 2 points at buffer 0.5 BDP."
    assert page._where(outcome) == said
    fine = _outcome({("1 BDP", "10 Mbps"): "no worse", ("2 BDP", "10 Mbps"): "no worse"})
    assert page._where(fine) == ""


def test_the_overview_has_the_points_of_each_criterion_and_no_colour_alone() -> None:
    outcome = _outcome({
        ("0.5 BDP", "10 Mbps"): "worse", ("0.5 BDP", "100 Mbps"): "no worse",
        ("2 BDP", "10 Mbps"): "no worse", ("2 BDP", "100 Mbps"): "better",
        ("9 BDP", "10 Mbps"): "not evaluated", ("9 BDP", "100 Mbps"): "",
    })  # fmt: skip
    svg = str(page._overview([outcome]))
    for text in ("5.1 Waits", "better here", "no worse here", "worse here", "% of the points"):
        assert text in svg
    assert [page._points_of(kind, outcome) for kind in page.POINTS] == [1, 2, 1]
    assert page._row_name(outcome.points[0]) == "buffer 0.5 BDP, rate 10 Mbps (worse here)"
    assert page._overview([]) == ""


def test_the_answer_counts_points_with_a_verdict(tmp_path: Path) -> None:
    suite = find("rfc7928")
    figure, values = Figure("wait_p95_s", "wait"), {"mine": MeanInterval(1.0, 0.5, 1.5, 3)}
    points = [Point("e", {}, figure, values, verdict) for verdict in ("worse", "no worse", "")]
    outcome = Outcome(Criterion("5.1", "Waits", "must"), "worse", points)
    facts = {
        "against": [], "standards": ["droptail"], "runs": 3, "failed": [], "settings": [],
        "table": {}, "replications": 3, "command": "", "date": "2026-11-30",
    }  # fmt: skip
    page.write(tmp_path / "report.html", suite, "mine", "quick", [outcome], facts)
    assert "5.1 Waits (worse at 1 of 2 points)" in (tmp_path / "report.html").read_text()
