"""Tables of `connections` runs for a page: flows, links, proxies, exchanges, traced connections."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl

from longhaul import _engine
from longhaul._engine import LonghaulError, Scenario
from longhaul.analysis.network_layout import MOST_NODES, spread
from longhaul.explore import states
from longhaul.explore.large import add_large
from longhaul.explore.tables import (
    Content,
    Roles,
    add_network,
    add_relation,
    add_series,
    add_table,
    matrix,
    measures,
    spans,
)
from longhaul.results import Results

FLOWS = ("label", "goodput_bps", "left_slow_start_s", "left_slow_start_by", "rtt_mean_s",
         "cwnd_mean_pkts", "retransmitted_pkts", "cuts_loss", "timeouts")  # fmt: skip
LINKS = ("utilization", "queue_mean_pkts", "queue_max_pkts", "dropped_pkts", "first_drop_s",
         "last_drop_s", "marked_pkts")  # fmt: skip
PROXIES = ("cwnd_mean_pkts", "queue_mean_pkts", "queue_max_pkts", "dropped_pkts", "timeouts",
           "retransmitted_pkts")  # fmt: skip
EXCHANGES = ("name", "start_s", "response_bytes", "duration_s", "retransmitted_pkts")
# Name of the growth per second of each sampled counter, and the factor of its unit.
GROWTH = {
    "delivered_bytes": ("throughput_bps", 8.0),
    "retransmitted_pkts": ("retransmitted_pps", 1.0),
    "transmitted_bytes": ("throughput_bps", 8.0),
    "dropped_pkts": ("dropped_pps", 1.0),
    "marked_pkts": ("marked_pps", 1.0),
}
Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
DERIVED = {
    "queue_share": "part of the buffer that is filled, in packets or bytes, as its limit is given",
    "loss_share": "dropped packets, as part of dropped and sent ones, since the previous sample",
    "utilization": "part of the rate that was used since the previous sample",
    "lost_pkts": "packets dropped since the previous sample",
    "queue_delay_s": "time to send the waiting bytes at the mean rate since the previous sample",
}
# Measures of losses; the page's chart of them has a line for each element with losses.
LOST = {"flows": "retransmitted_pps", "links": "lost_pkts", "proxies": "dropped_pps"}
SAMPLES = '`measure = { every = "100 ms" }` in the scenario of the run'
ABOUT = {
    "left_slow_start_s": "time at which the flow left slow start for the first time",
    "left_slow_start_by": "source of left_slow_start_s: the event of the window reduction that "
    "ended slow start or, if slow start ended without a reduction, the first sample whose window "
    "is at the slow start threshold or above",
    "first_drop_s": "end of the first interval between samples in which the link dropped packets",
    "last_drop_s": "end of the last interval between samples in which the link dropped packets",
    "samples_with_drops": "intervals between samples in which the link dropped packets",
}
# Measures that are shown first.
CURVES = {
    "flows": ("cwnd_pkts", "ssthresh_pkts"),
    "links": ("queue_share", "queue_pkts", "utilization"),
    "proxies": ("cwnd_pkts", "queue_pkts"),
}
# Further columns of links that derived measures need.
MEASURED = ("queue_bytes", "capacity_bytes", "departed_pkts")
# Sampled columns that are curves without conversion, for each kind of element.
STATES = {
    "flow": ("cwnd_pkts", "ssthresh_pkts", "in_flight_pkts", "srtt_s"),
    "link": ("queue_pkts", "queue_avg_pkts", "drop_p"),
    "proxy": ("cwnd_pkts", "ssthresh_pkts", "in_flight_pkts", "srtt_s", "queue_pkts"),
}
# For each kind of element: the name of its table, and the columns that the page shows first.
TABLES = {"flow": ("flows", FLOWS), "link": ("links", LINKS), "proxy": ("proxies", PROXIES)}


def add(content: Content, runs: Sequence[Results]) -> None:
    """Add the tables of runs to a page; rows of several runs are concatenated.

    Proxies are added only if all runs have some.
    """
    several = len(runs) > 1
    _add_elements(content, runs, "flow", several=several)
    _add_elements(content, runs, "link", several=several)
    if all("proxies" in run.tables for run in runs):
        _add_elements(content, runs, "proxy", several=several)
    _relate(content, runs)
    states.add(content, runs)
    exchanges = [
        _named(run, _exchanges(run, content.sample), several=several)
        for run in runs
        if "exchanges" in run.tables
    ]
    if exchanges:
        scan = pl.concat(exchanges, how="diagonal").with_columns(
            duration_s=pl.col("end_s") - pl.col("start_s")
        )
        numbers = ("flow", "connection", "exchange")
        about = _about("exchanges") | {"duration_s": "from the start of an exchange to its end"}
        roles = Roles(colour="name", numbers=numbers, shown=EXCHANGES, about=about)
        add_large(content, "exchanges", scan, roles)


def _exchanges(run: Results, most: int) -> pl.LazyFrame:
    """Return the exchanges of a run: in memory, or as a lazy scan if there are more than `most`."""
    if run.tables["exchanges"] <= most:
        return run.exchanges.lazy()
    return pl.scan_parquet(run.path / "exchanges.parquet")


def _add_elements(content: Content, runs: Sequence[Results], kind: str, *, several: bool) -> None:
    """Add the table of flows, links or proxies (`kind`) to a page, with their curves.

    Curves are added only if all runs have samples. The table of links of a single run has a picture
    of the network. `several` is true if there is more than one run.
    """
    table, shown = TABLES[kind]
    sampled = [run for run in runs if "series" in run.tables]
    curves = {run.path: _curves(run, kind) for run in sampled}
    frames = []
    for run in runs:
        frame = run.table(table)
        frame = frame.drop([name for name in frame.columns if name.startswith("total_")])
        of_run = curves.get(run.path, {})
        if kind == "flow":
            frame = _with_slow_start(run, frame, of_run)
        elif kind == "link":
            frame = _with_drops(frame, of_run)
        frames.append(_named(run, frame, several=several))
    about = _about(table) | ABOUT
    if several:
        shown = ("run", *shown)
    colour = "run" if several else "label" if kind == "flow" else "name"
    frame = pl.concat(frames, how="diagonal_relaxed")
    roles = Roles(
        label="name", colour=colour, numbers=("flow", "link", "proxy"), shown=shown, about=about,
        competitor="congestion" if kind == "flow" else None, samples=SAMPLES,
    )  # fmt: skip
    add_table(content, table, frame, roles)
    if len(sampled) == len(runs):
        _add_curves(content, table, [curves[run.path] for run in runs])
    if kind == "link" and not several:
        _add_network(content, runs[0])


def _with_slow_start(
    run: Results, flows: pl.DataFrame, curves: dict[str, np.ndarray]
) -> pl.DataFrame:
    """Add the time at which each flow first left slow start, and its source: event or sample.

    The columns are null for a flow that never left slow start, and omitted if no flow left it.
    """
    cuts: dict[str, float] = {}
    if "events" in run.tables:
        # A reduction that ends slow start sets the window to ssthresh. Model-based algorithms do
        # not set ssthresh.
        at_threshold = pl.col("cwnd_after_pkts") >= pl.col("ssthresh_after_pkts")
        ends = run.events.filter(pl.col("event") == "cut", at_threshold)
        cuts = dict(ends.group_by("name").agg(pl.col("t_s").min()).iter_rows())
    event = pl.Series([cuts.get(name) for name in flows["name"]], dtype=pl.Float64)
    never = np.full(flows.height, np.nan)
    sample = pl.Series(curves.get("left_slow_start_s", never), nan_to_null=True)
    left = pl.min_horizontal(event, sample)
    by = pl.when(left == event).then(pl.lit("event")).when(left == sample).then(pl.lit("sample"))
    found = flows.with_columns(left_slow_start_s=left, left_slow_start_by=by)
    return flows if found["left_slow_start_by"].is_null().all() else found


def _with_drops(links: pl.DataFrame, curves: dict[str, np.ndarray]) -> pl.DataFrame:
    """Add the number of each link's samples with drops, and the times of the first and the last.

    Without curves of drops, return `links` unchanged.
    """
    if "lost_pkts" not in curves:
        return links
    return links.with_columns(**spans(curves["lost_pkts"], curves["t_s"], "samples_with_drops"))


def _named(run: Results, frame: Frame, *, several: bool) -> Frame:
    """Add a column `run`, and put the run's name before each `name`, if there are several runs."""
    if not several:
        return frame
    columns = frame.collect_schema().names()
    named = frame.with_columns(pl.lit(run.name).alias("run"))
    if "name" in columns:
        named = named.with_columns(pl.format("{} {}", pl.lit(run.name), "name").alias("name"))
    return named.select("run", *columns)


def _curves(run: Results, kind: str) -> dict[str, np.ndarray]:
    """Return sampled metrics of all flows, links or proxies (`kind`), as arrays by name.

    Counters are converted to growth per second, except `lost_pkts`, the drops since the previous
    sample. The array `t_s` has the times. The array `left_slow_start_s` has a single time for each
    flow. Without samples, the result is empty.
    """
    elements = run.table(TABLES[kind][0])["name"].to_list()
    samples = run.series.filter(pl.col("kind") == kind)
    if samples.is_empty():
        return {}
    times = run.sample_times
    wanted = [name for name in STATES[kind] if name in samples.columns]
    counters = [name for name in GROWTH if name in samples.columns]
    others = MEASURED if kind == "link" else ()
    values = matrix(samples, "name", elements, times, [*wanted, *counters, *others])
    seconds = times.to_numpy()
    curves: dict[str, np.ndarray] = {"t_s": seconds} | {name: values[name] for name in wanted}
    for counter in counters:
        name, factor = GROWTH[counter]
        growth = growth_per_s(values[counter], seconds, factor)
        if np.isfinite(growth).any():
            curves[name] = growth
    if kind == "link":
        curves |= _of_links(values, seconds)
        curves |= _filled(run, values)
    if kind == "flow":
        threshold = curves["ssthresh_pkts"]
        threshold[threshold > states.NEVER_SET_PKTS] = np.nan
        above = curves["cwnd_pkts"] >= curves["ssthresh_pkts"]
        curves["left_slow_start_s"] = np.where(above.any(1), seconds[above.argmax(1)], np.nan)
    return curves


def growth_per_s(counters: np.ndarray, seconds: np.ndarray, factor: float) -> np.ndarray:
    """Return the growth per second of counters since the previous sample, times `factor`.

    The last axis of `counters` is time; `seconds` are the times. The first growth is NaN.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        grown = factor * np.diff(counters, axis=-1, prepend=np.nan)
        rates = grown / np.diff(seconds, prepend=np.nan)
    return np.where(np.isfinite(rates), rates, np.nan)


def _of_links(values: dict[str, np.ndarray], seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the losses, utilisation and queueing delay of links over time.

    `seconds` are the times of the samples.
    """
    dropped, departed, sent, capacity = (
        np.diff(values[name], axis=1, prepend=np.nan)
        for name in ("dropped_pkts", "departed_pkts", "transmitted_bytes", "capacity_bytes")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        handled = departed + dropped
        loss = np.where(handled > 0, dropped / handled, 0.0)
        rates = 8 * capacity / np.diff(seconds, prepend=np.nan)
        columns = {
            "lost_pkts": dropped,
            "loss_share": np.where(np.isnan(handled), np.nan, loss),
            "utilization": sent / capacity,
            "queue_delay_s": 8 * values["queue_bytes"] / rates,
        }
    return {name: column for name, column in columns.items() if np.isfinite(column).any()}


def _scenario(run: Results) -> Scenario | None:
    """Return the scenario of a run; None if it cannot be parsed.

    For example, it may name a user's algorithm, or be of another version of Longhaul.
    """
    try:
        return Scenario.parse(json.dumps(run.scenario), run.name)
    except LonghaulError:
        return None


def _filled(run: Results, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the occupied fraction of each link's buffer over time, if buffer sizes are known."""
    scenario = _scenario(run)
    if scenario is None or len(scenario.buffers) != len(values["queue_pkts"]):
        return {}
    shares = [
        values["queue_pkts" if in_packets else "queue_bytes"][row] / limit
        for row, (limit, in_packets) in enumerate(scenario.buffers)
    ]
    return {"queue_share": np.array(shares)}


def _relate(content: Content, runs: Sequence[Results]) -> None:
    """Relate flows to the links on their paths, so that the page selects both together."""
    pairs: list[tuple[int, int]] = []
    flows = links = 0
    for run in runs:
        scenario = _scenario(run)
        routes = dict(scenario.routes) if scenario is not None else {}
        for row, name in enumerate(run.flows["name"]):
            pairs += [(flows + row, links + link) for link in routes.get(name, ())]
        flows += run.flows.height
        links += run.links.height
    add_relation(content, "flows", "links", pairs)


def _add_curves(content: Content, table: str, curves: list[dict[str, np.ndarray]]) -> None:
    """Add the curves of several runs to a table, at all times at which any run has a sample.

    Metrics that a run lacks are left out.
    """
    if not all(curves):
        return
    times = np.unique(np.concatenate([curve["t_s"] for curve in curves]))
    names = [name for name in curves[0] if name not in ("t_s", "left_slow_start_s")]
    values = {}
    for name in names:
        if not all(name in curve for curve in curves):
            continue
        parts = []
        for curve in curves:
            on_all = np.full((len(curve[name]), len(times)), np.nan)
            on_all[:, np.searchsorted(times, curve["t_s"])] = curve[name]
            parts.append(on_all)
        values[name] = np.concatenate(parts)
    shown = measures(values, _about("series") | DERIVED)
    add_series(content, table, times, shown, CURVES[table], LOST[table])


def _add_network(content: Content, run: Results) -> None:
    """Add the graph of a run's links to a page, if it is small enough and links have curves."""
    links = run.links
    nodes = list(dict.fromkeys([*links["from"], *links["to"]]))
    if len(nodes) > MOST_NODES or not any(series["table"] == "links" for series in content.series):
        return
    ends = list(zip(links["from"], links["to"], strict=True))
    add_network(content, "links", spread(nodes, ends), ends)


def _about(table: str) -> dict[str, str]:
    rows: list[dict[str, Any]] = _engine.columns()
    return {row["name"]: row["description"] for row in rows if row["table"] == table}
