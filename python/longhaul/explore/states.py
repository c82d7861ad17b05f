"""State of algorithms at each ACK, for the explorer: a table with a row per traced connection."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from longhaul.explore.tables import Content, Measure, Roles, add_relation, add_series, add_table
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
    "to_s": "time of the last one",
}
SHOWN = ("name", "congestion", "acks", "from_s", "to_s")


class Connection(NamedTuple):
    """A traced connection: the run's number, the flow, and the connection's number in the flow."""

    run: int
    flow: str
    number: int


def add(content: Content, runs: Sequence[Results]) -> None:
    """Add the table of traced connections to a page, with the curves of their state variables."""
    traces = [(number, Trace.of(run)) for number, run in enumerate(runs) if "acks" in run.tables]
    rows = [
        Connection(number, *key)
        for number, trace in traces
        for key in trace.samples.select("name", "connection").unique(maintain_order=True).rows()
    ]
    if not rows:
        return
    add_table(content, TABLE, _frame(runs, traces, rows), _roles(several=len(runs) > 1))
    places = _flow_places(runs)
    pairs = [(at, places[row.run, row.flow]) for at, row in enumerate(rows)]
    add_relation(content, TABLE, "flows", pairs)
    _add_curves(content, traces, rows)


def _roles(*, several: bool) -> Roles:
    return Roles(
        label="name", colour="run" if several else "label", numbers=("connection",),
        about=ABOUT, units={"acks": ""},
        shown=("run", *SHOWN) if several else SHOWN, competitor="congestion",
        title="traced connections, at each acknowledgement",
    )  # fmt: skip


def _frame(
    runs: Sequence[Results], traces: Sequence[tuple[int, Trace]], rows: Sequence[Connection]
) -> pl.DataFrame:
    """Return a table of the connections `rows`, with names, algorithms and ACK counts.

    ACKs at the same time count once.
    """
    time_s = pl.col("t_s")
    counts = (time_s.n_unique().alias("acks"), time_s.min().alias("from_s"),
              time_s.max().alias("to_s"))  # fmt: skip
    counted = {
        Connection(number, name, connection): values
        for number, trace in traces
        for name, connection, *values in trace.samples.group_by("name", "connection")
        .agg(*counts)
        .iter_rows()
    }
    flows = [run.flows.select("name", "label", "congestion").rows_by_key("name") for run in runs]
    of_flow = Counter(row[:2] for row in rows)
    several = len(runs) > 1
    found = []
    for row in rows:
        acks, from_s, to_s = counted[row]
        run = runs[row.run].name
        name = f"{row.flow} {row.number}" if of_flow[row[:2]] > 1 else row.flow
        named = {"run": run, "name": f"{run} {name}"} if several else {"name": name}
        ((label, congestion),) = flows[row.run][row.flow]
        facts = {"label": label, "connection": row.number, "congestion": congestion}
        found.append({**named, **facts, "acks": acks, "from_s": from_s, "to_s": to_s})
    return pl.DataFrame(found)


def _flow_places(runs: Sequence[Results]) -> dict[tuple[int, str], int]:
    """Return the row number of each flow in the page's table of flows, by run and name."""
    flows = [(number, name) for number, run in enumerate(runs) for name in run.flows["name"]]
    return {flow: at for at, flow in enumerate(flows)}


def _add_curves(
    content: Content, traces: Sequence[tuple[int, Trace]], rows: Sequence[Connection]
) -> None:
    quantities = list(dict.fromkeys(one for _, trace in traces for one in trace.labels))
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
        for row, samples in _connections(traces, quantity):
            values[places[row]] = _held(samples, times)
        if quantity.name == "ssthresh":
            values[values > NEVER_SET_PKTS] = np.nan
        name = _unique_name(quantity, quantities)
        measures.append(Measure(name, values, quantity.unit, quantity.title))
        if quantity not in OF_ALL:
            own.append(name)
    add_series(content, TABLE, times, measures, ("cwnd", *own), note=note)


def _connections(
    traces: Sequence[tuple[int, Trace]], quantity: Quantity
) -> Iterator[tuple[Connection, pl.DataFrame]]:
    """Yield each connection that recorded a quantity, with its samples, for all runs."""
    for number, trace in traces:
        for (_, name, connection), samples in trace.connections(quantity):
            yield Connection(number, name, connection), samples


def _held(samples: pl.DataFrame, times: np.ndarray) -> np.ndarray:
    """Return the latest value at each time; NaN before the first and after the last sample."""
    seconds, values = samples["t_s"].to_numpy(), samples["value"].to_numpy()
    latest = np.searchsorted(seconds, times, side="right") - 1
    known = (latest >= 0) & (times <= seconds[-1])
    return np.where(known, values[np.maximum(latest, 0)], np.nan)


def _unique_name(quantity: Quantity, quantities: Sequence[Quantity]) -> str:
    """Return the name of a quantity, with its title if other quantities have this name."""
    shared = sum(other.name == quantity.name for other in quantities) > 1
    return f"{quantity.name}: {quantity.title}" if shared else quantity.name
