"""Axes of studies' figures, compared with matplotlib's own axes: same ticks."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from longhaul.studies.figures.axes import QuickAxes

Draw = Callable[[Axes], object]

# Matplotlib's settings for invisible ticks, with labels at the same distance as on our axes.
STYLE: Any = {
    "axes.grid": True, "svg.fonttype": "none", "axes.titley": 1.0,
    **{f"{axis}tick.{kind}.{what}": size for axis in "xy" for kind in ("major", "minor")
       for what, size in (("size", 0.0), ("pad", 5.0))},
}  # fmt: skip


def _linear(axes: Axes) -> None:
    axes.plot([0.0, 0.37], [-3.0, 12.0])


def _decades(axes: Axes) -> None:
    axes.loglog([0.02, 3e3], [2.0, 9.0])


def _within_a_decade(axes: Axes) -> None:
    axes.semilogy([1.0, 2.0], [3e2, 8e2])


def _limits_on_ticks(axes: Axes) -> None:
    axes.set_xlim(0.0, 0.3)
    axes.set_ylim(5.0, 1.0)


def _named(axes: Axes) -> None:
    axes.bar([0, 1, 2], [1, 2, 3])
    axes.set_xticks([0, 1, 2], ["one", "two", "three"], rotation=30, fontsize=6)


def _without_grid(axes: Axes) -> None:
    axes.plot([1, 2])
    axes.grid(visible=False)


CASES = [_linear, _decades, _within_a_decade, _limits_on_ticks, _named, _without_grid]


def _svg(kind: type[Axes], draw: Draw, panels: int = 1) -> str:
    with rc_context(STYLE):
        whole = Figure(figsize=(6, 3))
        grid = whole.subplots(
            1, panels, squeeze=False, sharey=True, subplot_kw={"axes_class": kind}
        )
        for axes in grid.flat:
            draw(axes)
        text = io.StringIO()
        FigureCanvasSVG(whole).print_svg(text)  # type: ignore[no-untyped-call]
    return text.getvalue()


def _texts(svg: str) -> list[str]:
    return sorted(re.findall(r"<text[^>]*>[^<]*</text>|<tspan[^>]*>[^<]*</tspan>", svg))


def _grid(svg: str) -> set[tuple[str, str]]:
    paths = re.findall(r'<path d="([^"]*)"[^>]*stroke: #b0b0b0', svg)
    return {ends for path in paths for ends in re.findall(r"M (\S+ \S+) *\n?L (\S+ \S+)", path)}


def _other_lines(svg: str) -> list[str]:
    """Return the lines in other colours than the grid's, spines included."""
    paths = re.findall(r'<path d="([^"]*)"([^>]*)>', svg)
    return sorted(path for path, style in paths if "#b0b0b0" not in style)


@pytest.mark.parametrize("draw", CASES)
@pytest.mark.parametrize("panels", [1, 2])
def test_they_show_what_usual_axes_show(draw: Draw, panels: int) -> None:
    usual, quick = (_svg(kind, draw, panels) for kind in (Axes, QuickAxes))
    assert _texts(quick) == _texts(usual)
    assert _grid(quick) == _grid(usual)
    assert bool(_grid(quick)) == (draw is not _without_grid)
    assert _other_lines(quick) == _other_lines(usual)


def test_a_power_of_ten_stands_above_the_axis_in_plain_text() -> None:
    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 4e7])

    (power,) = (text for text in _texts(_svg(QuickAxes, draw)) if "10⁷" in text)
    assert ">×10⁷<" in power  # noqa: RUF001


def test_an_offset_keeps_its_digits() -> None:
    """Check the text of a scale and an offset, 1e-5 and +2.1e4 in Matplotlib."""

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [21000.00001, 21000.00003])

    assert any(">×10⁻⁵+2.1×10⁴<" in text for text in _texts(_svg(QuickAxes, draw)))  # noqa: RUF001


def test_grid_lines_of_major_ticks_are_shown_or_hidden() -> None:
    """Check that calls of an axis's `grid` show and hide the grid lines of major ticks.

    A call without arguments toggles them, as in Matplotlib; minor ticks have no grid lines.
    """
    with rc_context({"axes.grid": False}):
        axis: Any = Figure().subplots(subplot_kw={"axes_class": QuickAxes}).xaxis
    shown = []
    for words in ({"visible": True}, {}, {}, {"visible": False}, {"which": "minor"},
                  {"visible": True, "which": "minor"}, {"which": "both"}):  # fmt: skip
        axis.grid(**words)
        shown.append(axis._lined)
    assert shown == [True, False, True, False, False, False, True]
