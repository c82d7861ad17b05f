"""Plots that compare algorithms by condition: plotted numbers, names, and room for names."""

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from longhaul.analysis import congestion, outliers, ranks
from longhaul.mesonet import groups
from longhaul.plots.analysis import competitors, conditions, residuals, users
from longhaul.plots.analysis.frame import HIGH, LOW, PLAIN

NAMES = dict(enumerate("abcdefgh", start=1))
PAIR = users.Pair("Goodput", "goodput", "packets/s", "own flows", "flows beside")


def texts(drawing: Figure, panel: int = 0) -> list[str]:
    return [text.get_text() for text in drawing.axes[panel].texts]


def notes(drawing: Figure) -> str:
    """Return the title and the notes of a plot as one line of text."""
    return " ".join(" ".join(text.get_text() for text in drawing.texts).split())


def annotations(drawing: Figure, panel: int = 0) -> list[Annotation]:
    return [text for text in drawing.axes[panel].texts if isinstance(text, Annotation)]


def row(drawing: Figure, name: str, panel: int = 0) -> list[str]:
    """Return the texts in the row `name` below a panel."""
    shown = annotations(drawing, panel)
    [head] = [text for text in shown if text.get_text() == name]
    height = head.get_position()[1]
    same = [text for text in shown if text is not head and text.get_position()[1] == height]
    return [text.get_text() for text in sorted(same, key=lambda text: text.xy[0])]


def three_conditions(critical: float | None = None) -> Figure:
    values = np.array(
        [[1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 3.0], [5.0] * 7, [2, 2.1, 1.9, 2, 2.2, 1.8, 2]]
    )
    rates = ["1 Mbps", "2 Mbps", "3 Mbps"]
    names = {number: name for number, name in NAMES.items() if number != 3}
    return residuals.residual_plot(values, names, {"rate": rates}, "", ("y", "ms"), critical)


def test_columns_of_residual_plots_are_coloured_by_the_test() -> None:
    drawing = three_conditions()
    # Conditions are ordered by the largest residual: none, a usual one, an outlier.
    assert row(drawing, "condition") == ["2", "3", "1"]
    # Algorithms keep their numbers in the whole table, so without the third the last is 8.
    assert row(drawing, "extreme")[::2] == ["-1", "8"]
    colours = [text.get_color() for text in drawing.axes[0].texts if text.get_text() == "8"]
    assert set(colours) == {PLAIN, HIGH}
    assert "all" in texts(drawing)
    assert "3 c" not in notes(drawing)
    assert "2 b, 4 d" in notes(drawing)


def test_residual_plots_say_what_is_an_outlier_and_have_no_minus_zero() -> None:
    drawing = three_conditions(critical=2.08)
    legend = drawing.axes[0].get_legend()
    assert legend is not None
    assert "high outlier (G > 2.08)" in [text.get_text() for text in legend.get_texts()]
    close = np.array([[1e3, 1e3, 1e3 - 1e-3], [5.0, 6.0, 7.0]])
    levels = {"condition": ["1", "2"]}
    found = residuals.residual_plot(close, dict(enumerate("abc", 1)), levels, "", ("y", ""))
    assert row(found, "%") == ["0", "-17"]


def overlapping(boxes: list[Any]) -> int:
    return sum(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


@pytest.mark.parametrize("spread", [1.0, 1e-6])
def test_numbers_of_residuals_do_not_lie_on_each_other(spread: float) -> None:
    """Check that the competitors' numbers beside their residuals do not overlap.

    In the test's data, six of eight competitors have nearly equal values, and the size of residuals
    differs among conditions.
    """
    rng = np.random.default_rng(4)
    values = 1 + spread * 10.0 ** rng.uniform(-4, 0, (20, 1)) * rng.normal(0, 0.02, (20, 8))
    values[:, 2:4] += 10.0 ** -np.arange(20)[:, None]
    levels = {"condition": [str(k) for k in range(1, 21)]}
    drawing = residuals.residual_plot(values, NAMES, levels, "", ("y", ""))
    assert len(drawing.axes) == 2
    assert drawing.get_figwidth() == conditions.PAGE
    drawing.canvas.draw()
    for panel, axes in enumerate(drawing.axes):
        inside = [
            text for text in annotations(drawing, panel)
            if text.get_text() in "12345678" and isinstance(text.xycoords, str)
        ]  # fmt: skip
        assert len(inside) == 80
        assert not overlapping([text.get_window_extent() for text in inside])
        labels = [label for label in axes.get_yticklabels() if label.get_text()]
        assert not overlapping([label.get_window_extent() for label in labels])


def test_standouts_are_numbered_and_coloured_and_the_rule_is_said() -> None:
    cells = outliers.standouts(np.array([[[1, 1.01, 0.99, 1, 1.02, 0.98, 0.1]]]))
    names = dict(enumerate("abcdefg", start=2))
    drawing = residuals.standout_matrix(cells, names, ["one"], ["y"], "Outlier if G > 2.02.")
    [text] = drawing.axes[0].texts
    assert (text.get_text(), text.get_color()) == ("8", LOW)
    assert "8 g" in notes(drawing)
    assert "Outlier if G > 2.02." in notes(drawing)


def test_responses_of_standouts_go_down_a_page() -> None:
    cells: list[list[outliers.Standout | None]]
    cells = [[None] * 43 for _ in range(32)]
    cells[1][0] = outliers.Standout(2, is_high=True, percent=30.0)
    responses = [f"y{n}" for n in range(43)]
    known = [str(k) for k in range(1, 33)]
    drawing = residuals.standout_matrix(cells, NAMES, known, responses, "")
    assert drawing.get_figwidth() == conditions.PAGE
    (mark,) = drawing.axes[0].texts
    assert (mark.get_position(), mark.get_text()) == ((1, 0), "3")


def test_rank_matrices_fill_the_farthest_and_say_what_ranks_are() -> None:
    values = np.array([[[1.0, 2.0, 9.0], [4.0, 2.0, 1.0], [3.0, 3.0, 3.0]]])
    drawing = users.rank_matrix(values, 2, "c", ["one"], ["g1", "g2", "g3"])
    first, second, equal = drawing.axes[0].texts
    assert (first.get_text(), second.get_text()) == ("3", "1")
    assert first.get_bbox_patch() is not None
    assert second.get_bbox_patch() is None
    assert second.get_color() == LOW
    assert (equal.get_text(), equal.get_color()) == ("2", "black")
    assert "1 the lowest, 3 the highest" in notes(drawing)


def test_spread_of_ranks_is_drawn_with_the_numbers_of_the_whole_table() -> None:
    summary = ranks.summarise_ranks({"a": [[1, 2]], "b": [[2, 1]], "c": [[1, 2]]})
    drawing = users.rank_spread(summary, {1: "BIC", 4: "FAST-AT"}, "Ranks", "by file")
    (points,) = drawing.axes[0].get_lines()
    np.testing.assert_allclose(np.asarray(points.get_xdata(), float), [4 / 3, 5 / 3])
    np.testing.assert_allclose(np.asarray(points.get_ydata(), float), np.std([1, 2, 1], ddof=1))
    assert [text for text in texts(drawing) if text] == ["1 BIC", "4 FAST-AT"]


def test_groups_of_users_have_the_letters_of_their_table() -> None:
    assert groups.short_name("mean_alternate_1") == "M VF-F"
    assert groups.short_name("p90_standard_24") == "WO T-N"
    assert groups.short_name("y1_TP1") == "y1_TP1"
    assert groups.short_name("mean_alternate_25") == "mean_alternate_25"


def bars(rates: list[float], classes: int) -> Figure:
    bounds = congestion.natural_bounds(rates, classes)
    names = congestion.class_names(classes)
    of = [names[k] for k in congestion.congestion_classes(rates, bounds)]
    levels = {"condition": [str(k) for k in range(len(rates))]}
    return competitors.congestion_bars(rates, levels, "", of, bounds, "rate")


def test_conditions_without_losses_are_in_the_first_class() -> None:
    drawing = bars([0.2, 0.0, 1e-5, 1e-3, 0.03, 0.0], 4)
    assert row(drawing, "condition") == ["1", "5", "2", "3", "4", "0"]
    assert texts(drawing).count("0") == 3  # two rates and the number of the last condition
    letters = [text for text in annotations(drawing) if text.get_text() in "NLMC"]
    # Letters of classes stand above the middle of their conditions.
    assert [(text.get_text(), text.xy[0]) for text in letters] == [
        ("N", 1.0), ("L", 3.0), ("M", 4.0), ("C", 5.0)
    ]  # fmt: skip
    assert "N no congestion" in notes(drawing)


def test_other_numbers_of_classes_have_numbers() -> None:
    drawing = bars([1e-6, 1e-4, 1e-2], 3)
    assert [text for text in texts(drawing) if re.match(r"C\d", text)] == ["C1", "C2", "C3"]


def test_bars_between_goodputs_have_their_values_and_stay_visible() -> None:
    own = np.array([[10.0, 30.0], [5e6, 7e6]])
    beside = np.array([[20.0, 30.0], [6e6, 1e6]])
    names = {1: "a", 4: "b"}
    for k in range(2):
        drawing = users.difference_bars(
            own[k : k + 1], beside[k : k + 1], names, ["condition 21"], PAIR
        )
        (axes,) = drawing.axes
        for bar, a, b in zip(axes.patches, own[k], beside[k], strict=True):
            assert bar.get_y() == pytest.approx(min(a, b))  # type: ignore[attr-defined]
            assert bar.get_height() == pytest.approx(abs(a - b))  # type: ignore[attr-defined]
            assert bar.get_linewidth() > 0
            # The lowest value is inside the frame, too.
            assert axes.get_ylim()[0] < min(a, b)
        assert drawing.get_supylabel() == "goodput (packets/s)"
        drawing.canvas.draw()
        # The axis has no separate power of ten.
        assert axes.yaxis.get_offset_text().get_text() == ""
        assert ("M" in axes.get_yticklabels()[1].get_text()) == bool(k)
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "4"]


def test_scatter_plots_have_a_panel_and_a_correlation_each() -> None:
    own = np.array([[1.0, 3.0], [2.0, 3.0], [4.0, 3.0]])
    beside = np.array([[2.0, 1.0], [4.0, 2.0], [8.0, 3.0]])
    drawing = users.goodput_scatter(own, beside, {1: "a", 2: "b"}, PAIR)
    assert [axes.get_title("left") for axes in drawing.axes] == ["a", "b"]
    correlations = [axes.get_title("right") for axes in drawing.axes]
    assert correlations == ["r = 1.000", "r: no variation"]


def test_goodput_bars_have_goodputs_above_and_fractions_below() -> None:
    panels = [users.Bars("VF-F", [40e3, 20e3], [8e3, 16e3], 80e3),
              users.Bars("VF-N", [4e3, 2e3], [1e3, 2e3], 8e3)]  # fmt: skip
    drawing = users.goodput_bars(panels, {1: "a", 2: "b"}, PAIR)
    shown = [axes for axes in drawing.axes if axes.get_visible()]
    heights = [[bar.get_height() for bar in axes.patches] for axes in shown]  # type: ignore[attr-defined]
    assert heights[0] == [40e3, 20e3, 8e3, 16e3]
    assert shown[0].get_ylabel() == "goodput (packets/s)"
    assert heights[2] == [0.5, 0.25, 0.1, 0.2]
    assert heights[3] == [0.5, 0.25, 0.125, 0.25]
    assert "the interface's default speed, 8000, 80000 packets/s" in notes(drawing)
