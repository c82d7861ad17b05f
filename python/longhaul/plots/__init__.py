"""Plots by name.

A plot has a name (`longhaul plot cwnd r1`), a line of help, and a function that draws it. Plots of
flows give each algorithm its colour and line style, and have a panel for each run, on equal scales.
Plots of links have a panel for each link that is named, or for the first six busy links; a panel
overlays the runs, one colour per run. Rates are differences of stored counters; nothing is
interpolated.

`registry` has the names of plots, `layout` their panels and legends, `arrangements` the panels of
several runs, `files` the file formats; the other modules draw.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from longhaul.plots.files import NO_METADATA, STYLE, draw, save
from longhaul.plots.layout import for_width
from longhaul.plots.registry import (
    PLOTS,
    Options,
    Plot,
    find,
    has_samples,
    refuse_unused,
    suitable,
)
from longhaul.results import Results, ResultsError, kinds, with_distinct_names

__all__ = [
    "NO_METADATA",
    "PLOTS",
    "STYLE",
    "Options",
    "Plot",
    "draw",
    "figure",
    "find",
    "for_width",
    "plot",
    "refuse_unused",
    "save",
    "suitable",
]

for _kind in kinds.every():
    for _module in _kind.plots:
        import_module(_module)


def figure(name: str, runs: Sequence[Results], options: Options | None = None) -> Figure:
    """Draw the plot with this name for one or several runs, and return the figure."""
    wanted = find(name)
    for run in runs:
        if not wanted.suits(run):
            if wanted.suits is has_samples and run.is_tcp:
                run.table("series")  # the error names the key that records samples
            raise ResultsError(f"{run.path}: this run has no plot `{name}`{_remedy(run, wanted)}")
    options = options or Options()
    runs = with_distinct_names(runs)
    with matplotlib.rc_context(STYLE), for_width(options.width_in):
        drawing = wanted.draw(runs, options)
    drawing.set_label(f"{wanted.help} ({', '.join(run.name for run in runs)})")
    return drawing


def _remedy(run: Results, wanted: Plot) -> str:
    """Return a hint at the scenario key that records the table from which `wanted` is drawn."""
    if not wanted.table or wanted.table in run.tables:
        return ""
    remedy = run.kind.remedies.get(wanted.table)
    return f": {remedy}" if remedy else ""


def plot(
    runs: Results | Sequence[Results],
    name: str,
    path: str | Path | None = None,
    options: Options | None = None,
) -> Figure:
    """Draw the plot with this name for one or several runs; write it to `path` if one is given."""
    if not isinstance(name, str):
        raise ResultsError(
            "longhaul.plot: expected the name of a plot behind the runs, found another run; "
            'several runs are given as a list: longhaul.plot([run, other], "throughput")'
        )
    drawing = figure(name, [runs] if isinstance(runs, Results) else runs, options)
    if path is not None:
        save(drawing, Path(path), None if options is None else options.width_in)
    return drawing
