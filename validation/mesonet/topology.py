"""Check of the built-in topology, its routes and delays (NIST SP 500-282, tables 3-1, 3-2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import eq
from statistics import fmean

import polars as pl

import longhaul
from longhaul.mesonet import MesoNet
from validation.mesonet.network import quiet
from validation.mesonet.tables import published
from validation.rows import Row, exactly

CASE = "EX-TOPO"
FAST = 16_000
"""Service rate in packets per ms, so high that routers hardly lengthen a round trip."""
# Names of some access routers, by their number in the study.
NUMBERED = {
    1: "A1a", 12: "B0a", 24: "C0a", 50: "E0a", 62: "F0a", 102: "I0a", 131: "K0a", 139: "K2d",
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Yield rows for the counts of routers, and for the routes and their round-trip times."""
    table = MesoNet.of(longhaul.run(quiet(1))).topology
    yield from elements(table)
    yield from ways(table)


def elements(topology: pl.DataFrame) -> Iterator[Row]:
    """Yield rows for the counts of routers by tier and class, and for numbers of some routers."""
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
    """Yield rows for the routes in both directions, and for their round-trip times."""
    access = topology.filter(pl.col("tier") == "access")["router"].to_list()
    below = {name[0]: name for name in reversed(access)}
    pairs = [(source, other) for source in below for other in below if source < other]
    # Names of routers, joined with dashes, and delay in time steps, by the routers at both ends.
    routes = {(row["from"], row["to"]): row for row in published("routes_3_2")}
    both_ways = [(routes[source, other], routes[other, source]) for source, other in pairs]
    expected = [_links(there["route"]) | _links(back["route"]) for there, back in both_ways]
    printed = [int(there["delay"]) + int(back["delay"]) for there, back in both_ways]
    seen, rtts_s = zip(
        *(_seen(below[source], below[other]) for source, other in pairs), strict=True
    )
    delays_ms = [round(1e3 * rtt_s) for rtt_s in rtts_s]
    asymmetric = sum({(end, start) for start, end in links} != links for links in seen)
    yield exactly(CASE, "pairs of backbone routers", 55, len(pairs))
    yield exactly(CASE, "pairs with the published routes", 55, sum(map(eq, seen, expected)))
    right = sum(map(eq, delays_ms, printed))
    yield exactly(CASE, "pairs with the published round trip", 55, right)
    yield exactly(CASE, "pairs with a different route back", 5, asymmetric)
    yield exactly(CASE, "mean round trip, ms, rounded", 41, round(fmean(delays_ms)))
    yield exactly(CASE, "smallest round trip, ms", 6, min(delays_ms))
    yield exactly(CASE, "largest round trip, ms", 100, max(delays_ms))


Links = set[tuple[str, str]]


def _links(route: str) -> Links:
    """Return the links of a published route, as pairs of routers."""
    return set(pairwise(route.split("-")))


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
    links: Links = {tuple(name.split("-")) for name in entered}
    return links, MesoNet.of(run).long_lived["srtt_s"][0]
