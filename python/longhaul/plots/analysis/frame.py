"""Elements shared by all plots of analyses, such as panels and labels."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter
from numpy.typing import ArrayLike

from longhaul.analysis.comparisons import INTERVAL
from longhaul.plots.layout import for_width_of

MAX_COLUMNS = 4
# Minimum width of a panel in figures of a given width.
MIN_PANEL_IN = 1.5
# Characters of a title per inch.
PER_IN = 12
GREY = "#7f7f7f"
# Colours of high outliers, low outliers, and other values; safe for colour-blind readers.
HIGH, LOW, PLAIN = "#009e73", "#d55e00", "#0072b2"
# Colours of a factor's levels in order; for two levels the first is minus, the second plus.
LEVELS = (PLAIN, LOW, HIGH, "#cc79a7", "#e69f00", "#000000")
MINUS = "\N{MINUS SIGN}"
# Numbers from here on get a prefix, such as 12M: in texts, and on axes.
LONG, LARGE = 1e3, 1e5
BITS = "(bit/s)"
# Font size of a key in points; width of a character and height of a line as fractions of it.
KEY_PT, CHARACTER, LINE = 6.0, 0.56, 1.5


def panels(
    count: int, *, width: float = 2.6, height: float = 2.4, columns: int = MAX_COLUMNS,
    share_y: bool = False, share_x: bool = False,
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """Return a figure with `count` panels, and its panels row by row."""
    across = min(columns, count)
    if given := for_width_of(0.0):
        across = max(1, min(across, int(given / MIN_PANEL_IN)))
    down = -(-count // across)
    usual = max(width * across, 4.2)
    drawing = Figure(figsize=(for_width_of(usual), height * down), layout="constrained")
    grid = drawing.subplots(down, across, sharey=share_y, sharex=share_x, squeeze=False)
    axes = list(grid.flat)
    for unused in axes[count:]:
        unused.set_visible(False)
    return drawing, axes[:count]


def wrapped(text: str, width: int = 22) -> str:
    """Return `text`, such as a title, in lines of at most `width` characters."""
    width = min(width, int(PER_IN * for_width_of(width / PER_IN)))
    return "\n".join(textwrap.wrap(text, width)) or text


def bare(axes: Axes) -> None:
    """Remove ticks and grid from a panel."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)


def number(value: float) -> str:
    """Format a number with three digits, and with a prefix if it is large."""
    rounded = float(f"{value:.3g}")
    return EngFormatter(sep="")(rounded) if abs(rounded) >= LONG else f"{value:.3g}"


def prefixed(axis: Axis, text: str = "") -> str:
    """Shorten large numbers at the ticks of an axis, and return the axis label.

    `text` is the label. If its unit is bit/s, ticks and label change to Mbit/s. Otherwise, the
    label stays, and ticks are written as `200k` or `3M` if the axis reaches 100 000.
    """
    if text.endswith(BITS):
        axis.set_major_formatter(lambda value, _: f"{1e-6 * value:g}")
        return text.removesuffix(BITS) + "(Mbit/s)"
    if np.abs(axis.get_view_interval()).max() >= LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))
    return text


def is_amount(levels: Iterable[object]) -> bool:
    """Return true if all levels are quantities, so that a line may connect them.

    A text that begins with a number, such as `5 ms`, counts as a quantity; `true` does not.
    """
    return all(str(level).removeprefix("-")[:1].isdigit() for level in levels)


def explain_intervals(drawing: Figure, *, known: bool) -> None:
    """Write above all panels which interval the bars show, if intervals are `known`."""
    if known:
        drawing.suptitle(f"bars: {INTERVAL}", x=0.99, ha="right", fontsize=8)


def key(drawing: Figure, lines: Sequence[str]) -> None:
    """Write lines of text to the right of all panels, and widen the figure for them.

    If the figure's width is given, a legend has no place at the side: the lines are below the
    panels, and the figure becomes higher.
    """
    if not lines:
        return
    width, height = drawing.get_size_inches()
    rows = [row for text in lines for row in text.split("\n")]
    is_below = for_width_of(0.0) > 0.0
    if is_below:
        drawing.set_figheight(height + (len(rows) + 2) * LINE * KEY_PT / 72)
    else:
        drawing.set_figwidth(width + max(map(len, rows)) * CHARACTER * KEY_PT / 72 + 0.3)
        drawing.set_figheight(max(height, (len(lines) + 2) * LINE * KEY_PT / 72))
    drawing.legend(
        [Line2D([], [], linestyle="none") for _ in lines], lines,
        loc="outside lower left" if is_below else "outside right upper", handlelength=0,
        handletextpad=0, fontsize=KEY_PT, alignment="left",
        labelspacing=0.3,
    )  # fmt: skip


# Distances in points by which a label is moved from its point, and number of directions.
DISTANCES = (3.0, 6.0, 10.0, 16.0, 24.0, 34.0, 46.0, 60.0, 80.0, 110.0)
DIRECTIONS = 16
# Distance (points) beyond which a line connects a label to its point.
FAR = 6.0


def beside(
    axes: Axes, labels: Sequence[tuple[float, float, str]], size: float = 6.0,
    lines: Sequence[ArrayLike] = (),
) -> None:  # fmt: skip
    """Place labels next to their points such that labels, markers and edges overlap little.

    `labels` are x, y and text of each. Each label in turn takes the position of the lowest `_cost`,
    which grows with distance and overlap. Points of `lines`, of shape (count, 2) in the units of
    the axes, are avoided too. All other elements must already be drawn.
    """
    texts = [
        axes.annotate(
            text, (x, y), (0, 0), textcoords="offset points", fontsize=size, ha="center",
            va="center", annotation_clip=False,
        )
        for x, y, text in labels
    ]  # fmt: skip
    for text in texts:
        # Labels must not enlarge the layout, which would reserve space for their first positions.
        text.set_in_layout(False)
    drawing = axes.get_figure(root=True)
    assert drawing is not None
    if (layout := drawing.get_layout_engine()) is not None:
        layout.execute(drawing)
    point = drawing.dpi / 72
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("", "None")]
    marked = axes.transData.transform(np.vstack([np.empty((0, 2)), *marks, *lines]))
    frame = np.asarray(axes.get_window_extent().extents)
    taken = np.empty((0, 4))
    for (x, y, _), text in zip(labels, texts, strict=True):
        box = text.get_window_extent()
        at = axes.transData.transform((x, y))
        half = np.array([box.width, box.height]) / 2
        moves = _moves(half, point)
        boxes = np.hstack([at + moves - half, at + moves + half])
        best = int(np.argmin(_cost(boxes, frame, taken, marked, point)))
        taken = np.vstack([taken, boxes[best]])
        text.set_position(tuple(moves[best] / point))
        if DISTANCES[best // DIRECTIONS] > FAR:
            end = np.clip(at, boxes[best][:2], boxes[best][2:])
            line = axes.annotate(
                "", (x, y), tuple((end - at) / point), textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.4, "shrinkA": 0},
            )  # fmt: skip
            line.set_in_layout(False)


def _moves(half: np.ndarray, point: float) -> np.ndarray:
    """Return candidate offsets of a label's centre from the labelled point, the nearest first.

    `half` is half the label's width and height; `point` is 1/72 inch. All are in pixels.
    """
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    towards = np.column_stack([np.cos(angles), np.sin(angles)])
    # Distance to the edge of a rectangle: labels above are as near as labels at the sides.
    edge = towards / np.abs(towards).max(axis=1, keepdims=True)
    return np.vstack([edge * half + towards * distance * point for distance in DISTANCES])


def _cost(
    boxes: np.ndarray, frame: np.ndarray, taken: np.ndarray, marks: np.ndarray, point: float
) -> np.ndarray:
    """Return the cost of placing a label in each of the candidate `boxes`.

    The cost grows with the distance of a box from the labelled point, with the area outside of the
    `frame`, and with the overlap with `marks` and with boxes of other labels (`taken`).
    """
    inside = _overlap(boxes, frame[None])
    beyond = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - inside
    near = 2.0 * point
    around = np.hstack([marks - near, marks + near])
    covered = 10 * (beyond + _overlap(boxes, taken)) + 2 * _overlap(boxes, around)
    cost: np.ndarray = covered / point**2 + 0.3 * np.repeat(DISTANCES, DIRECTIONS)
    return cost


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return, for each box (left, bottom, right, top), the area that it shares with `others`."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area: np.ndarray = np.clip(high - low, 0.0, None).prod(axis=2).sum(axis=1)
    return area
