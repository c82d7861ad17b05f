"""Figures of long transfers and detectors from our results; printed values are grey or dashed."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from longhaul.files.rows import published_rows
from longhaul.plots.styles import ALGORITHMS, OTHERS
from longhaul.studies.data import Data
from longhaul.studies.figures import PUBLISHED, Figure, Frame

from . import detectors

Draw = Callable[[Axes, Data, str], None]

NAMES = {"reno": "Reno", "pcwnd": "Sync-TCP(Pcwnd)", "mixreact": "Sync-TCP(MixReact)"}
COLOURS = {"reno": ALGORITHMS["reno"], "pcwnd": OTHERS[0], "mixreact": OTHERS[1]}
FLOWS = range(1, 21)
FLOW, TIME, DELAY = "flow", "time (s)", "queueing delay (ms)"
MARKS = {"reno": "s", "pcwnd": "o", "mixreact": "^"}
# Windows of the three protocols are drawn in separate bands, one above the other.
BAND = 46


def printed_flows(experiment: str, column: str) -> dict[str, dict[int, float]]:
    """Return the printed values of `column` by protocol and flow (Tables 4.4, 4.5, 4.8, 4.9)."""
    values: dict[str, dict[int, float]] = {}
    file = Path(__file__).with_name("published") / "flows.csv"
    for row in published_rows(file):
        if row["experiment"] == experiment:
            values.setdefault(row["protocol"], {})[int(row["flow"])] = float(row[column])
    return values


def _by_flow(experiment: str, metric: str, column: str = "") -> Draw:
    """Return a function that draws median and 5 % to 95 % quantiles of each flow's `metric`."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        printed = printed_flows(experiment, column) if column else {}
        for number, (protocol, name) in enumerate(NAMES.items()):
            points = data.points(experiment, protocol=protocol)
            shift = 0.2 * (number - 1)
            values = [points[f"{metric}_{flow}"].to_numpy() for flow in FLOWS]
            middle = np.array([np.median(sample) for sample in values])
            low, high = (
                np.array([np.quantile(sample, part) for sample in values]) for part in (0.05, 0.95)
            )
            axes.errorbar(
                np.array(FLOWS) + shift, middle, yerr=(middle - low, high - middle), label=name,
                linestyle="none", marker=MARKS[protocol], markersize=3, linewidth=0.8,
                color=COLOURS[protocol].colour,
            )  # fmt: skip
            if protocol in printed:
                flows = list(printed[protocol])
                axes.plot(
                    np.array(flows) + shift, list(printed[protocol].values()), "k_", markersize=6,
                    label="printed",
                )  # fmt: skip
        axes.set_xticks(list(FLOWS))

    return draw


def _queue(axes: Axes, data: Data, panel: str) -> None:
    """Draw ten seconds of the bottleneck's queue under the protocol of the panel."""
    trajectory = data.trajectory("FTP-SB", protocol=panel, sampled="router")
    colour = COLOURS[panel].colour
    axes.plot(
        trajectory["t_s"], trajectory["queue_pkts"], color=colour, linewidth=0.7, label="packets"
    )
    axes.plot(
        trajectory["t_s"],
        trajectory["router_ms"],
        color="k",
        linewidth=0.5,
        label="queueing delay (ms)",
    )
    axes.axhline(92, label="limit", **PUBLISHED)
    axes.set_title(NAMES[panel])


def _windows(axes: Axes, data: Data, panel: str) -> None:
    """Draw the window of one flow under each of the three protocols, one above the other."""
    for number, (protocol, name) in enumerate(reversed(NAMES.items())):
        trajectory = data.trajectory("FTP-SB", protocol=protocol, sampled="seconds")
        t, base = trajectory["t_s"].to_numpy(), BAND * number
        cwnd = np.minimum(trajectory[f"cwnd_{panel}"].to_numpy(), BAND)
        colour = COLOURS[protocol].colour
        axes.plot(t, base + cwnd, color=colour, linewidth=0.6, label=name)
        lost = t[trajectory[f"lost_{panel}"].to_numpy() > 0]
        axes.plot(lost, np.full(len(lost), base + BAND - 4), "+", color=colour, markersize=3)
        axes.axhline(base, color="k", linewidth=0.4)
    axes.set_yticks([BAND * n for n in range(4)])
    axes.set_title(f"flow {panel}")


def _running(axes: Axes, data: Data, panel: str) -> None:
    """Draw the running goodput: the mean from the start to each time."""
    for protocol in ("reno", "pcwnd"):
        trajectory = data.trajectory("FTP-CONV", protocol=protocol, length_s=300, sampled="seconds")
        axes.plot(
            trajectory["t_s"], trajectory["goodput_mbps"], color=COLOURS[protocol].colour,
            label=NAMES[protocol],
        )  # fmt: skip


def _detector(experiment: str, detector: str) -> Draw:
    """Return a function that draws a detector's samples and verdicts."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        _watched(axes, data, experiment, detector, detectors.SPANS_S[int(panel)])
        axes.set_title("start" if panel == "0" else "steady state")

    return draw


def _side_by_side(axes: Axes, data: Data, panel: str) -> None:
    """Draw the delays and verdicts of congestion detector `panel` while the queue drains."""
    _watched(axes, data, "DET", panel, detectors.DRAIN_S)
    axes.set_title({"trend": "SyncTrend", "avg": "SyncAvg", "mix": "SyncMix"}[panel])


def _watched(
    axes: Axes, data: Data, experiment: str, detector: str, span: tuple[float, float]
) -> None:
    """Draw the router's queueing delay during `span`, and a detector's samples and decisions."""
    router = data.trajectory(experiment, detector=detector, sampled="router")
    acks = data.trajectory(experiment, detector=detector, sampled="acks")
    router, acks = (
        trajectory.filter(trajectory["t_s"].is_between(*span)) for trajectory in (router, acks)
    )
    axes.plot(router["t_s"], router["router_ms"], label="router's queue", **PUBLISHED)
    t, delay = acks["t_s"].to_numpy(), 1e3 * acks["queueing_delay"].to_numpy()
    if detector in ("avg", "mix"):
        average = 1e3 * acks["average_queueing_delay"].to_numpy()
        axes.plot(t, average, color=OTHERS[0].colour, linewidth=0.9, label="average")
        height = average
    else:
        axes.plot(t, delay, "ks", markersize=1.5, label="samples")
        height = delay
    for number, (level, label) in enumerate(_thresholds(detector, acks)):
        axes.plot(
            t, level, color=OTHERS[3].colour, linewidth=0.8, label=label or None,
            linestyle="--" if number == 1 and label else "-",
        )  # fmt: skip
    if detector in ("trend", "mix"):
        new = np.flatnonzero(np.diff(acks["verdicts"].to_numpy(), prepend=np.nan) > 0)
        trend = acks["trend"].to_numpy()
        for sign, mark, name in ((1.0, "o", "increasing"), (-1.0, "*", "decreasing")):
            at = new[trend[new] == sign]
            axes.plot(
                t[at], height[at], mark, markersize=3.5, label=name, markerfacecolor="none",
                color=OTHERS[1 if sign > 0 else 2].colour,
            )  # fmt: skip


def _thresholds(detector: str, acks: object) -> Sequence[tuple[np.ndarray, str]]:
    """Return a congestion detector's thresholds (ms) at each acknowledgement, with their names."""
    largest = 1e3 * acks["largest_queueing_delay"].to_numpy()  # type: ignore[index]
    smallest = 1e3 * acks["smallest_transit_time"].to_numpy()  # type: ignore[index]
    match detector:
        case "pqlen":
            return [(largest, "largest"), (0.5 * largest, "half of the largest")]
        case "pminott":
            return [(0.5 * smallest, "half of the smallest transit time")]
        case "avg":
            return [(np.full(len(largest), 30.0), "30 ms")]
        case "mix":
            parts = ((0.25, "quarters of the largest"), (0.5, ""), (0.75, ""), (1.0, ""))
            return [(part * largest, name) for part, name in parts]
    return []


def _several(axes: Axes, data: Data, panel: str) -> None:
    """Draw utilisation over the number of flows that ever have a queueing delay above 190 ms."""
    for protocol in ("pcwnd", "mixreact"):
        points = data.points("FTP-MB", protocol=protocol)
        axes.plot(
            points["largest_above_190"], points["utilisation"], MARKS[protocol], markersize=3,
            color=COLOURS[protocol].colour, label=f"{NAMES[protocol]}, a point per run",
        )  # fmt: skip
    printed = printed_flows("FTP-MB", "largest_ms")
    for protocol, utilisation in (("pcwnd", 50.88), ("mixreact", 43.88)):
        above = sum(largest > 190 for largest in printed[protocol].values())
        axes.plot(above, utilisation, "k_", markersize=10, label="printed")


def _drift(axes: Axes, data: Data, panel: str) -> None:
    """Draw utilisation and fairness over the drift of clocks."""
    for protocol in ("pcwnd", "mixreact"):
        for metric, times, line in (("utilisation", 0.01, "-"), ("jain", 1.0, "--")):
            curve = data.curve(metric, "drift_ppm", "FTP-CLOCK", protocol=protocol)
            label = "utilisation" if metric == "utilisation" else "Jain's index"
            axes.plot(
                np.maximum(curve.x, 0.1), times * curve.y, line, marker=MARKS[protocol],
                markersize=3, color=COLOURS[protocol].colour, label=f"{label}, {NAMES[protocol]}",
            )  # fmt: skip
    axes.set_xscale("log")


SENDERS = ("reno", "pcwnd", "mixreact", "cubic", "bbr3", "ledbat")


def _today(metric: str) -> Draw:
    """Return a function that draws `metric` as bars by algorithm, for DropTail and FQ-CoDel."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        # Packets queue at R0, and with cross traffic at R1.
        name = f"queue_{0 if panel == 'FTP-TODAY' else 1}" if metric == "queue" else metric
        for number, queue in enumerate(("droptail", "fq-codel")):
            values = [data.value(name, panel, protocol=sender, queue=queue) for sender in SENDERS]
            axes.bar(
                np.arange(len(SENDERS)) + 0.4 * number, values, 0.38, label=queue,
                color=OTHERS[number].colour,
            )  # fmt: skip
        axes.set_xticks(np.arange(len(SENDERS)) + 0.2, SENDERS, rotation=30)
        axes.set_title("one bottleneck" if panel == "FTP-TODAY" else "several bottlenecks")

    return draw


def _of_flows(
    number: str, title: str, experiment: str, metric: str, y: str, column: str, published: str
) -> Figure:
    frame = Frame(FLOW, y, from_zero=metric != "largest")
    draw = _by_flow(experiment, metric, column)
    return Figure(number, title, (experiment,), published, frame, panels=("",), draw=draw)


def _of_detector(number: str, title: str, detector: str, published: str) -> Figure:
    draw = _detector("DET", detector)
    frame = Frame(TIME, DELAY)
    return Figure(number, title, ("DET",), published, frame, panels=("0", "1"), draw=draw)


def _of_today(number: str, metric: str, y: str) -> Figure:
    both = ("FTP-TODAY", "FTP-TODAY-MB")
    title = f"Ours: today's senders, {y}"
    return Figure(number, title, both, "", Frame("", y), panels=both, draw=_today(metric))


LEAST_WITH_PCWND = "Every flow loses least with Pcwnd."

TRANSFERS: list[Figure] = [
    _of_detector(
        "3.5, 3.6",
        "SyncPQlen",
        "pqlen",
        "No verdict before the first loss; a drop just before 0.3 s, the sample at about 0.4 s.",
    ),
    _of_detector(
        "3.7", "SyncPMinOTT", "pminott", "Smallest transit time 35 ms, threshold 17.5 ms."
    ),
    _of_detector("3.8, 3.9", "SyncTrend", "trend", "Wrong increases in a clear decline."),
    _of_detector(
        "3.10, 3.11", "SyncAvg", "avg", "Falls below 30 ms long after the queue has drained."
    ),
    _of_detector(
        "3.13, 3.14", "SyncMix", "mix", "Reports a decline earlier than SyncTrend and SyncAvg."
    ),
    Figure(
        "3.12, 3.15",
        "Three detectors and one drain of the queue",
        ("DET",),
        "SyncTrend reports a decrease once delays have been low for a while, SyncAvg falls below "
        "30 ms at about the same time, SyncMix reports a decrease before both.",
        Frame(TIME, DELAY),
        panels=("trend", "avg", "mix"),
        draw=_side_by_side,
    ),
    Figure(
        "4.2",
        "Running goodput",
        ("FTP-CONV",),
        "Settled by 150 s at a little over 9 Mbit/s.",
        Frame(TIME, "Mbit/s", from_zero=False),
        panels=("",),
        draw=_running,
    ),
    _of_flows(
        "4.5", "Loss of each flow, one bottleneck", "FTP-SB", "lost", "loss (%)", "",
        LEAST_WITH_PCWND,
    ),
    _of_flows(
        "4.7", "Goodput of each flow, one bottleneck", "FTP-SB", "goodput", "kbit/s",
        "goodput_kbps", "Tables 4.4 and 4.5.",
    ),
    Figure(
        "4.6",
        "The queue over ten seconds",
        ("FTP-SB",),
        "Reno fills the queue in cycles, MixReact in shorter ones; Pcwnd stays mostly below half.",
        Frame(TIME, "packets, ms"),
        panels=("reno", "pcwnd", "mixreact"),
        draw=_queue,
    ),
    _of_flows(
        "Tables 4.4, 4.5", "Largest queueing delay that each flow has seen", "FTP-SB", "largest",
        "largest (ms)", "largest_ms", "79.9 to 105.7 ms (Pcwnd), 92.9 to 101.9 ms (MixReact).",
    ),
    Figure(
        "4.8, 4.9, 4.10",
        "Windows of three flows",
        ("FTP-SB",),
        "Bands of 46 packets; + where something is retransmitted.",
        Frame(TIME, "cwnd (packets)"),
        panels=("2", "14", "6"),
        draw=_windows,
    ),
    _of_flows(
        "4.11a", "Loss of each flow, several bottlenecks", "FTP-MB", "lost", "loss (%)", "",
        LEAST_WITH_PCWND,
    ),
    _of_flows(
        "4.11b", "Goodput of each flow, several bottlenecks", "FTP-MB", "goodput", "kbit/s",
        "goodput_kbps", "Tables 4.8 and 4.9.",
    ),
    _of_flows(
        "Tables 4.8, 4.9", "Largest queueing delay of each flow, several bottlenecks", "FTP-MB",
        "largest", "largest (ms)", "largest_ms", "160 to 256 ms (Pcwnd), 159 to 188 ms (MixReact).",
    ),
    Figure(
        "N.1",
        "Ours: utilisation and flows above 190 ms, several bottlenecks",
        ("FTP-MB",),
        "Pcwnd: 50.88 % with 11 flows above 190 ms.",
        Frame("flows above 190 ms", "utilisation (%)", from_zero=False),
        panels=("",),
        draw=_several,
    ),
    Figure(
        "N.2",
        "Ours: clocks that drift",
        ("FTP-CLOCK",),
        "",
        Frame("drift of the clocks (ppm; 0.1 is none)", "part of one", from_zero=False),
        panels=("",),
        draw=_drift,
    ),
    _of_today("N.3", "utilisation", "utilisation (%)"),
    _of_today("N.4", "loss_most", "largest loss of a router (%)"),
    _of_today("N.5", "jain", "Jain's index"),
    _of_today("N.6", "queue", "mean queue at R0, at R1 (packets)"),
]  # fmt: skip
