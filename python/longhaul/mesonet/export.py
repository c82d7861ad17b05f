"""Export of a run in the text files of the original MesoNet.

The files are those of NIST SP 500-282, tables 3-4 to 3-8 and 8-24. A directory
`Run<exID>TimeStamp<stamp>` contains a file for each measure, named after the measure and the
directory. The file of a time series has no header, and a line per interval: the interval's number,
then the values. Times are in time steps. The stamp is the seed instead of the original's clock
time, so that the same run gives the same files.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from longhaul._engine import Scenario
from longhaul.mesonet.groups import STATISTICS
from longhaul.mesonet.numbered_responses import CLASSES, flow_pps
from longhaul.mesonet.tables import MesoNet
from longhaul.results import Results, ResultsError
from longhaul.results.kinds import RunData

# File stem and column of each measure of the network (table 3-4), except the smoothed RTT.
NETWORK = {
    "ActiveFlows": "active_flows",
    "ConnectionFailures": "failed_flows",
    "FlowCongestionWindowOverTime": "cwnd_mean_pkts",
    "FlowsAboveThreshold": "above_threshold_flows",
    "FlowsCompleted": "completed_flows",
    "FlowsConnecting": "connecting_flows",
    "FlowsInInitialSlowStart": "initial_slow_start_flows",
    "FlowsInNormalCongestionMode": "normal_mode_flows",
    "LossRate": "loss_rate",
    "NAKs": "naks_per_flow",
    "NoReceivers": "no_receivers",
    "PacketsIn": "in_pkts",
    "PacketsOut": "out_pkts",
    "RetransmissionRate": "retransmission_rate",
    "Timeouts": "timeouts_per_flow",
    "WindowIncreases": "growth_mean_pkts",
}
# File stem and column of measures of flow classes (table 3-5), except the throughput.
CLASS = {
    "ActiveFlowsByType": "active_flows",
    "ConnectionFailuresByType": "failed_flows",
    "FlowCongestionWindowByType": "cwnd_mean_pkts",
    "FlowRetransmissionRate": "retransmission_rate",
    "FlowsAboveThresholdByFlowType": "above_threshold_flows",
    "FlowsCompletedByType": "completed_flows",
    "FlowsConnectingByFlowType": "connecting_flows",
    "FlowsInInitialSlowStartByFlowType": "initial_slow_start_flows",
    "FlowsInNormalCongestionModeByFlowType": "normal_mode_flows",
    "NAKsByFlowType": "naks_per_flow",
    "TimeoutsByFlowType": "timeouts_per_flow",
    "WindowIncreasesByFlowType": "growth_mean_pkts",
}
# File stem and column of measures of long-lived flows (table 3-6), except mode and SRTT.
LONG_LIVED = {
    "LongLivedFlowCWNDs": "cwnd_pkts",
    "LongLivedFlowFASTalpha": "fast_alpha_pkts",
    "LongLivedFlowNAKs": "naks",
    "LongLivedFlowThroughputs": "throughput_pps",
    "LongLivedFlowTimeouts": "timeouts",
    "LongLivedFlowWindowIncreases": "increases",
}
# Prefixes of the stems of each tier (table 3-7); the original spells them in two ways.
TIERS = {
    "backbone": ("BackboneRouters", "BackboneRouter"),
    "pop": ("SubnetRouters", "SubnetRouter"),
    "access": ("LeafRouters", "LeafRouter"),
}
# File stem and column of measures of access routers (table 3-8).
EDGES = {
    "LeafConnectionFailures": "failed_flows",
    "LeafNAKs": "naks_per_flow",
    "LeafNoReceivers": "no_receivers",
    "LeafTimeouts": "timeouts_per_flow",
    "LeafWindowIncreases": "increases_per_flow",
}
# The original's names for the modes of an alternate algorithm (table 3-3).
MODES = {
    "hstcp": "HS",
    "ctcp": "COMPOUND",
    "ctcp-nist": "COMPOUND",
    "scalable": "SCALABLE",
    "fast": "FAST",
    "fast-at": "FAST",
    "htcp": "H",
    "bic": "BIC",
}

HOSTS = ("source", "receiver")
# Columns of traced flows, in the order of the original's files. In the files, times are in steps.
STATE = (
    "t_s", "event", "source", "receiver", "algorithm", "class", "start_s", "size_pkts",
    "undelivered_pkts", "sent_pkts", "phase", "cwnd_pkts", "ssthresh_pkts", "sendable_pkts",
    "in_flight_pkts", "next", "highest", "last_nak", "last_timeout", "rto_at_s", "rto_s", "srtt_s",
)  # fmt: skip

Rows = Iterable[Iterable[object]]


def export(run: Results, out: str | Path, *, overwrite: bool = False) -> Path:
    """Write a run as files of the original MesoNet; return their directory, in `out`.

    If the directory exists and `overwrite` is false, raise ResultsError. With `overwrite`, other
    files in the directory are kept.
    """
    tables = MesoNet.of(run)
    stem = f"Run{tables.scenario['run']}TimeStamp{run.meta['seed']}"
    target = Path(out) / stem
    if target.exists() and not overwrite:
        raise ResultsError(
            f"{target} already exists; choose another directory, or allow overwriting"
        )
    target.mkdir(parents=True, exist_ok=True)
    for measure, rows in _files(tables):
        _write(target / f"{measure}{stem}.txt", rows)
    return target


def _files(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    """Yield, for each file to write, the name of its measure and its rows."""
    yield "ConfigurationSettingsFor", _settings_and_derived(tables.run)
    yield from _summaries(tables)
    parts: dict[str, Callable[[MesoNet], Iterator[tuple[str, Rows]]]] = {
        "network": _network,
        "classes": _classes,
        "long_lived": _long_lived,
        "routers": _routers,
        "edges": _edges,
        "goodput": _goodput,
        "flow_trace": _traces,
    }
    for name, part in parts.items():
        if tables.has(name):
            yield from part(tables)
    yield from _monitors(tables)


def _write(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="ascii", errors="replace") as file:
        for row in rows:
            file.write(" ".join(_written(value) for value in row) + "\n")


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    # The original writes 0 for a mean over no flows. Spaces would split a value into several
    # columns.
    return "0" if value is None else str(value).replace(" ", "-")


def _settings(scenario: Mapping[str, Any], path: str = "") -> Rows:
    """Yield every setting of a resolved scenario: its path and its value."""
    for key, value in scenario.items():
        if isinstance(value, dict):
            yield from _settings(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", json.dumps(value)


def _settings_and_derived(run: RunData) -> Rows:
    """Yield the settings of a run, followed by values that are derived from them.

    The original's file has both (NIST SP 500-282, section 3.2.8); derived values are, for example,
    the probabilities of flow classes and the minimum sizes of large files.
    """
    settings = list(_settings(run.scenario))
    yield from settings
    known = {name for name, _ in settings}
    for path, value, _ in Scenario.parse(json.dumps(run.scenario), run.name).explain():
        # A list is one line, so that its entries are left out.
        if path not in known and not any(step.isdigit() for step in path.split(".")):
            yield path, json.dumps(value)


def _network(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    for stem, value in (NETWORK | {"AverageSRTT": pl.col("srtt_mean_s") / tables.step_s}).items():
        yield stem, tables.network.select("interval", value).rows()


def _by_interval(
    table: pl.DataFrame, key: str, names: Iterable[str], measures: Mapping[str, str | pl.Expr]
) -> Iterator[tuple[str, Rows]]:
    """Yield each of `measures`: its file stem, and a row per interval with a value for each name.

    `measures` has columns or expressions by file stem. `names` are values of the column `key`.
    """
    for stem, value in measures.items():
        wide = table.select("interval", key, value=value).pivot(
            on=key, index="interval", values="value", maintain_order=True
        )
        yield stem, wide.select("interval", *names).rows()


def _classes(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    measures = CLASS | {"TemporalFlowThroughputs": flow_pps(tables.interval_s)}
    return _by_interval(tables.classes, "class", CLASSES, measures)


def _long_lived(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    table = tables.long_lived
    names = table["flow"].unique(maintain_order=True).to_list()
    kinds = {
        entry["label"]: entry["congestion"].get("kind") for entry in tables.scenario["algorithms"]
    }
    alternate = {
        flow["label"]: MODES.get(kinds.get(flow.get("algorithm"), ""), "ALTERNATE")
        for flow in tables.scenario["long_lived"]
    }
    mode = (
        pl.when(pl.col("mode") == "none")
        .then(pl.lit("NONE"))
        .when(pl.col("mode") == "alternate")
        .then(pl.col("flow").replace_strict(alternate, default="ALTERNATE"))
        .otherwise(pl.lit("NORMAL"))
    )
    srtt = pl.col("srtt_s") / tables.step_s
    measures = LONG_LIVED | {"LongLivedFlowSRTT": srtt, "LongLivedFlowCongestionMode": mode}
    return _by_interval(table, "flow", names, measures)


def _names(tables: MesoNet, tier: str) -> list[str]:
    topology = tables.topology
    return topology.filter(pl.col("tier") == tier)["router"].to_list()


def _routers(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    dropped = pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts").fill_null(0)
    forwarded = pl.col("forwarded_up_pkts") + pl.col("forwarded_down_pkts").fill_null(0)
    for tier, (plural, singular) in TIERS.items():
        table, names = tables.routers.filter(pl.col("tier") == tier), _names(tables, tier)
        measures: dict[str, str | pl.Expr] = {
            f"{plural}ActiveFlows": "active_flows",
            f"{singular}Losses": dropped,
            f"{plural}QLength": "queue_share",
            f"{singular}Util": "utilisation",
        }
        yield from _by_interval(table, "router", names, measures)
        of_router = table.group_by("router", maintain_order=True)
        completed = of_router.agg(pl.col("completed_flows").max())
        yield f"{plural}FlowsCompleted", _with_header(names, completed)
        yield f"{singular}PacketsForwarded", _with_header(names, of_router.agg(forwarded.sum()))


def _with_header(names: list[str], table: pl.DataFrame) -> Rows:
    """Return the header `names` and a line of values in the order of `names`.

    `table` has two columns: the name, and the value.
    """
    values = dict(table.iter_rows())
    return [names, [values[name] for name in names]]


def _edges(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    names = _names(tables, "access")
    yield from _by_interval(tables.edges, "router", names, EDGES)
    syns = tables.edges.group_by("router", maintain_order=True).agg(
        pl.col("syns").sum() / pl.col("first_syns").sum()
    )
    yield "LeafSYNrateLeaf", _with_header(names, syns.fill_nan(None))


def _summaries(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    """Yield each measure of the whole run: its name, and rows with a header."""
    totals = tables.totals
    classes = totals.select("class", "completed_flows", "goodput_mean_pps").rows()
    heads = [f"{kind}{name}" for name, *_ in classes for kind in ("Flows", "Throughput")]
    yield "FlowThroughputsByType", [heads, [value for _, *row in classes for value in row]]
    yield "SYNrateByType", [totals["class"], totals["syns_per_connection"]]
    meta = tables.run.meta
    intervals = round(meta["simulated_s"] / tables.interval_s)
    connected, syns = int(totals["connected_flows"].sum()), int(totals["syns"].sum())
    whole = {
        "Intervals": intervals,
        "DataPacketsIn": meta["data_packets"],
        "DataPacketsOut": meta["mesonet"]["delivered_packets"],
        "FlowsStarted": connected + int(totals["failed_flows"].sum()),
        "FlowsCompleted": int(totals["completed_flows"].sum()),
        "SYNs": syns / connected if connected else None,
    }
    yield "TotalPackets", [whole.keys(), whole.values()]


def _goodput(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    """Yield a file for each flow group and role (algorithm under test or standard TCP).

    A file has a line for each batch of completed flows: the interval at whose end the batch is
    reported, the number of flows, and the mean, standard deviation, minimum, maximum and deciles
    of their goodput.
    """
    for (number, role), batches in tables.goodput.group_by("group", "role", maintain_order=True):
        kind = "ALT" if role == "alternate" else "TCP"
        yield f"FlowGroup{number}{kind}", batches.select("interval", "flows", *STATISTICS).rows()


def _traces(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    """Yield the files of traced flows: their state at every event, and their packets.

    Packets from the sender are listed when they are sent, packets from the receiver when they are
    delivered (NIST SP 500-282, chapter 3).
    """
    # A long-lived flow's name stands for its hosts.
    ends = [pl.coalesce(pl.col(key).cast(pl.String), "long_lived").alias(key) for key in HOSTS]
    states = tables.flow_trace
    steps = [pl.col(column) / tables.step_s for column in STATE if column.endswith("_s")]
    yield "TCPstate", states.with_columns(*ends, *steps).select(STATE).rows()
    if tables.has("packet_trace"):
        hosts = states.select("flow", *ends).unique("flow", keep="first", maintain_order=True)
        seen = pl.when(pl.col("kind").is_in(["SYN", "DT"])).then(pl.lit("sent"))
        messages = tables.packet_trace.filter(
            pl.col("event") == seen.otherwise(pl.lit("delivered"))
        ).join(hosts, on="flow", how="left", maintain_order="left")
        time = pl.col("t_s") / tables.step_s
        yield "TCPmessages", messages.select(time, *HOSTS, "kind", "number").rows()


def _monitors(tables: MesoNet) -> Iterator[tuple[str, Rows]]:
    """Yield a file with the packets on each link that the scenario monitors.

    At a point of presence or access router, this is the link from the router above.
    """
    measure = tables.scenario["measure"]
    if tables.has("backbone_links"):
        table = tables.backbone_links
        links = table["link"].unique(maintain_order=True).to_list()
        if link := _monitored(measure["backbone_link"], links):
            part = table.filter(pl.col("link") == link).select("interval", "entered_pkts")
            yield "MonitoredBBLink", part.rows()
    if tables.has("routers"):
        for tier, stem in (("pop", "MonitoredSubnetLink"), ("access", "MonitoredLeafLink")):
            if router := _monitored(measure[tier], _names(tables, tier)):
                part = tables.routers.filter(pl.col("router") == router)
                yield stem, part.select("interval", "arrived_down_pkts").rows()


def _monitored(given: object, names: list[str]) -> str | None:
    """Return the name of a monitored link or router; `given` is a name, or a number from 1.

    The number is the position in `names`. Return None for 0 or an empty name: nothing is monitored.
    """
    if isinstance(given, str):
        return given or None
    number = int(str(given))
    return names[number - 1] if number else None
