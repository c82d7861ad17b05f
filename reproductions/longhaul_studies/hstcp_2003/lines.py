"""Lines of the figures: values along an axis, and windows over time.

A mixed set has half HSTCP flows and half REGTCP flows (standard TCP). The parameter `axis` is the
name of the factor on the figure's x axis.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes

from longhaul.plots.styles import ALGORITHMS, Style
from longhaul.studies.data import Curve, Data, together
from longhaul.studies.figures import OTHER, PUBLISHED, QUEUE_LOOKS, QUEUE_NAMES, SUM, Draw, Line

from .measures import stolen
from .metrics import PIPE_PKTS
from .theory import published

HSTCP, REGTCP = ALGORITHMS["hstcp"], ALGORITHMS["reno"]

# Numbers of parallel streams, by experiment.
STREAMS = {
    "EXP-6.8a": (1, 4, 7, 10),
    "EXP-6.9a": (1, 4, 7, 10, 20, 30),
    "EXP-6.10a": (1, 4, 7, 10, 20),
}

# Values of max_ssthresh in Table 6.1.
VARIANTS = {0: "-", 10: (0, (1, 1)), 100: (0, (4, 1.5)), 1000: (0, (8, 2))}


def both(experiments: Sequence[str], axis: str, metric: str) -> list[Line]:
    """Return the lines of a metric for HSTCP flows alone and for REGTCP flows alone."""
    hstcp, regtcp = experiments
    return [
        Line(hstcp, f"{metric}_hstcp", "HSTCP", HSTCP),
        Line(regtcp, f"{metric}_regtcp", "REGTCP", REGTCP),
    ]


def mixed(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of utilisation by HSTCP flows, by competing REGTCP flows, and by all traffic.

    The flows are a mixed set, or one HSTCP flow and n REGTCP flows.
    """
    (experiment,) = experiments
    return [
        Line(experiment, "lu_hstcp", "HSTCP", HSTCP),
        Line(experiment, "lu_regtcp", "REGTCP", REGTCP),
        Line(experiment, "lu_total", "all", SUM),
    ]


def bursts(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the utilisation by bursts in competition with HSTCP, then with REGTCP.

    A single experiment is a mixed set, and has one line.
    """
    looks = (OTHER, Style(OTHER.colour, "x", (0, (4, 2))))
    names = ("bursts beside HSTCP", "bursts beside REGTCP") if len(experiments) > 1 else ("bursts",)
    return [
        Line(experiment, "lu_perturbation", name, look)
        for experiment, name, look in zip(experiments, names, looks, strict=False)
    ]


def queues(experiments: Sequence[str], axis: str, metric: str) -> list[Line]:
    """Return the lines of a metric, one for each queue."""
    (experiment,) = experiments
    return [
        Line(experiment, metric, name, QUEUE_LOOKS[queue], {"queue": queue})
        for queue, name in QUEUE_NAMES.items()
    ]


def stolen_lines(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the bandwidth that HSTCP flows steal from REGTCP flows, one for each queue.

    The first of the two `experiments` has flows of both kinds, the second only REGTCP flows.
    """
    of, alone = experiments

    def curve(data: Data, queue: str) -> Curve:
        return stolen(data, of, alone, axis, queue)

    return [
        Line(of, "", name, QUEUE_LOOKS[queue], {"queue": queue}, curve)
        for queue, name in QUEUE_NAMES.items()
    ]


def rates(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of packets per round trip: of N parallel streams, and of one HSTCP flow."""
    streams, hstcp = experiments
    return [
        *_of_streams(streams, "rate_regtcp"),
        Line(hstcp, "rate_hstcp", "1 HSTCP", HSTCP, {"n": 1}),
    ]


def bulk(experiments: Sequence[str], axis: str, metric: str) -> list[Line]:
    """Return a line of `metric` for each competitor: N parallel streams, or one HSTCP flow.

    `competitor` in the name `metric` stands for the competitor's class of flows. The metric
    `lu_regtcp` has a further line, without a competitor.
    """
    streams, hstcp = experiments
    lines = _of_streams(streams, metric.replace("competitor", "streams"))
    lines.append(Line(hstcp, metric.replace("competitor", "hstcp"), "1 HSTCP", HSTCP))
    if metric == "lu_regtcp":
        lines.append(Line(streams, metric, "none", OTHER, {"n": 0}))
    return lines


def _stolen_from_ten(data: Data, of: str, axis: str, queue: str, **cell: str | float) -> Curve:
    """Return the goodput that ten flows lose to a competitor along an axis, in % of the link.

    `of` is the experiment with the competitor, and `cell` selects the competitor by levels.
    """
    alone = "EXP-6.9a" if of.startswith("EXP-6.9") else "EXP-6.10a"
    x, before, now = together(
        data.curve("lu_regtcp", axis, alone, queue=queue, n=0),
        data.curve("lu_regtcp", axis, of, queue=queue, **cell),
    )
    return Curve(x, before - now)


def bulk_stolen(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the goodput that the ten long-lived flows lose to each competitor."""
    streams, hstcp = experiments

    def curve(data: Data, queue: str, n: float) -> Curve:
        return _stolen_from_ten(data, streams, axis, queue, n=n)

    def curve_of_hstcp(data: Data, queue: str) -> Curve:
        return _stolen_from_ten(data, hstcp, axis, queue)

    lines = [
        Line(streams, "", f"N = {n}", _look_of_streams(n), {"n": n}, curve)
        for n in STREAMS[streams]
    ]
    return [*lines, Line(hstcp, "", "1 HSTCP", HSTCP, {}, curve_of_hstcp)]


def _of_streams(experiment: str, metric: str) -> list[Line]:
    return [
        Line(experiment, metric, f"N = {n}", _look_of_streams(n), {"n": n})
        for n in STREAMS[experiment]
    ]


def _look_of_streams(count: int) -> Style:
    """Return the style of the line of `count` streams; styles differ in markers and dashes."""
    markers = {1: "s", 4: "D", 7: "^", 10: "v", 20: "P", 30: "X"}
    lines: dict[int, str | tuple[int, tuple[float, ...]]] = {
        1: (0, (1, 1)),
        4: (0, (2, 1)),
        7: (0, (4, 1)),
        10: "-",
        20: (0, (6, 2)),
        30: (0, (9, 2)),
    }
    return Style(REGTCP.colour, markers[count], lines[count])


def burst_lengths(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the utilisation over the length of bursts, for 35 and 70 bursts."""
    alone, mixed, bulk = experiments
    sets = (
        (alone, "lu_regtcp", "10 REGTCP alone", REGTCP.colour, "s"),
        (mixed, "lu_regtcp", "5 REGTCP beside 5 HSTCP", REGTCP.colour, "D"),
        (bulk, "lu_hstcp", "1 HSTCP beside 10 REGTCP", HSTCP.colour, "o"),
    )
    return [
        Line(experiment, metric, f"{name}, k = {k}", Style(colour, marker, style), {"k": k})
        for experiment, metric, name, colour, marker in sets
        for k, style in ((35, (0, (4, 2))), (70, "-"))
    ]


# Numbers of web sessions in each direction.
SESSIONS: dict[int, str | tuple[int, tuple[float, ...]]] = {
    1: (0, (1, 1)),
    5: (0, (4, 1.5)),
    10: "-",
    20: (0, (8, 2)),
}


def web_fairness(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the fairness of HSTCP to REGTCP, one for each number of web sessions."""
    (experiment,) = experiments
    return [
        Line(experiment, "rf", f"{count} sessions", Style(HSTCP.colour, "o", style),
             {"sessions": count})
        for count, style in SESSIONS.items()
    ]  # fmt: skip


def web_stolen(experiments: Sequence[str], axis: str) -> list[Line]:
    """Return lines of the bandwidth stolen by HSTCP, one for each number of web sessions."""
    of, alone = experiments

    def curve(data: Data, queue: str, sessions: int) -> Curve:
        return stolen(data, of, alone, axis, queue, sessions=sessions)

    return [
        Line(of, "", f"{count} sessions", Style(REGTCP.colour, "s", style), {"sessions": count},
             curve)
        for count, style in SESSIONS.items()
    ]  # fmt: skip


def windows(experiments: Sequence[str], of: str = "") -> Draw:
    """Return a function that draws windows over time in the experiment `of`, by default in all."""

    def draw(axes: Axes, data: Data, queue: str) -> None:
        for experiment in (of,) if of else experiments:
            trajectory = data.trajectory(experiment, queue=queue)
            for label, look in (("hstcp", HSTCP), ("regtcp", REGTCP)):
                of_flow = trajectory.filter(label=label)
                if len(of_flow):
                    name = label.upper()
                    axes.plot(of_flow["t_s"], of_flow["cwnd_pkts"], color=look.colour, label=name)
        axes.axhline(PIPE_PKTS, label="8333 packets fill the pipe", **PUBLISHED)

    return draw


def slow_start_windows(experiments: Sequence[str]) -> Draw:
    """Return a function that draws the windows of four slow starts.

    The function also marks the ends of slow start that Table 6.1 prints.
    """
    (experiment,) = experiments

    def draw(axes: Axes, data: Data, queue: str) -> None:
        _slow_starts(axes, data, experiment, "cwnd_pkts")
        rows = published("6_1")
        times = [float(row["time_of_change_s"]) for row in rows]
        heights = [float(row["cwnd_at_change_pkts"]) for row in rows]
        axes.plot(times, heights, "+", color="#000000", markersize=9, label="Table 6.1")
        axes.set_xlim(0)

    return draw


def slow_start_deliveries(experiments: Sequence[str]) -> Draw:
    """Return a function that draws the packets that variants of slow start deliver in a minute."""
    (experiment,) = experiments

    def draw(axes: Axes, data: Data, queue: str) -> None:
        _slow_starts(axes, data, experiment, "delivered_pkts")
        axes.set_xlim(0, 60)

    return draw


def _slow_starts(axes: Axes, data: Data, experiment: str, column: str) -> None:
    for variant, line in VARIANTS.items():
        trajectory = data.trajectory(experiment, max_ssthresh=variant)
        label = f"max_ssthresh {variant}"
        axes.plot(
            trajectory["t_s"], trajectory[column], color=HSTCP.colour, linestyle=line, label=label
        )
