"""Goodput of files on very fast paths without a loss, as chapter 9 has it.

One flow at a time tells when its n-th acknowledgement comes; files of all sizes follow from that,
weighted as users of the network draw sizes and receivers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

import longhaul
from longhaul.mesonet import MesoNet
from validation.mesonet.network import DIRECT, quiet
from validation.mesonet.routes import round_trip_ms
from validation.mesonet.rows import Row, close, published
from validation.mesonet.workers import pool

PART = "loss-free"
TOLERANCE = 0.005

# Receivers below the direct access router of a backbone router, among all that are below it.
SHARES = {
    "B": 480 / 12_480, "C": 480 / 20_640, "E": 480 / 12_480,
    "F": 480 / 20_640, "I": 480 / 20_640, "K": 480 / 4320,
}  # fmt: skip
FACTORS = {"movies": 10_000, "service packs": 1000, "documents": 10, "web objects": 1}
RATES = {"fast": 80.0, "normal": 8.0}
DELAY_FACTORS = (1, 2)
MEAN_SIZES = (100, 150)
# Pareto sizes are taken at the middles of so many equal steps of -log(1 - probability).
STEPS, LAST = 20_000, 30.0
INTERVAL_S = 0.25e-3
BACKBONE_RATE = 16_000
"""Of chapter 9, packets per millisecond."""


@dataclass(frozen=True)
class Arrivals:
    """When each acknowledgement of a flow comes, until they come as fast as the host sends."""

    time_s: np.ndarray
    gap_s: float

    def goodput(self, sizes: np.ndarray) -> np.ndarray:
        """Packets per second of files of so many packets."""
        known = len(self.time_s)
        beyond = np.maximum(sizes - known, 0.0) * self.gap_s
        time_s: np.ndarray = self.time_s[np.minimum(sizes, known).astype(int) - 1]
        rates: np.ndarray = sizes / (time_s + beyond)
        return rates

    def mean_goodput(self, mean: float, factor: float) -> float:
        """Mean over files of this mean size, each multiplied by a factor."""
        y = (np.arange(STEPS) + 0.5) * LAST / STEPS
        sizes = np.ceil(mean / 3.0 * np.exp(y / 1.5)) * factor
        return float((self.goodput(sizes) * np.exp(-y)).sum() * LAST / STEPS)


def rows(processes: int) -> Iterator[Row]:
    """Measure the eight groups of files."""
    said = {(row["file"], row["interface"]): float(row["mean"]) for row in published("goodput_9")}
    pairs = list(combinations(DIRECT, 2))
    weights = [SHARES[one[0]] + SHARES[other[0]] for one, other in pairs]
    with pool(processes) as workers:
        for interface, rate in RATES.items():
            curves = [
                (weight, arrivals)
                for factor in DELAY_FACTORS
                for weight, arrivals in zip(
                    weights, workers.map(partial(arrivals_of, factor, rate), pairs), strict=True
                )
            ]
            for file, times in FACTORS.items():
                measured = mean_of(curves, times)
                case = f"{file}, {interface} interface"
                yield close(case, "goodput, packets/s", said[file, interface], measured, TOLERANCE)


def mean_of(curves: list[tuple[float, Arrivals]], factor: float) -> float:
    """Mean goodput of files over all paths and both mean sizes."""
    total = sum(
        weight * arrivals.mean_goodput(mean, factor)
        for weight, arrivals in curves
        for mean in MEAN_SIZES
    )
    return total / sum(weight for weight, _ in curves) / len(MEAN_SIZES)


def arrivals_of(factor: int, rate: float, pair: tuple[str, str]) -> Arrivals:
    """Simulate one flow between two direct access routers."""
    rtt_ms = factor * round_trip_ms(pair[0][0], pair[1][0])
    # Beyond 100 packets the window opens by somewhat less than 50 a round trip.
    rounds = 12 + rate * rtt_ms / 44
    run = longhaul.run(
        quiet(
            round(rounds * rtt_ms * 1e-3 / INTERVAL_S),
            "250 us",
            network={"backbone_rate": BACKBONE_RATE, "delay_factor": factor},
            transport={"initial_ssthresh": 2**30},
            long_lived=[{"from": pair[0], "to": pair[1], "rate": rate}],
        )
    )
    flow = MesoNet.of(run).long_lived
    acks = flow["increases"].to_numpy()
    last = np.cumsum(acks)
    # Within an interval one comes after the other, as fast as the host sends.
    number = np.arange(1, last[-1] + 1)
    at = np.searchsorted(last, number)
    gap_s = 1e-3 / rate
    left = last[at] - number
    time_s = flow["t_s"].to_numpy()[at] - np.where(
        acks[at] > 1, left * INTERVAL_S / acks[at], INTERVAL_S / 2
    )
    return Arrivals(time_s, gap_s)
