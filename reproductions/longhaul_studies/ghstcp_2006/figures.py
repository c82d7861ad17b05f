"""The source's figures and tables, plotted from our results."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes

from longhaul.plots.styles import ALGORITHMS, OTHERS, Style
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import PUBLISHED, Figure, Frame, Line

from . import figures_of_theory
from .metrics import RESPONSE_PARTS
from .published import printed
from .traces import BDP_PKTS, BOTTLENECK

ONE = ("",)
GROUPS = {"s1": ALGORITHMS["reno"], "s2": ALGORITHMS["hstcp"]}
PROTOCOLS = {
    "reno": ALGORITHMS["reno"],
    "hstcp": ALGORITHMS["hstcp"],
    "parallel": OTHERS[2],
    "ghstcp": ALGORITHMS["ghstcp"],
    "refined": OTHERS[3],
}
# Figures 4.4 and 4.6: heights of the two modes, below a window of 0, and ticks of windows.
MODES, MODES_PKTS, WINDOWS_PKTS = ("HSTCP", "Reno"), (-100, -200), (0, 200, 400, 600, 800)
TABLES = {
    "2.1": "Reno and HSTCP over drop-tail",
    "2.2": "gHSTCP over drop-tail",
    "2.3": "RED with max_p 0.1",
    "2.4": "RED with max_p 0.001",
    "3.1": "Adaptive RED",
    "3.2": "gentle Adaptive RED",
}


def _table(number: str, metric: str) -> Callable[[Axes, Data, str], None]:
    """Return a function that draws `metric` of the source's table `number`.

    For each experiment, our values at three delays are bars, and the printed values are lines. If
    `metric` is `fairness`, dots also show our values of the metric `fairness_groups`.
    """

    def draw(axes: Axes, data: Data, queue: str) -> None:
        rows = printed(number)
        cases = list(dict.fromkeys(row["experiment"] for row in rows))
        names = {row["experiment"]: f"{row['s1']}\n{row['s2']}" for row in rows}
        drawn = 0
        for offset, delay in enumerate(("25", "50", "100")):
            look = OTHERS[offset]
            for place, case in enumerate(cases):
                at = place + 0.27 * (offset - 1)
                of = [r for r in rows if r["experiment"] == case and r["delay_ms"] == delay]
                axes.plot([at - 0.13, at + 0.13], [float(of[0][metric])] * 2, color="#000000")
                try:
                    height = data.value(metric, case, delay_ms=float(delay))
                except NotRunError:
                    continue
                label = f"{delay} ms" if place == 0 else None
                axes.bar(at, height, 0.24, color=look.colour, alpha=0.75, label=label)
                if metric == "fairness":
                    groups = data.value("fairness_groups", case, delay_ms=float(delay))
                    axes.plot(at, groups, "o", color=look.colour, markersize=3)
                drawn += 1
        if not drawn:
            raise NotRunError("nothing was run")
        axes.plot([], [], color="#000000", label="printed")
        axes.set_xticks(range(len(cases)), [names[case] for case in cases], fontsize=6)

    return draw


def _windows(experiment: str) -> Callable[[Axes, Data, str], None]:
    def draw(axes: Axes, data: Data, queue: str) -> None:
        trajectory = data.trajectory(experiment)
        for label, look in GROUPS.items():
            flows = trajectory.filter(pl.col("label") == label)
            for index, (_, flow) in enumerate(flows.group_by("name", maintain_order=True)):
                axes.plot(
                    flow["t_s"], flow["cwnd_pkts"],
                    color=look.colour, linewidth=0.7, label=label if index == 0 else None,
                )  # fmt: skip

    return draw


def _queue(experiment: str, *, drop_rate: bool, **cell: float) -> Callable[[Axes, Data, str], None]:
    def draw(axes: Axes, data: Data, queue: str) -> None:
        link = data.trajectory(experiment, **cell).filter(pl.col("name") == BOTTLENECK)
        axes.plot(link["t_s"], link["queue_pkts"], color="#a0a0a0", linewidth=0.7, label="queue")
        axes.plot(link["t_s"], link["queue_avg_pkts"], color=OTHERS[0].colour, label="average")
        if drop_rate:
            beside = axes.twinx()
            beside.plot(link["t_s"], link["max_p"], color=OTHERS[1].colour)
            beside.set_ylabel("max_p", color=OTHERS[1].colour)
            beside.set_yscale("log")
            beside.grid(visible=False)

    return draw


def _window_and_mode(flow1: str) -> Callable[[Axes, Data, str], None]:
    def draw(axes: Axes, data: Data, queue: str) -> None:
        flow = data.trajectory("GH4-MODE", flow1=flow1).filter(pl.col("label") == "flow1")
        window = flow.drop_nulls("cwnd_pkts")
        colour = PROTOCOLS["ghstcp"].colour
        axes.plot(window["t_s"], window["cwnd_pkts"], color=colour, label="window")
        axes.axhline(BDP_PKTS, label="the path's capacity", **PUBLISHED)
        modes = flow.drop_nulls("gentle").sort("t_s")
        # The last mode lasts to the end of the run.
        times = [*modes["t_s"], window["t_s"].max()]
        places = [MODES_PKTS[int(gentle)] for gentle in modes["gentle"]]
        axes.step(times, [*places, *places[-1:]], where="post", color=OTHERS[1].colour,
                  linewidth=0.7, label="mode")  # fmt: skip
        axes.set_yticks([*MODES_PKTS, *WINDOWS_PKTS], [*MODES, *map(str, WINDOWS_PKTS)])

    return draw


def _round_trips(axes: Axes, data: Data, queue: str) -> None:
    flow = data.trajectory("GH4-V1").filter(pl.col("label") == "flow1")
    axes.plot(flow["t_s"], 1e3 * flow["srtt_s"], color=PROTOCOLS["ghstcp"].colour)


def _testbed(experiment: str, metric: str) -> Callable[[Axes, Data, str], None]:
    def draw(axes: Axes, data: Data, queue: str) -> None:
        for offset, socket in enumerate((64, 512)):
            for place, name in enumerate(PROTOCOLS):
                height = data.value(metric, experiment, socket_kb=socket, flow1=name)
                look, label = OTHERS[offset], f"{socket} KB sockets" if place == 0 else None
                at = place + 0.36 * (offset - 0.5)
                axes.bar(at, height, 0.34, color=look.colour, alpha=0.75, label=label)
        axes.set_xticks(range(len(PROTOCOLS)), list(PROTOCOLS), fontsize=7)

    return draw


def _connections(experiment: str, metric: str) -> list[Line]:
    return [
        Line(experiment, metric, f"{socket} KB sockets", look, {"socket_kb": socket})
        for socket, look in zip((64, 512), OTHERS, strict=False)
    ]


def _web(experiments: Sequence[tuple[str, str]]) -> list[Line]:
    lines = {5000: "-", 500: (0, (4, 2))}
    return [
        Line(
            experiment, "loss_rate", f"{protocol}, {buffer} packets",
            Style(ALGORITHMS[protocol].colour, ALGORITHMS[protocol].marker, lines[int(buffer)]),  # type: ignore[arg-type]
            {"protocol": protocol},
        )
        for experiment, buffer in experiments
        for protocol in ("hstcp", "ghstcp")
    ]  # fmt: skip


def _responses_to_web(axes: Axes, data: Data, queue: str) -> None:
    """Draw the distribution functions of the response times of Web traffic."""
    for protocol in ("hstcp", "ghstcp"):
        took = [
            data.value(f"response_p{part}_s", "GH2-C20", protocol=protocol, flows=10)
            for part in RESPONSE_PARTS
        ]
        parts = [part / 100.0 for part in RESPONSE_PARTS]
        axes.plot(took, parts, color=ALGORITHMS[protocol].colour, label=protocol)


def _figure(
    number: str,
    title: str,
    experiments: str,
    published: str,
    frame: Frame,
    **more: Any,  # noqa: ANN401
) -> Figure:
    return Figure(
        number, title, tuple(experiments.split()), published, frame, **{"panels": ONE, **more}
    )


def _of_tables() -> list[Figure]:
    rows = []
    for number, title in TABLES.items():
        experiments = " ".join(dict.fromkeys(row["experiment"] for row in printed(number)))
        for metric, what, unit in (
            ("utilisation", "utilisation", "%"),
            ("fairness", "fairness", "Jain's index"),
        ):
            rows.append(
                _figure(
                    f"Table {number}, {what}", f"{title}: {what}", experiments,
                    "Black lines are the printed values, at 25, 50 and 100 ms."
                    + (" Dots: of the means of the groups." if metric == "fairness" else ""),
                    Frame("slower group above, faster group below", f"{what} ({unit})"),
                    draw=_table(number, metric),
                )
            )  # fmt: skip
    return rows


TIME, WINDOW = "time (s)", "window (packets)"
FIGURES: list[Figure] = [
    _figure(
        "2.1", "HSTCP's increase and decrease", "GH1-A1",
        "From a window of 38 to one of 83,000 packets.",
        Frame(WINDOW, "a(w), b(w)", log_x=True, log_y=True), draw=figures_of_theory.shapes,
    ),
    _figure(
        "2.2", "Response functions", "GH1-A1",
        "At a loss rate of 1e-7 read as 100,000 and 4,000 packets a round trip.",
        Frame("loss rate", WINDOW, log_x=True, log_y=True), draw=figures_of_theory.responses,
    ),
    *_of_tables(),
    _figure("2.4 (a)", "Windows of HSTCP under RED, 50 ms", "GH2-F4a",
            "All flows are cut together and fall to one packet.",
            Frame(TIME, WINDOW), draw=_windows("GH2-F4a")),
    _figure("2.4 (b)", "Windows of gHSTCP under RED, 50 ms", "GH2-F4b",
            "Fewer falls to one packet than HSTCP has.",
            Frame(TIME, WINDOW), draw=_windows("GH2-F4b")),
    _figure("2.5 (a)", "Windows of HSTCP+SACK under RED, 50 ms", "GH2-F5a",
            "No window falls to one packet, but all are cut together.",
            Frame(TIME, WINDOW), draw=_windows("GH2-F5a")),
    _figure("2.5 (b)", "Windows of gHSTCP+SACK under RED, 50 ms", "GH2-F5b",
            "No window falls to one packet, but all are cut together.",
            Frame(TIME, WINDOW), draw=_windows("GH2-F5b")),
    _figure("2.7", "Web traffic: loss rate at 1000 Mbit/s", "GH2-C20 GH2-C21",
            "gHSTCP loses less than HSTCP everywhere, most with the small buffer.",
            Frame("number of high-speed flows", "loss rate", log_y=True), axis="flows",
            lines=_web((("GH2-C20", "5000"), ("GH2-C21", "500")))),
    _figure("2.8", "Web traffic: loss rate at 500 Mbit/s", "GH2-C22 GH2-C23",
            "As at 1000 Mbit/s, and more.",
            Frame("number of high-speed flows", "loss rate", log_y=True), axis="flows",
            lines=_web((("GH2-C22", "5000"), ("GH2-C23", "500")))),
    _figure("2.9", "Web response times, 1000 Mbit/s and 5000 packets", "GH2-C20",
            "Beside ten flows: with gHSTCP as with HSTCP, or slightly shorter.",
            Frame("response time (s)", "part of the responses", log_x=True),
            draw=_responses_to_web),
    _figure("3.1", "Queue under Adaptive RED, 50 ms", "GH3-F1a GH3-F1b",
            "The queue is frequently empty.",
            Frame(TIME, "queue (packets)"), draw=_queue("GH3-F1a", drop_rate=False)),
    _figure("3.2", "Average queue and max_p under Adaptive RED without a lower bound", "GH3-M1",
            "A sketch: max_p goes on rising while the average falls towards its target.",
            Frame(TIME, "queue (packets)"),
            draw=_queue("GH3-M1", drop_rate=True, delay_ms=50)),
    _figure("3.3", "Average queue and max_p under gentle Adaptive RED", "GH3-M3",
            "A sketch: max_p changes only while the average moves away from its target.",
            Frame(TIME, "queue (packets)"), draw=_queue("GH3-M3", drop_rate=True)),
    _figure("3.3, as in the tables", "... as the tables have it, from max_p 0.1", "GH3-F3", "",
            Frame(TIME, "queue (packets)"), draw=_queue("GH3-F3", drop_rate=True)),
    _figure("4.4", "Window and mode of the original gHSTCP on the emulated path", "GH4-MODE",
            "The mode oscillates below and above the path's capacity.",
            Frame(TIME, WINDOW), draw=_window_and_mode("ghstcp")),
    _figure("4.5", "Round trips of the original gHSTCP", "GH4-V1",
            "Near their minimum until the window is the path's capacity, then growing with it.",
            Frame(TIME, "round trip (ms)", from_zero=False), draw=_round_trips),
    _figure("4.6", "Window and mode of the refined gHSTCP on the emulated path", "GH4-MODE",
            "HSTCP mode below the path's capacity, Reno mode above.",
            Frame(TIME, WINDOW), draw=_window_and_mode("refined")),
    *(
        _figure(f"{number} ({part})", f"{name}: {what}", experiment, said,
                Frame("Flow-1", unit), draw=_testbed(experiment, metric))
        for number, name, experiment in (
            ("4.7", "Scenario 1, 100 Mbit/s", "GH4-E0-E4"),
            ("4.8", "Scenario 2, 200 Mbit/s", "GH4-E5-E9"),
        )
        for part, what, metric, unit, said in (
            ("a", "utilisation", "utilisation", "%",
             "Parallel TCP highest, the refined gHSTCP next; Reno and HSTCP clearly lower."),
            ("b", "fairness", "fairness", "Jain's index",
             "High for all beside 64 KB; beside 512 KB parallel TCP is by far the lowest."),
            ("c", "throughput of Flow-2", "mbps_flow2", "Mbit/s",
             "Beside 512 KB sockets it depends clearly on the protocol of Flow-1."),
        )
    ),
    *(
        _figure(f"{number} ({part})", f"Parallel TCP at {mbps} Mbit/s: {what}", experiment, said,
                Frame("connections", unit, log_x=True), axis="n",
                lines=_connections(experiment, metric))
        for number, mbps, experiment in (("4.9", 100, "GH4-P100"), ("4.10", 200, "GH4-P200"))
        for part, what, metric, unit, said in (
            ("a", "fairness", "fairness", "Jain's index",
             "Four connections are a good trade-off only at 100 Mbit/s beside 512 KB sockets."),
            ("b", "throughput of Flow-1", "mbps_flow1", "Mbit/s",
             "Grows with the number of connections."),
        )
    ),
    *(
        _figure(f"{number} ({part})", f"Models at {mbps:g} Mbit/s: {what}", "GH5-X1 GH5-S1",
                "Linear up to the path's capacity, full up to that of path and buffer; beyond, "
                "loss grows, and connections that lose together fall behind. Markers: simulated.",
                Frame("connections", unit), draw=figures_of_theory.models(mbps, value))
        for number, mbps in (("5.3", 100.0), ("5.4", 1000.0), ("5.5", 10_000.0))
        for part, what, unit, value in (
            ("a", "loss rate", "loss rate", lambda point: point.loss),
            ("b", "goodput", "share of the link", lambda point: point.goodput),
        )
    ),
    _figure("5.6", "Connections that use 95 % of the link, by its rate", "GH5-X1C",
            "The bands of different rates do not overlap with small buffers. Round trip 100 ms.",
            Frame("connections", "buffer (% of BDP/2)", log_x=True),
            draw=figures_of_theory.bands(figures_of_theory.RATES)),
    _figure("5.7", "Connections that use 95 % of the link, by round trip", "GH5-X1C",
            "The bands of different round trips do not overlap with small buffers. 1 Gbit/s.",
            Frame("connections", "buffer (% of BDP/2)", log_x=True),
            draw=figures_of_theory.bands(figures_of_theory.ROUND_TRIPS)),
    _figure("5.8", "Queue law and control law of RED, 100 Mbit/s, 100 ms", "GH5-X2",
            "They cross in the equilibrium area, between RED's thresholds.",
            Frame("drop probability", "queue (packets)", log_x=True), draw=figures_of_theory.laws),
    _figure("5.9", "Model of RED", "GH5-X2",
            "Loss grows with the number of connections inside the equilibrium area.",
            Frame("connections", "loss rate", log_x=True), draw=figures_of_theory.red),
]  # fmt: skip
