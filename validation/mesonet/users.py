"""Check of simulated users: start, files, receivers, jumbo files (NIST SP 500-282, chapter 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

import longhaul
from longhaul.mesonet import MesoNet
from longhaul.results import Results
from validation.mesonet.network import quiet
from validation.mesonet.sizes import SKEWED, WEB
from validation.rows import Row, exactly, near

# Shares of flows by class in percent, in the example of chapter 3 with `SKEWED` sources and `WEB`
# receivers.
SHARES = {"FN": 56.0, "NN": 31.2, "DN": 6.0, "FF": 5.3, "DF": 1.4, "DD": 0.09}


def waves() -> Iterator[Row]:
    """Yield rows for the shares of users that begin at once, and within one think time.

    A quarter of the users begins at once. The others wait for a random time with a mean of 1/3, 2/3
    or 1 think time.
    """
    run = simulate(10, users={"think": "1 s"}, network={"backbone_rate": 8000})
    sources = int(MesoNet.of(run).topology["sources"].sum())
    first = MesoNet.of(run).flows.group_by("source").agg(pl.col("start_s").min())
    begun = [len(first.filter(pl.col("start_s") <= after_s)) / sources for after_s in (0.0, 1.0)]
    yield near("start of users", "part of the users that begins at once", 0.25, begun[0], 0.02)
    # 8, 17 and 50 % of the users wait for exponentially distributed times. The means of these times
    # are 1/3, 2/3 and 1 think time.
    e = 2.718281828459045
    expected = 0.25 + 0.08 * (1 - e**-3) + 0.17 * (1 - e**-1.5) + 0.5 * (1 - e**-1)
    yield near("start of users", "part that has begun after a think time", expected, begun[1], 0.02)


def choices() -> Iterator[Row]:
    """Yield rows for the percentage of flows in each class, and for two counts that must be 0.

    One count is of the intervals in which all receivers of a router are busy, the other of the
    intervals in which the numbers of flows by state do not add up to the number of active flows.
    """
    run = simulate(
        100,
        users={"think": "2 s"},
        files={"mean": 3},
        network={"backbone_rate": 8000},
        hosts={"source_shares": SKEWED, "receiver_shares": WEB},
    )
    flows = MesoNet.of(run).flows
    for kind, wanted in SHARES.items():
        here = 100.0 * len(flows.filter(pl.col("class") == kind)) / len(flows)
        # Three standard deviations of the sampled share, plus rounding.
        apart = 300.0 * (wanted / 100 * (1 - wanted / 100) / len(flows)) ** 0.5 + 0.05
        yield near("EX-DIST", f"flows of class {kind}, percent", wanted, here, round(apart, 2))
    network = MesoNet.of(run).network
    busy = network.filter(pl.col("no_receivers") > 0)
    yield exactly("receivers", "intervals without receivers", 0, len(busy))
    states = pl.sum_horizontal(
        "initial_slow_start_flows", "normal_mode_flows", "above_threshold_flows"
    )
    wrong = network.filter(states != pl.col("active_flows"))
    yield exactly("flow states", "intervals whose states do not add up", 0, len(wrong))


def jumbos() -> Iterator[Row]:
    """Yield rows for jumbo files: only flows of class DD send them, and only in one period."""
    period = {"from": 0.4, "until": 0.6, "factor": 100, "base": "file"}
    shares = {"normal": 0.05, "fast": 0.05, "direct": 0.9}
    keys: dict[str, Any] = {
        "users": {"think": "1 s"},
        "network": {"backbone_rate": 8000},
        "hosts": {"sources": 20, "source_shares": shares, "receiver_shares": shares},
    }
    flows = MesoNet.of(simulate(100, files={"jumbo": period}, **keys)).flows
    flows = flows.filter(pl.col("connected_s").is_not_null())
    direct = pl.col("class") == "DD"
    inside = pl.col("connected_s").is_between(0.4 * 20.0, 0.6 * 20.0)
    # The minimum of a Pareto distribution with mean 50 packets and shape 1.5 is 17, rounded up.
    for what, chosen, smallest in (
        ("direct, in the period", inside & direct, 1700),
        ("direct, before and after", ~inside & direct, 17),
        ("others, in the period", inside & ~direct, 17),
    ):
        sizes = flows.filter(chosen)["size_pkts"].to_list()
        yield exactly("jumbo files", f"smallest file, {what}, packets", smallest, min(sizes))


def long_lived_start() -> Iterator[Row]:
    """Yield rows for the start of a long-lived flow.

    The study's parameter LLon is the start as a fraction of the run; 0.4 means interval 3,000 of
    7,500.
    """
    flow = {"from": "B0a", "to": "K0a", "start": 0.4, "stop": "601 s"}
    table = MesoNet.of(longhaul.run(quiet(7500, long_lived=[flow]))).long_lived
    started = table.filter(pl.col("mode") != "none").row(0, named=True)
    interval = started["interval"]
    yield exactly("EX-LL", "interval at whose end a long-lived flow starts", 3000, interval)
    yield exactly("EX-LL", "its start, s", 600, round(started["t_s"], 6))
    steps = round(table["t_s"].to_list()[-1] * 1e3)
    yield exactly("EX-LL", "time steps", 1_500_000, steps)


def simulate(intervals: int, **mesonet: Any) -> Results:  # noqa: ANN401
    """Simulate MesoNet with keys `mesonet` for `intervals` intervals of 200 ms; log all flows."""
    measure = {"flow_log": True, "tables": ["network"]}
    keys = {"intervals": intervals, "measure": measure, **mesonet}
    return longhaul.run({"title": "Users", "mesonet": keys})
