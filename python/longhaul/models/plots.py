"""Plots of models, such as response functions and fluid models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.models.abilene_lee import Sets
from longhaul.models.fluid import Trajectory
from longhaul.models.laws import LAWS
from longhaul.models.parallel_tcp import Path, Point, Red, red_equilibrium
from longhaul.models.response import STANDARD, HighSpeed, Response
from longhaul.plots import styles
from longhaul.plots.files import styled
from longhaul.plots.layout import MIN_PANEL_IN, for_width_of, legend_columns, single

LOSSES = np.geomspace(1e-10, 1e-1, 200)
# Fewer points, for laws that are computed along a sawtooth, such as those of BIC and H-TCP.
LAW_LOSSES = np.geomspace(1e-7, 1e-1, 61)


@styled()
def response(form: HighSpeed, capacity: float | None = None) -> Figure:
    """Draw mean windows over loss rates, and increase and decrease over windows.

    `capacity` is the window in segments that fills a path, drawn as a horizontal line.
    """
    drawing, left, right = _two_panels()
    of_each: list[tuple[str, Response]] = [("reno", STANDARD), ("hstcp", form)]
    for name, function in of_each:
        style = styles.as_line(styles.ALGORITHMS[name], marker=True)
        left.loglog(LOSSES, function.window(LOSSES), label=name, **style)
    if capacity is not None:
        left.axhline(capacity, color="#7f7f7f", linewidth=0.8, label="the path's capacity")
    left.set_xlabel("loss rate")
    left.set_ylabel("mean window (segments)")
    left.legend()
    windows = np.geomspace(form.low_window, form.high_window, 200)
    right.semilogx(windows, form.increase(windows), **styles.as_line(styles.OTHERS[0]))
    right.set_xlabel("congestion window (segments)")
    right.set_ylabel("increase a(w) (segments per round trip)", color=styles.OTHERS[0].colour)
    beside = right.twinx()
    beside.semilogx(windows, form.decrease(windows), **styles.as_line(styles.OTHERS[1]))
    beside.set_ylabel("decrease b(w) (part of the window)", color=styles.OTHERS[1].colour)
    beside.set_ylim(0, 0.55)
    beside.grid(visible=False)
    beside.spines["right"].set_visible(True)
    return drawing


@styled()
def laws(names: Sequence[str], rtt_s: float, capacity: float) -> Figure:
    """Draw mean windows of algorithms over loss rates, and the window that fills a path."""
    drawing, axes = single(7.2, 4.2)
    for name in names:
        style = styles.as_line(styles.ALGORITHMS[name], marker=True)
        axes.loglog(LAW_LOSSES, LAWS[name].window(LAW_LOSSES, rtt_s), label=name, **style)
    axes.axhline(capacity, color="#7f7f7f", linewidth=0.8, label="the path's capacity")
    axes.set_xlabel("loss rate")
    axes.set_ylabel("mean window (segments)")
    _legend_below(drawing, axes)
    return drawing


@styled()
def trajectory(labels: Sequence[str], links: Sequence[str], solution: Trajectory) -> Figure:
    """Draw mean windows of classes and queues of links over time."""
    drawing = Figure(figsize=(8.4, 4.4), layout="constrained")
    above, below = drawing.subplots(2, 1, sharex=True)
    for axes, names, values in (
        (above, labels, solution.window_pkts),
        (below, links, solution.queue_pkts),
    ):
        for name, style, column in zip(names, styles.of_runs(len(names)), values.T, strict=True):
            axes.plot(solution.t_s, column, label=name, **styles.as_line(style))
        axes.set_ylim(bottom=0)
        axes.legend()
    above.set_ylabel("mean window (segments)")
    below.set_ylabel("queue (packets)")
    below.set_xlabel("time (s)")
    return drawing


@styled()
def sets(cases: Sequence[Sets]) -> Figure:
    """Draw ratios between sets of flows, and the throughput of one flow of each, over buffer size.

    Ratios are of throughputs and, inverted, of round-trip times.
    """
    pairs = ((1, 2), (1, 3), (2, 3))
    drawing, left, right = _two_panels()
    buffers = [case.buffer_pkts for case in cases]
    for (first, other), style in zip(pairs, styles.of_runs(len(pairs)), strict=True):
        line: dict[str, Any] = {
            "color": style.colour,
            "marker": style.marker,
            "markersize": 4.0,
        }
        rates = [case.throughput_ratio(first, other) for case in cases]
        left.plot(buffers, rates, label=f"throughputs {first}:{other}", **line)
        times = [case.rtt_ratio(other, first) for case in cases]
        left.plot(buffers, times, "--", label=f"round trips {other}:{first}", **line)
    for number, style in enumerate(styles.of_runs(3)):
        rates = [case.throughput_pps[number] / 1e3 for case in cases]
        right.plot(buffers, rates, label=f"set {number + 1}", color=style.colour)
    left.set_ylabel("ratio")
    right.set_ylabel("packets/ms of a flow")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlabel("buffer (packets)")
        axes.legend()
    return drawing


Curves = dict[str, tuple[Sequence[Point], Sequence[Point]]]


@styled()
def droptail(curves: Curves) -> Figure:
    """Draw loss rate and goodput over the number of connections.

    Each curve has a name, and the results of synchronised and desynchronised connections.
    """
    drawing, left, right = _two_panels()
    style_of = styles.of_runs(len(curves))
    for (name, pair), style in zip(curves.items(), style_of, strict=True):
        for points, how, line in zip(pair, ("together", "one by one"), ("-", "--"), strict=True):
            of_line: dict[str, Any] = {
                "color": style.colour,
                "linestyle": line,
                "label": f"{name}, {how}",
            }
            connections = [point.connections for point in points]
            left.plot(connections, [point.loss for point in points], **of_line)
            right.plot(connections, [point.goodput for point in points], **of_line)
    for axes, what in ((left, "loss rate"), (right, "goodput (share of the link)")):
        axes.set_xlabel("connections")
        axes.set_ylabel(what)
        axes.set_ylim(bottom=0)
    _legend_below(drawing, left)
    return drawing


@styled()
def red(paths: dict[str, Path], settings: Red, connections: Iterable[int]) -> Figure:
    """Draw, for each path, the equilibrium loss rate under RED over the number of connections."""
    counts = list(connections)
    drawing, axes = single(7.2, 3.1)
    style_of = styles.of_runs(len(paths))
    for (name, path), style in zip(paths.items(), style_of, strict=True):
        held = [(n, red_equilibrium(path, settings, n)) for n in counts]
        points = [(n, at.loss) for n, at in held if at is not None]
        axes.plot(*zip(*points, strict=True), label=name, **styles.as_line(style, marker=True))
    axes.set_xscale("log")
    axes.set_xlabel("connections")
    axes.set_ylabel("loss rate in equilibrium")
    axes.set_ylim(bottom=0)
    _legend_below(drawing, axes)
    return drawing


def _two_panels() -> tuple[Figure, Axes, Axes]:
    """Return a figure with two panels, which are one below the other if the width is small."""
    width = for_width_of(8.4)
    rows = 1 if width >= 2 * MIN_PANEL_IN else 2
    drawing = Figure(figsize=(width, 3.1 if rows == 1 else 5.4), layout="constrained")
    first, second = drawing.subplots(rows, 3 - rows)
    return drawing, first, second


def _legend_below(drawing: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = min(4, legend_columns(labels, for_width_of(8.4)))
    drawing.legend(handles, labels, loc="outside lower center", ncols=columns)
