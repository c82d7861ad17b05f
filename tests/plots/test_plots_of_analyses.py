"""What the plots of analyses show: texts and points, on cases with known answers."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path

from longhaul.analysis import clusters, components, ranks
from longhaul.designs import two_level
from longhaul.plots.analysis import competitors, ten_step
from longhaul.plots.analysis import correlations as responses
from longhaul.plots.analysis.frame import HIGH, LOW
from longhaul.plots.analysis.ten_step import Screening

MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def given() -> Screening:
    """A 2^(4-1) fraction: x1 raises the response by 8, x3 lowers it by 4, x1*x2 adds 2."""
    design = two_level(4, runs=8)
    x = design.coded
    y = 20.0 + 4 * x[:, 0] - 2 * x[:, 2] + 1 * x[:, 0] * x[:, 1]
    return Screening(x, y, design.names, "y")


def texts(drawing: Figure, panel: int = 0) -> list[str]:
    """The texts inside a panel."""
    return [text.get_text() for text in drawing.axes[panel].texts]


def ticks(drawing: Figure, panel: int = 0) -> list[str]:
    """The labels of its horizontal axis."""
    return [label.get_text() for label in drawing.axes[panel].get_xticklabels()]


def test_runs_are_ordered_and_carry_their_levels(given: Screening) -> None:
    drawing = ten_step.ordered_data(given)
    [points] = drawing.axes[0].get_lines()
    heights = np.asarray(points.get_ydata(), float)
    assert heights.tolist() == sorted(given.response.tolist())
    best = int(given.response.argmax())
    pattern = "\n".join("+" if level > 0 else MINUS for level in given.coded[best])
    assert ticks(drawing)[-1] == pattern
    assert texts(drawing) == ["k = 4\nn = 8"]


def test_main_effects_are_written_below_each_factor(given: Screening) -> None:
    drawing = ten_step.main_effects(given)
    assert ticks(drawing)[0] == "x1\n8\n40 %"
    assert ticks(drawing)[2] == "x3\n-4\n20 %"
    lines = [np.asarray(line.get_ydata(), float).tolist() for line in drawing.axes[0].get_lines()]
    assert [16.0, 24.0] in lines


def test_interactions_stand_above_the_diagonal(given: Screening) -> None:
    drawing = ten_step.interactions(given)
    titles = [axes.get_title() for axes in drawing.axes]
    assert titles[0] == "8"
    assert titles[1] == "2"
    # Below the diagonal there is nothing.
    assert not drawing.axes[4].axison


def test_a_robust_factor_is_marked_in_block_plots(given: Screening) -> None:
    drawing = ten_step.blocks(given)
    titles = [axes.get_title() for axes in drawing.axes]
    assert titles[0] == "x1 *"
    # Nothing but its interaction moves x2: which level is ahead depends on x1.
    assert titles[1] == "x2"


def test_effects_are_sorted_and_the_model_is_built_from_the_largest(given: Screening) -> None:
    drawing = ten_step.absolute_effects(given)
    assert ticks(drawing)[:3] == ["x1", "x3", "x1*x2"]
    colours = [line.get_color() for line in drawing.axes[0].get_lines()][:3]
    assert colours == [HIGH, LOW, HIGH]
    steps = ten_step.residual_deviation(given)
    [line] = steps.axes[0].get_lines()
    heights = np.asarray(line.get_ydata(), float)
    assert heights[0] == pytest.approx(given.response.std(ddof=1))
    assert heights[3] == pytest.approx(0, abs=1e-9)
    assert "x1*x2 = x3*x4" in texts(steps)[0]


def test_contours_have_the_means_of_the_corners(given: Screening) -> None:
    drawing = ten_step.contours(given)
    axes = drawing.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x1", "x3")
    assert {"14", "22", "18", "26"} <= set(texts(drawing))


@pytest.mark.parametrize("name", ten_step.TEN_STEPS)
def test_every_step_is_drawn_for_a_saturated_fraction(name: str) -> None:
    design = two_level(3, runs=4)
    screening = Screening(design.coded, np.array([1.0, 4.0, 2.0, 8.0]), design.names, "y")
    assert ten_step.TEN_STEPS[name](screening).axes


def test_dendrograms_name_who_is_distinctive() -> None:
    rng = np.random.default_rng(1)
    values = 0.1 * rng.normal(size=(6, 9))
    values[2] += 5
    drawing = competitors.dendrograms([clusters.dendrogram(values)], list("abcdef"), ["one"])
    assert drawing.axes[0].get_title() == "one\ndistinctive: c"


def test_cubes_have_a_value_at_each_corner() -> None:
    drawing = competitors.cube(
        [1, 2, 3, 4, 5, 6, 7, 8.5], ["a", "b", "c"], [f"C{k}" for k in range(8)]
    )
    assert "C7: 8.50" in texts(drawing)
    assert len(drawing.axes[0].get_lines()) == len(ranks.cube_edges([0.0] * 8)) == 12


def test_correlation_matrices_have_rounded_coefficients_below_the_names() -> None:
    x = np.arange(20.0)
    values = np.column_stack([x, x**2, -x, np.tile([1.0, 0.0], 10)])
    drawing = responses.correlation_matrix(values, ["a", "b", "c", "d"])
    shown = [text.get_text() for axes in drawing.axes for text in axes.texts]
    assert {"a", "b", "c", "d"} <= set(shown)
    assert f"{round(100 * np.corrcoef(x, x**2)[0, 1])}" in shown
    assert "-100" in shown


def test_biplots_hold_all_arrows() -> None:
    rng = np.random.default_rng(2)
    found = components.principal_components(rng.normal(size=(30, 4)))
    drawing = responses.biplot(found, list("abcd"), {"all": range(30)})
    axes = drawing.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    named = [text for text in axes.texts if text.get_text() in "abcd" and text.get_text()]
    assert len(named) == 4
    for text in named:
        x, y = text.get_position()
        assert left <= float(x) <= right
        assert bottom <= float(y) <= top


def test_biplots_enclose_clusters_and_say_what_they_share() -> None:
    rng = np.random.default_rng(2)
    found = components.principal_components(rng.normal(size=(30, 4)))
    clusters = {"low": range(15), "high": range(15, 29), "one run": [29]}
    axes = responses.biplot(found, list("abcd"), {"all": range(30)}, clusters).axes[0]
    lines = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert len(lines) == 2
    for line, members in zip(lines, list(clusters.values())[:2], strict=True):
        around = Path(np.column_stack(line.get_data()))
        inside = found.scores[list(members), :2]
        # The corners are on the line: a little wider.
        assert around.contains_points(inside, radius=1e-9).all()
    assert set(clusters) <= {text.get_text() for text in axes.texts}
