"""Check of the built-in topology and its delays (NIST SP 500-282, tables 3-1 and 3-2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean

import polars as pl

import longhaul
from longhaul.mesonet import MesoNet
from validation.mesonet.network import quiet
from validation.mesonet.routes import routes
from validation.rows import Row, exactly

CASE = "EX-TOPO"
FAST = 16_000
"""Service rate in packets per ms, so high that routers hardly lengthen a round trip."""
NUMBERED = {
    1: "A1a", 12: "B0a", 24: "C0a", 50: "E0a", 62: "F0a", 102: "I0a", 131: "K0a", 139: "K2d",
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Yield rows for the counts of routers, and for the routes and their round-trip times."""
    table = MesoNet.of(longhaul.run(quiet(1))).topology
    yield from elements(table)
    yield from ways(table)


def elements(topology: pl.DataFrame) -> Iterator[Row]:
    """Yield rows for the numbers and names of routers (E-01, E-02, E-07)."""
    tiers = dict(topology.group_by("tier").len().iter_rows())
    for tier, count in (("backbone", 11), ("pop", 22), ("access", 139)):
        yield exactly(CASE, f"routers, {tier}", count, tiers[tier])
    access = topology.filter(pl.col("tier") == "access")
    classes = dict(access.group_by("class").len().iter_rows())
    for kind, count in (("normal", 105), ("fast", 28), ("direct", 6)):
        yield exactly(CASE, f"access routers, {kind}", count, classes[kind])
    for wanted, name in NUMBERED.items():
        yield exactly(CASE, f"number of {name}", wanted, 1 + access["router"].to_list().index(name))


def ways(topology: pl.DataFrame) -> Iterator[Row]:
    """Yield rows for the routes in both directions, and for their delays (E-03 to E-06)."""
    access = topology.filter(pl.col("tier") == "access")["router"].to_list()
    below = {name[0]: name for name in reversed(access)}
    pairs = [(source, other) for source in below for other in below if source < other]
    same, delays_ms = 0, []
    asymmetric = []
    for source, other in pairs:
        links, rtt_s = _seen(below[source], below[other])
        same += links == _links(source, other) | _links(other, source)
        delays_ms.append(round(1e3 * rtt_s))
        if {(end, start) for start, end in links} != links:
            asymmetric.append(f"{source}-{other}")
    printed = [routes()[source, other][1] + routes()[other, source][1] for source, other in pairs]
    yield exactly(CASE, "pairs of backbone routers", 55, len(pairs))
    yield exactly(CASE, "pairs with the published routes", 55, same)
    right = sum(here == there for here, there in zip(delays_ms, printed, strict=True))
    yield exactly(CASE, "pairs with the published round trip", 55, right)
    yield exactly(CASE, "pairs with other ways back", 5, len(asymmetric))
    yield exactly(CASE, "mean round trip, ms, rounded", 41, round(fmean(delays_ms)))
    yield exactly(CASE, "smallest round trip, ms", 6, min(delays_ms))
    yield exactly(CASE, "largest round trip, ms", 100, max(delays_ms))


Links = set[tuple[str, str]]


def _links(source: str, other: str) -> Links:
    """Return the links of the published route from router `source` to router `other`."""
    way = routes()[source, other][0].split("-")
    return set(pairwise(way))


def _seen(source: str, other: str) -> tuple[Links, float]:
    """Return the links that the packets and ACKs of a flow entered, and its round-trip time.

    The flow runs from router `source` to router `other`.
    """
    run = longhaul.run(
        quiet(
            2,
            network={"backbone_rate": FAST},
            measure={"tables": ["long_lived", "backbone_links"]},
            long_lived=[{"from": source, "to": other}],
        )
    )
    entered = MesoNet.of(run).backbone_links.filter(pl.col("entered_pkts") > 0)["link"]
    links = {(name.split("-")[0], name.split("-")[1]) for name in entered}
    return links, MesoNet.of(run).long_lived["srtt_s"][0]
