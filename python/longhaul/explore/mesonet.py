"""Tables of MesoNet runs for a page: routers with network, long-lived flows, classes, goodput."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from longhaul.analysis.network_layout import around, spread
from longhaul.explore.tables import (
    Content,
    Roles,
    add_network,
    add_relation,
    add_series,
    add_table,
    described,
    matrix,
    measures,
    spans,
)
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
    "utilisation_mean": "utilisation, mean over all intervals",
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
        for table, key, name, shown in (
            ("long_lived", "flow", "long-lived flows", ("cwnd_pkts", "throughput_pps")),
            ("classes", "class", "classes", ("active_flows", "throughput_pps")),
        ):
            if table in present:
                about = _described(tables, table)
                _add_by_interval(content, run.table(table), key, f"{name}{of}", shown, about)
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
    topology = tables.topology
    routers = {name: row for row, name in enumerate(topology["router"])}
    above = dict(topology.select("router", "above").iter_rows())
    access = topology.filter(pl.col("tier") == "access")

    def way_up(router: str | None) -> list[int]:
        return [] if router is None else [routers[router], *way_up(above[router])]

    # A long-lived flow names its access routers, or states their numbers, which begin at 1.
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
    topology = tables.topology
    routers = topology["router"].to_list()
    samples = tables.routers.with_columns(
        arrived_pkts=pl.col("arrived_up_pkts") + pl.col("arrived_down_pkts"),
        dropped_pkts=pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts"),
        queue_pkts=pl.col("queue_up_pkts") + pl.col("queue_down_pkts"),
        longest_pkts=pl.max_horizontal("queue_up_pkts", "queue_down_pkts"),
    )
    times = samples["t_s"].unique().sort()
    columns = ["dropped_pkts", "utilisation", "queue_share", "queue_pkts", "arrived_pkts",
               "active_flows"]  # fmt: skip
    values = matrix(samples, "router", routers, times, [*columns, "longest_pkts"])
    arrived, dropped = values["arrived_pkts"], values["dropped_pkts"]
    with np.errstate(invalid="ignore", divide="ignore"):
        values["loss_share"] = np.where(arrived > 0, dropped / arrived, 0.0)
    # Queueing delay in the longer of a router's two queues.
    capacity_pps = topology["capacity_pps"].cast(pl.Float64).to_numpy()[:, None]
    values["queue_delay_s"] = values["longest_pkts"] / capacity_pps
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
    about = _described(tables, "topology") | _described(tables, "routers") | ABOUT
    roles = Roles(label="router", colour="tier", shown=ROUTERS, about=about)
    add_table(content, name, frame, roles)
    curves = {column: values[column] for column in ("loss_share", "queue_delay_s", *columns)}
    shown = ("loss_share", "utilisation")
    add_series(content, name, times.to_numpy(), measures(curves, about), shown, "dropped_pkts")
    has_curves = any(series["table"] == name for series in content.series)
    if has_curves and "backbone_links" in tables.run.tables:
        _add_network(content, name, tables)


def _described(tables: MesoNet, table: str) -> dict[str, str]:
    return described(tables.run.path / f"{table}.parquet")


def _mean(values: np.ndarray) -> np.ndarray:
    """Return the mean of each row over the intervals that have a value; 0 if none has."""
    count = np.isfinite(values).sum(1)
    mean: np.ndarray = np.nansum(values, 1) / np.maximum(count, 1)
    return mean


def _add_network(content: Content, table: str, tables: MesoNet) -> None:
    """Add the map of the routers, and of the links between them."""
    routers = tables.topology.select("router", "tier", "above").rows()
    tiers = {router: TIERS[tier] for router, tier, _ in routers}
    backbone = [router for router, tier in tiers.items() if tier == TIERS["backbone"]]
    above = {router: root for router, _, root in routers if root}
    links = sorted({(min(ends), max(ends)) for ends in tables.backbone_ends.values()})
    places = around(spread(backbone, links), above)
    add_network(content, table, places, [*links, *above.items()], tiers)


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
    add_series(content, name, times.to_numpy(), measures(values, about), shown)
