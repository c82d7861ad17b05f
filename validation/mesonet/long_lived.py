"""Long-lived flows of chapter 7, alone in the network of that chapter.

In the first period (TP1, 300 s) their paths have no losses. Therefore only the algorithm determines
two results: the time to full speed (tables 7-14 and 7-17), and standard TCP's goodput in the period
(tables 7-11 to 7-13).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

import longhaul
from longhaul.files.rows import number
from longhaul.mesonet import MesoNet
from validation.experiments import pool
from validation.mesonet.network import FULL_PKTS, quiet
from validation.mesonet.tables import published
from validation.rows import Row, close, near

PART = "long-lived"
ENDS = {"L1": ("B0a", "K0a"), "L2": ("C0a", "I0a"), "L3": ("E0a", "F0a")}
PERIOD_S = 300.0
INTERVAL_S = 0.2

CONGESTION: dict[str, dict[str, Any]] = {
    "BIC": {"kind": "bic"},
    "CTCP": {"kind": "ctcp"},
    "FAST": {"kind": "fast"},
    "FAST-AT": {"kind": "fast-at"},
    "HSTCP": {"kind": "hstcp"},
    "HTCP": {"kind": "htcp"},
    "Scalable": {"kind": "scalable"},
    "TCP": {"kind": "reno"},
}
# Excess of measured over actual round-trip times, and algorithms that use the measured times.
EXCESS_MS = 5
USE_ROUND_TRIPS = ("CTCP", "FAST", "FAST-AT", "HTCP")
TCP_GOODPUT = 0.02
"""Allowed relative difference of standard TCP's goodputs from the published goodputs."""
TOLERANCES = {"TCP": 0.02, "CTCP": 0.45}
"""Allowed relative difference of lags from the published lags, by algorithm.

A lag is the time from a flow's start to full speed.
"""
OTHERS = 0.06
"""Allowed relative difference for algorithms not in `TOLERANCES` or `TO_THE_INTERVALS`.

A difference of one measuring interval (0.2 s) is always allowed.
"""
TO_THE_INTERVALS = ("BIC", "HSTCP", "Scalable")
"""Algorithms that may reach full speed two measuring intervals earlier or later than published."""


@dataclass(frozen=True)
class Flows:
    """Long-lived flows of one algorithm; all network delays are multiplied by `delay_factor`."""

    algorithm: str
    delay_factor: int
    lags_s: dict[str, float | None]
    """Published time from start to full speed of each flow in seconds; None if never reached."""
    excess_ms: int = 0
    """Excess of measured over actual round-trip times in ms."""

    @property
    def case(self) -> str:
        """Name of the case in the comparison."""
        excess = f", round-trip times + {self.excess_ms} ms" if self.excess_ms else ""
        return f"{self.algorithm}, delays x {self.delay_factor}{excess}"

    def watched_s(self, flow: str) -> float:
        """Return the seconds for which `flow` is observed.

        A flow is observed for 1.5 times its published time from start to full speed, plus 2 s.
        A flow without a published time, and standard TCP, is observed for the whole period.
        """
        lag_s = self.lags_s[flow]
        return PERIOD_S if self.algorithm == "TCP" or lag_s is None else 1.5 * lag_s + 2.0


def rows(processes: int) -> Iterator[Row]:
    """Simulate all `Flows`; yield rows for times to full speed and standard TCP's goodputs."""
    each = list(_flows())
    with pool(processes) as workers:
        for flows, received in zip(each, workers.map(simulate, each), strict=True):
            for flow, packets in received.items():
                yield lag(flows, flow, packets)
            if flows.algorithm == "TCP":
                yield from goodput(flows, received)


def simulate(flows: Flows) -> dict[str, list[int]]:
    """Simulate `flows`; return the packets that each flow received in each measuring interval."""
    longest_s = max(flows.watched_s(flow) for flow in flows.lags_s)
    run = longhaul.run(
        quiet(
            round(longest_s / INTERVAL_S),
            network={"delay_factor": flows.delay_factor},
            transport={"initial_ssthresh": 100, "rtt_excess": flows.excess_ms},
            algorithms=[{"congestion": CONGESTION[flows.algorithm]}],
            long_lived=[
                {
                    "label": flow,
                    "from": ENDS[flow][0],
                    "to": ENDS[flow][1],
                    "stop": f"{flows.watched_s(flow)} s",
                }
                for flow in flows.lags_s
            ],
        )
    )
    table = MesoNet.of(run).long_lived
    return {
        flow: table.filter(pl.col("flow") == flow)["out_pkts"].to_list() for flow in flows.lags_s
    }


def lag(flows: Flows, flow: str, received: list[int]) -> Row:
    """Return a row for the lag of `flow`, the time until it first reached full speed.

    `received` has the packets that the flow received in each measuring interval.
    """
    full = [n for n, packets in enumerate(received, 1) if packets >= FULL_PKTS]
    measured = round(full[0] * INTERVAL_S, 1) if full else None
    there = flows.lags_s[flow]
    metric = f"{flow}: seconds to 80,000 packets/s"
    if there is None or measured is None:
        return Row(flows.case, metric, there, measured, "never", measured == there)
    if flows.algorithm in TO_THE_INTERVALS or flows.excess_ms:
        return near(flows.case, metric, there, measured, 2 * INTERVAL_S, "s")
    if flows.algorithm in TOLERANCES:
        return close(flows.case, metric, there, measured, TOLERANCES[flows.algorithm])
    apart = round(max(OTHERS * there, INTERVAL_S), 2)
    return near(flows.case, metric, there, measured, apart, "s")


def goodput(flows: Flows, received: dict[str, list[int]]) -> Iterator[Row]:
    """Yield rows for the mean goodputs that the report prints for paths without losses.

    `received` has the packets that each flow received in each measuring interval.
    """
    for row in published("goodput_tp1"):
        if int(row["delay_factor"]) == flows.delay_factor:
            for flow in received:
                if (there := number(row[flow])) is not None:
                    measured = sum(received[flow]) / PERIOD_S
                    metric = f"{flow}: goodput in TP1, packets/s"
                    yield close(flows.case, metric, there, measured, TCP_GOODPUT)


def _flows() -> Iterator[Flows]:
    for row in published("lags"):
        factor = int(row["delay_factor"])
        # Table 7-17 has L1 only; standard TCP's goodput is known for L2 as well.
        names = ENDS if factor == 1 else ("L1", "L2") if row["algorithm"] == "TCP" else ("L1",)
        lags_s = {flow: number(row[flow]) for flow in names}
        algorithm = row["algorithm"]
        yield Flows(algorithm, factor, lags_s)
        if algorithm in USE_ROUND_TRIPS:
            yield Flows(algorithm, factor, lags_s, EXCESS_MS)
