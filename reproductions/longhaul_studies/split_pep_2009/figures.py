"""The thesis' figures from our results, and two figures of today's senders (N.1, N.2).

Printed values are black, reference lines of theory grey. Most figures have a panel per queue length
in packets. In the thesis' figures `no proxy` is for receivers that acknowledge each packet, and
`no proxy, delayed ACKs` for receivers with delayed acknowledgements.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from longhaul.plots.styles import ALGORITHMS, OTHERS, Style
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import PUBLISHED, Figure, Frame

from . import theory

Draw = Callable[[Axes, Data, str], None]
TIME, MBPS, FLOWS = "time (s)", "Mbit/s on the wire", "number of flows"
SIZES = ("3000", "1500", "1000")
ALL_SIZES = ("3000", "1500", "1000", "600", "300")
EVER, CYCLES_S = (0.0, float("inf")), (1000.0, 1300.0)


@dataclass(frozen=True)
class Case:
    """A line of a figure: label, style, and the levels of its runs."""

    label: str
    style: Style
    where: Mapping[str, str]


OFF = Case("no proxy", OTHERS[1], {"proxy": "off", "queue": "droptail"})
DELAYED = Case("no proxy, delayed ACKs", OTHERS[3], {"proxy": "off-delayed", "queue": "droptail"})
RED = Case("proxy, RED", OTHERS[0], {"proxy": "cubic", "queue": "red"})
DROP_TAIL = Case("proxy, drop-tail", OTHERS[2], {"proxy": "cubic", "queue": "droptail"})
EVERY = (OFF, DELAYED, RED, DROP_TAIL)


def _over_time(experiment: str, column: str, cases: Sequence[Case]) -> Draw:
    """Return a function that draws `column` over time for `cases`, a panel per queue length."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = [_draw_case(axes, data, (experiment, column), panel, case, EVER) for case in cases]
        if not any(drawn):
            raise NotRunError("nothing was run")
        axes.set_title(f"{panel} packets")

    return draw


def _utilisation(
    experiment: str, cases: Sequence[Case], printed: Mapping[str, tuple[float, float]]
) -> Draw:
    """Return a function that draws utilisation during `CYCLES_S`, and printed means of whole runs.

    The printed figures show 2000 s, at a scale at which cycles cannot be distinguished.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = [
            _draw_case(axes, data, (experiment, "mbps"), panel, case, CYCLES_S) for case in cases
        ]
        if not any(drawn):
            raise NotRunError("nothing was run")
        for name, mean, line in zip(
            ("proxy", "no proxy"), printed[panel], ("--", ":"), strict=True
        ):
            axes.axhline(
                mean, label=f"printed mean, {name}", color="#000000", linewidth=0.9, linestyle=line
            )
        axes.set_title(f"{panel} packets")
        axes.set_xlim(*CYCLES_S)
        axes.set_xticks([CYCLES_S[0] + 50.0, CYCLES_S[0] + 150.0, CYCLES_S[0] + 250.0])
        axes.set_ylim(55.0, 101.0)

    return draw


def _draw_case(
    axes: Axes, data: Data, what: tuple[str, str], panel: str, case: Case,
    span_s: tuple[float, float],
) -> bool:  # fmt: skip
    """Draw the line of one case in a panel; return false if the case was not run.

    `what` has the experiment and the column.
    """
    experiment, column = what
    try:
        trajectory = data.trajectory(
            experiment, size=float(panel), **_present(data, experiment, case)
        )
    except NotRunError:
        return False
    seen = trajectory.filter(trajectory["t_s"].is_between(*span_s))
    width = 0.6 if span_s == EVER else 1.1
    axes.plot(seen["t_s"], seen[column], color=case.style.colour, linewidth=width, label=case.label)
    return True


def _present(data: Data, experiment: str, case: Case) -> Mapping[str, str]:
    """Return the levels that select the runs of `case` in `experiment`.

    Without a proxy, results do not depend on the level of `queue`. If there are no runs with the
    queue of such a case, the levels select runs with another queue.
    """
    queues = data.points(experiment)["queue"].unique().to_list()
    if case.where["proxy"] != "cubic" and case.where["queue"] not in queues:
        return {**case.where, "queue": queues[0]}
    return case.where


def _overview(experiment: str, printed: Mapping[str, Mapping[float, float]] | None = None) -> Draw:
    """Return a function that draws mean utilisation over the number of flows.

    There is a panel for each queue length; `printed` has the printed values by line.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        for case in EVERY:
            curve = data.curve("mbps", "flows", experiment, size=float(panel), **case.where)
            axes.plot(
                curve.x, curve.y, label=case.label, color=case.style.colour,
                marker=case.style.marker, markersize=3, linestyle=case.style.line,
            )  # fmt: skip
        axes.axhline(theory.saw_tooth_mbps(float(panel)), label="common saw tooth", **PUBLISHED)
        values = (printed or {}).get(panel, {})
        if values:
            axes.plot(
                list(values), list(values.values()), "k_", markersize=9, label="printed, no proxy"
            )
        axes.set_title(f"{panel} packets")
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())

    return draw


def _cumulative(axes: Axes, data: Data, panel: str) -> None:
    """Draw the cumulative transfer of one web flow over time, estimated from thinned samples.

    Each stored rate, a mean of one second, counts for the time since the stored sample before.
    """
    for case in EVERY:
        trajectory = data.trajectory("PEP-E10", size=1500.0, **case.where)
        t = trajectory["t_s"].to_numpy()
        carried = np.cumsum(trajectory["one_mbps"].to_numpy() * np.diff(t, prepend=0.0)) / 8.0
        axes.plot(t, carried, color=case.style.colour, label=case.label, linewidth=0.9)


def _between_nodes(axes: Axes, data: Data, panel: str) -> None:
    """Draw Figure 4.1: utilisation of the link with SACK and with CUBIC between the proxies."""
    styles = {"sack": ALGORITHMS["reno"], "cubic": ALGORITHMS["cubic"]}
    for proxy, style in styles.items():
        trajectory = data.trajectory("PEP-E01", proxy=proxy)
        axes.plot(
            trajectory["t_s"],
            trajectory["mbps"],
            color=style.colour,
            linewidth=0.8,
            label=proxy.upper(),
        )


def _windows(axes: Axes, data: Data, panel: str) -> None:
    """Draw Figure 3.3: the windows of one flow of each kind over time."""
    for alone in ("cubic", "reno"):
        trajectory = data.trajectory("PEP-E13", alone=alone)
        axes.plot(
            trajectory["t_s"],
            trajectory["cwnd"],
            color=ALGORITHMS[alone].colour,
            linewidth=0.9,
            label=alone,
        )


def _red_curve(axes: Axes, data: Data, panel: str) -> None:
    """Draw Figure 3.4: RED's drop probability over the average queue."""
    average = np.linspace(0.0, 450.0, 451)
    for gentle, style in ((True, OTHERS[0]), (False, OTHERS[1])):
        curve = theory.red(gentle=gentle).curve
        axes.plot(
            average, [curve(float(x)) for x in average],
            color=style.colour, linestyle=style.line, label="gentle" if gentle else "not gentle",
        )  # fmt: skip
    for key in ("min_th", "max_th"):
        axes.axvline(theory.configured(key), label=key, **PUBLISHED)


SENDERS = {"cubic": "CUBIC", "bbr3": "BBR v3"}
DISCIPLINES = ("droptail", "codel", "fq-codel")


def _today(axes: Axes, data: Data, panel: str) -> None:
    """Draw utilisation with and without a proxy, by sender, queue discipline and flow count."""
    cases = [(sender, queue) for sender in SENDERS for queue in DISCIPLINES]
    for offset, (proxy, style) in enumerate(zip(("off", "split"), OTHERS, strict=False)):
        heights = [
            data.value(
                "mbps_settled", "PEP-N01",
                proxy=proxy, sender=sender, queue=queue, size=300.0, flows=float(panel),
            )
            for sender, queue in cases
        ]  # fmt: skip
        places = [place + 0.4 * (offset - 0.5) for place in range(len(cases))]
        label = "no proxy" if proxy == "off" else "proxy"
        axes.bar(places, heights, 0.38, color=style.colour, alpha=0.75, label=label)
    names = [f"{SENDERS[sender]}\n{queue}" for sender, queue in cases]
    axes.set_xticks(range(len(cases)), names, fontsize=5)
    axes.set_title(f"{panel} flows" if panel != "1" else "1 flow")


def _responses(axes: Axes, data: Data, panel: str) -> None:
    """Draw median and 95th percentile of response times by response size, for sender `panel`."""
    for proxy, style in zip(("off", "split"), OTHERS, strict=False):
        for part, line in (("p50", "-"), ("p95", ":")):
            curve = data.curve(
                f"response_{part}_s", "response_kB", "PEP-N02", proxy=proxy, sender=panel
            )
            label = f"{'no proxy' if proxy == 'off' else 'proxy'}, {part[1:]} %"
            axes.plot(curve.x, curve.y, line, color=style.colour, marker=style.marker, label=label)
    axes.set_xscale("log")
    axes.set_title(SENDERS[panel])


def _figure(
    number: str, title: str, experiments: str, published: str, y: str, draw: Draw,
    *, x: str = TIME, panels: Sequence[str] = ("",), from_zero: bool = True,
) -> Figure:  # fmt: skip
    frame = Frame(x, y, from_zero=from_zero)
    return Figure(
        number, title, tuple(experiments.split()), published, frame, panels=panels, draw=draw
    )


FIGURES: list[Figure] = [
    _figure("3.3", "Windows of CUBIC and of Reno, each alone", "PEP-E13",
            "CUBIC's window is concave up to the peak of a little less than 500 packets, Reno's a "
            "straight line from half of it.",
            "window (packets)", _windows),
    _figure("3.4", "RED's curve", "PEP-E14 PEP-E18",
            "From 62.5 packets on, 0.1 at 187.5, and 1 at 375 (gentle).",
            "probability of a drop", _red_curve, x="average queue (packets of 500 bytes)"),
    _figure("4.1", "SACK or CUBIC between the nodes", "PEP-E01",
            "SACK backs off after some 5500 s and needs more than 2500 s to be back.",
            MBPS, _between_nodes),
    _figure("4.2", "50 bulk transfers: utilisation", "PEP-E02",
            "94.2 with the proxy at any length; 95, 88.9 and 87.9 without.",
            MBPS, _utilisation("PEP-E02", (OFF, DELAYED, RED), {
                "3000": (94.2, 95.0), "1500": (94.2, 88.9), "1000": (94.2, 87.9),
            }), panels=SIZES, from_zero=False),
    _figure("4.3", "50 bulk transfers, RED: flow 23", "PEP-E03",
            "Swings to about zero without the proxy; 2 Mbit/s and rarely below 1 with it.",
            "Mbit/s of payload", _over_time("PEP-E03", "one_mbps", (OFF, RED)),
            panels=("3000", "600")),
    _figure("4.4", "50 bulk transfers, drop-tail: flow 23", "PEP-E04",
            "Peaks up to 5 Mbit/s.",
            "Mbit/s of payload", _over_time("PEP-E04", "one_mbps", (OFF, DROP_TAIL)),
            panels=("3000", "600")),
    _figure("4.5", "500 bulk transfers: utilisation", "PEP-E05",
            "94.1 with the proxy; 93.3, 85.1 and 81.5 without, with dips to 70.",
            MBPS, _utilisation("PEP-E05", (OFF, DELAYED, RED), {
                "3000": (94.1, 93.3), "1500": (94.1, 85.1), "1000": (94.1, 81.5),
            }), panels=SIZES, from_zero=False),
    _figure("4.6", "5 bulk transfers: utilisation", "PEP-E06",
            "94.2 with the proxy; 96.2, 87.8 and 78.4 without.",
            MBPS, _utilisation("PEP-E06", (OFF, DELAYED, RED), {
                "3000": (94.2, 96.2), "1500": (94.2, 87.8), "1000": (94.2, 78.4),
            }), panels=SIZES, from_zero=False),
    _figure("4.7", "50 bulk transfers: mean windows of the senders", "PEP-E07 PEP-E02",
            "With drop-tail about 30 % of those without a proxy, with RED about 3 %.",
            "window (packets)", _over_time("PEP-E02", "cwnd", EVERY), panels=SIZES),
    _figure("4.8", "Bulk transfers: mean utilisation", "PEP-E08",
            "Without a proxy 10 to 25 flows use the link best; with it the number makes no "
            "difference.",
            MBPS, _overview("PEP-E08", {
                "3000": {5: 96.2, 50: 95.0, 500: 93.3},
                "1500": {5: 87.8, 50: 88.9, 500: 85.1},
                "1000": {5: 78.4, 50: 87.9, 500: 81.5},
                "600": {50: 84.0},
            }), x=FLOWS, panels=ALL_SIZES, from_zero=False),
    _figure("4.9", "750 web flows: utilisation", "PEP-E09",
            "93.8, 95.4 and 95.4 with the proxy; 95.3, 89.9 and 87.2 without.",
            MBPS, _utilisation("PEP-E09", (OFF, DELAYED, RED), {
                "3000": (93.8, 95.3), "1500": (95.4, 89.9), "1000": (95.4, 87.2),
            }), panels=SIZES, from_zero=False),
    _figure("4.10", "750 web flows: flow 547", "PEP-E10",
            "103 kbit/s without, 105 with drop-tail and 152 with RED: one flow each, and the means "
            "are 119, 120 and 120.",
            "Mbit/s of payload", _over_time("PEP-E10", "one_mbps", (OFF, RED, DROP_TAIL)),
            panels=("1500",)),
    _figure("4.11", "750 web flows: what flow 547 has transferred", "PEP-E10",
            "Long gaps without the proxy, shorter ones with it.",
            "MB", _cumulative),
    _figure("4.12", "Web flows: mean utilisation", "PEP-E12",
            "95.4 with the proxy; 88.5, 86, 82 and 80 without at 1500, 1000, 600 and 300.",
            MBPS, _overview("PEP-E12", {
                "1500": {1000: 88.5}, "1000": {1000: 86.0},
                "600": {1000: 82.0}, "300": {1000: 80.0},
            }), x=FLOWS, panels=ALL_SIZES, from_zero=False),
    _figure("N.1", "Ours: today's senders, queues of 300 packets", "PEP-N01",
            "Nothing: not of the thesis.",
            MBPS, _today, x="", panels=("1", "5", "50")),
    _figure("N.2", "Ours: response times at half load", "PEP-N02",
            "Nothing: not of the thesis.",
            "response time (s)", _responses, x="response (kB)", panels=tuple(SENDERS)),
]  # fmt: skip
