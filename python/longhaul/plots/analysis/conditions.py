"""Texts shared by plots over conditions: legend, title, notes, and texts below the axis."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots.analysis.frame import wrapped

# Width of a page in inches.
PAGE = 7.0
# Smallest text: size in points, characters per inch, line spacing in points.
SMALL = 6.0
PER_IN = 21.0
LINE = 7.5
# Rows that have a text of more characters are written vertically.
LYING = 4


def key(names: Mapping[int, str]) -> str:
    """Return the legend of the competitors' numbers, as text."""
    return ", ".join(f"{number} {name}" for number, name in names.items())


def head(drawing: Figure, text: str) -> None:
    """Draw a title above all panels."""
    width = int(drawing.get_figwidth() * 13)
    drawing.suptitle(wrapped(text, width), fontsize=9, fontweight="bold")


def note(drawing: Figure, *lines: str) -> None:
    """Write notes that explain the plot below all panels."""
    width = int(drawing.get_figwidth() * (PER_IN - 2))
    wrap = partial(textwrap.wrap, width=width, break_on_hyphens=False)
    text = "\n".join("\n".join(wrap(line)) for line in lines if line)
    drawing.supxlabel(text, x=0.01, ha="left", fontsize=SMALL + 0.5, linespacing=1.3)


def below(
    axes: Axes, rows: Mapping[str, Sequence[str]], colours: Sequence[str] | None = None
) -> None:
    """Draw rows of text below an axis of conditions, a text per condition.

    `rows` has the texts of each row by its name, which is drawn on the left.
    """
    axes.set_xticks([])
    # Below the label of the lowest tick.
    down = 6.0
    for name, texts in rows.items():
        longest = max(map(len, texts), default=0)
        upright = longest > LYING
        height = 72.0 * longest / PER_IN + 4 if upright else LINE
        axes.annotate(
            name, (0, 0), (-4, -down - height / 2), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="center", fontsize=SMALL,
        )  # fmt: skip
        for x, text in enumerate(texts):
            axes.annotate(
                text, (x, 0), (0, -down if upright else -down - height / 2),
                xycoords=("data", "axes fraction"), textcoords="offset points", ha="center",
                va="top" if upright else "center", rotation=90 if upright else 0,
                fontsize=SMALL, color=colours[x] if colours else "black",
            )  # fmt: skip
        down += height
