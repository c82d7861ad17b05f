"""Capacities, buffers and numbers of hosts that follow from a few parameters.

The rules are those of chapters 3 and 4 of NIST SP 500-282.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import polars as pl

import longhaul
from longhaul.files.rows import number
from longhaul.mesonet import MesoNet
from longhaul.mesonet.summary import access_capacity, utilisation
from validation.mesonet.tables import published
from validation.rows import Row, exactly, near

UNIFORM = {"normal": 1 / 3, "fast": 1 / 3, "direct": 1 / 3}
SKEWED = {"normal": 0.1, "fast": 0.6, "direct": 0.3}
WEB = {"normal": 0.8, "fast": 0.1, "direct": 0.1}


def capacities() -> Iterator[Row]:
    """Yield rows for the speeds of routers, and for the utilisation of access routers."""
    speeds = {
        400: (1, {"backbone": 400, "pop": 100, "normal": 10, "fast": 20, "direct": 100}),
        8000: (2, {"backbone": 16_000, "pop": 2000, "normal": 200, "fast": 400, "direct": 2000}),
    }
    for rate, (speedup, expected) in speeds.items():
        table = topology(R1=rate, BBspeedup=speedup)
        for kind, per_ms in expected.items():
            here = _of(table, kind)["capacity_pps"].unique().item() / 1e3
            yield exactly(f"EX-TIME R1 = {rate}", f"{kind} routers, packets/ms", per_ms, here)
    total_pps = access_capacity(table)
    yield exactly("EX-UTIL", "capacity, packets in 200 ms", 8.84e6, round(0.2 * total_pps, 3))
    out = pl.DataFrame({"out_pps": [8.15e5 / 0.2]})
    used = out.select(utilisation(pl.col("out_pps"), total_pps)).item()
    yield exactly("EX-UTIL", "utilisation", 0.184, round(used, 3))


def populations() -> Iterator[Row]:
    """Yield rows for the numbers of sources and receivers, in all and below single routers."""
    hundred = {"baseSources": 100, "source_shares": UNIFORM, "receiver_shares": UNIFORM}
    web = {**hundred, "source_shares": SKEWED, "receiver_shares": WEB}
    for case, given, sources, receivers in (
        ("EX-POP1", {**hundred, "deltaU": 1}, 13_900, 55_600),
        ("EX-POP2", hundred, 27_800, 111_200),
        ("EX-DIST", web, 17_460, 209_760),
        ("Table 6-9 plus", {"baseSources": 1000}, 278_000, 1_675_200),
        ("Table 6-9 minus", {"baseSources": 1000, "source_shares": SKEWED}, 174_600, 1_675_200),
    ):
        table = topology(**given)
        yield exactly(case, "sources", sources, int(table["sources"].sum()))
        yield exactly(case, "receivers", receivers, int(table["receivers"].sum()))
    table = topology(**web)
    for kind, (sources, receivers) in {
        "normal": (60, 1920), "fast": (360, 240), "direct": (180, 240),
    }.items():  # fmt: skip
        part = _of(table, kind)
        yield exactly("EX-DIST", f"sources below a {kind} router", sources, part["sources"][0])
        yield exactly(
            "EX-DIST", f"receivers below a {kind} router", receivers, part["receivers"][0]
        )


def buffers() -> Iterator[Row]:
    """Yield rows for the mean buffer of each tier of routers, with a tolerance of one packet."""
    for row in published("buffers"):
        given = {key: float(row[key]) for key in ("R1", "BBspeedup", "deltaX")}
        shares = UNIFORM if row["sources"] == "uniform" else SKEWED
        table = topology(
            **given,
            QszAlg=int(row["QszAlg"]),
            baseSources=int(row["baseSources"]),
            deltaU=int(row["deltaU"]),
            source_shares=shares,
        )
        for tier in ("backbone", "pop", "access"):
            if (there := number(row[tier])) is not None:
                here = fmean(table.filter(pl.col("tier") == tier)["buffer_pkts"].to_list())
                case = f"EX-BUF table {row['table']}"
                yield near(case, f"mean buffer, {tier}, packets", there, here, 1, "packet")


def topology(**given: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return the table of routers of a network with the parameters `given`, the study's or ours."""
    hosts = {key: given.pop(key) for key in ("source_shares", "receiver_shares") if key in given}
    mesonet = {"intervals": 1, "interval": "1 ms", "hosts": hosts, **given}
    return MesoNet.of(longhaul.run({"title": "Sizes of a network", "mesonet": mesonet})).topology


def _of(topology: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the routers of tier or class `kind` in the table `topology`."""
    return topology.filter((pl.col("tier") == kind) | (pl.col("class") == kind))
