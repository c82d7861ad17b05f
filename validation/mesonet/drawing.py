"""Plots of the verification runs in `docs/images`.

One plot has the windows of both flows, the other the utilisation of link and buffer and Jain's
index.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from validation.mesonet.verification import Verification, Windows
from validation.pages import DOCS

PICTURES = DOCS / "images"

FIRST, SECOND = "#0072b2", "#d55e00"
PUBLISHED, MEASURED = "#999999", "#0072b2"
# Every 12th sample is drawn, so a line has some 800 points.
THINNED = 12
# Upper end of the window axis in the published plots, in packets, by RTT in ms.
TOPS = {42: 1200, 162: 4500, 324: 9000}


def draw_windows(runs: Sequence[tuple[Verification, Windows]]) -> None:
    """Draw the windows of both flows over time, with a row per algorithm and a column per RTT."""
    algorithms = list(dict.fromkeys(case.algorithm for case, _ in runs))
    figure = Figure(figsize=(10.0, 1.35 * len(algorithms)), layout="constrained")
    grid = figure.subplots(len(algorithms), len(TOPS), sharex=True, squeeze=False)
    for case, windows in runs:
        axes = grid[algorithms.index(case.algorithm), list(TOPS).index(case.rtt_ms)]
        _draw_run(axes, case, windows)
    for axes, rtt_ms in zip(grid[0], TOPS, strict=True):
        axes.set_title(f"round trip {rtt_ms} ms", fontsize=9)
    for axes, algorithm in zip(grid[:, 0], algorithms, strict=True):
        axes.set_ylabel(algorithm, fontsize=9)
    figure.supxlabel("time, s", fontsize=9)
    figure.supylabel("window, packets", fontsize=9)
    figure.savefig(
        PICTURES / "mesonet-verification-windows.png", dpi=80, metadata={"Software": None}
    )


def _draw_run(axes: Axes, case: Verification, windows: Windows) -> None:
    time_s = windows.time_s[::THINNED]
    for cwnd, colour in ((windows.first, FIRST), (windows.second, SECOND)):
        axes.plot(time_s, cwnd[::THINNED], color=colour, linewidth=0.7)
    axes.set_ylim(0, TOPS[case.rtt_ms])
    axes.set_xlim(0, 1000)
    axes.tick_params(labelsize=7)


Figures = tuple[float, float, float]
"""Link utilisation, buffer utilisation and Jain's index."""


def draw_utilisation(runs: Sequence[tuple[Verification, Figures]]) -> None:
    """Draw published and measured utilisations and Jain's indices as bars, in a column per RTT."""
    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    titles = ("link utilisation", "buffer utilisation", "Jain's index")
    grid = figure.subplots(len(titles), len(TOPS), sharex=True, sharey="row", squeeze=False)
    for column, rtt_ms in enumerate(TOPS):
        shown = [(case, figures) for case, figures in runs if case.rtt_ms == rtt_ms]
        grid[0, column].set_title(f"round trip {rtt_ms} ms", fontsize=9)
        for at, title in enumerate(titles):
            axes = grid[at, column]
            there = [(case.link, case.buffer, case.jain)[at] for case, _ in shown]
            here = [figures[at] for _, figures in shown]
            places = range(len(shown))
            axes.bar([x - 0.2 for x in places], there, 0.4, color=PUBLISHED, label="published")
            axes.bar([x + 0.2 for x in places], here, 0.4, color=MEASURED, label="Longhaul")
            axes.set_xticks(list(places), [case.algorithm for case, _ in shown], rotation=60)
            axes.tick_params(labelsize=7)
            if column == 0:
                axes.set_ylabel(title, fontsize=9)
    grid[0, 0].legend(fontsize=7, loc="lower left")
    figure.savefig(
        PICTURES / "mesonet-verification-figures.png", dpi=80, metadata={"Software": None}
    )
