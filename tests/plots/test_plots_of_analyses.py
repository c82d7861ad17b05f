"""Content of the plots of analyses, texts and points, for cases with known answers."""

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.text import Annotation, Text

from longhaul.analysis import clusters, components, ranks
from longhaul.designs import two_level
from longhaul.plots.analysis import competitors, effects, ten_step
from longhaul.plots.analysis import correlations as responses
from longhaul.plots.analysis.frame import HIGH, LEVELS, LOW, beside, is_amount, number, panels
from longhaul.plots.analysis.ten_step import Screening
from longhaul.plots.layout import for_width

MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def given() -> Screening:
    """Return the analysis of a 2^(4-1) design: x1 adds 8, x3 subtracts 4, x1*x2 adds 2."""
    design = two_level(4, runs=8)
    x = design.coded
    y = 20.0 + 4 * x[:, 0] - 2 * x[:, 2] + 1 * x[:, 0] * x[:, 1]
    return Screening(x, y, design.names, "y", levels=[(1, 2), ("low", "high"), (5, 9), (0, 1)])


def key_of(drawing: Figure) -> list[str]:
    """Return the lines of text beside the panels of a plot."""
    return [text.get_text() for legend in drawing.legends for text in legend.get_texts()]


def bars_of(drawing: Figure) -> list[Rectangle]:
    return [bar for bar in drawing.axes[0].patches if isinstance(bar, Rectangle)]


def overlapping(drawing: Figure, labels: list[Text]) -> list[tuple[str, str]]:
    """Return pairs of labels that overlap, and (label, "beyond") for labels beyond their axes."""
    drawing.canvas.draw()
    boxes = [label.get_window_extent() for label in labels]
    names = [label.get_text() for label in labels]
    pairs = [
        (names[i], names[k])
        for i, one in enumerate(boxes)
        for k in range(i)
        if one.overlaps(boxes[k])
    ]
    beyond = []
    for label, box in zip(labels, boxes, strict=True):
        assert label.axes is not None
        frame = label.axes.get_window_extent()
        # The tolerance is one pixel for rounding.
        if not (frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1
                and frame.y0 - 1 <= box.y0 and box.y1 <= frame.y1 + 1):  # fmt: skip
            beyond.append((label.get_text(), "beyond"))
    return pairs + beyond


def texts(drawing: Figure, panel: int = 0) -> list[str]:
    return [text.get_text() for text in drawing.axes[panel].texts]


def ticks(drawing: Figure, panel: int = 0) -> list[str]:
    return [label.get_text() for label in drawing.axes[panel].get_xticklabels()]


def test_runs_are_ordered_and_carry_their_levels(given: Screening) -> None:
    drawing = ten_step.ordered_data(given)
    [points] = drawing.axes[0].get_lines()
    heights = np.asarray(points.get_ydata(), float)
    assert heights.tolist() == sorted(given.response.tolist())
    best = int(given.response.argmax())
    pattern = "\n".join("+" if level > 0 else MINUS for level in given.coded[best])
    assert ticks(drawing)[-1] == pattern


@pytest.mark.parametrize("name", ten_step.TEN_STEPS)
def test_every_step_says_how_much_there_is_and_what_minus_and_plus_are(
    given: Screening, name: str
) -> None:
    lines = key_of(ten_step.TEN_STEPS[name](given))
    assert lines[:4] == [
        "k = 4 factors",
        "n = 8 runs",
        f"x1: {MINUS} 1, + 2",
        f"x2: {MINUS} low, + high",
    ]


def test_either_level_has_one_colour_in_all_pictures(given: Screening) -> None:
    points = ten_step.scatter(given).axes[0].get_lines()
    colours = [line.get_color() for line in points if line.get_marker() == "_"]
    assert colours == list(LEVELS[:2]) * 4
    signs = {text.get_text(): text.get_color() for text in ten_step.blocks(given).axes[0].texts}
    assert signs == {MINUS: LEVELS[0], "+": LEVELS[1]}
    order = (np.arange(4.0), np.arange(4.0), ("x", "y"), {"f": ([1, 2], [1, 2, 1, 2])})
    lines = responses.yyx(*order).axes[1].get_lines()
    assert [line.get_color() for line in lines] == list(LEVELS[:2])


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
    # Panels below the diagonal are empty.
    assert not drawing.axes[4].axison


def test_a_robust_factor_is_marked_in_block_plots(given: Screening) -> None:
    drawing = ten_step.blocks(given)
    titles = [axes.get_title() for axes in drawing.axes]
    assert titles[0] == "x1 *"
    # x2 acts only through its interaction, so its better level depends on x1.
    assert titles[1] == "x2"
    assert "* the same level" in drawing.get_suptitle()


def test_blocks_and_their_signs_are_inside_the_frame(given: Screening) -> None:
    drawing = ten_step.blocks(given)
    drawing.canvas.draw()
    for axes in drawing.axes:
        frame = axes.get_window_extent()
        for box in [
            *(text.get_window_extent() for text in axes.texts),
            *(bar.get_window_extent() for bar in axes.patches),
        ]:
            assert frame.y0 < box.y0 <= box.y1 < frame.y1
            assert frame.x0 < box.x0 <= box.x1 < frame.x1


def test_a_single_factor_has_a_block_inside_its_frame() -> None:
    design = np.array([[-1], [1], [-1], [1]])
    drawing = ten_step.blocks(Screening(design, np.array([1.0, 2.0, 1.1, 2.1]), ["x1"], "y"))
    (axes,) = drawing.axes
    drawing.canvas.draw()
    (block,) = axes.patches
    frame, box = axes.get_window_extent(), block.get_window_extent()
    assert frame.x0 < box.x0 < box.x1 < frame.x1
    assert frame.y0 < box.y0 < box.y1 < frame.y1


def test_effects_are_sorted_and_the_model_is_built_from_the_largest(given: Screening) -> None:
    drawing = ten_step.absolute_effects(given)
    assert [tick.split("\n")[0] for tick in ticks(drawing)[:3]] == ["x1", "x3", "x1*x2"]
    colours = [line.get_color() for line in drawing.axes[0].get_lines()][:3]
    assert colours == [HIGH, LOW, HIGH]
    steps = ten_step.residual_deviation(given)
    [line] = steps.axes[0].get_lines()
    heights = np.asarray(line.get_ydata(), float)
    assert heights[0] == pytest.approx(given.response.std(ddof=1))
    assert heights[3] == pytest.approx(0, abs=1e-9)
    # A label also names the aliases of an effect.
    assert ticks(steps)[3] == ticks(drawing)[2] == "x1*x2\n= x3*x4"
    assert steps.axes[0].get_ylabel() == "residual standard deviation of y"


def test_a_part_of_the_effects_is_said_to_be_one() -> None:
    design = two_level(7, runs=64)
    y = design.coded @ np.arange(7.0)
    drawing = ten_step.absolute_effects(Screening(design.coded, y, design.names, "y"))
    assert drawing.axes[0].get_title().startswith("20 largest of 28 effects")


@pytest.mark.parametrize("step", [ten_step.youden, ten_step.half_normal])
def test_labels_of_effects_do_not_lie_on_each_other(step: Callable[[Screening], Figure]) -> None:
    design = two_level(7, runs=64)
    names = [f"a long name {k}" for k in range(7)]
    # Several effects of nearly the same size.
    y = 20.0 + design.coded @ np.array([5, 5.01, 4.99, 5.02, 0.1, 0.11, 0.12])
    drawing = step(Screening(design.coded, y, names, "y"))
    labels = [text for text in drawing.axes[0].texts if text.get_text()]
    assert len(labels) == 10
    assert overlapping(drawing, labels) == []


def test_labels_beside_many_points_at_one_place_are_led_to_them() -> None:
    drawing = Figure(layout="constrained")
    axes = drawing.subplots()
    x = np.linspace(0.0, 0.01, 12)
    axes.plot(x, x, "o")
    axes.set(xlim=(-1, 1), ylim=(-1, 1))
    beside(axes, [(each, each, f"label {k}") for k, each in enumerate(x.tolist())])
    labels = [text for text in axes.texts if text.get_text()]
    assert len(labels) == 12
    assert overlapping(drawing, labels) == []
    assert len(axes.texts) > 12


def test_large_numbers_have_a_prefix() -> None:
    values = (0.01234, 14.546, -5.03, 86_312.0, 12_345_678.0)
    assert [number(value) for value in values] == ["0.0123", "14.5", "-5.03", "86.3k", "12.3M"]


@pytest.mark.parametrize(
    ("levels", "amounts"),
    [([1, 2.5], True), (["5 ms", "-5 ms"], True), ([1, "red"], False), ([False, True], False)],
)
def test_quantities_are_told_from_names(levels: list[object], amounts: bool) -> None:
    assert is_amount(levels) == amounts


@pytest.mark.parametrize(("given_in", "columns"), [(None, 6), (3.5, 2)])
def test_only_figures_of_a_given_width_have_fewer_columns(
    given_in: float | None, columns: int
) -> None:
    with for_width(given_in):
        drawing, axes = panels(12, columns=6, width=7 / 6)
    assert axes[0].get_gridspec().ncols == columns  # type: ignore[union-attr]
    assert drawing.get_figwidth() == pytest.approx(given_in or 7)


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


def test_cubes_have_a_value_at_each_corner_and_say_where_levels_are() -> None:
    levels = [(400, 800), ("low", "high"), (1, 2)]
    drawing = effects.cube([1, 2, 3, 4, 5, 6, 7, 8.5], ["a", "b", "c"], levels, "rank")
    assert "C8: 8.50" in texts(drawing)
    assert len(drawing.axes[0].get_lines()) == len(ranks.cube_edges([0.0] * 8)) == 12
    assert drawing.axes[0].get_title().split("\n") == [
        "rank", "a: 400 left, 800 right", "b: low below, high above", "c: 1 in front, 2 behind",
    ]  # fmt: skip
    # No edge goes through a number.
    assert all(text.get_bbox_patch() is not None for text in drawing.axes[0].texts)


def test_correlation_matrices_have_rounded_coefficients_below_the_names() -> None:
    x = np.arange(20.0)
    values = np.column_stack([x, x**2, -x, np.tile([1.0, 0.0], 10)])
    drawing = responses.correlation_matrix(values, ["a", "b", "c", "d"])
    shown = [text.get_text() for axes in drawing.axes for text in axes.texts]
    assert {"a", "b", "c", "d"} <= set(shown)
    assert f"{round(100 * np.corrcoef(x, x**2)[0, 1])}" in shown
    assert "-100" in shown


def test_many_responses_are_squares_of_a_colour_rather_than_dots() -> None:
    rng = np.random.default_rng(1)
    names = [f"y{k}" for k in range(30)]
    drawing = responses.correlation_matrix(rng.normal(size=(40, 30)), names, ["y0: the first"])
    assert len(drawing.axes) == 2
    assert len(texts(drawing)) == 30 * 29
    assert key_of(drawing) == ["y0: the first"]


@pytest.mark.parametrize("count", [4, 45])
def test_biplots_hold_all_arrows_and_their_labels_apart(count: int) -> None:
    rng = np.random.default_rng(2)
    found = components.principal_components(rng.normal(size=(60, count)))
    names = [f"y{k}" for k in range(count)]
    drawing = responses.biplot(found, names, {"all": range(60)})
    axes = drawing.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    labels = [text for text in axes.texts if text.get_text()]
    assert {label.get_text() for label in labels} == set(names)
    assert overlapping(drawing, labels) == []
    for arrow in axes.texts[:count]:
        assert isinstance(arrow, Annotation)
        x, y = arrow.xy
        assert left <= x <= right
        assert bottom <= y <= top
    # The axes are not much larger than scores and arrows need.
    assert axes.dataLim.width > 0.7 * (right - left)


def test_shares_of_components_add_up() -> None:
    rng = np.random.default_rng(2)
    found = components.principal_components(rng.normal(size=(30, 4)))
    heights = [bar.get_height() for bar in bars_of(responses.shares(found))]
    assert heights[:4] == pytest.approx((100 * found.variance_shares).tolist())
    assert heights[7] == pytest.approx(100.0)


def test_distributions_have_one_scale() -> None:
    values = np.random.default_rng(2).normal(5.0, 2.0, size=(30, 4))
    drawing = responses.distributions(components.principal_components(values), values)
    axes = [axes for axes in drawing.axes if axes.get_visible()]
    assert len({axes.get_xlim() for axes in axes}) == 1
    assert axes[0].get_title().startswith("all responses, standardised\nn = 120")
    assert sum(bar.get_height() for bar in bars_of(drawing)) == 120


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
        # The corners lie on the line, hence a small tolerance.
        assert around.contains_points(inside, radius=1e-9).all()
    assert set(clusters) <= {text.get_text() for text in axes.texts}
