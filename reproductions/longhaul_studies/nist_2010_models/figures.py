"""Figures of the source, drawn from our results: response functions, and effects of buffers."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from longhaul.models.abilene_lee import BUFFERS, Sets
from longhaul.models.laws import PRINTED
from longhaul.models.loss import AnickMitraSondhi, Link
from longhaul.plots.styles import ALGORITHMS, of_runs
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import PUBLISHED, Draw, Figure, Frame

from . import hybrid, theory

LOSSES = np.geomspace(1e-4, 1e-2, 100)
# Round-trip time of CUBIC's curve, which the report does not state; its text agrees with this
# value.
CURVE_RTT_S = 0.14


def _curves(*algorithms: str) -> Draw:
    """Return a function that draws the response functions of `algorithms`.

    All functions except Reno's have an error band of 50 % of the window to both sides.
    """

    def draw(axes: Axes, data: Data, queue: str) -> None:
        for name in algorithms:
            law, look = PRINTED[name], ALGORITHMS[name]
            windows = law.window(LOSSES, CURVE_RTT_S)
            axes.plot(LOSSES, windows, color=look.colour, label=name)
            if name != "reno":
                axes.fill_between(
                    LOSSES, 0.5 * windows, 1.5 * windows, color=look.colour, alpha=0.15, linewidth=0
                )

    return draw


def _equilibria(axes: Axes, data: Data, queue: str) -> None:
    """Draw a loss model, the response functions of Reno and CUBIC, and where they cross."""
    link = Link(theory.CAPACITY_PPS, 100.0, 0.2, theory.FLOWS)
    windows = np.linspace(10.0, 24.4, 200)
    model = AnickMitraSondhi()
    axes.plot([model.loss(w, link) for w in windows], windows, color="#000000", label="loss model")
    losses = np.geomspace(2e-3, 5e-2, 100)
    for name in ("reno", "cubic"):
        axes.plot(
            losses, PRINTED[name].window(losses, 0.2), color=ALGORITHMS[name].colour, label=name
        )
        at = theory.cell(name, 200, 100)
        axes.plot(at.loss, at.window_pkts, "o", color=ALGORITHMS[name].colour)


def _over_buffers(value: Callable[[Sets], tuple[float, ...]], names: tuple[str, ...]) -> Draw:
    """Return a function that draws `value` over the buffer size, with a panel per kind of router.

    `value` maps the results of a case to several values, and `names` has their labels.
    """

    def draw(axes: Axes, data: Data, queue: str) -> None:
        buffers = [buffer / 1e3 for buffer in BUFFERS]
        rows = [value(hybrid.sets(queue, buffer)) for buffer in BUFFERS]
        for name, look, column in zip(
            names, of_runs(len(names)), zip(*rows, strict=True), strict=True
        ):
            axes.plot(buffers, column, color=look.colour, marker=str(look.marker), label=name)

    return draw


def _tables(axes: Axes, data: Data, queue: str) -> None:
    """Draw throughput over RTT: the model of tables A-1 to A-3 as lines, simulations as points.

    Buffers are the smallest and the largest of these tables.
    """
    for name in ("reno", "cubic", "ctcp"):
        colour = ALGORITHMS[name].colour
        for buffer, line in ((50, "--"), (300, "-")):
            label = f"{name}, {buffer} packets"
            model = [theory.throughput(name, rtt, buffer) for rtt in theory.RTTS_MS]
            axes.plot(theory.RTTS_MS, model, line, color=colour, label=label)
            try:
                curve = data.curve(
                    "throughput_pkts_per_ms", "rtt_ms", "FL-PKT",
                    algorithm=name, buffer_pkts=buffer,
                )  # fmt: skip
            except NotRunError:
                continue
            axes.plot(
                curve.x, curve.y, "o", color=colour, fillstyle="none" if buffer == 50 else "full"
            )
    axes.axhline(theory.CAPACITY_PPS / 1e3, label="the link", **PUBLISHED)


_CURVES = Frame("loss rate", "mean window (packets)", log_x=True, log_y=True)
_BUFFERS = "buffer (thousand packets)"

FIGURES: list[Figure] = [
    Figure(
        "A-1", "Equilibria of two response functions with one loss model", ("FL-CURVE",),
        "A sketch of two hypothetical curves; here Reno and CUBIC at 200 ms and 100 packets.",
        Frame("loss rate", "mean window (packets)", log_x=True, from_zero=False), panels=(),
        draw=_equilibria,
    ),
    Figure(
        "A-2", "CUBIC and Reno", ("FL-CURVE",),
        "CUBIC with its band: ahead up to about 1 %; no round-trip time is stated, here 140 ms.",
        _CURVES, panels=(), draw=_curves("reno", "cubic"),
    ),
    Figure(
        "A-3", "CTCP and Reno", ("FL-CURVE",),
        "CTCP likely ahead below 0.3 %, Reno perhaps above 0.5 %.",
        _CURVES, panels=(), draw=_curves("reno", "ctcp"),
    ),
    Figure(
        "A-4", "CUBIC and CTCP", ("FL-CURVE",),
        "The bands overlap, CUBIC's curve is above.",
        _CURVES, panels=(), draw=_curves("cubic", "ctcp"),
    ),
    Figure(
        "Tables A-1 to A-3", "Throughput over round-trip times: models (lines), packets (points)",
        ("FL-TABLES", "FL-PKT"),
        "Tables of the model alone.",
        Frame("round-trip time (ms)", "throughput (packets/ms)", from_zero=False), panels=(),
        draw=_tables,
    ),
    Figure(
        "B-2", "Ratios of round-trip times", ("HY",), "Fall towards 1 as the buffer grows.",
        Frame(_BUFFERS, "ratio", from_zero=False), panels=("per-link", "shared"),
        draw=_over_buffers(
            lambda sets: (sets.rtt_ratio(2, 1), sets.rtt_ratio(3, 1), sets.rtt_ratio(3, 2)),
            ("RR(2,1)", "RR(3,1)", "RR(3,2)"),
        ),
    ),
    Figure(
        "B-3", "Ratios of throughputs", ("HY",),
        "Fall towards 1 as the buffer grows; above the ratios of round-trip times.",
        Frame(_BUFFERS, "ratio", from_zero=False), panels=("per-link", "shared"),
        draw=_over_buffers(
            lambda sets: tuple(
                sets.throughput_ratio(*pair) for pair in ((1, 2), (1, 3), (2, 3))
            ),
            ("FR(1,2)", "FR(1,3)", "FR(2,3)"),
        ),
    ),
    Figure(
        "B-4", "Mean throughput of a flow", ("HY",), "Set 1 above set 2, set 2 above set 3.",
        Frame(_BUFFERS, "packets/ms"), panels=("per-link", "shared"),
        draw=_over_buffers(
            lambda sets: tuple(rate / 1e3 for rate in sets.throughput_pps),
            ("set 1", "set 2", "set 3"),
        ),
    ),
]  # fmt: skip
