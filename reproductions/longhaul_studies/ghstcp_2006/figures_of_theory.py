"""Figures of the source's theory."""

from collections.abc import Callable

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from longhaul.models.parallel_tcp import (
    Path,
    Point,
    Red,
    band,
    desynchronised,
    red_equilibrium,
    red_queue,
    synchronised,
)
from longhaul.models.response import STANDARD
from longhaul.plots.styles import ALGORITHMS, OTHERS
from longhaul.studies.data import Data, NotRunError

from .theory import HSTCP, path

# Figures 5.6 and 5.7: paths whose bands are compared.
RATES = {f"{mbps:g} Mbit/s": path(mbps) for mbps in (100.0, 1000.0, 10_000.0)}
ROUND_TRIPS = {f"{rtt_ms:g} ms": path(1000.0, rtt_ms) for rtt_ms in (100.0, 200.0, 500.0)}


def models(mbps: float, value: Callable[[Point], float]) -> Callable[[Axes, Data, str], None]:
    """Return a function that draws `value` over N for both models and three buffers.

    N is the number of connections. At 100 Mbit/s, simulated points are drawn as well.
    """

    def draw(axes: Axes, data: Data, queue: str) -> None:
        the_path = path(mbps)
        counts = np.unique(
            np.geomspace(1, 10 * the_path.bdp / the_path.max_window, 150).astype(int)
        )
        for share, look in zip((0.1, 0.3, 0.5), OTHERS, strict=False):
            for model, how, line in (
                (synchronised, "together", "-"),
                (desynchronised, "apart", "--"),
            ):
                points = [model(the_path, share * the_path.bdp, int(n)) for n in counts]
                label = f"{share:g} BDP, {how}"
                heights = [value(point) for point in points]
                axes.plot(counts, heights, color=look.colour, linestyle=line, label=label)
        if mbps == 100.0:
            _simulated(axes, data, value)

    return draw


def _simulated(axes: Axes, data: Data, value: Callable[[Point], float]) -> None:
    """Draw `value` at the points that were simulated."""
    try:
        cells = data.cells("GH5-S1")
    except NotRunError:
        return
    for share, look in zip((0.1, 0.3, 0.5), OTHERS, strict=False):
        for row in cells.filter((pl.col("buffer_bdp") - share).abs() < 1e-6).iter_rows(named=True):
            kept = 1.0 - row["loss"]
            point = Point(int(row["n"]), row["loss"], row["goodput"] / kept)
            axes.plot(point.connections, value(point), look.marker, color=look.colour, markersize=4)


def bands(paths: dict[str, Path]) -> Callable[[Axes, Data, str], None]:
    """Return a function that draws the range of numbers of connections that use 95 % of a link.

    The range depends on the buffer size (y axis). The connections are synchronised.
    """

    def draw(axes: Axes, data: Data, queue: str) -> None:
        shares = np.linspace(0.02, 1.0, 50)
        for (label, the_path), look in zip(paths.items(), OTHERS, strict=False):
            bands = [band(the_path, share * the_path.bdp / 2.0) for share in shares]
            kept = [
                (100.0 * share, limits.first, limits.last)
                for share, limits in zip(shares, bands, strict=True)
                if limits is not None
            ]
            height, first, last = zip(*kept, strict=True)
            axes.plot(first, height, color=look.colour, label=label)
            axes.plot(last, height, color=look.colour)
            axes.fill_betweenx(height, first, last, color=look.colour, alpha=0.15)

    return draw


def laws(axes: Axes, data: Data, queue: str) -> None:
    """Draw the queue law and the control law of an example; they cross at its equilibrium."""
    the_path, red = path(100.0), Red()
    losses = np.geomspace(1e-3, 0.2, 200)
    for connections, look in zip((25, 50, 100), OTHERS, strict=False):
        queues = [red_queue(the_path, connections, p) for p in losses]
        axes.plot(losses, queues, color=look.colour, label=f"G(p), {connections} connections")
        if (at := red_equilibrium(the_path, red, connections)) is not None:
            axes.plot(at.loss, at.queue, look.marker, color=look.colour)
    held = np.linspace(0.0, 2.0 * red.q_max, 400)
    axes.plot([red.drop(q) for q in held], held, color="#000000", label="H(q)")
    axes.set_xlim(1e-3, 1.0)
    axes.set_ylim(0.0, 2.0 * red.q_max)


def red(axes: Axes, data: Data, queue: str) -> None:
    """Draw RED's equilibrium loss rate against the number of connections, for six paths."""
    pairs = [(mbps, rtt) for mbps in (100.0, 1000.0) for rtt in (100.0, 200.0, 500.0)]
    for (mbps, rtt), look in zip(pairs, OTHERS, strict=True):
        the_path = path(mbps, rtt)
        counts = np.unique(np.geomspace(19, 3e4, 200).astype(int))
        held = [(int(n), red_equilibrium(the_path, Red(), int(n))) for n in counts]
        kept = [(n, at.loss) for n, at in held if at is not None]
        label = f"{mbps:g} Mbit/s, {rtt:g} ms"
        axes.plot(*zip(*kept, strict=True), color=look.colour, linestyle=look.line, label=label)


def responses(axes: Axes, data: Data, queue: str) -> None:
    """Draw the response functions of standard TCP and HSTCP."""
    losses = np.geomspace(1e-10, 1e-1, 100)
    for name, function in (("reno", STANDARD), ("hstcp", HSTCP)):
        axes.plot(losses, function.window(losses), color=ALGORITHMS[name].colour, label=name)


def shapes(axes: Axes, data: Data, queue: str) -> None:
    """Draw HSTCP's increase a(w) and decrease b(w)."""
    windows = np.geomspace(38, 83_000, 100)
    axes.plot(windows, HSTCP.increase(windows), color=OTHERS[0].colour, label="a(w)")
    axes.plot(windows, HSTCP.decrease(windows), color=OTHERS[1].colour, label="b(w)")
