"""Writer of figures as SVG, PNG and PDF files."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any
from xml.sax.saxutils import escape

import matplotlib
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from longhaul.files.endings import FIGURES, check_file
from longhaul.files.writing import atomic, write_text
from longhaul.plots.layout import for_width

# Resolution of PNG files, and of bitmaps in SVG and PDF files.
DPI = 160
POINTS_PER_INCH = 72
# Fraction of a panel's width available to its title.
ROOM = 0.85

STYLE: Any = {  # Matplotlib types keys as one of several hundred names
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
    # Embedded TrueType fonts keep text searchable; journals do not accept type 3 fonts.
    "pdf.fonttype": 42,
    "savefig.bbox": "tight",
    "svg.fonttype": "none",
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style of all plots."""
    with matplotlib.rc_context(STYLE):
        yield


# Metadata of SVG files, and of others by suffix, without times, so that equal figures have equal
# bytes. PNG files have Matplotlib's version.
NO_METADATA: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))
METADATA: dict[str, Any] = {
    ".png": None,
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}


def _wrap(drawing: Figure) -> None:
    """Break titles and labels of horizontal axes that are too wide for their panels into lines."""
    drawing.draw_without_rendering()
    for axes in drawing.axes:
        place = axes.get_subplotspec()
        room = ROOM * drawing.bbox.width / (place.get_gridspec().ncols if place else 1)
        for text in (axes.title, axes.xaxis.label):
            wide = text.get_window_extent().width
            if wide > room:
                lines = text.get_text().split("\n")
                most = int(max(map(len, lines)) * room / wide)
                text.set_text("\n".join(fill(line, max(most, 1)) for line in lines))


def draw(make: Callable[[], Figure], path: Path, width_in: float | None = None) -> None:
    """Draw a figure and write it to a file.

    The width is in inches; None means the figure's default width.
    """
    with for_width(width_in):
        save(make(), path, width_in)


def save(drawing: Figure, path: Path, width_in: float | None = None) -> None:
    """Write a figure as SVG, PNG or PDF; the suffix of the path selects the format.

    The same figure gives the same bytes. Margins are cut off if no width is given; otherwise the
    file has exactly this width.
    """
    check_file(path, FIGURES, "plot")
    if width_in is not None:
        drawing.set_figwidth(width_in)
        _wrap(drawing)
    # Alternative text for readers who cannot see the figure.
    title = str(drawing.get_label())
    if path.suffix == ".svg":
        text = as_svg(drawing, path.stem, title=title, cut=width_in is None)
        label = escape(title, {'"': "&quot;"})
        told = f'<svg role="img" aria-label="{label}" ' if title else "<svg "
        write_text(path, text.replace("<svg ", told, 1))
        return
    metadata = METADATA[path.suffix]
    if title and metadata is not None:
        metadata = metadata | {"Title": title}
    style = STYLE if width_in is None else STYLE | {"savefig.bbox": None}
    with matplotlib.rc_context(style), atomic(path) as file:
        drawing.savefig(file, format=path.suffix[1:], dpi=DPI, metadata=metadata)


def as_svg(
    drawing: Figure, name: str, *, title: str = "", cut: bool = True, dpi: float = DPI
) -> str:
    """Return a figure as the text of an SVG file.

    Ids are derived from `name`, and `dpi` is the resolution of bitmaps. With `cut`, margins are cut
    off, which makes Matplotlib draw the figure twice. Figures with a layout engine have no margins
    and are not cut.
    """
    text = io.StringIO()
    metadata = NO_METADATA | ({"Title": title} if title else {})
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        if cut and drawing.get_layout_engine() is None:
            drawing.savefig(text, format="svg", dpi=dpi, metadata=metadata)
        else:
            _draw(drawing, text, dpi, metadata)
    return text.getvalue()


def _draw(drawing: Figure, text: io.StringIO, dpi: float, metadata: Any) -> None:  # noqa: ANN401
    own_dpi, drawing.dpi = drawing.dpi, POINTS_PER_INCH
    wide, high = drawing.get_size_inches()
    svg: Any = _Renderer(  # type: ignore[no-untyped-call]
        POINTS_PER_INCH * wide, POINTS_PER_INCH * high, text, image_dpi=dpi, metadata=metadata
    )  # fmt: skip
    # Rasterised artists are embedded as images.
    renderer: Any = MixedModeRenderer(drawing, wide, high, dpi, svg)  # type: ignore[no-untyped-call]
    drawing.draw(renderer)
    renderer.finalize()
    drawing.dpi = own_dpi


class _Renderer(RendererSVG):
    """SVG renderer that shares measured text sizes between all figures."""

    def get_text_width_height_descent(
        self,
        s: str,
        prop: FontProperties,
        ismath: Any,  # noqa: ANN401
    ) -> tuple[float, float, float]:
        return _extent(s, prop.copy(), ismath)


@cache
def _extent(text: str, font: FontProperties, ismath: Any) -> tuple[float, float, float]:  # noqa: ANN401
    return text_to_path.get_text_width_height_descent(text, font, ismath)
