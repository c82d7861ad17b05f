"""Figures of studies: declarations, content of panels, legends, ticks and room for texts."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from test_study_page import claim

from longhaul.plots.styles import ALGORITHMS, LABELS
from longhaul.studies import figures
from longhaul.studies.data import Curve, Data, NotRunError
from longhaul.studies.errors import StudyError
from longhaul.studies.figures import Figure, Frame, Line, drawing, file, printed

DECLARED = """
[[figures]]
number      = "4.1"
title       = "One flow"
experiments = ["E", "F"]
axis        = "loss"
x           = "loss rate"
y           = "utilisation"
lines       = [{ metric = "rate", label = "CUBIC" }, { metric = "loss", label = "Reno" }]
"""


def read(folder: Path, text: str) -> list[Figure]:
    (folder / "figures.toml").write_text(text)
    return file.read(folder / "figures.toml", ("E", "F"))


def test_a_declared_figure_has_defaults(tmp_path: Path) -> None:
    """Check the defaults of a declared figure.

    Its lines are from its first experiment and differ in style; it has a single panel.
    """
    lines = [Line("E", "rate", "CUBIC", LABELS[0]), Line("E", "loss", "Reno", LABELS[1])]
    assert read(tmp_path, DECLARED) == [
        Figure("4.1", "One flow", ("E", "F"), "", Frame("loss rate", "utilisation"), "loss", lines,
               ("",))
    ]  # fmt: skip


def test_all_of_a_figure_may_be_declared(tmp_path: Path) -> None:
    more = """
published = "It falls."
log       = ["{}"]
from_zero = false
panels    = ["red", "droptail"]
values    = {{ "printed" = 0.98 }}

[[figures.lines]]
metric     = "rate"
label      = "a"
experiment = "F"
where      = {{ n = 2 }}
style      = "bbr"
"""
    head = DECLARED[: DECLARED.index("lines")]
    for log in ("x", "y"):
        [found] = read(tmp_path, head + more.format(log))
        frame = Frame("loss rate", "utilisation", log == "x", log == "y", from_zero=False)
        line = Line("F", "rate", "a", ALGORITHMS["bbr"], {"n": 2})
        assert found == Figure("4.1", "One flow", ("E", "F"), "It falls.", frame, "loss", [line],
                               ("red", "droptail"), {"printed": 0.98})  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title ", "titel ", "figure 4.1: no key is called `titel` (did you mean `title`?)"),
        ("number ", "# ", "figure: missing number"), ("x  ", "#", "figure 4.1: missing x"),
        ('"E", "F"', '"E", "G"', "figure 4.1: no experiment is called `G`; available: E, F"),
        (", label = \"Reno\"", "", "figure 4.1: line 2: missing label"),
        ("label = \"Reno\"", "labels = 1", "figure 4.1: line 2: no key is called `labels`"),
        ("label = \"Reno\"", 'label = "", experiment = "G"',
         "figure 4.1: no experiment is called `G`; available: E, F"),
        ("label = \"Reno\"", 'label = "", style = "renoo"',
         "figure 4.1: no style is called `renoo`"),
        ("[[figures]]", "[[figure]]", "missing 'figures'"), ("[[figures]]", "[[figures", ""),
    ],
)  # fmt: skip
def test_what_is_no_figure_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in DECLARED
    with pytest.raises(StudyError) as refused:
        read(tmp_path, DECLARED.replace(old, new))
    assert str(refused.value).startswith(f"{tmp_path / 'figures.toml'}: {message}")


def test_a_figure_with_more_lines_than_styles_begins_with_the_first_again() -> None:
    count = len(LABELS)
    assert [file._style("", None, place) for place in (0, count - 1, count)] == [
        LABELS[0], LABELS[-1], LABELS[0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "name"), [("4.1a", "figure-4-1a"), ("B-2 (left)", "figure-B-2-left-")]
)
def test_figures_have_names_for_files(number: str, name: str) -> None:
    assert Figure(number, "", (), "", Frame("", "")).name == name


def data() -> Data:
    """Return results for each combination of experiment, queue, number of flows and replication."""
    rows = [
        {"experiment": name, "queue": queue, "n": n, "replication": number,
         "rate": 10.0 * n + number, "loss": None if queue == "droptail" and n == 4 else 0.5 * n}
        for name in ("E", "F") for queue in ("red", "droptail") for n in (4, 1, 2)
        for number in (0, 1)
    ]  # fmt: skip
    return Data(pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(), ("queue", "n"))


def line(metric: str = "rate", name: str = "E", **more: Any) -> Line:  # noqa: ANN401
    return Line(name, metric, metric, ALGORITHMS["reno"], **more)


def figure(*lines: Line, frame: Frame | None = None, **more: Any) -> Figure:  # noqa: ANN401
    own = frame or Frame("flows", "rate")
    return Figure("1", "T", ("E",), "", own, **{"axis": "n", "lines": lines, **more})


def panels(of: Figure, *claims: Any) -> list[Axes]:  # noqa: ANN401
    whole = drawing(of, data(), claims)
    assert whole is not None
    return whole.axes


def points(axes: Axes, place: int) -> list[list[float]]:
    return [np.asarray(one, float).tolist() for one in axes.lines[place].get_data()]


def test_a_line_has_the_medians_and_the_single_runs() -> None:
    """Check a line's points: single runs in their recorded order, and medians along the axis."""
    red, droptail = panels(figure(line(), line("rate/loss")))
    assert [axes.get_title() for axes in (red, droptail)] == ["RED", "drop-tail"]
    assert points(red, 0) == [[4, 4, 1, 1, 2, 2], [40, 41, 10, 11, 20, 21]]
    assert points(red, 1) == [[1, 2, 4], [10.5, 20.5, 40.5]]
    assert points(red, 3) == [[1, 2, 4], [21, 20.5, 20.25]]
    # Runs that lack a metric, and lines without common points, are left out.
    assert len(red.lines) == 4
    assert len(droptail.lines) == 2
    assert (red.get_xlabel(), red.get_ylabel(), droptail.get_ylabel()) == ("flows", "rate", "")
    assert (red.get_xscale(), red.get_yscale()) == ("linear", "linear")
    single, medians = red.lines[:2]
    assert (single.get_linestyle(), single.get_marker(), single.get_alpha()) == ("None", ".", 0.5)
    assert medians.get_marker() == ALGORITHMS["reno"].marker
    assert single.get_color() == medians.get_color() == ALGORITHMS["reno"].colour
    assert medians.get_label() == "rate"


def test_runs_with_a_denominator_of_0_are_not_drawn() -> None:
    [axes] = panels(figure(line("rate/(rate-10)"), panels=("red",)))
    assert points(axes, 0)[1] == pytest.approx([40 / 30, 41 / 31, inf, 11, 2, 2.1 / 1.1])
    assert points(axes, 1)[1][0] == 21


def test_one_panel_has_no_title_and_shows_lines_at_their_levels() -> None:
    of = figure(line(where={"queue": "red"}), line(name="G"), panels=())
    [axes] = panels(of)
    assert axes.get_title() == ""
    assert len(axes.lines) == 2
    [named] = panels(figure(line(), panels=("red",)))
    assert named.get_title() == ""


@pytest.mark.parametrize(
    ("drawn", "is_drawn"),
    [({"lines": [line(name="G")]}, False), ({"lines": [line(name="G"), line()]}, True),
     ({"lines": ()}, False)],
)  # fmt: skip
def test_a_figure_without_any_run_is_not_drawn(drawn: dict[str, Any], is_drawn: bool) -> None:
    assert (drawing(figure(**drawn), data()) is not None) == is_drawn


def test_a_panel_may_be_drawn_by_a_function() -> None:
    """Check that a panel can be drawn by a function, which gets the name of the panel's queue.

    A panel without runs stays empty.
    """

    def draw(axes: Axes, given: Data, queue: str) -> None:
        if queue == "red":
            raise NotRunError
        axes.plot([1, 2], [len(given.values), 0.0])

    red, droptail = panels(figure(draw=draw))
    assert len(red.lines) == 0
    assert points(droptail, 0) == [[1, 2], [24, 0]]

    def fail(*_: object) -> None:
        raise NotRunError

    assert drawing(figure(draw=fail), data()) is None


def test_a_line_may_be_computed_by_a_function() -> None:
    def curve(_: Data, **where: Any) -> Curve:  # noqa: ANN401
        assert where == {"n": 2, "queue": "red"}
        return Curve(np.array([1.0, 3.0]), np.array([2.0, 5.0]))

    [axes] = panels(figure(line(curve=curve, where={"n": 2}), panels=("red",)))
    assert len(axes.lines) == 1
    assert points(axes, 0) == [[1, 3], [2, 5]]


def test_printed_numbers_are_drawn_beside_lines_and_as_horizontal_ones() -> None:
    own = [claim({"of": "E1", "metric": "rate", "queue": "red", "n": n}, str(n)) for n in (2, 1)]
    of = figure(line(name="E"), values={"line": 12.0})
    red, droptail = panels(of, *own)
    assert red.lines[0].get_label() == "line"
    assert [float(y) for y in red.lines[0].get_ydata()] == [12, 12]  # type: ignore[union-attr, arg-type]
    # Claims are of the experiment E1.
    assert len(red.lines) == len(droptail.lines) == 3
    beside = Line("E1", "rate", "rate", ALGORITHMS["reno"])
    assert printed(beside, "n", {"queue": "red"}, own) == {2.0: 2.0, 1.0: 1.0}
    assert printed(beside, "n", {"queue": "droptail"}, own) == {}
    curve = line(name="E1", curve=lambda *_: Curve(np.array([]), np.array([])))
    assert printed(curve, "n", {"queue": "red"}, own) == {}


def test_printed_numbers_have_the_colour_of_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "printed", lambda *_: {1.0: 3.0, 2.0: 4.0})
    [axes] = panels(figure(line(), line(name="G"), panels=("red",)))
    assert len(axes.lines) == 3
    last = axes.lines[-1]
    assert points(axes, -1) == [[1, 2], [3, 4]]
    assert (last.get_label(), last.get_linestyle(), last.get_marker()) == ("printed", "None", "D")
    assert last.get_markerfacecolor() == ALGORITHMS["reno"].colour


@pytest.mark.parametrize(
    ("log_x", "log_y", "from_zero", "bottom"),
    [(False, False, True, 0.0), (False, False, False, 8.45), (True, False, True, 0.0),
     (False, True, True, 9.32), (True, True, False, 9.32)],
)  # fmt: skip
def test_axes_begin_at_zero_unless_they_are_logarithmic(
    log_x: bool, log_y: bool, from_zero: bool, bottom: float
) -> None:
    frame = Frame("x", "y", log_x, log_y, from_zero)
    [axes] = panels(figure(line(), frame=frame, panels=("red",)))
    scales = ["log" if log else "linear" for log in (log_x, log_y)]
    assert [axes.get_xscale(), axes.get_yscale()] == scales
    assert axes.get_ylim()[0] == pytest.approx(bottom, abs=0.005)


def test_axes_with_negative_values_begin_below_zero() -> None:
    [axes] = panels(figure(line("2-rate"), panels=("red",)))
    assert axes.get_ylim()[0] < -39


def test_a_legend_names_each_label_once() -> None:
    whole = drawing(figure(line(), line("loss"), values={"line": 12.0}), data())
    assert whole is not None
    [legend] = whole.legends
    assert [text.get_text() for text in legend.get_texts()] == ["line", "rate", "loss"]

    def draw(axes: Axes, *_: object) -> None:
        axes.plot([1, 2])

    plain = drawing(figure(draw=draw), data())
    assert plain is not None
    assert plain.legends == []


@pytest.mark.parametrize(
    ("lengths", "columns"),
    [
        ([], 1), ([3], 1), ([3, 3], 2), ([3] * 5, 5), ([3] * 9, 5),
        # Five columns take 8.1 inches with 14 letters, 8.5 with 15; the figure has 8.4.
        ([14] * 5, 5), ([15] * 5, 4), ([110, 1], 1), ([50, 30], 2), ([41, 1, 41, 1], 3),
    ],
)  # fmt: skip
def test_legends_have_as_many_columns_as_fit(lengths: list[int], columns: int) -> None:
    assert figures._columns(["x" * length for length in lengths]) == columns


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01, "0.01"), (0.0099, "9.9×10⁻³"), (99999.0, "99999"), (1e5, "10⁵"), (2e5, "2×10⁵"),  # noqa: RUF001
        (1e-3, "10⁻³"), (12345.678, "12345.678"), (1.5e7, "1.5×10⁷"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_ticks_are_written_in_plain_text(value: float, text: str) -> None:
    assert figures._in_plain_text(value) == text


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        # An axis of two decades has ticks at powers of ten only.
        (1.0, 100.0, ["1", "10", "10²"]), (0.2, 5.0, None), (1.5, 90.0, None),
        (0.9, 101.0, ["1", "10", "10²"]),
    ],
)  # fmt: skip
def test_powers_of_ten_are_named(low: float, high: float, labels: list[str] | None) -> None:
    axes = Drawing().subplots()
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    figures._name_powers(axes.xaxis)
    minor = axes.xaxis.get_minorticklocs()
    assert (len(minor) == 0) == (labels is not None)
    at = [1.0, 10.0, 100.0]
    named = [axes.xaxis.get_major_formatter()(tick, None) for tick in at]
    assert named == (labels or ["1", "10", "100"])


def test_panels_leave_room_for_labels_and_legend() -> None:
    """Check the margins of a figure of 8.4 by 3 inches.

    The y axis needs room for its name and its longest label, the bottom for a row of the legend.
    """
    whole = drawing(figure(line()), data())
    assert whole is not None
    left, right = (axes.get_position() for axes in whole.axes)
    labels = whole.axes[0].yaxis.get_major_formatter().format_ticks(
        whole.axes[0].yaxis.get_majorticklocs().tolist()
    )  # fmt: skip
    longest = max(map(len, labels))
    assert left.x0 * 8.4 == pytest.approx(0.36 + 0.08 * longest)
    assert right.x1 * 8.4 == pytest.approx(8.4 - 0.2)
    assert (right.x0 - left.x1) * 8.4 == pytest.approx(0.2)
    assert left.y0 * 3.0 == pytest.approx(0.52 + 0.205)
    assert left.y1 * 3.0 == pytest.approx(3.0 - 0.27)
    height, width = 3.0 - 0.52 - 0.205 - 0.27, (left.x1 - left.x0) * 8.4
    x, y = (axis.label.get_position() for axis in (whole.axes[0].xaxis, whole.axes[0].yaxis))
    assert x[0] == 0.5
    assert y[1] == 0.5
    xs = whole.axes[0].xaxis.label.get_transform().transform(x)[1]
    bottom = whole.axes[0].bbox.y0
    assert (bottom - xs) / whole.dpi == pytest.approx(0.27, abs=1e-6 * height)
    ys = whole.axes[0].yaxis.label.get_transform().transform(y)[0]
    assert (whole.axes[0].bbox.x0 - ys) / whole.dpi == pytest.approx(
        0.36 + 0.08 * longest - 0.22, abs=1e-6 * width
    )


def test_a_second_axis_has_room_for_its_labels_on_the_right() -> None:
    def draw(axes: Axes, *_: object) -> None:
        axes.plot([1, 2])
        axes.twinx().plot([1, 2])

    whole = drawing(figure(draw=draw, panels=("red", "droptail")), data())
    assert whole is not None
    left, right = (axes.get_position() for axes in whole.axes[:2])
    assert right.x1 * 8.4 == pytest.approx(8.4 - 0.75)
    assert (right.x0 - left.x1) * 8.4 == pytest.approx(0.75)


def test_lines_of_metrics_without_common_points_are_not_drawn() -> None:
    rows = [{"experiment": "E", "n": n, "replication": 0, "a": a, "b": b}
            for n, a, b in ((1, 1.0, 2.0), (2, 3.0, None))]  # fmt: skip
    given = Data(pl.DataFrame(rows), pl.DataFrame(), ("n",))
    with pytest.raises(NotRunError) as refused:
        figures._medians(given, "n", line("a/b"), {})
    assert str(refused.value) == "E has not all of a, b at the same points"
    curve = figures._medians(given, "n", line("a"), {})
    assert (curve.x.tolist(), curve.y.tolist()) == ([1, 2], [1.0, 3.0])
