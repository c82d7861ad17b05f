"""Styles of lines: each algorithm has the same colour, marker and line style in every plot.

The palette is that of Okabe and Ito, which is safe for colour-blind readers. Lightness and markers
differ as well, so that plots stay readable when printed in grey. The algorithms named here have
fixed styles. Each other algorithm of the registry gets an unused style.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, product
from typing import Any, Literal

from longhaul import _engine


@dataclass(frozen=True)
class Style:
    """Style of an algorithm, a label or a run in plots."""

    colour: str
    marker: str | tuple[int, int, int]
    """Matplotlib marker: a letter, or corners, kind (polygon, star, asterisk) and angle."""
    line: str | tuple[int, tuple[float, ...]] = "-"


NAMED: dict[str, Style] = {
    "reno": Style("#e69f00", "s"),
    "hstcp": Style("#0072b2", "o"),
    "scalable": Style("#d55e00", "D"),
    "cubic": Style("#009e73", "^"),
    "bic": Style("#56b4e9", "v"),
    "htcp": Style("#cc79a7", "P"),
    "vegas": Style("#000000", "X"),
    "veno": Style("#e69f00", "h", (0, (6, 2))),
    "illinois": Style("#0072b2", "p", (0, (6, 2))),
    "gaimd": Style("#d55e00", "<", (0, (6, 2))),
    "binomial": Style("#009e73", ">", (0, (6, 2))),
    "constant-rate": Style("#56b4e9", "*", (0, (6, 2))),
    "increase-by-k": Style("#cc79a7", "H", (0, (6, 2))),
    "table": Style("#000000", "8", (0, (6, 2))),
    "sync": Style("#e69f00", (10, 1, 0), (0, (2, 1.5))),
    "sync-pcwnd": Style("#0072b2", "|", (0, (2, 1.5))),
    "sync-mixreact": Style("#d55e00", "_", (0, (2, 1.5))),
    "fast": Style("#009e73", "1", (0, (2, 1.5))),
    "fast-at": Style("#56b4e9", "2", (0, (2, 1.5))),
    "ctcp": Style("#cc79a7", "3", (0, (2, 1.5))),
    "ctcp-nist": Style("#000000", "4", (0, (2, 1.5))),
    "ghstcp": Style("#e69f00", "+", (0, (6, 2, 1.5, 2))),
    "westwood": Style("#0072b2", "x", (0, (6, 2, 1.5, 2))),
    "yeah": Style("#d55e00", (4, 1, 0), (0, (6, 2, 1.5, 2))),
    "hybla": Style("#009e73", (5, 1, 36), (0, (6, 2, 1.5, 2))),
    "lp": Style("#56b4e9", (6, 1, 0), (0, (6, 2, 1.5, 2))),
    "ledbat": Style("#cc79a7", (7, 1, 0), (0, (6, 2, 1.5, 2))),
    "ledbat++": Style("#cc79a7", (12, 1, 0), (0, (10, 2))),
    "copa": Style("#000000", (11, 2, 0), (0, (10, 2))),
    "vivace": Style("#e69f00", (5, 1, 0), (0, (4, 1))),
    "dctcp": Style("#000000", (8, 1, 0), (0, (6, 2, 1.5, 2))),
    "prague": Style("#56b4e9", (10, 2, 0), (0, (10, 2))),
    "multcp": Style("#e69f00", (3, 2, 0), (0, (15, 2.5))),
    "bbr": Style("#0072b2", (5, 2, 0), (0, (15, 2.5))),
    "bbr3": Style("#d55e00", (6, 2, 0), (0, (15, 2.5))),
    "c4": Style("#009e73", (9, 2, 0), (0, (10, 2))),
    "santa-cruz": Style("#009e73", (7, 2, 0), (0, (15, 2.5))),
    "peach": Style("#56b4e9", (8, 2, 0), (0, (15, 2.5))),
    "decbit": Style("#cc79a7", (7, 0, 0), (0, (15, 2.5))),
    "delay-gradient": Style("#000000", (9, 0, 0), (0, (15, 2.5))),
    "packet-pair": Style("#e69f00", (3, 1, 0), (0, (10, 2))),
    "xcp": Style("#0072b2", (3, 1, 180), (0, (10, 2))),
    "vcp": Style("#d55e00", (9, 1, 0), (0, (10, 2))),
    "udp": Style("#7f7f7f", "d"),
}

# Styles of overlaid runs, and of algorithms without a style of their own on pages of evaluations.
OTHERS: tuple[Style, ...] = (
    Style("#0072b2", "o", "-"),
    Style("#d55e00", "^", (0, (6, 2))),
    Style("#009e73", "D", (0, (2, 1.5))),
    Style("#cc79a7", "v", (0, (6, 2, 1.5, 2))),
    Style("#56b4e9", "P", (0, (1, 1))),
    Style("#000000", "X", (0, (8, 2, 1.5, 2, 1.5, 2))),
)

# Styles of labels: all colours with solid lines first, then dashed, then dotted. After the seven
# colours of Okabe and Ito, each further colour has the largest distance in OKLab from white and
# from all earlier colours, for normal vision and without red or green cones.
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
    "#770022", "#442288", "#0000ff", "#775566", "#8877ff", "#bb0011", "#77cc99",
)  # fmt: skip
# Colours of the site's charts, in the order of their CSS variables `--c0` and so on.
OF_SITE = (*_COLOURS[:7], "#7f7f7f")
_MARKERS = ("o", "^", "D", "v", "s", "P", "X", "h", "<", ">", "p", "d", "8", "H")
_LINES: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
LABELS: tuple[Style, ...] = tuple(
    Style(colour, _MARKERS[(column + 7 * row) % len(_MARKERS)], line)
    for row, line in enumerate(_LINES)
    for column, colour in enumerate(_COLOURS)
)


def with_derived(named: dict[str, Style], kinds: Iterable[str]) -> dict[str, Style]:
    """Return the `named` styles of algorithms, and new styles for the other algorithms in `kinds`.

    The marker of a new style is a star with an unused number of corners. The combination of colour
    and line style is unused too.
    """
    taken = {_seen_as(style) for style in named.values()}
    free = (look for look in product(_DERIVED_LINES, _COLOURS) if look[::-1] not in taken)
    markers = {style.marker for style in named.values()}
    corners = (n for n in count(13) if (n, 1, 0) not in markers)
    others = (kind for kind in kinds if kind not in named)
    derived = {
        kind: Style(colour, (next(corners), 1, 0), line)
        for kind, (line, colour) in zip(others, free, strict=False)
    }
    return named | derived


def of_labels(
    algorithms: dict[str, str], colour_by: Literal["algorithm", "label"] = "algorithm"
) -> dict[str, Style]:
    """Return the style of each label; `algorithms` maps labels to their algorithms.

    With `colour_by = "algorithm"`, the first label of an algorithm has the algorithm's style. Its
    further labels, and labels of algorithms without a style, such as users' own, get styles from
    `LABELS` that are not in use, as far as these suffice.
    """
    if colour_by == "label":
        return {label: LABELS[n % len(LABELS)] for n, label in enumerate(algorithms)}
    style_of: dict[str, Style] = {}
    kinds = set(algorithms.values())
    taken = {_seen_as(ALGORITHMS[kind]) for kind in kinds if kind in ALGORITHMS}
    free = [style for style in LABELS if _seen_as(style) not in taken] or list(LABELS)
    first: set[str] = set()
    given = 0
    for label, kind in algorithms.items():
        if kind in ALGORITHMS and kind not in first:
            style_of[label] = ALGORITHMS[kind]
        else:
            style_of[label] = free[given % len(free)]
            given += 1
        first.add(kind)
    return style_of


def of_algorithms(algorithms: dict[str, str]) -> dict[str, Style]:
    """Return the style of each label; labels with the same algorithm have the same style.

    `algorithms` maps labels to their algorithms.
    """
    style_of = of_labels({kind: kind for kind in algorithms.values()})
    return {label: style_of[kind] for label, kind in algorithms.items()}


def _seen_as(style: Style) -> tuple[object, object]:
    """Return the attributes by which readers distinguish lines: colour and line style."""
    return style.colour, style.line


_DERIVED_LINES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    *_LINES,
    (0, (8, 1.5, 1.5, 1.5)),
    (0, (8, 1.5, 1.5, 1.5, 1.5, 1.5)),
)
ALGORITHMS = with_derived(NAMED, (row["name"] for row in _engine.algorithms()["algorithms"]))


def places_on_site() -> dict[str, int]:
    """Return the position of each algorithm's colour in `OF_SITE`, the colours of the website."""
    return {
        name: OF_SITE.index(style.colour)
        for name, style in ALGORITHMS.items()
        if style.colour in OF_SITE
    }


def of_runs(count: int) -> list[Style]:
    """Return a style for each of `count` overlaid runs."""
    return list(OTHERS[:count]) if count <= len(OTHERS) else many(count)


def many(count: int) -> list[Style]:
    """Return `count` styles for many or noisy lines: all colours solid first, then dashed."""
    return [LABELS[index % len(LABELS)] for index in range(count)]


def as_line(style: Style, *, marker: bool = False) -> dict[str, Any]:
    """Return keyword arguments for a Matplotlib line of this style; `marker` adds a few markers."""
    line: dict[str, Any] = {"color": style.colour, "linestyle": style.line}
    if marker:
        line |= {"marker": style.marker, "markersize": 3.5, "markevery": (0.02, 0.15)}
    return line
