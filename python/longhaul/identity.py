"""What an algorithm looks like in every picture: one colour, marker and line each.

The colours are those of Okabe and Ito, told apart with any colour vision; their lightness differs,
and so do the markers, so that a grey print stays readable. An algorithm keeps its look for good.
"""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Look:
    """How one algorithm, or one run, is drawn."""

    colour: str
    marker: str | tuple[int, int, int]
    """One of matplotlib's: a letter, or corners, kind (polygon, star, asterisk) and angle."""
    line: str | tuple[int, tuple[float, ...]] = "-"


ALGORITHMS: dict[str, Look] = {
    "reno": Look("#e69f00", "s"),
    "hstcp": Look("#0072b2", "o"),
    "scalable": Look("#d55e00", "D"),
    "cubic": Look("#009e73", "^"),
    "bic": Look("#56b4e9", "v"),
    "htcp": Look("#cc79a7", "P"),
    "vegas": Look("#000000", "X"),
    "veno": Look("#e69f00", "h", (0, (6, 2))),
    "illinois": Look("#0072b2", "p", (0, (6, 2))),
    "gaimd": Look("#d55e00", "<", (0, (6, 2))),
    "binomial": Look("#009e73", ">", (0, (6, 2))),
    "constant-rate": Look("#56b4e9", "*", (0, (6, 2))),
    "increase-by-k": Look("#cc79a7", "H", (0, (6, 2))),
    "table": Look("#000000", "8", (0, (6, 2))),
    "sync": Look("#e69f00", (10, 1, 0), (0, (2, 1.5))),
    "sync-pcwnd": Look("#0072b2", "|", (0, (2, 1.5))),
    "sync-mixreact": Look("#d55e00", "_", (0, (2, 1.5))),
    "fast": Look("#009e73", "1", (0, (2, 1.5))),
    "fast-at": Look("#56b4e9", "2", (0, (2, 1.5))),
    "ctcp": Look("#cc79a7", "3", (0, (2, 1.5))),
    "ctcp-nist": Look("#000000", "4", (0, (2, 1.5))),
    "ghstcp": Look("#e69f00", "+", (0, (6, 2, 1.5, 2))),
    "westwood": Look("#0072b2", "x", (0, (6, 2, 1.5, 2))),
    "yeah": Look("#d55e00", (4, 1, 0), (0, (6, 2, 1.5, 2))),
    "hybla": Look("#009e73", (5, 1, 36), (0, (6, 2, 1.5, 2))),
    "lp": Look("#56b4e9", (6, 1, 0), (0, (6, 2, 1.5, 2))),
    "ledbat": Look("#cc79a7", (7, 1, 0), (0, (6, 2, 1.5, 2))),
    "dctcp": Look("#000000", (8, 1, 0), (0, (6, 2, 1.5, 2))),
    "multcp": Look("#e69f00", (3, 2, 0), (0, (1, 3))),
    "bbr": Look("#0072b2", (5, 2, 0), (0, (1, 3))),
    "bbr3": Look("#d55e00", (6, 2, 0), (0, (1, 3))),
    "santa-cruz": Look("#009e73", (7, 2, 0), (0, (1, 3))),
    "peach": Look("#56b4e9", (8, 2, 0), (0, (1, 3))),
    "decbit": Look("#cc79a7", (7, 0, 0), (0, (1, 3))),
    "delay-gradient": Look("#000000", (9, 0, 0), (0, (1, 3))),
    "packet-pair": Look("#e69f00", (3, 1, 0), (0, (10, 2))),
    "xcp": Look("#0072b2", (3, 1, 180), (0, (10, 2))),
    "vcp": Look("#d55e00", (9, 1, 0), (0, (10, 2))),
    "udp": Look("#7f7f7f", "d"),
}

# For what has no look of its own: algorithms written by users, and runs laid over one another.
OTHERS: tuple[Look, ...] = (
    Look("#0072b2", "o", "-"),
    Look("#d55e00", "^", (0, (6, 2))),
    Look("#009e73", "D", (0, (2, 1.5))),
    Look("#cc79a7", "v", (0, (6, 2, 1.5, 2))),
    Look("#56b4e9", "P", (0, (1, 1))),
    Look("#000000", "X", (0, (8, 2, 1.5, 2, 1.5, 2))),
)

# For what is told apart by label: all colours with whole lines first, then dashed, then dotted.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = ("o", "^", "D", "v", "s", "P", "X", "h", "<", ">", "p", "d", "8", "H")
_LINES: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
LABELS: tuple[Look, ...] = tuple(
    Look(colour, _MARKERS[(7 * row + column) % len(_MARKERS)], line)
    for row, line in enumerate(_LINES)
    for column, colour in enumerate(_COLOURS)
)


def of_labels(
    algorithms: dict[str, str], colour_by: Literal["algorithm", "label"] = "algorithm"
) -> dict[str, Look]:
    """The look of each label, given its algorithm.

    By algorithm, the first label of each has the algorithm's own look, and further ones get looks
    that nobody else has.
    """
    if colour_by == "label":
        return {label: LABELS[n % len(LABELS)] for n, label in enumerate(algorithms)}
    looks: dict[str, Look] = {}
    kinds = set(algorithms.values())
    taken = {_seen_as(ALGORITHMS[kind]) for kind in kinds if kind in ALGORITHMS}
    free = [look for look in LABELS if _seen_as(look) not in taken] or list(LABELS)
    first: set[str] = set()
    given = 0
    for label, kind in algorithms.items():
        if kind in ALGORITHMS and kind not in first:
            looks[label] = ALGORITHMS[kind]
        else:
            looks[label] = free[given % len(free)]
            given += 1
        first.add(kind)
    return looks


def _seen_as(look: Look) -> tuple[object, object]:
    """What tells lines apart."""
    return look.colour, look.line


def of_runs(count: int) -> list[Look]:
    """The look of each of several runs."""
    return [OTHERS[index % len(OTHERS)] for index in range(count)]


def as_line(look: Look, *, marker: bool = False) -> dict[str, Any]:
    """Keyword arguments of a matplotlib line, with a few markers on it."""
    line: dict[str, Any] = {"color": look.colour, "linestyle": look.line}
    if marker:
        line |= {"marker": look.marker, "markersize": 3.5, "markevery": (0.02, 0.15)}
    return line
