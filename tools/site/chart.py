"""Line charts as SVG, in the colours of the page's light or dark theme."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle

from longhaul.plots.styles import OF_SITE, places_on_site

COUNT = len(OF_SITE)
MAX_POINTS = 600
"""Maximum number of points in a line: about one for each pixel of a chart's width."""


@dataclass(frozen=True)
class Line:
    """A named line of a chart, with its points."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float | None]


@dataclass(frozen=True)
class Chart:
    """A line chart: lines, title, and titles of the axes."""

    lines: tuple[Line, ...]
    x: str
    y: str
    title: str
    log: bool = False
    """True if the vertical axis is logarithmic; values that are not positive are then left out."""

    def svg(self, width: int = 720, height: int = 300) -> str:
        """Return the chart as SVG with axes, grid and legend; sizes are in pixels."""
        return _Drawing(self, width, height).svg()

    def thumbnail(self) -> str:
        """Return a small version of the chart as SVG, with few ticks, and axis titles inside."""
        return _Drawing(self, 300, 170, small=True).svg()


class _Drawing:
    def __init__(self, chart: Chart, width: int, height: int, *, small: bool = False) -> None:
        self.chart, self.width, self.height, self.small = chart, width, height, small
        self.left, self.right, self.top, self.bottom = (
            (52, 16, 20, 34) if small else (72, 12, 32, 44)
        )
        xs = [x for line in chart.lines for x in line.xs]
        ys = [
            y for line in chart.lines for y in line.ys if y is not None and _drawn(y, log=chart.log)
        ]
        self.x_range = (min(xs, default=0.0), max(xs, default=1.0))
        self.y_range = (
            (min(ys, default=0.1), max(ys, default=1.0))
            if chart.log
            else (0.0, 1.05 * self._top(max(ys, default=1.0)))
        )
        if self.y_range[1] <= self.y_range[0]:
            self.y_range = (0.0, 1.0)

    def _top(self, most: float) -> float:
        """Return the upper end of the y axis; `most` is the largest value.

        A first overshoot that is much larger than the rest may be cut off.
        """
        begin = self.x_range[0] + 0.25 * (self.x_range[1] - self.x_range[0])
        later = [
            y
            for line in self.chart.lines
            for x, y in zip(line.xs, line.ys, strict=True)
            if x > begin and y is not None
        ]
        return min(most, 1.6 * max(later, default=most) or most)

    def svg(self) -> str:
        label = escape(self.chart.title, quote=True)
        head = (
            f'<svg class="chart{" small" if self.small else ""}" role="img" aria-label="{label}" '
            f'viewBox="0 0 {self.width} {self.height}" xmlns="http://www.w3.org/2000/svg">'
        )
        parts = [head, f"<title>{escape(self.chart.title)}</title>"]
        parts += self._axes()
        for place, line in zip(colours(self.chart.lines), self.chart.lines, strict=True):
            parts += [
                f'<polyline class="line-{place}" points="{points}"/>'
                for points in self._points(line)
            ]
        if not self.small and len(self.chart.lines) > 1:
            parts += self._key()
        return "\n".join([*parts, "</svg>"])

    def _x(self, x: float) -> float:
        low, high = self.x_range
        return self.left + (x - low) / ((high - low) or 1.0) * (self.width - self.left - self.right)

    def _y(self, y: float) -> float:
        low, high = self.y_range
        if self.chart.log:
            y, low, high = math.log10(y), math.log10(low), math.log10(high)
        return (
            self.height
            - self.bottom
            - (y - low) / ((high - low) or 1.0) * (self.height - self.top - self.bottom)
        )

    def _points(self, line: Line) -> list[str]:
        """Return the points of a line as text, one entry per stretch without missing values."""
        pieces: list[list[str]] = [[]]
        for x, y in thinned(line):
            if not _drawn(y, log=self.chart.log):
                pieces.append([])
                continue
            assert y is not None
            # Points above the chart are drawn at its upper edge.
            pieces[-1].append(f"{self._x(x):.1f},{max(self._y(y), self.top):.1f}")
        return [" ".join(piece) for piece in pieces if len(piece) > 1]

    def _axes(self) -> list[str]:
        parts = []
        count = 3 if self.small else 5
        for value in _decades(*self.y_range) if self.chart.log else _ticks(*self.y_range, count):
            y = self._y(value)
            parts.append(
                f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(
                f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,g}</text>'
            )
        base = self.height - self.bottom
        for value in _ticks(*self.x_range, count):
            parts.append(
                f'<text x="{self._x(value):.1f}" y="{base + 16}" text-anchor="middle">{value:g}</text>'
            )
        middle = (self.left + self.width - self.right) / 2
        parts.append(
            f'<text x="{middle:.0f}" y="{self.height - 8}" text-anchor="middle">{escape(self.chart.x)}</text>'
        )
        if self.small:
            parts.append(f'<text x="4" y="12">{escape(self.chart.y)}</text>')
            return parts
        turned = f'transform="translate(14 {(self.top + base) / 2:.0f}) rotate(-90)"'
        parts.append(f'<text {turned} text-anchor="middle">{escape(self.chart.y)}</text>')
        return parts

    def _key(self) -> list[str]:
        parts, x = [], self.left + 8.0
        for place, line in zip(colours(self.chart.lines), self.chart.lines[:8], strict=False):
            parts.append(
                f'<line class="line-{place}" x1="{x:.0f}" x2="{x + 18:.0f}" y1="{18}" y2="{18}"/>'
            )
            parts.append(f'<text x="{x + 22:.0f}" y="{22}">{escape(line.name)}</text>')
            x += 34 + 9.0 * len(line.name)
            if x > self.width - 100:
                break
        return parts


def colours(lines: Sequence[Line]) -> list[int]:
    """Return the index of a colour for each line.

    A line named after an algorithm, such as cubic-0, has the algorithm's colour, unless another
    line has it; all other lines get the first free colours.
    """
    known = places_on_site()
    own: list[int | None] = []
    for line in lines:
        place = known.get(re.sub(r"[-.]\d+$", "", line.name))
        own.append(None if place in own else place)
    free = [place for place in range(COUNT) if place not in own] or [*range(COUNT)]
    others = cycle(free)
    return [next(others) if place is None else place for place in own]


def _drawn(y: float | None, *, log: bool) -> bool:
    return y is not None and math.isfinite(y) and (y > 0 or not log)


def thinned(line: Line) -> list[tuple[float, float | None]]:
    """Return at most `MAX_POINTS` points of a line.

    A longer line is divided into intervals, of which the smallest and largest values are kept, and
    missing values are left out.
    """
    points = list(zip(line.xs, line.ys, strict=True))
    if len(points) <= MAX_POINTS:
        return points
    size = -(-2 * len(points) // MAX_POINTS)
    kept: list[tuple[float, float | None]] = []
    for begin in range(0, len(points), size):
        stretch = [(x, y) for x, y in points[begin : begin + size] if y is not None]
        if stretch:
            ends = (
                min(stretch, key=lambda point: point[1]),
                max(stretch, key=lambda point: point[1]),
            )
            kept += sorted(set(ends))
    return kept


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers from `low` to `high`."""
    if high <= low:
        return [low]
    raw = (high - low) / count
    scale = 10.0 ** math.floor(math.log10(raw))
    step = scale * next(unit for unit in (1, 2, 2.5, 5, 10) if unit * scale >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, int(high / step + 1e-9) + 1)]


def _decades(low: float, high: float) -> list[float]:
    return [
        10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    ]
