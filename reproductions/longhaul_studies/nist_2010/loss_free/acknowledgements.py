"""Goodput of files without losses, computed from the acknowledgements of an unlimited flow.

A file of n packets is complete at the flow's n-th acknowledgement: without losses, files of any
length send their packets at the same times.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from longhaul.mesonet import MesoNet

# Factors of sizes relative to Web objects, by type of file (table 8-4).
FACTORS = {"movie": 10_000, "service_pack": 1000, "document": 10, "web": 1}
# Mean sizes of Web objects (table 8-2).
MEAN_SIZES = (100, 150)
# Pareto sizes are sampled at the midpoints of STEPS equal steps of -log(1 - probability), up to
# LAST.
STEPS, LAST = 20_000, 30.0


@dataclass(frozen=True)
class Acknowledgements:
    """Arrival times of a flow's acknowledgements.

    The first ones are exact (`first_s`). Of later ones, only the number in each interval is known:
    they are assumed to arrive at the speed of the host from the beginning of the interval on. After
    the last interval their rate is extrapolated, up to the speed of the host.
    """

    first_s: np.ndarray
    ends_s: np.ndarray
    counts: np.ndarray
    """Number of acknowledgements from the start of the flow to the end of each interval."""
    gap_s: float

    def times_s(self, sizes: np.ndarray) -> np.ndarray:
        """Return the times at which files of `sizes` packets are complete."""
        known, last = len(self.first_s), self.counts[-1]
        inside = np.clip(sizes, known + 1, last)
        at = np.searchsorted(self.counts, inside)
        begin = np.concatenate(([0.0], self.ends_s))[at]
        done = np.concatenate(([0], self.counts))[at]
        later = np.minimum(begin + (inside - done) * self.gap_s, self.ends_s[at])
        beyond = self.ends_s[-1] + self._later_s(np.maximum(sizes - last, 0.0))
        first = self.first_s[np.minimum(sizes, known).astype(int) - 1]
        times: np.ndarray = np.where(sizes <= known, first, np.where(sizes <= last, later, beyond))
        return times

    def _later_s(self, more: np.ndarray) -> np.ndarray:
        """Return the time from the end of the last interval until `more` ACKs have arrived."""
        rates = np.diff(self.counts) / np.diff(self.ends_s)
        middle = len(rates) // 2
        rate, limit = rates[-1], 1.0 / self.gap_s
        growth = (rate - rates[middle]) / (self.ends_s[-1] - self.ends_s[middle + 1])
        if rate >= 0.999 * limit or growth <= 0.0:
            steady: np.ndarray = more / rate
            return steady
        # Packets until the rate reaches its limit, then packets at the limit.
        until_s = (limit - rate) / growth
        until = (rate + limit) / 2 * until_s
        growing = (np.sqrt(rate**2 + 2 * growth * np.minimum(more, until)) - rate) / growth
        times: np.ndarray = growing + np.maximum(more - until, 0.0) * self.gap_s
        return times

    def mean_goodput(self, mean: float, factor: float) -> float:
        """Return the mean goodput of files with Pareto-distributed sizes, in packets/s.

        Sizes are `factor` times a Pareto variable with the mean `mean` (packets) and the shape 1.5,
        which is rounded up before the multiplication.
        """
        y = (np.arange(STEPS) + 0.5) * LAST / STEPS
        sizes = np.ceil(mean / 3.0 * np.exp(y / 1.5)) * factor
        return float((sizes / self.times_s(sizes) * np.exp(-y)).sum() * LAST / STEPS)


def mean_goodputs(tables: MesoNet) -> dict[str, float]:
    """Return the mean goodput (packets/s) by kind of file and mean size, keyed as `web_100`."""
    of_run = acknowledgements(tables)
    return {
        f"{file}_{mean}": of_run.mean_goodput(mean, factor)
        for file, factor in FACTORS.items()
        for mean in MEAN_SIZES
    }


def acknowledgements(tables: MesoNet) -> Acknowledgements:
    """Return the arrival times of acknowledgements of a run's only long-lived flow."""
    # The flow stops in the last interval.
    flow = tables.long_lived[:-1]
    trace = tables.flow_trace.filter(pl.col("event").is_in(["increase", "ack"]))
    # The table of intervals lacks acknowledgements that do not increase the window (FAST).
    others = int((trace["event"] == "ack").sum())
    (given,) = tables.scenario["long_lived"]
    return Acknowledgements(
        first_s=trace["t_s"].to_numpy(),
        ends_s=flow["t_s"].to_numpy(),
        counts=flow["increases"].cum_sum().to_numpy() + others,
        gap_s=tables.step_s / float(given["rate"]),
    )
