"""What the figures share: looks, names of axes, and the lines that several of them have."""

from typing import Any

from matplotlib.axes import Axes

from longhaul.identity import ALGORITHMS, Look
from longhaul.studies.data import Curve, Data
from longhaul.studies.drawing import (
    OTHER,
    PUBLISHED,
    QUEUE_LOOKS,
    SUM,
    Draw,
    Figure,
    Frame,
    Line,
)

from .measures import stolen, stolen_from_ten
from .metrics import PIPE_PKTS
from .theory import published

HSTCP, REGTCP = ALGORITHMS["hstcp"], ALGORITHMS["reno"]

ONE = ("",)
TIME = "time (s)"
WINDOW = "window (packets)"
FLOWS = "number of flows"
LOSS = "loss rate"
BURSTS = "number of bursts"
LU = "utilisation (%)"
CER = "congestion events per packet"
RF = "relative fairness"
BS = "bandwidth stolen (%)"


def look_of_streams(count: int) -> Look:
    """So many streams: the colour of their protocol, told apart by marker and line."""
    markers = {1: "s", 4: "D", 7: "^", 10: "v", 20: "P", 30: "X"}
    lines: dict[int, str | tuple[int, tuple[float, ...]]] = {
        1: (0, (1, 1)),
        4: (0, (2, 1)),
        7: (0, (4, 1)),
        10: "-",
        20: (0, (6, 2)),
        30: (0, (9, 2)),
    }
    return Look(REGTCP.colour, markers[count], lines[count])


def both(metric: str, hstcp: str, regtcp: str) -> list[Line]:
    """A metric of two homogeneous sets."""
    return [
        Line(hstcp, f"{metric}_hstcp", "HSTCP", HSTCP),
        Line(regtcp, f"{metric}_regtcp", "REGTCP", REGTCP),
    ]


def mixed(experiment: str) -> list[Line]:
    """The utilisation of both classes of a mixed set, and the link's."""
    return [
        Line(experiment, "lu_hstcp", "HSTCP", HSTCP),
        Line(experiment, "lu_regtcp", "REGTCP", REGTCP),
        Line(experiment, "lu_total", "all", SUM),
    ]


def queues(experiment: str, metric: str) -> list[Line]:
    """A metric under either queue."""
    return [
        Line(experiment, metric, name, QUEUE_LOOKS[queue], {"queue": queue})
        for queue, name in (("red", "RED"), ("droptail", "drop-tail"))
    ]


def stolen_lines(mixed: str, alone: str, axis: str) -> list[Line]:
    """Bandwidth stolen under either queue."""

    def curve(data: Data, queue: str) -> Curve:
        return stolen(data, mixed, alone, axis, queue)

    return [
        Line(mixed, "", name, QUEUE_LOOKS[queue], {"queue": queue}, curve)
        for queue, name in (("red", "RED"), ("droptail", "drop-tail"))
    ]


def bulk(streams: str, hstcp: str, metric: str, counts: tuple[int, ...]) -> list[Line]:
    """A metric beside N streams, beside one HSTCP flow, and beside nobody where there is one."""
    of_streams = metric.replace("competitor", "streams")
    of_hstcp = metric.replace("competitor", "hstcp")
    lines = [Line(streams, of_streams, f"N = {n}", look_of_streams(n), {"n": n}) for n in counts]
    lines.append(Line(hstcp, of_hstcp, "1 HSTCP", HSTCP))
    if metric == "lu_regtcp":
        lines.append(Line(streams, metric, "none", OTHER, {"n": 0}))
    return lines


def bulk_stolen(streams: str, hstcp: str, axis: str, counts: tuple[int, ...]) -> list[Line]:
    """What the ten long-lived flows lose to each competitor."""

    def curve(data: Data, queue: str, n: float) -> Curve:
        return stolen_from_ten(data, streams, axis, queue, n=n)

    def curve_of_hstcp(data: Data, queue: str) -> Curve:
        return stolen_from_ten(data, hstcp, axis, queue)

    lines = [Line(streams, "", f"N = {n}", look_of_streams(n), {"n": n}, curve) for n in counts]
    return [*lines, Line(hstcp, "", "1 HSTCP", HSTCP, {}, curve_of_hstcp)]


def windows(*experiments: str) -> Draw:
    """Windows over time."""

    def draw(axes: Axes, data: Data, queue: str) -> None:
        for experiment in experiments:
            course = data.course(experiment, queue=queue)
            for label, look in (("hstcp", HSTCP), ("regtcp", REGTCP)):
                one = course.filter(label=label)
                if len(one):
                    name = label.upper()
                    axes.plot(one["t_s"], one["cwnd_pkts"], color=look.colour, label=name)
        axes.axhline(PIPE_PKTS, label="8333 packets fill the pipe", **PUBLISHED)

    return draw


VARIANTS = {0: "-", 10: (0, (1, 1)), 100: (0, (4, 1.5)), 1000: (0, (8, 2))}


def variants(column: str, until_s: float | None = None) -> Draw:
    """Four slow starts over time, with the changes of Table 6.1."""

    def draw(axes: Axes, data: Data, queue: str) -> None:
        for variant, line in VARIANTS.items():
            course = data.course("EXP-6.11", max_ssthresh=variant)
            label = f"max_ssthresh {variant}"
            axes.plot(
                course["t_s"], course[column], color=HSTCP.colour, linestyle=line, label=label
            )
        if column == "cwnd_pkts":
            rows = published("6_1")
            times = [float(row["time_of_change_s"]) for row in rows]
            windows = [float(row["cwnd_at_change_pkts"]) for row in rows]
            axes.plot(times, windows, "+", color="#000000", markersize=9, label="Table 6.1")
        axes.set_xlim(0, until_s)

    return draw


def figure(
    number: str,
    title: str,
    experiments: str,
    says: str,
    frame: Frame,
    **more: Any,  # noqa: ANN401
) -> Figure:
    """A figure; experiments are separated by spaces."""
    return Figure(number, title, tuple(experiments.split()), says, frame, **more)
