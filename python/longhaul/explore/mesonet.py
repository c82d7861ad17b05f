"""Tables of MesoNet runs for a page: routers with network, long-lived flows, classes, goodput."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.network_layout import around, spread
from longhaul.explore.tables import (
    Content,
    Measure,
    Roles,
    add_relation,
    add_series,
    add_table,
    described,
    matrix,
    spans,
)
from longhaul.figures.registry import unit_of
from longhaul.mesonet.tables import MesoNet
from longhaul.results import Results

ROUTERS = (
    "tier", "class", "loss_share", "utilisation_mean", "queue_share_mean", "queue_share_max",
    "arrived_pkts", "dropped_pkts", "first_drop_s", "last_drop_s",
)  # fmt: skip
ABOUT = {
    "loss_share": "dropped packets, as part of those that arrived, in the run or in an interval",
    "first_drop_s": "end of the first interval with drops",
    "last_drop_s": "end of the last interval with drops",
    "intervals_with_drops": "intervals in which the router dropped any packet",
    "utilisation_mean": "mean over all intervals",
    "queue_share_mean": "part of the buffer that is filled, mean over all intervals",
    "queue_share_max": "part of the buffer that is filled, the largest of all intervals",
    "queue_delay_s": "time to forward the waiting packets of the fuller queue",
    "dropped_pkts": "packets dropped, up and down",
    "arrived_pkts": "packets that arrived, up and down",
}
TIERS = {"backbone": 0, "pop": 1, "access": 2}


def add(content: Content, runs: Sequence[Results]) -> None:
    """Add the tables of one or several MesoNet runs to a page."""
    for run in runs:
        tables = MesoNet.of(run)
        of = f" of {run.name}" if len(runs) > 1 else ""
        present = run.tables
        if "routers" in present:
            _add_routers(content, tables, f"routers{of}")
        if "long_lived" in present:
            about = _described(tables, "long_lived")
            _add_by_interval(content, tables.long_lived, "flow", f"long-lived flows{of}",
                             ("cwnd_pkts", "throughput_pps"), about)  # fmt: skip
        if "classes" in present:
            about = _described(tables, "classes")
            _add_by_interval(content, tables.classes, "class", f"classes{of}",
                             ("active_flows", "throughput_pps"), about)  # fmt: skip
        _relate(content, tables, of)
        if "goodput" in present:
            roles = Roles(
                colour="path",
                numbers=("interval", "group"),
                shown=("file", "path", "interface", "role", "mean_pps"),
                about=_described(tables, "goodput"),
            )
            add_table(content, f"goodput{of}", run.table("goodput"), roles)


def _relate(content: Content, tables: MesoNet, of: str) -> None:
    """Relate the rows of long-lived flows and of classes to the rows of their routers.

    The page selects related rows together. `of` is the end of the tables' names, such as ` of RUN`.
    """
    topology = tables.run.table("topology")
    routers = {name: row for row, name in enumerate(topology["router"])}
    above = dict(topology.select("router", "above").iter_rows())
    access = topology.filter(pl.col("tier") == "access")

    def way_up(router: str | None) -> list[int]:
        return [] if router is None else [routers[router], *way_up(above[router])]

    # Access routers have names, or numbers from 1 in order.
    numbered = dict(enumerate(access["router"], start=1))
    ends = {
        flow["label"]: [
            row for end in ("from", "to") for row in way_up(numbered.get(flow[end], flow[end]))
        ]
        for flow in tables.run.scenario["mesonet"].get("long_lived", ())
    }
    if "long_lived" in tables.run.tables:
        flows = tables.long_lived["flow"].unique(maintain_order=True)
        pairs = [(at, row) for at, flow in enumerate(flows) for row in ends.get(flow, ())]
        add_relation(content, f"long-lived flows{of}", f"routers{of}", pairs)
    if "classes" in tables.run.tables:
        # A class is named by the initials of its two ends, such as DN.
        kinds = {router: kind[0].upper() for router, kind in access["router", "class"].iter_rows()}
        classes = tables.classes["class"].unique(maintain_order=True)
        pairs = [
            (at, routers[router])
            for at, name in enumerate(classes)
            for router, kind in kinds.items()
            if kind in name
        ]
        add_relation(content, f"classes{of}", f"routers{of}", pairs)


def _add_routers(content: Content, tables: MesoNet, name: str) -> None:
    """Add the table of routers with their curves, and the network if its links are recorded."""
    topology = tables.run.table("topology")
    routers = topology["router"].to_list()
    samples = tables.routers.with_columns(
        arrived_pkts=pl.col("arrived_up_pkts") + pl.col("arrived_down_pkts"),
        dropped_pkts=pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts"),
        queue_pkts=pl.col("queue_up_pkts") + pl.col("queue_down_pkts"),
    )
    times = samples["t_s"].unique().sort()
    columns = ["dropped_pkts", "utilisation", "queue_share", "queue_pkts", "arrived_pkts",
               "active_flows"]  # fmt: skip
    values = matrix(samples, "router", routers, times, columns)
    arrived, dropped = values["arrived_pkts"], values["dropped_pkts"]
    with np.errstate(invalid="ignore", divide="ignore"):
        values["loss_share"] = np.where(arrived > 0, dropped / arrived, 0.0)
    values["queue_delay_s"] = _queueing(samples, routers, times, topology)
    sums = {column: np.nansum(values[column], 1) for column in ("arrived_pkts", "dropped_pkts")}
    frame = topology.with_columns(
        loss_share=pl.Series(sums["dropped_pkts"] / np.maximum(sums["arrived_pkts"], 1.0)),
        dropped_pkts=pl.Series(sums["dropped_pkts"]),
        arrived_pkts=pl.Series(sums["arrived_pkts"]),
        utilisation_mean=pl.Series(_mean(values["utilisation"])),
        queue_share_mean=pl.Series(_mean(values["queue_share"])),
        queue_share_max=pl.Series(np.nan_to_num(values["queue_share"]).max(1)),
        **spans(dropped, times.to_numpy(), "intervals_with_drops"),
    )
    about = {
        **_described(tables, "topology"), **_described(tables, "routers"), **ABOUT
    }  # fmt: skip
    roles = Roles(label="router", colour="tier", shown=ROUTERS, about=about)
    add_table(content, name, frame, roles)
    measures = [
        Measure(column, values[column], unit_of(column), about.get(column, ""))
        for column in ("loss_share", "queue_delay_s", *columns)
    ]
    shown = ("loss_share", "utilisation")
    add_series(content, name, times.to_numpy(), measures, shown, "dropped_pkts")
    has_curves = any(series["table"] == name for series in content.series)
    if has_curves and "backbone_links" in tables.run.tables:
        content.networks.append({"table": name} | _picture(topology, tables))


def _described(tables: MesoNet, table: str) -> dict[str, str]:
    return described(tables.run.path / f"{table}.parquet")


def _queueing(
    samples: pl.DataFrame, routers: list[str], times: pl.Series, topology: pl.DataFrame
) -> np.ndarray:
    """Return each router's queueing delay (s) over time, in the longer of its two queues."""
    longer = samples.select(
        "router", "t_s", longest=pl.max_horizontal("queue_up_pkts", "queue_down_pkts")
    )
    waiting = matrix(longer, "router", routers, times, ["longest"])["longest"]
    delays: np.ndarray = waiting / topology["capacity_pps"].cast(pl.Float64).to_numpy()[:, None]
    return delays


def _mean(values: np.ndarray) -> np.ndarray:
    """Return the mean of each row over the intervals that have a value; 0 if none has."""
    count = np.isfinite(values).sum(1)
    mean: np.ndarray = np.nansum(values, 1) / np.maximum(count, 1)
    return mean


def _picture(topology: pl.DataFrame, tables: MesoNet) -> dict[str, Any]:
    tiers = dict(topology.select("router", "tier").iter_rows())
    backbone = [name for name, tier in tiers.items() if tier == "backbone"]
    above = {
        router: root for router, root in topology.select("router", "above").iter_rows() if root
    }
    links = sorted({(min(ends), max(ends)) for ends in tables.backbone_ends.values()})
    places = around(spread(backbone, links), above)
    number = {name: at for at, name in enumerate(tiers)}
    ends = [*links, *above.items()]
    return {
        "nodes": [
            {"name": name, "x": places[name][0], "y": places[name][1],
             "tier": TIERS.get(tier, 2), "row": row}
            for row, (name, tier) in enumerate(tiers.items())
        ],
        "links": [
            {"from": number[start], "to": number[other], "row": None} for start, other in ends
        ],
    }  # fmt: skip


def _add_by_interval(
    content: Content, samples: pl.DataFrame, key: str, name: str, shown: Sequence[str],
    about: Mapping[str, str],
) -> None:  # fmt: skip
    """Add a table of flows or classes with the mean of each metric, and their curves.

    `key` is the column of `samples` that names the flows or classes, and `shown` are the metrics
    whose curves are shown at first.
    """
    elements = samples[key].unique(maintain_order=True).to_list()
    columns = [
        column
        for column, kind in samples.schema.items()
        if kind.is_numeric() and column not in ("interval", "t_s")
    ]
    times = samples["t_s"].unique().sort()
    values = matrix(samples, key, elements, times, columns)
    means = {column: _mean(values[column]) for column in columns}
    frame = pl.DataFrame({key: elements} | means)
    mean = {column: f"{about.get(column, '')}; mean over all intervals" for column in columns}
    roles = Roles(label=key, colour=key, shown=(key, *columns[:7]), about={**about, **mean})
    add_table(content, name, frame, roles)
    measures = [
        Measure(column, values[column], unit_of(column), about.get(column, ""))
        for column in columns
    ]
    add_series(content, name, times.to_numpy(), measures, shown)
