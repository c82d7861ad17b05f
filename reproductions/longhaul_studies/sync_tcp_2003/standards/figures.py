"""Figures of appendix B from our results."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from longhaul.plots.styles import LABELS, Style
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import Figure, Frame, Line
from longhaul_studies.sync_tcp_2003.web.figures import (
    ECN_5,
    ECN_136,
    ECN_340,
    HEAVY,
    LOAD,
    LONGER,
    MEDIUM,
    MIXREACT,
    RESPONSE,
    SHARE,
    Draw,
    curves,
    per_load,
)

QUEUES = {
    "dt-111": ("drop-tail, 111", LABELS[0]),
    "dt-148": ("drop-tail, 148", LABELS[1]),
    "ared-5": ("Adaptive RED, 5 ms", LABELS[2]),
    "ared-60": ("Adaptive RED, 60 ms", LABELS[3]),
    "ecn-5": ("marking, 5 ms", LABELS[4]),
    "ecn-60": ("marking, 60 ms", LABELS[5]),
    "red-5-15": ("RED, 5 to 15", LABELS[6]),
    "red-30-90": ("RED, 30 to 90", LABELS[7]),
    "uncongested": ("uncongested", Style("#808080", "", (0, (1, 1)))),
}


def _compared(queues: Sequence[str], experiment: str = "B-QUEUES", tcp: str = "reno") -> Draw:
    """Return a function that draws distributions of response times, a line per queue."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = False
        for queue in queues:
            label, style = QUEUES[queue]
            of = "B-FREE" if queue == "uncongested" else experiment
            try:
                x, y = next(curves(data, of, "cdf", queue=queue, tcp=tcp, load=float(panel)))
            except NotRunError:
                continue
            axes.plot(1e3 * x, y, color=style.colour, linestyle=style.line, label=label,
                      linewidth=1.0)  # fmt: skip
            drawn = True
        if not drawn:
            raise NotRunError("nothing was run")
        axes.set_title(f"{panel} %")

    return draw


def _by_load(
    number: str, title: str, metric: str, y: str, published: str = "", tcp: str = "reno"
) -> Figure:
    lines = [
        Line("B-QUEUES", metric, label, style, {"queue": queue, "tcp": tcp})
        for queue, (label, style) in QUEUES.items()
        if not queue.startswith(("red", "un"))
    ]
    return Figure(
        number, title, ("B-QUEUES",), published, Frame(LOAD, y), axis="load", lines=lines, panels=()
    )


def _tuned(number: str, title: str, metric: str, y: str, published: str) -> Figure:
    lines = [
        Line(case.experiment, metric, case.label, case.style, {"protocol": case.protocol})
        for case in (ECN_5, ECN_340, ECN_136, MIXREACT)
    ]
    return Figure(
        number, title, ("H1", "H1-TUNED"), published, Frame(LOAD, y), axis="load", lines=lines,
        panels=(),
    )  # fmt: skip


def _cdf(number: str, title: str, published: str, draw: Draw, panels: Sequence[str],
         experiments: str = "B-QUEUES B-FREE") -> Figure:  # fmt: skip
    return Figure(
        number, title, tuple(experiments.split()), published, Frame(RESPONSE, SHARE), panels=panels,
        draw=draw,
    )  # fmt: skip


def _of_tuned(number: str, kind: str, panels: Sequence[str], *, log: bool = False) -> Figure:
    """Return a figure of response times with a tuned queue; with `log`, of the tails only."""
    cases = (ECN_5, ECN_340, ECN_136)
    draw = per_load("ccdf-all", cases, log=True) if log else per_load("cdf", cases, scale=1e3)
    frame = Frame("response time (s)", LONGER, log_x=True, log_y=True, from_zero=False)
    return Figure(
        number, f"Adaptive RED tuned: {'tails, ' if log else ''}{kind}", ("H1", "H1-TUNED"),
        "136 packets better than 340.", frame if log else Frame(RESPONSE, SHARE), panels=panels,
        draw=draw,
    )  # fmt: skip


STANDARDS: list[Figure] = [
    _by_load("B.2", "Reno: loss by load", "loss_1", "packets dropped (%)", ""),
    _by_load("B.2f", "Reno: flows with losses by load", "with_losses", "%",
             "Many with Adaptive RED and 5 ms."),
    _by_load("B.2q", "Reno: mean queue by load", "queue_1", "packets",
             "Far shorter with 5 ms than with 60."),
    _by_load("B.3", "Reno: median response time by load", "median", "ms", ""),
    _by_load("B.4", "SACK: loss by load", "loss_1", "packets dropped (%)", tcp="sack"),
    _by_load("B.4f", "SACK: flows with losses by load", "with_losses", "%", tcp="sack"),
    _by_load("B.4q", "SACK: mean queue by load", "queue_1", "packets", tcp="sack"),
    _by_load("B.5", "SACK: median response time by load", "median", "ms", tcp="sack"),
    _cdf("B.6", "Reno: drop-tail and Adaptive RED",
         "Below 400 ms a target of 5 ms is better, beyond drop-tail and 60 ms.",
         _compared(("uncongested", "dt-111", "dt-148", "ared-5", "ared-60")), ("80", "90", "105")),
    _cdf("B.12", "Reno: original and Adaptive RED", "Adaptive RED better at 80, 90 and 100 %.",
         _compared(("red-5-15", "ared-5", "red-30-90", "ared-60"), "B-RED"), ("80", "90", "100"),
         "B-RED"),
    _cdf("B.13", "Reno: dropping and marking", "Marking with 5 ms is the best up to 90 %.",
         _compared(("uncongested", "ared-5", "ecn-5", "ared-60", "ecn-60")), ("80", "90", "105")),
    _cdf("B.16", "Reno: responses in one direction only", "Better than both ways, most at 105 %.",
         _compared(("ecn-5", "ecn-60"), "B-ONE-WAY"), ("90", "105"), "B-ONE-WAY"),
    _cdf("B.18", "SACK: all queues", "As Reno.",
         _compared(("uncongested", "dt-111", "dt-148", "ecn-5", "ecn-60"), tcp="sack"),
         ("80", "90", "105")),
    _cdf("B.30", "Reno: drop-tail or marking with 5 ms",
         "Marking is better for three quarters of the responses at 80 %, for half at 105 %.",
         _compared(("dt-148", "ecn-5")), ("80", "90", "105")),
    _tuned("B.47", "Adaptive RED tuned: mean queue", "queue_0", "packets",
           "Of 340 packets near MixReact up to 90 %, over 120 packets at 100 and 105 %."),
    _tuned("B.47l", "Adaptive RED tuned: loss", "loss_0", "packets dropped (%)",
           "136 packets better than 340."),
    _tuned("B.48", "Adaptive RED tuned: median response time", "median", "ms", "136 better."),
    _of_tuned("B.49", "medium congestion", MEDIUM),
    _of_tuned("B.50", "heavy congestion", HEAVY),
    _of_tuned("B.51", "medium congestion", MEDIUM, log=True),
    _of_tuned("B.52", "heavy congestion", HEAVY, log=True),
]  # fmt: skip
