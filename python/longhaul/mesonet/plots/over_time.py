"""Plots of runs of MesoNet over time, with the scenario's periods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul._engine import seconds
from longhaul.mesonet.numbered_responses import CLASSES
from longhaul.mesonet.plots import periods
from longhaul.mesonet.plots.periods import Means
from longhaul.mesonet.plots.runs import has_table, looks_of
from longhaul.mesonet.plots.samples import line, samples
from longhaul.mesonet.tables import MesoNet, Period
from longhaul.plots import styles
from longhaul.plots.arrangements import side_by_side
from longhaul.plots.layout import panels
from longhaul.plots.registry import PART_OF_RUN, Options, register
from longhaul.plots.styles import Style
from longhaul.results import Results, ResultsError
from longhaul.results.kinds import RunData

# Number of routers drawn individually, those with the fullest queues.
MOST_ROUTERS = 4

STATES = (
    ("active_flows", "active", "#000000"),
    ("initial_slow_start_flows", "initial slow start", "#009e73"),
    ("normal_mode_flows", "like standard TCP", "#e69f00"),
    ("above_threshold_flows", "as their alternate", "#0072b2"),
    ("connecting_flows", "connecting", "#cc79a7"),
)


def _end_s(run: RunData) -> float:
    """Return the time in seconds at which a run ended, which may be before the scenario's end."""
    return float(run.meta["simulated_s"])


@side_by_side(
    "flow-states", "flows by their state over time", has_table("network"), PART_OF_RUN,
    finish=periods.make_room,
)  # fmt: skip
def _flow_states(axes: Axes, run: Results, options: Options) -> None:
    tables = MesoNet.of(run)
    for column, label, colour in STATES:
        line(axes, samples(tables.network, pl.col(column), options), label, Style(colour, "o"))
    axes.set_ylabel("flows")
    end_s = _end_s(run)
    periods.borders(axes, tables.periods, options, end_s)
    periods.head(axes, periods.shown(tables.periods, options, end_s), [])


# Styles of a single line and of its means.
_ONE = Style("#0072b2", "o")
_MEAN = Style("#d55e00", "o")


@dataclass(frozen=True)
class Curve:
    """A curve of a plot, for a flow, a flow class, a router, or the whole network of a run."""

    run: Results
    part: str
    label: str | None
    look: Style


Panel = tuple[str, Sequence[Curve]]


@dataclass(frozen=True)
class Lines:
    """A plot of one column over time, for flows, flow classes or routers.

    The plot has a panel per run, with a line for each flow, class or router. If runs are overlaid,
    it has a panel for each flow, class or router, with a line per run.
    """

    name: str
    help: str
    table: str
    column: str
    label: str
    scale: float = 1.0
    key: str | None = None
    """Column that identifies the flow, class or router of a row; None for the whole network."""
    parts: Callable[[MesoNet], Sequence[str]] = lambda tables: ("",)
    top: float | None = None
    per_s: bool = False
    """True if values are counts per interval; the plot then shows them per second."""
    there: pl.Expr | None = None
    """Condition that is true for rows with a value; None if all rows have one.

    A long-lived flow, for example, has no value before it starts.
    """

    def register(self) -> None:
        """Register the plot that this object describes."""
        takes = [*PART_OF_RUN, "overlay", *([] if self.key is None else ["parts"])]
        register(self.name, self.help, has_table(self.table), takes)(self._draw)

    def _draw(self, runs: Sequence[Results], options: Options) -> Figure:
        if options.overlay:
            shown = self._a_panel_a_part(runs, options)
        else:
            shown = self._a_panel_a_run(runs, options)

        def draw(axes: Axes, panel: Panel) -> None:
            self._panel(axes, panel[1], options)
            if options.overlay:
                axes.set_title(panel[0])

        return periods.make_room(panels(shown, draw, [title for title, _ in shown]), runs)

    def _a_panel_a_part(self, runs: Sequence[Results], options: Options) -> list[Panel]:
        looks = list(zip(runs, looks_of(runs), strict=True))
        return [
            (part, [Curve(run, part, label, look) for run, (label, look) in looks])
            for part in dict.fromkeys(part for run in runs for part in self._chosen(run, options))
        ]

    def _a_panel_a_run(self, runs: Sequence[Results], options: Options) -> list[Panel]:
        """Return a panel for each run; a flow, class or router has the same style in all panels."""
        if self.key is None:
            return [(run.name, [Curve(run, "", None, _ONE)]) for run in runs]
        chosen = [(run, self._chosen(run, options)) for run in runs]
        parts = list(dict.fromkeys(part for _, of_run in chosen for part in of_run))
        look_of = dict(zip(parts, styles.many(len(parts)), strict=True))
        return [
            (run.name, [Curve(run, part, part, look_of[part]) for part in of_run])
            for run, of_run in chosen
        ]

    def _chosen(self, run: Results, options: Options) -> Sequence[str]:
        """Return the flows, classes or routers of a run to draw."""
        if self.key is None or not options.parts:
            return self.parts(MesoNet.of(run))
        there = getattr(MesoNet.of(run), self.table)[self.key].unique(maintain_order=True).to_list()
        for part in options.parts:
            if part not in there:
                known = ", ".join(map(str, there))
                raise ResultsError(f"--part {part}: `{self.name}` of {run.name} has {known}")
        return options.parts

    def _panel(self, axes: Axes, curves: Sequence[Curve], options: Options) -> None:
        rows = [(curve, self._rows(curve)) for curve in curves]
        for curve, of_curve in rows:
            # Only another run has this class of flows or router.
            if not of_curve.is_empty():
                shown = samples(of_curve, self._value(curve, self.there), options)
                line(axes, shown, curve.label, curve.look)
                # The whole shown time, including the time before a flow starts.
                first_s, last_s = float(shown["t_s"][0]), float(shown["t_s"][-1])
                axes.update_datalim([(first_s, 0.0), (last_s, 0.0)], updatey=False)
        axes.set_ylabel(self.label)
        if self.top is not None:
            axes.set_ylim(0, self.top)
        end_s = max(_end_s(curve.run) for curve in curves)
        known = MesoNet.of(curves[0].run).periods
        periods.borders(axes, known, options, end_s)
        whole = periods.shown(known, options, end_s)
        periods.head(axes, whole, [self._means(curve, each, whole) for curve, each in rows])

    def _rows(self, curve: Curve) -> pl.DataFrame:
        """Return the table's rows for the flow, class or router that a curve shows."""
        table: pl.DataFrame = getattr(MesoNet.of(curve.run), self.table)
        return table if self.key is None else table.filter(pl.col(self.key) == curve.part)

    def _value(self, curve: Curve, there: pl.Expr | None = None) -> pl.Expr:
        each = MesoNet.of(curve.run).interval_s if self.per_s else 1.0
        value = pl.col(self.column) * (self.scale / each)
        return value if there is None else pl.when(there).then(value)

    def _means(self, curve: Curve, rows: pl.DataFrame, whole: Sequence[Period]) -> Means:
        """Return the mean of a curve in each period.

        Intervals before a flow starts are included, as in summaries. The mean is None if the flow
        has at most one sample in the period, or if the run ended before the end of the period.
        """
        there = self._value(curve, self.there).count() > 1
        mean = pl.when(there).then(self._value(curve).mean())
        ended = periods.shown(whole, Options(), _end_s(curve.run))
        means = [
            period.of(rows).select(mean).item() if period in ended else None for period in whole
        ]
        return Means(curve.look if curve.label is not None else _MEAN, means)


def _fullest(tables: MesoNet) -> Sequence[str]:
    """Return the names of the `MOST_ROUTERS` routers with the fullest queues on average."""
    means = tables.routers.group_by("router", maintain_order=True).agg(pl.col("queue_share").mean())
    order = means.sort("queue_share", descending=True, maintain_order=True)["router"]
    return order[:MOST_ROUTERS].to_list()


# A long-lived flow has a mode only in intervals at whose end it is active.
_ACTIVE = pl.col("mode") != "none"


def _flows(tables: MesoNet) -> Sequence[str]:
    names: list[str] = tables.long_lived["flow"].unique(maintain_order=True).to_list()
    return names


def _classes(tables: MesoNet) -> Sequence[str]:
    there = set(tables.classes["class"].unique())
    return [name for name in CLASSES if name in there]


for _plot in (
    Lines("active-flows", "active flows over time", "network", "active_flows", "active flows"),
    Lines(
        "packets-out", "data packets delivered over time", "network", "out_pkts",
        "thousand packets out per second", 1e-3, per_s=True,
    ),
    Lines(
        "retransmission-rate", "segments that completed flows sent beyond the size of their files",
        "network", "retransmission_rate", "retransmission rate (%)", 100.0,
    ),
    Lines(
        "cwnd-classes", "mean congestion window of flow classes", "classes", "cwnd_mean_pkts",
        "congestion window (packets)", 1.0, "class", _classes,
    ),
    Lines(
        "rtt-classes", "mean smoothed round-trip time of flow classes", "classes", "srtt_mean_s",
        "smoothed round-trip time (ms)", 1e3, "class", _classes,
    ),
    Lines(
        "throughput-classes", "packets per second of a flow of each class", "classes",
        "throughput_pps", "packets per second of a flow", 1.0, "class", _classes,
    ),
    Lines(
        "active-classes", "active flows of each class", "classes", "active_flows", "active flows",
        1.0, "class", _classes,
    ),
    Lines(
        "long-lived", "packets per second of long-lived flows", "long_lived", "throughput_pps",
        "packets per second", 1.0, "flow", _flows,
        # A flow that has stopped by the end of an interval may have sent during the interval.
        there=_ACTIVE | (pl.col("out_pkts") > 0),
    ),
    Lines(
        "cwnd-long-lived", "congestion window of long-lived flows", "long_lived", "cwnd_pkts",
        "congestion window (packets)", 1.0, "flow", _flows, there=_ACTIVE,
    ),
    Lines(
        "router-queues", "the fullest queues of routers, as part of what they can hold", "routers",
        "queue_share", "share of the queues in use", 1.0, "router", _fullest, 1.05,
    ),
):  # fmt: skip
    _plot.register()


@side_by_side(
    "timeline", "periods of users, jumbo files and long-lived flows in a scenario",
    has_table("network"), finish=periods.make_room,
)  # fmt: skip
def _timeline(axes: Axes, run: Results, options: Options) -> None:
    tables = MesoNet.of(run)
    bars = _course(tables)
    rows = range(len(bars), 0, -1)
    for row, (_, from_s, to_s) in zip(rows, bars, strict=True):
        axes.barh(row, to_s - from_s, left=from_s, height=0.55, color=_ONE.colour)
    axes.set_yticks(rows, [name for name, _, _ in bars])
    axes.set_xlim(0.0, bars[0][2])
    axes.set_ylim(0.0, len(bars) + 0.7)
    periods.borders(axes, tables.periods, options, bars[0][2])
    periods.head(axes, tables.periods, [])


def _course(tables: MesoNet) -> list[tuple[str, float, float]]:
    """Return name, begin and end (in seconds) of each part of the traffic.

    Parts are the users, the jumbo files, and each long-lived flow.
    """
    scenario = tables.scenario
    end = scenario["intervals"] * tables.interval_s
    bars = [("users", 0.0, end)]
    jumbo = scenario.get("files", {}).get("jumbo")
    if jumbo and jumbo["factor"] != 1:
        bars.append(("jumbo files", _time(jumbo["from"], end), _time(jumbo["until"], end)))
    for flow in scenario.get("long_lived", ()):
        bars.append((flow["label"], _time(flow["start"], end), _time(flow["stop"], end)))
    return [(name, from_s, to_s) for name, from_s, to_s in bars if from_s < to_s]


def _time(given: float | str, end: float) -> float:
    """Return a scenario's time `given` in seconds; a number is a fraction of the run's `end`."""
    return seconds(given) if isinstance(given, str) else given * end
