"""Plots of theory: response functions, a(w) and b(w), parallel streams, RED."""

import numpy as np
from matplotlib.axes import Axes

from longhaul.models.response import STANDARD_ROUNDED, path_window, relative_fairness
from longhaul.plots.styles import ALGORITHMS
from longhaul.studies.data import Data
from longhaul.studies.figures import PUBLISHED

from .theory import RTT_S, STUDIED, TABLES, published, streams_rate

HSTCP, REGTCP = ALGORITHMS["hstcp"], ALGORITHMS["reno"]
LOSSES = np.logspace(-8, -1, 200)
SWEPT = np.logspace(-6, -2, 100)
DASHES = {1: (0, (1, 1)), 4: (0, (2, 1)), 7: (0, (4, 1)), 10: "-"}


def responses(axes: Axes, data: Data, queue: str) -> None:
    """Draw Figure 3.1, the response functions, with the printed rows of Tables 3.1 and 3.2.

    Rows with loss rates outside `LOSSES` are left out.
    """
    axes.plot(LOSSES, STANDARD_ROUNDED.window(LOSSES), color=REGTCP.colour, label="standard TCP")
    axes.plot(LOSSES, TABLES.window(LOSSES), color=HSTCP.colour, label="HSTCP, Low_Window 38")
    axes.plot(
        LOSSES, STUDIED.window(LOSSES),
        color=HSTCP.colour, linestyle=(0, (4, 2)), label="HSTCP, Low_Window 31",
    )  # fmt: skip
    axes.axhline(path_window(1e9, RTT_S), label="1 Gbit/s, 100 ms", **PUBLISHED)
    printed = [
        *((row["loss_rate"], row["congestion_window_pkts"]) for row in published("3_1")),
        *((row["packet_drop_rate"], row["congestion_window_pkts"]) for row in published("3_2")),
    ]
    inside = [(float(p), float(w)) for p, w in printed if LOSSES[0] <= float(p) <= LOSSES[-1]]
    p, w = zip(*inside, strict=True)
    axes.plot(p, w, "+", color="#000000", markersize=8, label="printed")


def shapes(axes: Axes, data: Data, queue: str) -> None:
    """Draw Figure 3.2, a(w) and b(w)."""
    windows = np.logspace(0, 5, 300)
    axes.plot(windows, STUDIED.increase(windows), color=HSTCP.colour, label="a(w)")
    axes.plot(
        windows, STUDIED.decrease(windows),
        color=HSTCP.colour, linestyle=(0, (4, 2)), label="b(w)",
    )  # fmt: skip
    axes.plot([31, 83_000], [1, 72.5], "+", color="#000000", markersize=8, label="low, high window")
    axes.plot([31, 83_000], [0.5, 0.1], "+", color="#000000", markersize=8)


def rates(axes: Axes, data: Data, queue: str) -> None:
    """Draw Figure 6.28, packets per round trip of parallel streams by loss rate."""
    for count, line in DASHES.items():
        rate = streams_rate(count, SWEPT)
        axes.plot(SWEPT, rate, color=REGTCP.colour, linestyle=line, label=f"N = {count}")
    axes.plot(SWEPT, TABLES.window(SWEPT), color=HSTCP.colour, label="1 HSTCP")


def fairness(axes: Axes, data: Data, queue: str) -> None:
    """Draw Figure 6.29, the relative fairness of parallel streams and one HSTCP flow."""
    for count, line in DASHES.items():
        axes.plot(
            SWEPT, np.full_like(SWEPT, count),
            color=REGTCP.colour, linestyle=line, label=f"N = {count}",
        )  # fmt: skip
    axes.plot(
        SWEPT, relative_fairness(TABLES, STANDARD_ROUNDED, SWEPT),
        color=HSTCP.colour, label="1 HSTCP",
    )  # fmt: skip


def red(axes: Axes, data: Data, queue: str) -> None:
    """Draw Figure 7.1, RED's drop probability with the study's thresholds and the initial max_p."""
    axes.plot([0, 625, 1875, 3750, 4300], [0, 0, 0.1, 1, 1], color="#000000")
    for at, name in ((625, "min_th"), (1875, "max_th"), (3750, "2 max_th")):
        axes.axvline(at, **PUBLISHED)
        axes.annotate(name, (at, 1.02), ha="center", fontsize=8, xycoords=("data", "axes fraction"))
