"""Axes that are drawn fast: all grid lines are one path, and all tick labels share one text object.

Matplotlib creates five artists for each tick, and a page with a hundred figures has thousands of
ticks. These axes support only elements that the figures of studies use: grid lines at major ticks,
labels on the left and at the bottom, the name of the axis, and the power of ten by which labels are
multiplied.
"""

import re
from typing import Any, ClassVar

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.backend_bases import RendererBase
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import Formatter, NullFormatter
from matplotlib.transforms import IdentityTransform

RAISED = str.maketrans("-\N{MINUS SIGN}0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TIMES = "\N{MULTIPLICATION SIGN}"

# Distances from the axes to tick labels, and to the power of ten below x and above y labels.
PAD_PT, POWER_BELOW_PT, POWER_ABOVE_PT = 5.0, 17.0, 3.0
# Ticks may be outside the axes by this fraction of the axes' length, due to rounding.
ROUNDING = 1e-9

Point = tuple[float, float]


def power_of_ten(exponent: int | str) -> str:
    """Return a power of ten in plain text, which is drawn faster than a formula."""
    return "10" + str(exponent).translate(RAISED)


class _DrawnAxis(Axis):
    """Drawing code that both axes share; subclasses define the positions of elements."""

    # Alignment of tick labels, and the name of the parameter that shows them.
    alignment: ClassVar[Any]
    labels_on: ClassVar[str]

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401
        self._tick_label = Text(transform=IdentityTransform(), **self.alignment)
        self._labelled = True
        self._lined = True
        super().__init__(*arguments, **settings)
        self._tick_label.set_figure(self.axes.get_figure(root=False))  # type: ignore[arg-type]

    def set_clip_path(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401
        """Set the clip path of the axis, but of no `Tick` objects."""
        Artist.set_clip_path(self, *arguments, **settings)

    def grid(self, visible: bool | None = None, which: Any = "major", **_: Any) -> None:  # noqa: ANN401
        """Show or hide grid lines at major ticks; if `visible` is None, toggle them.

        Other arguments are ignored.
        """
        if which != "minor":
            self._lined = not self._lined if visible is None else visible

    def set_tick_params(self, *_: Any, **parameters: Any) -> None:  # noqa: ANN401
        """Show or hide tick labels; other parameters are ignored."""
        self._labelled = parameters.get(self.labels_on, self._labelled)

    def set_ticklabels(self, labels: Any, *, minor: bool = False, **text: Any) -> Any:  # noqa: ANN401
        """Set the ticks' labels, and text properties of all of them."""
        self._tick_label.set(**text)
        return super().set_ticklabels(labels, minor=minor)

    def draw(self, renderer: RendererBase) -> None:
        """Draw grid lines, tick labels and the name of the axis."""
        if not self.get_visible():
            return
        renderer.open_group(__name__)
        locations = self.get_majorticklocs()
        places = self._places(locations)
        if self._lined:
            self._draw_lines(renderer, places[self._in_view(places)])
        if self._labelled:
            self._draw_labels(renderer, locations, places, self.get_major_formatter())
            if not isinstance(self.get_minor_formatter(), NullFormatter):
                minor = self.get_minorticklocs()
                self._draw_labels(renderer, minor, self._places(minor), self.get_minor_formatter())
            self._draw_power(renderer)
        self.label.draw(renderer)
        renderer.close_group(__name__)
        self.stale = False

    def _places(self, locations: np.ndarray) -> np.ndarray:
        """Return the positions of the ticks, in pixels along the axis."""
        raise NotImplementedError

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the plot's two ends along the axis, and the two perpendicular to it, in pixels."""
        raise NotImplementedError

    def _point(self, along: float, across: float) -> Point:
        """Return the point (x, y) at positions in pixels along and across the axis."""
        raise NotImplementedError

    def _power_at(self, point: float) -> Point:
        """Return the position of the text with the axis's power of ten, such as 10^6.

        The position is (x, y), with x as a fraction of the width and y in pixels. `point` is the
        length of a typographic point in pixels.
        """
        raise NotImplementedError

    def _in_view(self, places: np.ndarray) -> np.ndarray:
        low, high = self._ends()[0]
        room = ROUNDING * (high - low)
        seen: np.ndarray = (low - room <= places) & (places <= high + room)
        return seen

    def _draw_lines(self, renderer: RendererBase, places: np.ndarray) -> None:
        """Draw all grid lines as one path, at positions in pixels along the axis (`places`)."""
        if not len(places):
            return
        across = self._ends()[1]
        points = [self._point(place, end) for place in places for end in across]
        lines = renderer.new_gc()
        lines.set_foreground(matplotlib.rcParams["grid.color"])
        lines.set_linewidth(_pixels(renderer, matplotlib.rcParams["grid.linewidth"]))
        path = Path(points, [Path.MOVETO, Path.LINETO] * len(places))
        renderer.draw_path(lines, path, IdentityTransform())
        lines.restore()

    def _draw_labels(
        self, renderer: RendererBase, locations: np.ndarray, places: np.ndarray, by: Formatter
    ) -> None:
        foot = self._ends()[1][0] - _pixels(renderer, PAD_PT)
        labels = by.format_ticks(locations.tolist())
        for seen, place, label in zip(self._in_view(places), places, labels, strict=True):
            if seen and label:
                self._tick_label.set_text(label)
                self._tick_label.set_position(self._point(place, foot))
                self._tick_label.draw(renderer)

    def _draw_power(self, renderer: RendererBase) -> None:
        """Draw the power of ten by which labels are multiplied, or the offset added to them."""
        power = self.get_major_formatter().get_offset()
        if power:
            # The factor at the beginning, such as 1e3, is drawn without the 1.
            plain = re.sub(r"(^1)?e(\D?\d+)", lambda match: TIMES + power_of_ten(match[2]), power)
            self.offsetText.set_text(plain)
            self.offsetText.set_position(self._power_at(_pixels(renderer, 1.0)))
            self.offsetText.draw(renderer)


def _pixels(renderer: RendererBase, points: float) -> float:
    return float(renderer.points_to_pixels(points))  # type: ignore[arg-type]


class _X(_DrawnAxis, XAxis):
    """The x axis, at the bottom of a panel."""

    alignment: ClassVar[Any] = {"horizontalalignment": "center", "verticalalignment": "top"}
    labels_on = "labelbottom"

    def _places(self, locations: np.ndarray) -> np.ndarray:
        points = np.column_stack([locations, np.zeros(len(locations))])
        return self.axes.get_xaxis_transform(which="grid").transform(points)[:, 0]

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        return self.axes.bbox.intervalx, self.axes.bbox.intervaly

    def _point(self, along: float, across: float) -> Point:
        return along, across

    def _power_at(self, point: float) -> Point:
        return 1.0, self.axes.bbox.y0 - POWER_BELOW_PT * point


class _Y(_DrawnAxis, YAxis):
    """The y axis, on the left of a panel."""

    alignment: ClassVar[Any] = {
        "horizontalalignment": "right",
        "verticalalignment": "center_baseline",
    }
    labels_on = "labelleft"

    def _places(self, locations: np.ndarray) -> np.ndarray:
        points = np.column_stack([np.zeros(len(locations)), locations])
        return self.axes.get_yaxis_transform(which="grid").transform(points)[:, 1]

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        return self.axes.bbox.intervaly, self.axes.bbox.intervalx

    def _point(self, along: float, across: float) -> Point:
        return across, along

    def _power_at(self, point: float) -> Point:
        return 0.0, self.axes.bbox.y1 + POWER_ABOVE_PT * point


class QuickAxes(Axes):
    """Axes with an x axis at the bottom and a y axis on the left; faster than Matplotlib's."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **settings)
        for spine in self.spines.values():
            # Otherwise Matplotlib would place the name by the positions of its ticks, which do not
            # exist.
            spine.set_position(("outward", 0.0))

    def _init_axis(self) -> None:
        # As in the example on custom projections in Matplotlib's gallery.
        self.xaxis = _X(self, clear=False)
        self.yaxis = _Y(self, clear=False)
        for axis, sides in ((self.xaxis, ("bottom", "top")), (self.yaxis, ("left", "right"))):
            for side in sides:
                self.spines[side].register_axis(axis)
