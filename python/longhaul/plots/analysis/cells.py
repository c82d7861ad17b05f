"""Plot of a response's mean at every combination of factor levels, as lines over one factor."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from longhaul.analysis.cells import Cell
from longhaul.analysis.table import Level
from longhaul.plots import styles
from longhaul.plots.analysis.frame import explain_intervals, is_amount, panels, prefixed, wrapped
from longhaul.plots.files import styled
from longhaul.plots.layout import legend

# Maximum total shift between intervals at one level, so that they do not hide each other.
SPREAD = 0.12


def cell_lines(
    given: Sequence[Cell], factors: Mapping[str, Sequence[Level]], response: str
) -> Figure:
    """Draw means over the levels of the first factor, a line for each level of the second.

    If levels of the first factor are no quantities, points replace the lines. Each combination of
    levels of further factors has a panel; all panels have the same scale. Bars are the 95 %
    intervals of the means, if there are replications.
    """
    over, *others = factors
    lines = factors[others[0]] if others else [""]
    at_of = {level: place for place, level in enumerate(factors[over])}
    groups = list(dict.fromkeys(cell.levels[2:] for cell in given))
    look_of = styles.of_labels({str(level): str(level) for level in lines})
    joined = {} if is_amount(factors[over]) else {"linestyle": "none"}
    with styled():
        drawing, axes = panels(len(groups), share_y=True, share_x=True, width=4.2, height=3.0)
        for panel, group in zip(axes, groups, strict=True):
            for number, level in enumerate(lines):
                rest = (level, *group) if others else ()
                cells = [cell for cell in given if cell.levels[1:] == rest]
                if not cells:
                    continue
                look = look_of[str(level)]
                reach = _reach(cells)
                shift = SPREAD * (number / (len(lines) - 1) - 0.5) if len(lines) > 1 else 0.0
                shift = 0.0 if reach is None else shift
                panel.errorbar(
                    [at_of[cell.levels[0]] + shift for cell in cells],
                    [cell.mean.mean for cell in cells],
                    yerr=reach,
                    label=str(level) if others else None,
                    markersize=4, capsize=3, marker=look.marker, **(styles.as_line(look) | joined),
                )  # fmt: skip
            panel.set_xticks(range(len(at_of)), [str(level) for level in at_of])
            panel.set_xlabel(over)
            panel.label_outer()
            panel.margins(x=0.1)
            if group:
                named = zip(others[1:], group, strict=True)
                panel.set_title(wrapped(", ".join(f"{name} {own}" for name, own in named), 40))
        explain_intervals(drawing, known=_reach(given) is not None)
        called = prefixed(axes[0].yaxis, response)
        drawing.supylabel(wrapped(called, int(11 * drawing.get_figheight())), fontsize=9)
        legend(drawing, drawing.get_figwidth(), title=others[0] if others else None)
        return drawing


def _reach(cells: Sequence[Cell]) -> np.ndarray | None:
    """Return the half-width of the interval of each cell, or None if no cell has an interval.

    It is NaN for a cell without an interval.
    """
    reach = np.array([cell.mean.high - cell.mean.mean for cell in cells])
    known = np.isfinite(reach)
    return np.where(known, reach, np.nan) if known.any() else None
