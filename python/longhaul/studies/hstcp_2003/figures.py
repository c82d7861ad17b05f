"""The source's figures, drawn again (chapters 3, 6 and 7)."""

from matplotlib.axes import Axes

from longhaul.identity import ALGORITHMS, Look
from longhaul.studies.data import Curve, Data
from longhaul.studies.drawing import OTHER, PUBLISHED, QUEUE_LOOKS, SUM, Figure, Frame, Line

from . import theory_curves
from .measures import stolen, stolen_from_ten
from .metrics import PIPE_PKTS

HSTCP, REGTCP = ALGORITHMS["hstcp"], ALGORITHMS["reno"]

FLOWS = "number of flows"
LOSS = "loss rate"
BURSTS = "number of bursts"
LU = "utilisation (%)"
CER = "congestion events per packet"
RF = "relative fairness"
BS = "bandwidth stolen (%)"


def _streams(count: int) -> Look:
    """So many streams: the colour of their protocol, told apart by marker and line."""
    markers = {1: "s", 4: "D", 7: "^", 10: "v", 20: "P", 30: "X"}
    lines = {1: (0, (1, 1)), 4: (0, (2, 1)), 7: (0, (4, 1)), 10: "-", 20: (0, (6, 2)), 30: (0, (9, 2))}
    return Look(REGTCP.colour, markers[count], lines[count])


def _both(metric: str, hstcp: str, regtcp: str) -> list[Line]:
    """A metric of two homogeneous sets."""
    return [
        Line(hstcp, f"{metric}_hstcp", "HSTCP", HSTCP),
        Line(regtcp, f"{metric}_regtcp", "REGTCP", REGTCP),
    ]


def _mixed(experiment: str) -> list[Line]:
    """The utilisation of both classes of a mixed set, and the link's."""
    return [
        Line(experiment, "lu_hstcp", "HSTCP", HSTCP),
        Line(experiment, "lu_regtcp", "REGTCP", REGTCP),
        Line(experiment, "lu_total", "all", SUM),
    ]


def _queues(experiment: str, metric: str) -> list[Line]:
    """A metric under either queue."""
    return [
        Line(experiment, metric, name, QUEUE_LOOKS[queue], {"queue": queue})
        for queue, name in (("red", "RED"), ("droptail", "drop-tail"))
    ]


def _stolen(mixed: str, alone: str, axis: str) -> list[Line]:
    """Bandwidth stolen under either queue."""

    def curve(data: Data, queue: str) -> Curve:
        return stolen(data, mixed, alone, axis, queue)

    return [
        Line(mixed, "", name, QUEUE_LOOKS[queue], {"queue": queue}, curve)
        for queue, name in (("red", "RED"), ("droptail", "drop-tail"))
    ]


def _bulk(streams: str, hstcp: str, metric: str, counts: tuple[int, ...]) -> list[Line]:
    """A metric beside N streams, beside one HSTCP flow, and beside nobody where there is one."""
    of_streams = metric.replace("competitor", "streams")
    of_hstcp = metric.replace("competitor", "hstcp")
    lines = [Line(streams, of_streams, f"{n} streams", _streams(n), {"n": n}) for n in counts]
    lines.append(Line(hstcp, of_hstcp, "1 HSTCP", HSTCP))
    if metric == "lu_regtcp":
        lines.append(Line(streams, metric, "none", OTHER, {"n": 0}))
    return lines


def _bulk_stolen(streams: str, hstcp: str, axis: str, counts: tuple[int, ...]) -> list[Line]:
    def curve(data: Data, queue: str, n: float) -> Curve:
        return stolen_from_ten(data, streams, axis, queue, n=n)

    def curve_of_hstcp(data: Data, queue: str) -> Curve:
        return stolen_from_ten(data, hstcp, axis, queue)

    lines = [Line(streams, "", f"{n} streams", _streams(n), {"n": n}, curve) for n in counts]
    return [*lines, Line(hstcp, "", "1 HSTCP", HSTCP, {}, curve_of_hstcp)]


def _windows(*experiments: str) -> object:
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


def _variants(column: str, until_s: float | None = None) -> object:
    """Four slow starts over time, with the changes of Table 6.1."""

    def draw(axes: Axes, data: Data, queue: str) -> None:
        for variant, line in VARIANTS.items():
            course = data.course("EXP-6.11", max_ssthresh=variant)
            label = f"max_ssthresh {variant}"
            axes.plot(
                course["t_s"], course[column], color=HSTCP.colour, linestyle=line, label=label
            )
        if column == "cwnd_pkts":
            rows = theory_curves.published("6_1")
            times = [float(row["time_of_change_s"]) for row in rows]
            windows = [float(row["cwnd_at_change_pkts"]) for row in rows]
            axes.plot(times, windows, "+", color="#000000", markersize=9, label="Table 6.1")
        axes.set_xlim(0, until_s)

    return draw


def _figure(
    number: str, title: str, experiments: str, published: str, frame: Frame, **more: object
) -> Figure:
    return Figure(number, title, tuple(experiments.split()), published, frame, **more)  # type: ignore[arg-type]


ONE = ("",)
TIME = "time (s)"
WINDOW = "window (packets)"
COUNTS_LOSS, COUNTS_BURSTS = (1, 4, 7, 10, 20, 30), (1, 4, 7, 10, 20)

FIGURES: list[Figure] = [
    _figure(
        "3.1", "Response functions of standard TCP and HSTCP", "EXP-T1",
        "The curves leave one another at a window of 38 packets; that of HSTCP meets the capacity of the "
        "link at a loss rate slightly above 1e-6. Crosses: Tables 3.1 and 3.2.",
        Frame(LOSS, WINDOW, log_x=True, log_y=True), panels=ONE, draw=theory_curves.responses,
    ),
    _figure(
        "3.2", "HSTCP's increase a(w) and decrease b(w)", "EXP-T1",
        "a is 1 and b one half up to the low window; b is 0.1 at the high window of 83,000 packets.",
        Frame(WINDOW, "a(w), b(w)", log_x=True, log_y=True), panels=ONE, draw=theory_curves.shapes,
    ),
    _figure(
        "6.1", "One flow alone: windows", "EXP-6.1 EXP-6.1-REG",
        "HSTCP is at 8333 packets before 50 s, REGTCP only at about 300 s. Both reach larger windows under "
        "drop-tail. HSTCP under RED: an event every 7.73 s or 638,000 packets, 98.9 % of the link.",
        Frame(TIME, WINDOW), draw=_windows("EXP-6.1", "EXP-6.1-REG"),
    ),
    _figure(
        "6.2", "Ideal condition: utilisation", "EXP-6.2a EXP-6.2b",
        "HSTCP fills the link with few flows, less than 10 REGTCP flows do not. Printed for RED; "
        "drop-tail is said to be similar.",
        Frame(FLOWS, LU), axis="n", lines=_both("lu", "EXP-6.2a", "EXP-6.2b"),
    ),
    _figure(
        "6.3", "Ideal condition: congestion event rate", "EXP-6.2a EXP-6.2b",
        "HSTCP is clearly above REGTCP for every number of flows, and never below 1e-6; drop-tail is "
        "above RED.",
        Frame(FLOWS, CER, log_y=True), axis="n", lines=_both("cer", "EXP-6.2a", "EXP-6.2b"),
        values={"1e-6": 1e-6},
    ),
    _figure(
        "6.4", "Ideal condition, mixed sets: utilisation", "EXP-6.2c",
        "HSTCP has more, its share falls and REGTCP's rises with the number of flows; the link stays full.",
        Frame(FLOWS, LU), axis="n", lines=_mixed("EXP-6.2c"),
    ),
    _figure(
        "6.5", "Ideal condition, mixed sets: congestion event rate", "EXP-6.2c",
        "Rises with the number of flows, higher under drop-tail.",
        Frame(FLOWS, CER, log_y=True), axis="n", lines=_queues("EXP-6.2c", "cer_total"), panels=ONE,
    ),
    _figure(
        "6.6", "Ideal condition, mixed sets: relative fairness", "EXP-6.2c",
        "Falls with the number of flows; larger under drop-tail, where it reaches more than 20, in single "
        "runs more than 35.",
        Frame(FLOWS, RF), axis="n", lines=_queues("EXP-6.2c", "rf"), panels=ONE,
    ),
    _figure(
        "6.7", "Ideal condition, mixed sets: bandwidth stolen", "EXP-6.2c",
        "Falls with the number of flows, larger under drop-tail; the gap grows slightly.",
        Frame(FLOWS, BS), axis="n", lines=_stolen("EXP-6.2c", "EXP-6.2b", "n"), panels=ONE,
    ),
    _figure(
        "6.8", "Lossy link: utilisation", "EXP-6.3a EXP-6.3b",
        "REGTCP collapses with the loss rate and uses less than half of the link from 1e-5 on; HSTCP has "
        "almost twice as much there, and is REGTCP from 1e-3 on. Printed for RED.",
        Frame(LOSS, LU, log_x=True), axis="loss", lines=_both("lu", "EXP-6.3a", "EXP-6.3b"),
    ),
    _figure(
        "6.9", "Lossy link: congestion event rate", "EXP-6.3a EXP-6.3b",
        "HSTCP's rate no longer follows the loss rate below about 1e-5 (RED) and 1e-4 (drop-tail), and is "
        "not lower than these.",
        Frame(LOSS, CER, log_x=True, log_y=True), axis="loss",
        lines=_both("cer", "EXP-6.3a", "EXP-6.3b"), values={"1e-5": 1e-5, "1e-4": 1e-4},
    ),
    _figure(
        "6.10", "Lossy link, mixed sets: utilisation", "EXP-6.3c",
        "The difference shrinks as losses grow; the link is full up to about 1e-5.",
        Frame(LOSS, LU, log_x=True), axis="loss", lines=_mixed("EXP-6.3c"),
    ),
    _figure(
        "6.11", "Lossy link, mixed sets: relative fairness", "EXP-6.3c",
        "Falls with the loss rate, to 1.",
        Frame(LOSS, RF, log_x=True), axis="loss", lines=_queues("EXP-6.3c", "rf"), panels=ONE,
        values={"1": 1},
    ),
    _figure(
        "6.12", "Lossy link, mixed sets: bandwidth stolen", "EXP-6.3c EXP-6.3b",
        "Nothing at loss rates above 1e-4, a noticeable part below.",
        Frame(LOSS, BS, log_x=True), axis="loss",
        lines=_stolen("EXP-6.3c", "EXP-6.3b", "loss"), panels=ONE,
    ),
    _figure(
        "6.13", "Bursts: utilisation", "EXP-6.4a EXP-6.4b",
        "Under RED REGTCP falls quickly (\"around 70 %\"), HSTCP slowly; under drop-tail HSTCP is nearly "
        "immune. Bursts use less than 10 %, slightly less beside HSTCP.",
        Frame(BURSTS, LU), axis="k",
        lines=[
            *_both("lu", "EXP-6.4a", "EXP-6.4b"),
            Line("EXP-6.4a", "lu_perturbation", "bursts beside HSTCP", OTHER),
            Line("EXP-6.4b", "lu_perturbation", "bursts beside REGTCP",
                 Look(OTHER.colour, "x", (0, (4, 2)))),
        ],
    ),
    _figure(
        "6.14", "Bursts: congestion event rate", "EXP-6.4a EXP-6.4b",
        "Rises with bursts under RED; under drop-tail HSTCP's is almost constant, REGTCP's splits into "
        "two levels.",
        Frame(BURSTS, CER, log_y=True), axis="k", lines=_both("cer", "EXP-6.4a", "EXP-6.4b"),
    ),
    _figure(
        "6.15", "Bursts: number of congestion events", "EXP-6.4a EXP-6.4b",
        "Higher for HSTCP than for REGTCP (RED).",
        Frame(BURSTS, "congestion events"), axis="k", lines=_both("ce", "EXP-6.4a", "EXP-6.4b"),
        panels=("red",),
    ),
    _figure(
        "6.16", "Bursts, mixed sets: utilisation", "EXP-6.4c",
        "REGTCP's share is low but nearly constant.",
        Frame(BURSTS, LU), axis="k",
        lines=[*_mixed("EXP-6.4c"), Line("EXP-6.4c", "lu_perturbation", "bursts", OTHER)],
    ),
    _figure(
        "6.17", "Bursts, mixed sets: relative fairness", "EXP-6.4c",
        "Almost constant: about 5 under RED, with slight growth; between 10 and 15 under drop-tail.",
        Frame(BURSTS, RF), axis="k", lines=_queues("EXP-6.4c", "rf"), panels=ONE,
        values={"5": 5, "10": 10, "15": 15},
    ),
    _figure(
        "6.18", "Bursts, mixed sets: bandwidth stolen", "EXP-6.4c EXP-6.4b",
        "Falls with the number of bursts, larger under drop-tail.",
        Frame(BURSTS, BS), axis="k", lines=_stolen("EXP-6.4c", "EXP-6.4b", "k"), panels=ONE,
    ),
    _figure(
        "6.19", "One HSTCP against n REGTCP: utilisation", "EXP-6.5",
        "One HSTCP flow is worth 6 REGTCP flows under RED, 13 under drop-tail; the link stays full.",
        Frame("number of REGTCP flows", LU), axis="n", lines=_mixed("EXP-6.5"),
    ),
    _figure(
        "6.20", "One HSTCP against n REGTCP: relative fairness", "EXP-6.5",
        "Falls, and is below 1 beyond the crossing of Figure 6.19.",
        Frame("number of REGTCP flows", RF, log_y=True), axis="n", lines=_queues("EXP-6.5", "rf"),
        panels=ONE, values={"1": 1},
    ),
    _figure(
        "6.21", "Constant loss of 1e-5: utilisation", "EXP-6.6a EXP-6.6b",
        "6 HSTCP flows fill the link, REGTCP needs 20 or more. Printed for RED.",
        Frame(FLOWS, LU), axis="n", lines=_both("lu", "EXP-6.6a", "EXP-6.6b"),
    ),
    _figure(
        "6.22", "Constant loss of 1e-5: congestion event rate", "EXP-6.6a EXP-6.6b",
        "At the loss rate until the link fills: beyond 6 flows (elsewhere 2) for HSTCP, beyond 30 for "
        "REGTCP.",
        Frame(FLOWS, CER, log_y=True), axis="n", lines=_both("cer", "EXP-6.6a", "EXP-6.6b"),
        values={"1e-5": 1e-5},
    ),
    _figure(
        "6.23", "Constant loss of 1e-5, mixed sets: utilisation", "EXP-6.6c",
        "HSTCP's share falls with the number of flows under RED, and is constant or rises slightly under "
        "drop-tail.",
        Frame(FLOWS, LU), axis="n", lines=_mixed("EXP-6.6c"),
    ),
    _figure(
        "6.24", "Constant loss of 1e-5, mixed sets: relative fairness", "EXP-6.6c",
        "Grows with the number of flows under drop-tail, falls under RED.",
        Frame(FLOWS, RF), axis="n", lines=_queues("EXP-6.6c", "rf"), panels=ONE,
    ),
    _figure(
        "6.25", "Constant loss of 1e-5, mixed sets: bandwidth stolen", "EXP-6.6c EXP-6.6b",
        "Grows with the number of flows under drop-tail, falls under RED.",
        Frame(FLOWS, BS), axis="n", lines=_stolen("EXP-6.6c", "EXP-6.6b", "n"), panels=ONE,
    ),
    _figure(
        "6.26", "One HSTCP and one REGTCP for an hour", "EXP-6.7",
        "Both windows stay at the same levels for the whole hour; the band of HSTCP is wide.",
        Frame(TIME, WINDOW), panels=("red",), draw=_windows("EXP-6.7"),
    ),
    _figure(
        "6.27", "Rate of parallel streams", "EXP-6.8a EXP-6.8b",
        "Grows with the number of streams and falls with the loss rate; HSTCP is ahead at very low loss "
        "and one REGTCP flow at high loss. Printed for RED.",
        Frame(LOSS, "packets per round trip", log_x=True, log_y=True), axis="loss", panels=("red",),
        lines=[
            *(Line("EXP-6.8a", "rate_regtcp", f"{n} streams", _streams(n), {"n": n})
              for n in (1, 4, 7, 10)),
            Line("EXP-6.8b", "rate_hstcp", "1 HSTCP", HSTCP, {"n": 1}),
        ],
    ),
    _figure(
        "6.28", "Rate of parallel streams, theory", "EXP-T2",
        "N streams have N/sqrt(p) packets per round trip, HSTCP its response function.",
        Frame(LOSS, "packets per round trip", log_x=True, log_y=True), panels=ONE,
        draw=theory_curves.rates,
    ),
    _figure(
        "6.29", "Relative fairness of parallel streams, theory", "EXP-T2",
        "That of N streams is N at any loss rate, that of HSTCP falls from 10 at 1e-6 to 1 at 1e-3.",
        Frame(LOSS, RF, log_x=True), panels=ONE, draw=theory_curves.fairness,
    ),
    _figure(
        "6.30", "Bulk transfer on a lossy link: the 10 long-lived flows", "EXP-6.9a EXP-6.9b",
        "Unaffected until the link is full, then degraded in proportion to the competitor.",
        Frame(LOSS, LU, log_x=True), axis="loss",
        lines=_bulk("EXP-6.9a", "EXP-6.9b", "lu_regtcp", COUNTS_LOSS),
    ),
    _figure(
        "6.31", "Bulk transfer on a lossy link: the competitor", "EXP-6.9a EXP-6.9b",
        "Where the link is full it depends on the number of streams only; all schemes do badly above 1e-3.",
        Frame(LOSS, LU, log_x=True), axis="loss",
        lines=_bulk("EXP-6.9a", "EXP-6.9b", "lu_competitor", COUNTS_LOSS),
    ),
    _figure(
        "6.32", "Bulk transfer on a lossy link: congestion event rate", "EXP-6.9a EXP-6.9b",
        "Follows the loss rate until the link is full.",
        Frame(LOSS, CER, log_x=True, log_y=True), axis="loss",
        lines=_bulk("EXP-6.9a", "EXP-6.9b", "cer_total", COUNTS_LOSS),
    ),
    _figure(
        "6.33", "Bulk transfer on a lossy link: relative fairness per flow", "EXP-6.9a EXP-6.9b",
        "N for N streams up to 1e-4; about 1 at 1e-3 and 5 at 1e-5 for HSTCP (RED), more under drop-tail.",
        Frame(LOSS, RF, log_x=True, log_y=True), axis="loss",
        lines=_bulk("EXP-6.9a", "EXP-6.9b", "frf", COUNTS_LOSS),
    ),
    _figure(
        "6.34", "Bulk transfer under bursts: the 10 long-lived flows", "EXP-6.10a EXP-6.10b",
        "Fall with the number of bursts; the more streams, the less is left.",
        Frame(BURSTS, LU), axis="k",
        lines=_bulk("EXP-6.10a", "EXP-6.10b", "lu_regtcp", COUNTS_BURSTS),
    ),
    _figure(
        "6.35", "Bulk transfer under bursts: the competitor", "EXP-6.10a EXP-6.10b",
        "Streams fall with bursts under RED, HSTCP rises; both almost constant under drop-tail.",
        Frame(BURSTS, LU), axis="k",
        lines=_bulk("EXP-6.10a", "EXP-6.10b", "lu_competitor", COUNTS_BURSTS),
    ),
    _figure(
        "6.36", "Bulk transfer under bursts: relative fairness per flow", "EXP-6.10a EXP-6.10b",
        "About N for N streams; HSTCP's rises with bursts under RED, and is spread widely under drop-tail.",
        Frame(BURSTS, RF, log_y=True), axis="k",
        lines=_bulk("EXP-6.10a", "EXP-6.10b", "frf", COUNTS_BURSTS),
    ),
    _figure(
        "6.37", "Bulk transfer under bursts: bandwidth stolen from the 10 flows", "EXP-6.10a EXP-6.10b",
        "Falls with the number of bursts for both queues and all schemes.",
        Frame(BURSTS, BS), axis="k",
        lines=_bulk_stolen("EXP-6.10a", "EXP-6.10b", "k", COUNTS_BURSTS),
    ),
    _figure(
        "6.38", "Slow start variants: windows", "EXP-6.11",
        "Table 6.1: slow start ends at 1.30, 3.55, 20.75 and 63.75 s with max_ssthresh 0, 1000, 100 and "
        "10, at windows of 33,032, 12,726, 9980 and 9920 packets and with 27,274, 58, 1 and 1 lost or "
        "marked.",
        Frame(TIME, WINDOW), panels=ONE, draw=_variants("cwnd_pkts"),
    ),
    _figure(
        "6.39", "Slow start variants: sequence numbers", "EXP-6.11",
        "Massive loss stalls the standard slow start; a threshold of 10 packets stalls from the beginning.",
        Frame(TIME, "packets delivered"), panels=ONE, draw=_variants("delivered_pkts", 60),
    ),
    _figure(
        "7.1", "RED's probability of a drop or mark", "EXP-6.2a",
        "Nothing below min_th, max_p at max_th, then the gentle part to 1 at twice max_th.",
        Frame("average queue (packets)", "probability"), panels=ONE, draw=theory_curves.red,
    ),
    _figure(
        "7.2", "One HSTCP flow with a sound scoreboard (drop-tail)", "EXP-7.2 EXP-6.1",
        "The source shows double cuts of the window and permanent loss of performance, from SACK blocks "
        "that were wrong above windows of 1000 packets. Here is the same flow without the defect.",
        Frame(TIME, WINDOW), panels=("droptail",), draw=_windows("EXP-6.1"),
    ),
]
