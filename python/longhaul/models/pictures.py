"""Pictures of the models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul import identity, plots
from longhaul.models.parallel_tcp import Path, Point, Red, red_equilibrium
from longhaul.models.response import STANDARD, HighSpeed, Response

LOSSES = np.geomspace(1e-10, 1e-1, 200)


def response(form: HighSpeed, capacity: float | None = None) -> Figure:
    """Draw mean windows over loss rates, and increase and decrease over windows.

    `capacity` is the window in segments that fills a path, drawn as a line across.
    """
    with matplotlib.rc_context(plots.STYLE):
        drawing = Figure(figsize=(8.4, 3.1), layout="constrained")
        left, right = drawing.subplots(1, 2)
        of_each: list[tuple[str, Response]] = [("reno", STANDARD), ("hstcp", form)]
        for name, function in of_each:
            look = identity.as_line(identity.ALGORITHMS[name], marker=True)
            left.loglog(LOSSES, function.window(LOSSES), label=name, **look)
        if capacity is not None:
            left.axhline(capacity, color="#7f7f7f", linewidth=0.8, label="the path's capacity")
        left.set_xlabel("loss rate")
        left.set_ylabel("mean window (segments)")
        left.legend()
        windows = np.geomspace(form.low_window, form.high_window, 200)
        right.semilogx(windows, form.increase(windows), **identity.as_line(identity.OTHERS[0]))
        right.set_xlabel("congestion window (segments)")
        right.set_ylabel("increase a(w) (segments per round trip)", color=identity.OTHERS[0].colour)
        beside = right.twinx()
        beside.semilogx(windows, form.decrease(windows), **identity.as_line(identity.OTHERS[1]))
        beside.set_ylabel("decrease b(w) (part of the window)", color=identity.OTHERS[1].colour)
        beside.set_ylim(0, 0.55)
        beside.grid(visible=False)
        beside.spines["right"].set_visible(True)
    return drawing


Curves = dict[str, tuple[Sequence[Point], Sequence[Point]]]


def droptail(curves: Curves) -> Figure:
    """Draw loss rate and goodput over the number of connections.

    Each curve has a name, and what synchronised and desynchronised connections get.
    """
    with matplotlib.rc_context(plots.STYLE):
        drawing = Figure(figsize=(8.4, 3.1), layout="constrained")
        left, right = drawing.subplots(1, 2)
        looks = identity.of_runs(len(curves))
        for (name, pair), look in zip(curves.items(), looks, strict=True):
            for points, how, line in zip(
                pair, ("together", "one by one"), ("-", "--"), strict=True
            ):
                of_line = {"color": look.colour, "linestyle": line, "label": f"{name}, {how}"}
                connections = [point.connections for point in points]
                left.plot(connections, [point.loss for point in points], **of_line)
                right.plot(connections, [point.goodput for point in points], **of_line)
        for axes, what in ((left, "loss rate"), (right, "goodput (share of the link)")):
            axes.set_xlabel("connections")
            axes.set_ylabel(what)
            axes.set_ylim(bottom=0)
        _legend_below(drawing, left)
    return drawing


def red(paths: dict[str, Path], settings: Red, connections: Iterable[int]) -> Figure:
    """Draw the loss rates at which RED holds numbers of connections."""
    counts = list(connections)
    with matplotlib.rc_context(plots.STYLE):
        drawing = Figure(figsize=(7.2, 3.1), layout="constrained")
        axes = drawing.subplots()
        looks = identity.of_runs(len(paths))
        for (name, path), look in zip(paths.items(), looks, strict=True):
            held = [(n, red_equilibrium(path, settings, n)) for n in counts]
            points = [(n, at.loss) for n, at in held if at is not None]
            axes.plot(*zip(*points, strict=True), label=name, **identity.as_line(look, marker=True))
        axes.set_xscale("log")
        axes.set_xlabel("connections")
        axes.set_ylabel("loss rate in equilibrium")
        axes.set_ylim(bottom=0)
        _legend_below(drawing, axes)
    return drawing


def _legend_below(drawing: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4)
