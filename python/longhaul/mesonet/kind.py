"""MesoNet as a kind of simulation."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from longhaul._engine import Scenario
from longhaul.mesonet import summary
from longhaul.mesonet.tables import MesoNet
from longhaul.results.kinds import Kind, PlannedRun, RunData, TimeSeries

# Columns of the network's table that must be steady in a steady state.
_STATE = ("active_flows", "out_pkts", "completed_flows", "srtt_mean_s", "cwnd_mean_pkts")
# Mean packets per second of a source with the parameters of the published studies.
_SOURCE_PPS = 20.0

_LEFT_OUT = "`mesonet.measure.tables` of the scenario leaves it out"
_TRACE = 'the scenario traces flows with `measure = { trace = { flows = ["L1"] } }`'
_REMEDIES = {
    "network": _LEFT_OUT,
    "classes": _LEFT_OUT,
    "routers": _LEFT_OUT,
    "edges": _LEFT_OUT,
    "backbone_links": _LEFT_OUT,
    "goodput": _LEFT_OUT,
    "long_lived": "the scenario has no `long_lived` flows, or `measure.tables` leaves them out",
    "measures": "the run was given no functions that measure (`longhaul.run(..., measures=[f])`)",
    "flow_trace": _TRACE,
    "packet_trace": _TRACE,
}


def _provenance(meta: Mapping[str, Any]) -> dict[str, str]:
    of = meta["mesonet"]
    state = (
        f"{of['bytes_per_source']} B a source, {of['bytes_per_receiver']} B a receiver, "
        f"{of['bytes_per_flow']} B a flow; {of['flows_max']:,} flows at most"
    )
    return {"state": state}


def _kept(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "delivered_pkts": meta["mesonet"]["delivered_packets"],
        "events": meta["events"],
        "peak_memory_bytes": meta["machine"]["peak_memory_bytes"],
    }


def _without_numbers(_: Sequence[Scenario]) -> dict[str, Any]:
    # Names of rows, such as classes and periods, are known only after a run.
    return {table: [dict.fromkeys(columns)] for table, columns in summary.columns().items()}


def _time_series(run: RunData) -> TimeSeries:
    network = MesoNet.of(run).network
    for column in _STATE:
        known = network.filter(pl.col(column).is_not_null())
        yield column, known["t_s"].to_numpy(), known[column].cast(pl.Float64).to_numpy()


def _expected_packets(run: PlannedRun) -> float:
    # Resolved, since keys have several names, and the topology has the number of access routers.
    resolved = run.resolved
    explained = {path: value for path, value, _ in resolved.explain()}
    return resolved.duration_s * float(explained["mesonet.hosts.sources.all"]) * _SOURCE_PPS


def _card(run: Any) -> str:  # noqa: ANN401
    from longhaul.reports import card  # loads Matplotlib; only notebooks show cards

    return card(run)


KIND = Kind(
    name="mesonet",
    title="MesoNet",
    tables=MesoNet,
    required=lambda _: (),
    summary=summary.Summary.of,
    without_numbers=_without_numbers,
    card=_card,
    compare=summary.table,
    changes=lambda _: None,
    plots=("longhaul.mesonet.plots",),
    report_plots=(
        "flow-states", "packets-out", "retransmission-rate", "cwnd-classes", "throughput-classes",
        "router-queues", "long-lived",
    ),
    remedies=_REMEDIES,
    provenance=_provenance,
    kept=_kept,
    reduced=lambda run, _: run.figures(),
    time_series=_time_series,
    expected_packets=_expected_packets,
    is_resumable=True,
    same_since=5,
)  # fmt: skip
