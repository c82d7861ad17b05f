"""Panels, legends, and files of plots."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.files.writing import atomic
from longhaul.results import ResultsError

# At most so many panels side by side in one row.
MAX_COLUMNS = 3
# Lines with more points than this have no markers, which would hide them.
MAX_MARKED = 40

# Of PNG files, and of what is pixels in an SVG file.
DPI = 160
WIDTH_IN = 7.2
WIDE_IN = 9.6
PANEL_HEIGHT_IN = 2.6
# Room for the time axis, and for a row of the legend.
FOOT_IN = 0.4
LEGEND_ROW_IN = 0.2
# Characters of the legend that fit on an inch, and what each entry takes beside its text.
CHARACTERS_PER_IN = 13.5
HANDLE_CHARACTERS = 7
# Longer names are cut: one of them must not push all others out of the picture.
MAX_CHARACTERS = 44

STYLE: Any = {  # matplotlib types its settings by their several hundred names
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "path.simplify_threshold": 0.5,
    "savefig.bbox": "tight",
    "svg.fonttype": "none",
}

# Of SVG files: the same figure gives the same bytes.
NO_METADATA: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))

Content = TypeVar("Content")


def panels(
    contents: Sequence[Content],
    draw: Callable[[Axes, Content], None],
    titles: Sequence[str],
    *,
    columns: int = MAX_COLUMNS,
    x: str = "time (s)",
    from_zero: bool = True,
) -> Figure:
    """Draw each of the contents on axes of its own, all on the same scales, with one legend."""
    columns = min(len(contents), columns)
    rows = -(-len(contents) // columns)
    width = WIDE_IN if columns > 1 else WIDTH_IN
    drawing = Figure(figsize=(width, PANEL_HEIGHT_IN * rows + FOOT_IN), layout="constrained")
    grid = drawing.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    axes_of_all: list[Axes] = list(grid.flat)
    for index, (axes, content) in enumerate(zip(axes_of_all, contents, strict=False)):
        axes.set_xlabel(x)
        draw(axes, content)
        axes.set_title(shortened(titles[index]) if len(contents) > 1 else axes.get_title())
        axes.label_outer()
        # Nothing is below it in an incomplete last row.
        if index + columns >= len(contents):
            axes.xaxis.set_tick_params(labelbottom=True)
            axes.set_xlabel(axes.get_xlabel() or x)
    # After all are drawn: a limit set earlier would stop the scales from growing.
    if from_zero and axes_of_all[0].get_yscale() == "linear":
        axes_of_all[0].set_ylim(bottom=0)
    for axes in axes_of_all[len(contents) :]:
        axes.remove()
    legend(drawing, width)
    return drawing


def legend(drawing: Figure, width: float = WIDTH_IN, title: str | None = None) -> None:
    """One legend below all panels, an entry per name, in as many rows as it needs."""
    entries: dict[str, Artist] = {}
    for axes in drawing.axes:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(shortened(text), handle)
    if not entries:
        return
    longest = max(map(len, entries)) + HANDLE_CHARACTERS
    columns = max(1, min(len(entries), int(width * CHARACTERS_PER_IN / longest)))
    rows = -(-len(entries) // columns)
    high = rows if title is None else rows + 1
    drawing.set_figheight(drawing.get_figheight() + LEGEND_ROW_IN * high)
    drawing.legend(
        list(entries.values()),
        list(entries),
        loc="outside lower center",
        ncols=columns,
        title=title,
    )


def shortened(text: str) -> str:
    """A name, cut in its middle if it is too long: ends tell names apart as often as beginnings."""
    if len(text) <= MAX_CHARACTERS:
        return text
    half = (MAX_CHARACTERS - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def save(drawing: Figure, path: Path) -> None:
    """Write a figure as SVG or PNG, by the path's suffix; the same figure gives the same bytes."""
    if path.suffix not in (".svg", ".png"):
        raise ResultsError(f"{path}: expected a name that ends in .svg or .png")
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": path.stem}), atomic(path) as file:
        if path.suffix == ".svg":
            drawing.savefig(file, format="svg", dpi=DPI, metadata=NO_METADATA)
        else:
            drawing.savefig(file, format="png", dpi=DPI)
