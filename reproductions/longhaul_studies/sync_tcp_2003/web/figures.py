"""The dissertation's figures of web traffic (section 4.3) from our results.

Each load or each protocol has a panel. A band covers several recorded replications.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from longhaul.plots.styles import ALGORITHMS, OTHERS, Style
from longhaul.studies.data import REPLICATION, Data, NotRunError
from longhaul.studies.figures import Figure, Frame, Line
from longhaul_studies.sync_tcp_2003.pairs.reduce import ROUND_TRIP_EDGES_S, SEGMENT_EDGES
from longhaul_studies.sync_tcp_2003.web.measures import map_difference

Draw = Callable[[Axes, Data, str], None]
# Levels of axes of a panel.
Where = Callable[[str], Mapping[str, str | float]]


@dataclass(frozen=True)
class Case:
    """A protocol and queue, with the experiment that has their runs."""

    label: str
    style: Style
    protocol: str
    experiment: str = "H1"


RENO = Case("Reno", ALGORITHMS["reno"], "reno")
PCWND = Case("Sync-TCP(Pcwnd)", OTHERS[0], "pcwnd")
MIXREACT = Case("Sync-TCP(MixReact)", OTHERS[1], "mixreact")
ECN_5 = Case("SACK-ECN, 5 ms", OTHERS[2], "ecn-5")
ECN_136 = Case("SACK-ECN, tuned, 136", OTHERS[3], "ecn-136", "H1-TUNED")
ECN_340 = Case("SACK-ECN, tuned, 340", OTHERS[4], "ecn-340", "H1-TUNED")
FREE = Case("uncongested", Style("#808080", "", (0, (1, 1))), "uncongested")
ALL = (FREE, RENO, PCWND, MIXREACT, ECN_5, ECN_136)
CONGESTED = ALL[1:]
LIGHT, MEDIUM, HEAVY = ("50", "60", "70"), ("80", "85", "90"), ("95", "100", "105")
LOADS = (*LIGHT, *MEDIUM, *HEAVY)
# End-to-end loads of each total load of several bottlenecks (Tables 4.13 to 4.27).
SHARES = {"75": ("50", "60", "70"), "90": ("50", "60", "70", "80", "85"), "105": LOADS[:-1]}
# Figures 4.52 to 4.54: part of the delay axis (ms) below 0 for the window, and end of the window
# axis.
BELOW_MS, HEIGHT_PKTS = 100.0, 250.0
RESPONSE, SHARE, LONGER = "response time (ms)", "share of responses", "share that takes longer"
LOAD = "load (%)"


def curves(
    data: Data, experiment: str, name: str, **where: str | float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield x and y of the recorded curve `name`, for each replication that has it."""
    samples = data.samples(experiment, curve=name, **where)
    # Arrays, which are faster than expressions for many small tables.
    replications, x, y = (samples[column].to_numpy() for column in (REPLICATION, "x", "y"))
    for number in dict.fromkeys(replications.tolist()):
        rows = np.flatnonzero(replications == number)
        ordered = rows[np.argsort(x[rows], kind="stable")]
        yield x[ordered], y[ordered]


def draw_curve(
    axes: Axes, data: Data, case: Case, name: str, scale: float = 1.0, **where: str | float
) -> bool:
    """Draw a curve's median and range over replications; return false if there are no runs.

    `scale` multiplies x, and `where` selects the levels of further axes.
    """
    try:
        every = list(curves(data, case.experiment, name, protocol=case.protocol, **where))
    except NotRunError:
        return False
    x, heights = every[0][0], np.array([y for _, y in every if len(y) == len(every[0][1])])
    axes.plot(
        scale * x, np.median(heights, axis=0), label=case.label, color=case.style.colour,
        linestyle=case.style.line, linewidth=1.0,
    )  # fmt: skip
    if len(heights) > 1:
        axes.fill_between(
            scale * x, heights.min(axis=0), heights.max(axis=0), color=case.style.colour,
            alpha=0.15, linewidth=0,
        )  # fmt: skip
    return True


def _panels(
    name: str, cases: Sequence[Case], where: Where, title: str, *, scale: float, log: bool
) -> Draw:
    """Return a function that draws the recorded curve `name`, with a line per protocol.

    `title` is the format of a panel's title, and `where` returns the levels of a panel's runs.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = [draw_curve(axes, data, case, name, scale, **where(panel)) for case in cases]
        if not any(drawn):
            raise NotRunError("nothing was run")
        axes.set_title(title.format(panel))
        if log:
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_ylim(3e-6, 1.5)

    return draw


def per_load(name: str, cases: Sequence[Case], *, scale: float = 1.0, log: bool = False) -> Draw:
    """Return a function that draws curve `name` with a panel for each load."""
    return _panels(name, cases, lambda load: {"load": float(load)}, "{} %", scale=scale, log=log)


def _experiment(total: str) -> str:
    """Return the experiment with several bottlenecks for the total load `total`."""
    return "HM-105" if total == "105" else "HM"


def _several(name: str, total: str, *, scale: float = 1.0, log: bool = False) -> Draw:
    """Return a function that draws curve `name` of Reno and MixReact on several links in a row.

    Each link with cross traffic has a load of `total` percent. Each panel is for one load by
    the traffic that crosses all links.
    """
    return _panels(
        name, [replace(case, experiment=_experiment(total)) for case in (RENO, MIXREACT)],
        lambda end_to_end: {"pair": f"{total}-{end_to_end}"}, f"{{}} % of {total} %",
        scale=scale, log=log,
    )  # fmt: skip


def _shaded(
    axes: Axes, data: Data, case: Case, levels: Sequence[Mapping[str, str | float]],
    labels: Sequence[str],
) -> None:  # fmt: skip
    """Draw response time distributions of one protocol, with a line for each of `levels`."""
    drawn = False
    shades = np.linspace(0.1, 0.74, len(levels))
    for shade, where, label in zip(shades, levels, labels, strict=True):
        try:
            x, y = next(curves(data, case.experiment, "cdf", protocol=case.protocol, **where))
        except NotRunError:
            continue
        axes.plot(1e3 * x, y, color=str(shade), linewidth=0.9, label=label)
        drawn = True
    if not drawn:
        raise NotRunError("nothing was run")
    axes.set_title(case.label)


def _per_protocol(axes: Axes, data: Data, panel: str) -> None:
    """Draw distributions of response times of one protocol, with a line for each load."""
    case = next(case for case in (*ALL, ECN_340) if case.protocol == panel)
    _shaded(axes, data, case, [{"load": float(load)} for load in LOADS],
            [f"{load} %" for load in LOADS])  # fmt: skip


def _by_share(total: str) -> Draw:
    """Return a function that draws response time distributions, with a line per end-to-end load.

    All lines have the same total load `total`, which consists of end-to-end and cross traffic.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        case = next(case for case in (RENO, MIXREACT) if case.protocol == panel)
        shares = SHARES[total]
        _shaded(axes, data, replace(case, experiment=_experiment(total)),
                [{"pair": f"{total}-{share}"} for share in shares],
                [f"{share} % end to end" for share in shares])  # fmt: skip

    return draw


def _map(axes: Axes, data: Data, panel: str) -> None:
    """Draw Figure 4.55: MixReact's response time minus Reno's, by base RTT and response size."""
    cells, difference = map_difference(data, "mixreact", "reno", float(panel))
    shape = len(ROUND_TRIP_EDGES_S) - 1, len(SEGMENT_EDGES) - 1
    values = np.full(shape[0] * shape[1], np.nan)
    values[cells.astype(int)] = difference
    axes.set_facecolor("#d0d0d0")
    axes.grid(visible=False)
    shown = axes.pcolormesh(
        1e3 * ROUND_TRIP_EDGES_S, SEGMENT_EDGES, values.reshape(shape).T, cmap="RdBu_r",
        vmin=-400, vmax=400, rasterized=True,
    )  # fmt: skip
    axes.set_title(f"{panel} %")
    axes.set_xlim(0, 400)
    axes.figure.colorbar(shown, ax=axes, label="MixReact less Reno (ms)")


def _followed(column: str, cases: Sequence[Case], less: str = "") -> Draw:
    """Return a function that draws the traced flow's `column` over time.

    If a column `less` is given, `column` minus `less` is drawn.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = False
        for case in cases:
            try:
                x, y = _flow(data, case, column, panel)
                if less:
                    y = y - _flow(data, case, less, panel)[1]
            except NotRunError:
                continue
            axes.plot(x, y, color=case.style.colour, label=case.label, linewidth=0.5, alpha=0.8)
            drawn = True
        if not drawn:
            raise NotRunError("nothing was run")
        axes.set_title(f"{panel} %")

    return draw


def _flow(data: Data, case: Case, column: str, load: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and values of `column` of the traced flow."""
    return next(curves(data, "Z1", column, protocol=case.protocol, load=float(load)))


def _delay_and_window(case: Case) -> Draw:
    """Return a function that draws the traced flow's queueing delay, and its window below."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        axes.plot(*_flow(data, case, "queueing_delay", panel), color=case.style.colour,
                  linewidth=0.5, label="queueing delay")  # fmt: skip
        axes.plot(*_flow(data, case, "largest_queueing_delay", panel), color="k", linewidth=0.8,
                  label="the largest so far")  # fmt: skip
        axes.plot([], [], color="#808080", label="cwnd (segments)")
        axes.set_ylim(-BELOW_MS, None)
        axes.set_yticks((0, 50, 100))
        beside = axes.twinx()
        beside.plot(*_flow(data, case, "cwnd", panel), color="#808080", linewidth=0.4)
        beside.set_ylim(0, HEIGHT_PKTS)
        beside.set_yticks((0, 50, 100))
        beside.tick_params(labelcolor="#808080")
        beside.grid(visible=False)
        axes.set_title(f"{panel} %")

    return draw


def _lines(metric: str, cases: Sequence[Case]) -> list[Line]:
    return [
        Line(case.experiment, metric, case.label, case.style, {"protocol": case.protocol})
        for case in cases
    ]


def _by_load(
    number: str, title: str, metric: str, y: str, published: str, cases: Sequence[Case] = CONGESTED,
    *, log: bool = False, values: Mapping[str, float] | None = None,
) -> Figure:  # fmt: skip
    return Figure(
        number, title, ("H1", "H1-TUNED"), published, Frame(LOAD, y, log_y=log), axis="load",
        lines=_lines(metric, cases), panels=(), values=values or {},
    )  # fmt: skip


PRINTED = {
    "reno": (0.08, 0.18, 0.43, 0.98, 1.99, 3.86, 8.02, 15.06, 23.79),
    "pcwnd": (0.06, 0.14, 0.29, 0.64, 1.13, 1.92, 5.07, 11.57, 21.92),
    "mixreact": (0.0, 0.0, 0.01, 0.11, 0.51, 2.00, 5.52, 12.29, 21.85),
}


def _loss(axes: Axes, data: Data, panel: str) -> None:
    """Draw Table 4.11 and Figure 4.12a: loss over the load, with the printed values."""
    cases = (RENO, PCWND, MIXREACT) if panel == "printed in Table 4.11" else (ECN_5, ECN_136)
    drawn = False
    for case in cases:
        try:
            curve = data.curve("loss_0", "load", case.experiment, protocol=case.protocol)
        except NotRunError:
            continue
        drawn = True
        axes.plot(
            curve.x, np.maximum(curve.y, 1e-3), color=case.style.colour, label=case.label,
            marker=case.style.marker, markersize=3, linestyle=case.style.line,
        )  # fmt: skip
        if case.protocol in PRINTED:
            loads = [float(load) for load in LOADS]
            axes.plot(loads, np.maximum(PRINTED[case.protocol], 1e-3), "_", markersize=9,
                      color=case.style.colour, label=f"{case.label}, printed")  # fmt: skip
    if not drawn:
        raise NotRunError("nothing was run")
    axes.set_yscale("log")
    axes.set_title(panel)


def _figure(
    number: str, title: str, experiments: str, published: str, x: str, y: str, draw: Draw,
    panels: Sequence[str], *, log: bool = False, from_zero: bool = True,
) -> Figure:  # fmt: skip
    frame = Frame(x, y, log_x=log, log_y=log, from_zero=from_zero and not log)
    return Figure(
        number, title, tuple(experiments.split()), published, frame, panels=panels, draw=draw
    )


def _groups(
    numbers: Sequence[str], title: str, published: str, x: str, y: str, draw: Draw,
    *, log: bool = False, experiments: str = "H1 H1-TUNED",
) -> list[Figure]:  # fmt: skip
    """Return three figures that differ in congestion: light, medium and heavy."""
    kinds = (("light", LIGHT), ("medium", MEDIUM), ("heavy", HEAVY))
    return [
        _figure(number, f"{title}, {kind} congestion", experiments, published, x, y, draw, panels,
                log=log)
        for number, (kind, panels) in zip(numbers, kinds, strict=True)
    ]  # fmt: skip


def _shares(number: str, total: str, published: str) -> Figure:
    """Return a figure of response times at a total load, a line for each end-to-end load."""
    return _figure(
        number, f"Response times by load end to end, total load {total} %", _experiment(total),
        published, RESPONSE, SHARE, _by_share(total), ("reno", "mixreact"),
    )  # fmt: skip


def _tails(number: str, total: str, published: str, shares: Sequence[str]) -> Figure:
    """Return a figure of the tails of response times with several bottlenecks.

    Each link with cross traffic has a load of `total` percent. The figure has a panel for each of
    `shares`, the load in percent by traffic that crosses all links.
    """
    return _figure(
        number, f"Tails, total load {total} %, {shares[0]} to {shares[-1]} % end to end",
        _experiment(total), published, "response time (s)", LONGER,
        _several("ccdf-all", total, log=True), shares, log=True,
    )  # fmt: skip


WEB: list[Figure] = [
    _figure("4.12a", "Loss by load", "H1 H1-TUNED",
            "Both Sync-TCPs lose least at every load. Marks: Table 4.11; none is drawn as 0.001.",
            LOAD, "packets dropped (%)", _loss,
            ("printed in Table 4.11", "not printed"), from_zero=False),
    _by_load("4.12b", "Mean queue by load", "queue_0", "packets",
             "SACK-ECN with 5 ms has the shortest, then the tuned one, then the Sync-TCPs, whose "
             "lines cross at 90 %. Table 4.10 has 23, 36, 54, 73, 91 and 103 of MixReact."),
    _by_load("4.12c", "Mean response time by load", "mean", "ms", "", log=True),
    _by_load("4.13d", "Median response time by load", "median", "ms", "", log=True),
    _by_load("4.13e", "Goodput per response by load", "rate", "kbit/s",
             "The Sync-TCPs above Reno at every load; the tuned SACK-ECN highest from 85 to 95 %."),
    _by_load("4.13f", "Flows with losses by load", "with_losses", "%",
             "Below 2 % up to 70 % load with Pcwnd, a jump at 95 %."),
    _by_load("4.14", "Throughput, goodput: goodput by load", "goodput", "kbit/s",
             "Curves exist for all protocols and are not discussed."),
    _figure("4.15", "Response times: a line for each load", "H1",
            "The uncongested network, Reno and Pcwnd.", RESPONSE, SHARE, _per_protocol,
            ("uncongested", "reno", "pcwnd")),
    _figure("4.16", "Response times: a line for each load", "H1 H1-TUNED",
            "MixReact and both SACK-ECN.", RESPONSE, SHARE, _per_protocol,
            ("mixreact", "ecn-5", "ecn-136")),
    *_groups(("4.17", "4.18", "4.19"), "Response times",
             "At 85 % MixReact has 94 % within 1500 ms, Pcwnd 92, Reno and SACK-ECN 89.",
             RESPONSE, SHARE, per_load("cdf", ALL, scale=1e3)),
    *_groups(("4.20", "4.21", "4.22"), "Tails of response times",
             "A step at 6 s, where a lost SYN is sent again, but hardly with MixReact.",
             "response time (s)", LONGER, per_load("ccdf-all", ALL, log=True), log=True),
    *_groups(("4.23", "4.24", "4.25"), "Queues (samples of every second)",
             "MixReact has the smallest at 50 and 60 %, SACK-ECN from 85 % on.",
             "packets", "share of samples", per_load("queue-0", CONGESTED)),
    *_groups(("4.26", "4.27", "4.28"), "Sizes of completed responses",
             "A straight tail; the largest that is complete shrinks from 90 % on.",
             "bytes", "share that is larger", per_load("sizes", ALL, log=True), log=True),
    *_groups(("4.29", "4.30", "4.31"), "Response times of up to 25,560 bytes",
             "Sync-TCPs best at all loads, crossing near 90 %.",
             RESPONSE, SHARE, per_load("cdf-small", ALL, scale=1e3)),
    *_groups(("4.32", "4.33", "4.34"), "Tails of these",
             "Below 100 s up to 85 %.",
             "response time (s)", LONGER, per_load("ccdf-small", ALL, log=True), log=True),
    *_groups(("4.35", "4.36", "4.37"), "Response times of larger responses",
             "MixReact no worse than Reno but at 50 %.",
             "response time (s)", SHARE, per_load("cdf-large", ALL)),
    *_groups(("4.38", "4.39", "4.40"), "Tails of these", "",
             "response time (s)", LONGER, per_load("ccdf-large", ALL, log=True), log=True),
    *_groups(("4.41", "4.42", "4.43"), "Base round trips of completed responses",
             "The same for all protocols until 105 %.",
             "s", "share that is larger", per_load("round-trips-all", ALL, log=True), log=True),
    *_groups(("4.44", "4.45", "4.46"), "The same, of up to 25,560 bytes", "",
             "s", "share that is larger", per_load("round-trips-small", ALL, log=True), log=True),
    *_groups(("4.47", "4.48", "4.49"), "The same, of larger responses", "",
             "s", "share that is larger", per_load("round-trips-large", ALL, log=True), log=True),
    _figure("4.50", "The flow with the largest response: window", "Z1",
            "Reno's saw tooth; MixReact's series of small steps; Pcwnd's cuts without losses.",
            "time (s)", "cwnd (segments)", _followed("cwnd", (RENO, PCWND, MIXREACT)),
            ("60", "85")),
    _figure("4.50b, 4.51b", "Its unacknowledged segments", "Z1", "",
            "time (s)", "segments", _followed("in_flight", (RENO, PCWND, MIXREACT)),
            ("60", "85")),
    _figure("4.50c, 4.51c", "Its window less unacknowledged segments", "Z1",
            "Large spikes up and down where segments are lost, none with MixReact at 60 % but "
            "at the end.",
            "time (s)", "segments", _followed("cwnd", (RENO, PCWND, MIXREACT), "in_flight"),
            ("60", "85"), from_zero=False),
    _figure("4.52", "Its queueing delay and window with Pcwnd", "Z1", "Almost 100 ms at 60 %.",
            "time (s)", "ms", _delay_and_window(PCWND), ("60", "85"), from_zero=False),
    _figure("4.53, 4.54", "Its queueing delay and window with MixReact", "Z1",
            "Below 75 ms at 60 % (Figure 4.53). At 85 % (4.54) the window grows where the delay "
            "is low, as near 1050 s, and is low where it is high, as after 1150 s.",
            "time (s)", "ms", _delay_and_window(MIXREACT), ("60", "85"), from_zero=False),
    _figure("4.55", "Duration by round trip and size: MixReact less Reno", "Z2",
            "Mostly blue, darker at 85 %: MixReact is faster.",
            "base round trip (ms)", "response (segments)", _map, ("60", "85")),
    _shares("4.56", "75", "Change little with the load end to end."),
    _figure("4.57", "Response times, total load 75 %", "HM", "MixReact better at all shares.",
            RESPONSE, SHARE, _several("cdf", "75", scale=1e3), LIGHT),
    _tails("4.58", "75", "Steps at 6 s with Reno, none with MixReact.", LIGHT),
    _shares("4.59", "90", "Reno is clearly worse at 70 and 80 % end to end than at the others."),
    _figure("4.60", "Response times, total load 90 %", "HM",
            "MixReact better at all shares.",
            RESPONSE, SHARE, _several("cdf", "90", scale=1e3), LIGHT),
    _figure("4.61", "Response times, total load 90 %, more of it end to end", "HM",
            "MixReact better at all shares.",
            RESPONSE, SHARE, _several("cdf", "90", scale=1e3), ("80", "85")),
    _tails("4.62", "90", "MixReact better out to the longest.", LIGHT),
    _tails("4.63", "90", "MixReact better out to the longest.", ("80", "85")),
    _shares("4.64", "105", "All poor."),
    _tails("4.65", "105", "MixReact slightly better.", LIGHT),
    _tails("4.66", "105", "MixReact slightly better.", MEDIUM),
    _tails("4.67", "105", "MixReact slightly better.", ("95", "100")),
]  # fmt: skip
