"""Summary of a MesoNet run: statistics of the network, of flow classes, and of long-lived flows.

Values are means over the intervals of a period. NAKs, timeouts, failed flows, and completed flows
of a class are sums. Rates of losses and retransmissions are computed over all packets and flows of
the period (NIST SP 500-282 chapters 3 and 6).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from longhaul.figures.forms import number
from longhaul.mesonet.numbered_responses import responses_of
from longhaul.mesonet.tables import MesoNet
from longhaul.results.kinds import RunData
from longhaul.results.table import Block, Table

# Key, title and format of each value.
NETWORK_FIGURES = (
    ("active_flows", "active flows", number(0)),
    ("connecting_flows", "flows connecting", number(1)),
    ("initial_slow_start_flows", "flows in initial slow start", number(0)),
    ("normal_mode_flows", "flows in standard TCP's mode", number(0)),
    ("above_threshold_flows", "flows in the alternate mode", number(0)),
    ("completed_per_s", "flows completed per second", number(1)),
    ("failed_flows", "connection failures", number(0)),
    ("out_pps", "packets out per second", number(0)),
    ("utilization", "utilisation of access routers", lambda value: f"{value:.1%}"),
    ("loss_rate", "data packets lost", lambda value: f"{value:.3%}"),
    ("retransmission_rate", "retransmission rate", lambda value: f"{value:.3%}"),
    ("srtt_mean_s", "mean round-trip time (ms)", number(2, 1e3)),
    ("cwnd_mean_pkts", "mean window (packets)", number(1)),
)


@dataclass(frozen=True)
class Summary:
    """Metrics of one run by period; without named periods, the whole run is one period."""

    network: pl.DataFrame
    classes: pl.DataFrame
    long_lived: pl.DataFrame
    totals: pl.DataFrame
    """Totals of each flow class over the whole run."""
    responses: pl.DataFrame
    """Numbered responses of NIST SP 500-282.

    The column `chapter` is 4, 6 or 8, the chapter that defines the number. Chapter 8 is for runs
    with flow groups; see `longhaul.mesonet.responses_of`.
    """

    @classmethod
    def of(cls, run: RunData) -> "Summary":
        """Return the summary of a run."""
        tables = MesoNet.of(run)
        figures = _figures(tables.interval_s, access_capacity(tables.topology))
        return cls(
            network=_by_period(tables, "network", figures),
            classes=_by_period(tables, "classes", figures, "class"),
            long_lived=_with_full_rate(tables, _by_period(tables, "long_lived", figures, "flow")),
            totals=tables.totals,
            responses=pl.concat(
                responses_of(run, chapter).insert_column(0, pl.lit(chapter).alias("chapter"))
                for chapter in (4, 6, *((8,) if tables.has("goodput") else ()))
            ),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the tables as plain lists and dictionaries."""
        return {
            "network": self.network.to_dicts(),
            "classes": self.classes.to_dicts(),
            "long_lived": self.long_lived.to_dicts(),
            "totals": self.totals.to_dicts(),
            "responses": self.responses.select("chapter", "response", "period", "value").to_dicts(),
        }


def _by_period(
    tables: MesoNet, name: str, figures: Mapping[str, Sequence[pl.Expr]], key: str | None = None
) -> pl.DataFrame:
    """Return metrics of the table `name`, with a row per period and per value of column `key`."""
    if not tables.has(name):
        return pl.DataFrame()
    table: pl.DataFrame = getattr(tables, name)
    own, parts = figures[name], []
    for period in tables.summed:
        part = period.of(table)
        part = part.group_by(key, maintain_order=True).agg(own) if key else part.select(own)
        parts.append(part.insert_column(0, pl.lit(period.name).alias("period")))
    return pl.concat(parts)


# Fraction of its interface's rate at which a flow counts as being at full rate.
FULL = 0.999


def _with_full_rate(tables: MesoNet, summary: pl.DataFrame) -> pl.DataFrame:
    """Add the column `full_rate_s`: the time from a period's start until a flow has its full rate.

    The full rate is that of the flow's interface. The time is 0 if the flow has this rate in the
    first interval, and the length of the period if the flow never reaches it (NIST SP 500-282,
    tables 7-14 and 7-15).
    """
    if summary.is_empty():
        return summary
    flows = tables.scenario["long_lived"]
    # Speeds of interfaces are in packets per time step.
    full = {flow["label"]: FULL * float(flow["rate"]) / tables.step_s for flow in flows}
    periods = {period.name: period for period in tables.summed}
    time_s = pl.col("t_s")
    full_rate_s = []
    for name, flow in summary.select("period", "flow").iter_rows():
        period = periods[name]
        at_rate = time_s.filter(pl.col("throughput_pps") >= full[flow])
        part = period.of(tables.long_lived).filter(pl.col("flow") == flow)
        begin_s, first_s = part.select(time_s.min(), first_s=at_rate.min()).row(0)
        if first_s is None:
            full_rate_s.append(period.to_s - period.from_s)
        else:
            full_rate_s.append(0.0 if first_s == begin_s else round(first_s - period.from_s, 6))
    return summary.with_columns(full_rate_s=pl.Series(full_rate_s, dtype=pl.Float64))


def _share(of: pl.Expr, over: pl.Expr) -> pl.Expr:
    return (of.sum() / over.sum()).fill_nan(None)


def access_capacity(topology: pl.DataFrame) -> float:
    """Return the capacity of all access routers together, in packets per second."""
    return float(topology.filter(pl.col("tier") == "access")["capacity_pps"].sum())


def utilisation(out_pps: pl.Expr, capacity_pps: float) -> pl.Expr:
    """Return the rate of packets and acknowledgements divided by access routers' capacity.

    The definition is that of NIST SP 500-282, chapter 3. A packet and its acknowledgement pass two
    access routers each. The value is therefore at most about 0.5 if one server serves both queues
    of a router (the default), and about 1 with `dual` service.
    """
    return 2 * out_pps / capacity_pps


def _means(*names: str) -> list[pl.Expr]:
    return [pl.col(name).mean() for name in names]


def _figures(interval_s: float, capacity_pps: float) -> dict[str, Sequence[pl.Expr]]:
    """Return the metrics that are computed from each table."""
    column = pl.col
    out_pps = column("out_pkts").mean() / interval_s
    completed = column("completed_flows")
    lost = column("in_pkts").cast(pl.Int64) - column("out_pkts")
    network = (
        *_means(
            "active_flows", "connecting_flows", "initial_slow_start_flows", "normal_mode_flows",
            "above_threshold_flows", "srtt_mean_s", "cwnd_mean_pkts",
        ),
        (completed.mean() / interval_s).alias("completed_per_s"),
        column("failed_flows").sum(),
        out_pps.alias("out_pps"),
        utilisation(out_pps, capacity_pps).alias("utilization"),
        _share(lost, column("in_pkts")).alias("loss_rate"),
        _share(column("retransmission_rate") * completed, completed).alias("retransmission_rate"),
    )  # fmt: skip
    classes = (
        *_means("active_flows", "cwnd_mean_pkts", "srtt_mean_s", "throughput_pps"),
        completed.sum(),
        out_pps.alias("out_pps"),
    )
    long_lived = (
        *_means("throughput_pps", "cwnd_pkts", "srtt_s"),
        column("naks").sum(),
        column("timeouts").sum(),
    )
    return {"network": network, "classes": classes, "long_lived": long_lived}


def columns() -> dict[str, list[str]]:
    """Return the metrics' columns in the tables `network`, `classes` and `long_lived`."""
    names = {
        name: [expression.meta.output_name() for expression in expressions]
        for name, expressions in _figures(1.0, 1.0).items()
    }
    names["long_lived"].append("full_rate_s")
    return names


def table(runs: Sequence[RunData]) -> Table:
    """Return one table with the metrics of all runs, with a column for each run and period."""
    summaries = [Summary.of(run) for run in runs]
    heads = [(run.name, [period.name for period in MesoNet.of(run).summed]) for run in runs]
    classes = [summary.classes for summary in summaries]
    flows = [summary.long_lived for summary in summaries]
    blocks = [
        _network_block(heads, summaries),
        _keyed_block("packets per second of a flow", "class", heads, classes),
        _keyed_block("packets per second of long-lived flows", "flow", heads, flows),
    ]
    return Table(heads, [block for block in blocks if block.rows])


Heads = Sequence[tuple[str, list[str]]]


def _network_block(heads: Heads, summaries: Sequence[Summary]) -> Block:
    rows = []
    columns: list[dict[str, Any]] = []
    for (_, periods), summary in zip(heads, summaries, strict=True):
        columns += summary.network.to_dicts() or [{} for _ in periods]
    for key, title, form in NETWORK_FIGURES:
        values = [column.get(key) for column in columns]
        if any(value is not None for value in values):
            rows.append((title, _cells(values, form)))
    return Block("network", rows)


def _keyed_block(title: str, key: str, heads: Heads, tables: Sequence[pl.DataFrame]) -> Block:
    """Return throughputs, with a row per flow class or per flow; `key` is `class` or `flow`.

    `tables` has the table of classes or flows of each run.
    """
    of_runs = [
        {(row[key], row["period"]): row["throughput_pps"] for row in table.to_dicts()}
        for table in tables
    ]
    columns = [
        (of_run, period)
        for (_, periods), of_run in zip(heads, of_runs, strict=True)
        for period in periods
    ]
    names = dict.fromkeys(name for of_run in of_runs for name, _ in of_run)
    values = {name: [of_run.get((name, period)) for of_run, period in columns] for name in names}
    return Block(title, [(name, _cells(row, number(0))) for name, row in values.items()])


def _cells(values: Sequence[Any], form: Callable[[Any], str]) -> list[str]:
    return ["" if value is None else form(value) for value in values]
