"""Tests of plots that are embedded in pages, and of plots that are saved twice.

An embedded plot names a font only once if all texts share it, and coordinates have two decimals.
Saving a plot again gives an equal file.
"""

from pathlib import Path

from matplotlib.figure import Figure

from longhaul import plots
from longhaul.reports import embedded

TEXT = (
    '<text style="font-size: 9px; font-family: \'DejaVu Sans\', sans-serif" x="{x}">{label}</text>'
)


def _embedded(*elements: str) -> str:
    head = '<?xml version="1.0"?>\n<svg width="9pt" viewBox="0 0 604.8 216" version="1.1">'
    return str(embedded(head + "".join(elements) + "</svg>", "one"))


def test_a_font_that_all_texts_share_is_said_once() -> None:
    page = _embedded(TEXT.format(x="1", label="a"), TEXT.format(x="2", label="b"))
    head, _, _ = page.partition(">")
    assert head.startswith('<svg viewBox="0 0 604.8 216"')
    assert head.endswith("style=\"font-family: 'DejaVu Sans', sans-serif\"")
    assert page.count("font-family") == 1
    assert page.count('style="font-size: 9px; "') == 2


def test_texts_in_different_fonts_keep_theirs() -> None:
    other = TEXT.replace("DejaVu Sans", "STIXGeneral")
    page = _embedded(TEXT.format(x="1", label="a"), other.format(x="2", label="b"))
    assert page.count("font-family") == 2


def test_coordinates_are_cut_to_hundredths_and_labels_are_not() -> None:
    page = _embedded(TEXT.format(x="1.23456", label="0.12345"), '<path d="M 1.999 2.5"/>')
    assert 'x="1.23"' in page
    assert "0.12345" in page
    assert 'd="M 1.99 2.5"' in page


def test_a_figure_that_is_written_stays_as_it_was(tmp_path: Path) -> None:
    drawing = Figure(layout="constrained")
    drawing.subplots().plot([1.0, 2.0])
    file, resolution = tmp_path / "line.svg", drawing.dpi
    plots.save(drawing, file)
    first = file.read_bytes()
    plots.save(drawing, file)
    assert file.read_bytes() == first
    assert drawing.dpi == resolution
