"""State of algorithms at each ACK, for the explorer: a table with a row per traced connection."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from longhaul.explore.tables import (
    Content,
    Measure,
    Roles,
    add_relation,
    add_series,
    add_table,
    held,
)
from longhaul.results import Results
from longhaul.results.state import OF_ALL, Quantity, Trace

TABLE = "acks"
# Maximum and minimum number of times of a curve; many connections and quantities have fewer times,
# to limit the number of all values.
MAX_TIMES, MIN_TIMES = 20_000, 20
MAX_VALUES = 10_000_000
# ssthresh is infinite until it is set; values above this threshold count as not set.
NEVER_SET_PKTS = 1e8
ABOUT = {
    "acks": "acknowledgements that the sender processed",
    "from_s": "time of the first acknowledgement",
    "to_s": "time of the last acknowledgement",
}
SHOWN = ("name", "congestion", "acks", "from_s", "to_s")
# Columns that identify a traced connection: the run's number, the flow, and the connection's number
# in the flow.
CONNECTION = ("number", "flow", "connection")


def add(content: Content, runs: Sequence[Results]) -> None:
    """Add the table of traced connections to a page, with the curves of their state variables."""
    traces = [(number, Trace.of(run)) for number, run in enumerate(runs) if "acks" in run.tables]
    traces = [(number, trace) for number, trace in traces if not trace.samples.is_empty()]
    if not traces:
        return
    several = len(runs) > 1
    frame = pl.concat([_connections(number, trace) for number, trace in traces])
    rows = frame.select(CONNECTION).rows()
    add_table(content, TABLE, _named(frame, several=several), _roles(several=several))
    flows = [(number, name) for number, run in enumerate(runs) for name in run.flows["name"]]
    places = {flow: at for at, flow in enumerate(flows)}
    add_relation(content, TABLE, "flows", [(at, places[row[:2]]) for at, row in enumerate(rows)])
    _add_curves(content, traces, rows)


def _roles(*, several: bool) -> Roles:
    return Roles(
        label="name", colour="run" if several else "label", numbers=("connection",),
        about=ABOUT, units={"acks": ""},
        shown=("run", *SHOWN) if several else SHOWN, competitor="congestion",
        title="traced connections, at each acknowledgement",
    )  # fmt: skip


def _connections(number: int, trace: Trace) -> pl.DataFrame:
    """Return the traced connections of run `number`, with algorithms and ACK counts.

    ACKs at the same time count once.
    """
    time_s = pl.col("t_s")
    counted = trace.samples.group_by("name", "connection", maintain_order=True).agg(
        acks=time_s.n_unique(), from_s=time_s.min(), to_s=time_s.max()
    )
    flows = trace.run.flows.select("name", "label", "congestion")
    named = pl.lit(number).alias("number"), pl.lit(trace.run.name).alias("run")
    return counted.join(flows, on="name", how="left", maintain_order="left").select(
        *named, pl.col("name").alias("flow"), "label", "connection", "congestion",
        "acks", "from_s", "to_s",
    )  # fmt: skip


def _named(frame: pl.DataFrame, *, several: bool) -> pl.DataFrame:
    """Return a table of connections with their names on the page.

    A connection has the name of its flow and, if the flow has several connections, its number. If
    `several` is true, there is more than one run, and names begin with the name of the run.
    """
    is_only = pl.len().over("number", "flow") == 1
    name = pl.when(is_only).then("flow").otherwise(pl.format("{} {}", "flow", "connection"))
    if several:
        name = pl.format("{} {}", "run", name)
    leave = ("number", "flow") if several else ("number", "flow", "run")
    named = frame.with_columns(name=name).drop(leave)
    return named.select(*(["run"] if several else []), "name", pl.exclude("run", "name"))


def _add_curves(
    content: Content, traces: Sequence[tuple[int, Trace]], rows: Sequence[tuple[object, ...]]
) -> None:
    """Add the curves of the connections `rows`, each a tuple of the columns `CONNECTION`."""
    labels = (quantity for _, trace in traces for quantity in trace.labels)
    quantities = list(dict.fromkeys(labels))
    recorded = np.unique(np.concatenate([trace.samples["t_s"].to_numpy() for _, trace in traces]))
    most = max(MIN_TIMES, min(MAX_TIMES, MAX_VALUES // (len(rows) * len(quantities))))
    times, note = recorded, ""
    if len(recorded) > most:
        times = np.linspace(recorded[0], recorded[-1], most)
        note = f"Curves show {most:,} times of {len(recorded):,}, with the values at each time."
    places = {row: at for at, row in enumerate(rows)}
    measures, own = [], []
    for quantity in quantities:
        values = np.full((len(rows), len(times)), np.nan)
        for number, trace in traces:
            for (_, name, connection), samples in trace.connections(quantity):
                latest = held(samples["t_s"].to_numpy(), samples["value"].to_numpy(), times)
                values[places[number, name, connection]] = latest
        if quantity.name == "ssthresh":
            values[values > NEVER_SET_PKTS] = np.nan
        name = _unique_name(quantity, quantities)
        measures.append(Measure(name, values, quantity.unit, quantity.title))
        if quantity not in OF_ALL:
            own.append(name)
    add_series(content, TABLE, times, measures, ("cwnd", *own), note=note)


def _unique_name(quantity: Quantity, quantities: Sequence[Quantity]) -> str:
    """Return the name of a quantity, with its title if other quantities have this name."""
    shared = sum(other.name == quantity.name for other in quantities) > 1
    return f"{quantity.name}: {quantity.title}" if shared else quantity.name
