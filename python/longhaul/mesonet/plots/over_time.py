"""Plots of runs of MesoNet: over time, with the periods that the scenario names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul._engine import seconds
from longhaul.mesonet.numbered_responses import CLASSES
from longhaul.mesonet.plots.side_by_side import has_table, in_part_of_run, looks_of, of_mesonet
from longhaul.mesonet.tables import MesoNet
from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.registry import PART_OF_RUN, Options, register
from longhaul.plots.styles import Style
from longhaul.results import Results, ResultsError

# Points of a line; each is the mean of the intervals between.
MOST_POINTS = 600
# Routers drawn individually: those with the fullest queues.
MOST_ROUTERS = 4

STATES = (
    ("active_flows", "active", "#000000"),
    ("initial_slow_start_flows", "initial slow start", "#009e73"),
    ("normal_mode_flows", "like standard TCP", "#e69f00"),
    ("above_threshold_flows", "as their alternate", "#0072b2"),
    ("connecting_flows", "connecting", "#cc79a7"),
)


def _thinned(
    table: pl.DataFrame, columns: Sequence[str], options: Options, key: str | None = None
) -> pl.DataFrame:
    """Means of columns over as many intervals as there are for a point, in a part of the run."""
    part = in_part_of_run(table, pl.col("t_s"), options)
    if part.is_empty():
        end = float(table["t_s"].max() or 0.0)  # type: ignore[arg-type]
        raise ResultsError(f"--from and --to: nothing is there; the run ends at {end:g} s")
    first, last = (int(part["interval"].min() or 1), int(part["interval"].max() or 1))  # type: ignore[arg-type]
    every = max(1, -(-(last - first + 1) // MOST_POINTS))
    keys = [key] if key else []
    point = ((pl.col("interval") - first) // every).alias("point")
    means = part.group_by(point, *keys, maintain_order=True).agg(
        pl.col("t_s").max(), pl.col(columns).mean()
    )
    return means.drop("point")


def _periods(axes: Axes, run: Results, options: Options) -> None:
    """Mark where periods begin and end."""
    ends = {time for period in MesoNet.of(run).periods for time in (period.from_s, period.to_s)}
    low, high = options.from_s or 0.0, inf if options.to_s is None else options.to_s
    for time in sorted(time for time in ends if low <= time <= high):
        axes.axvline(time, color="#999999", linewidth=0.8, linestyle=":")


@of_mesonet("flow-states", "flows by their state over time", "network", PART_OF_RUN)
def _flow_states(axes: Axes, run: Results, options: Options) -> None:
    states = _thinned(MesoNet.of(run).network, [column for column, _, _ in STATES], options)
    for column, label, colour in STATES:
        axes.plot(states["t_s"], states[column], color=colour, label=label)
    axes.set_ylabel("flows")
    _periods(axes, run, options)


@dataclass(frozen=True)
class Lines:
    """Plots of one column over time: a panel a run with a line for each part, or the other way."""

    name: str
    help: str
    table: str
    column: str
    label: str
    scale: float = 1.0
    key: str | None = None
    """The column that tells parts apart; none of the network as a whole."""
    parts: Callable[[MesoNet], Sequence[str]] = lambda tables: ("",)
    top: float | None = None
    per_s: bool = False
    """Whether values are of an interval, to be divided by its length."""

    def register(self) -> None:
        """Make it a plot."""
        takes = [*PART_OF_RUN, "overlay", *([] if self.key is None else ["parts"])]
        register(self.name, self.help, has_table(self.table), takes)(self._draw)

    def _draw(self, runs: Sequence[Results], options: Options) -> Figure:
        if not options.overlay and self.key is None:
            return panels(runs, self._of_network(options), [run.name for run in runs])
        parts = list(dict.fromkeys(part for run in runs for part in self._chosen(run, options)))
        if not options.overlay:
            return panels(runs, self._of_run(parts, options), [run.name for run in runs])
        looks = looks_of(runs)

        def draw(axes: Axes, part: str) -> None:
            for run, (label, look) in zip(runs, looks, strict=True):
                self._line(axes, run, part, label, look, options)
            self._finish(axes, runs[0], options)
            axes.set_title(part)

        return panels(parts, draw, parts)

    def _chosen(self, run: Results, options: Options) -> Sequence[str]:
        """The parts of a run that are drawn."""
        if self.key is None or not options.parts:
            return self.parts(MesoNet.of(run))
        there = getattr(MesoNet.of(run), self.table)[self.key].unique(maintain_order=True).to_list()
        for part in options.parts:
            if part not in there:
                known = ", ".join(map(str, there))
                raise ResultsError(f"--part {part}: `{self.name}` of {run.name} has {known}")
        return options.parts

    def _of_run(self, parts: Sequence[str], options: Options) -> Callable[[Axes, Results], None]:
        """All parts of a run; the same one has the same look in all runs."""
        looks = styles.of_runs(len(parts)) if len(parts) <= len(styles.OTHERS) else styles.LABELS
        look_of = dict(zip(parts, looks, strict=False))

        def draw(axes: Axes, run: Results) -> None:
            for name in self._chosen(run, options):
                self._line(axes, run, name, name, look_of[name], options)
            self._finish(axes, run, options)

        return draw

    def _of_network(self, options: Options) -> Callable[[Axes, Results], None]:
        """The network as a whole, of one run."""

        def draw(axes: Axes, run: Results) -> None:
            self._line(axes, run, "", None, _ONE, options)
            self._means(axes, run, options)
            self._finish(axes, run, options)

        return draw

    def _means(self, axes: Axes, run: Results, options: Options) -> None:
        """The mean over each period that is shown whole."""
        tables = MesoNet.of(run)
        scale = self.scale / (tables.interval_s if self.per_s else 1.0)
        low, high = options.from_s or 0.0, inf if options.to_s is None else options.to_s
        for period in tables.periods:
            mean = period.of(getattr(tables, self.table))[self.column].mean()
            if not isinstance(mean, float) or period.from_s < low or period.to_s > high:
                continue
            axes.hlines(mean * scale, period.from_s, period.to_s, color="#d55e00", linewidth=1.4)
            axes.annotate(
                f"{period.name}: {mean * scale:.4g}", (period.from_s, mean * scale), (2, 3),
                textcoords="offset points", fontsize=7, color="#d55e00",
            )  # fmt: skip

    def _line(
        self, axes: Axes, run: Results, part: str, label: str | None, look: Style, options: Options
    ) -> None:
        table = getattr(MesoNet.of(run), self.table)
        if self.key is not None:
            table = table.filter(pl.col(self.key) == part)
        points = _thinned(table, [self.column], options).drop_nulls(self.column)
        each = MesoNet.of(run).interval_s if self.per_s else 1.0
        values = points[self.column] * (self.scale / each)
        axes.plot(points["t_s"], values, label=label, **styles.as_line(look))

    def _finish(self, axes: Axes, run: Results, options: Options) -> None:
        axes.set_ylabel(self.label)
        if self.top is not None:
            axes.set_ylim(0, self.top)
        _periods(axes, run, options)


_ONE = Style("#0072b2", "o")


def _fullest(tables: MesoNet) -> Sequence[str]:
    """The routers with the fullest queues."""
    means = tables.routers.group_by("router", maintain_order=True).agg(pl.col("queue_share").mean())
    order = means.sort("queue_share", descending=True, maintain_order=True)["router"]
    return order[:MOST_ROUTERS].to_list()


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
        "retransmission-rate", "what completed flows sent beyond the size of their files",
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
    ),
    Lines(
        "cwnd-long-lived", "congestion window of long-lived flows", "long_lived", "cwnd_pkts",
        "congestion window (packets)", 1.0, "flow", _flows,
    ),
    Lines(
        "router-queues", "the fullest queues of routers, as part of what they can hold", "routers",
        "queue_share", "share of the queues in use", 1.0, "router", _fullest, 1.05,
    ),
):  # fmt: skip
    _plot.register()


@of_mesonet(
    "timeline", "what a scenario does when: users, jumbo files, long-lived flows", "network"
)
def _timeline(axes: Axes, run: Results, options: Options) -> None:
    bars = _course(MesoNet.of(run))
    rows = range(len(bars), 0, -1)
    for row, (_, from_s, to_s) in zip(rows, bars, strict=True):
        axes.barh(row, to_s - from_s, left=from_s, height=0.55, color=_ONE.colour)
    axes.set_yticks(rows, [name for name, _, _ in bars])
    axes.set_xlim(0.0, bars[0][2])
    axes.set_ylim(0.0, len(bars) + 1.0)
    _periods(axes, run, options)
    for period in MesoNet.of(run).periods:
        middle = (period.from_s + period.to_s) / 2
        axes.annotate(period.name, (middle, len(bars) + 0.6), ha="center", fontsize=8)


def _course(tables: MesoNet) -> list[tuple[str, float, float]]:
    """What goes on from when to when, in seconds."""
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
    """A time of a scenario in seconds; a number is a part of the run."""
    return seconds(given) if isinstance(given, str) else given * end
