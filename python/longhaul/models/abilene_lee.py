"""Three sets of ten flows over the Abilene backbone: NIST SP 500-282 (2010), appendix B.

The sets start at routers H, F and B, and share the link from G to I at 10 Gbit/s. The report uses
MesoNet to repeat an experiment that Lee et al. did with a hybrid model. Routers queue packets
differently in the two models (`ROUTERS`). Delays, routes and rates are from tables B-1 to B-3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np

from longhaul.models.hybrid import Flow, Measured, Queue, simulate

# One-way delays of the links in ms, equal in both directions (table B-1).
DELAYS_MS = {
    "AB": 17, "AC": 26, "BC": 25, "BD": 8, "CE": 11, "DF": 32, "EF": 16,
    "EG": 9, "FH": 20, "GH": 11, "GI": 4, "HJ": 16, "IK": 20, "JK": 4,
}  # fmt: skip
# The routes of the three sets (table B-2).
ROUTES = ("HGI", "FEGI", "BCEGIK")
FLOWS_PER_SET = 10
RATE_PPS = 1250e3
HOST_PPS = 80e3
BUFFERS = tuple(range(25_000, 200_001, 25_000))
INTERVAL_S = 60.0
HOURS = 11.0

# `per-link`: each direction of a link has its own queue, as in Lee's model. `shared`: a router has
# a single queue for everything that it forwards, data and acknowledgements, as in MesoNet (section
# 3.3). Then data get half of the router's rate.
ROUTERS = ("shared", "per-link")


@dataclass(frozen=True)
class Sets:
    """Results of a run: throughput and RTT of each set of flows (from routers H, F and B)."""

    buffer_pkts: float
    throughput_pps: tuple[float, ...]
    """Mean throughput of one flow of each set, over all intervals."""
    rtt_s: tuple[float, ...]
    utilisation: float
    """Rate of data on the link from G to I as a fraction of the link's capacity."""
    reductions_per_flow_h: float

    def throughput_ratio(self, first: int, other: int) -> float:
        """Return `FR(first, other)`: the throughput of one set of flows divided by another's.

        Sets are numbered from 1.
        """
        return self.throughput_pps[first - 1] / self.throughput_pps[other - 1]

    def rtt_ratio(self, first: int, other: int) -> float:
        """Return `RR(first, other)`: the mean RTT of one set of flows divided by another's.

        Sets are numbered from 1.
        """
        return self.rtt_s[first - 1] / self.rtt_s[other - 1]

    @classmethod
    def of(cls, buffer_pkts: float, throughput: np.ndarray, rtt: np.ndarray, cuts: float) -> Sets:
        """Return the mean throughput and round-trip time of each set of flows.

        `throughput` and `rtt` have a row per interval and a column per flow. `cuts` is the number
        of reductions per flow and hour.
        """
        sets = [slice(n * FLOWS_PER_SET, (n + 1) * FLOWS_PER_SET) for n in range(len(ROUTES))]
        return cls(
            buffer_pkts,
            tuple(float(throughput[:, flows].mean()) for flows in sets),
            tuple(float(rtt[:, flows].mean()) for flows in sets),
            float(throughput.sum(axis=1).mean()) / RATE_PPS,
            cuts,
        )


def rtt_s(route: str) -> float:
    """Return the round-trip time of a route without queueing, in seconds."""
    hops = ("".join(sorted(pair)) for pair in pairwise(route))
    return 2e-3 * sum(DELAYS_MS[hop] for hop in hops)


def network(buffer_pkts: float, routers: str, seed: int) -> tuple[list[Queue], list[Flow]]:
    """Return the queues and flows of the model.

    Flows start at random times in the first second. `routers` is `shared`, for one queue per
    router, or `per-link`.
    """
    draw = Random(seed)
    paths, acks = zip(*(_path(route, routers) for route in ROUTES), strict=True)
    names = sorted({place for path in (*paths, *acks) for place in path})
    number = {name: index for index, name in enumerate(names)}
    flows = [
        Flow(
            rtt_s(route),
            [number[place] for place in path],
            [number[place] for place in ack],
            HOST_PPS,
            draw.uniform(0.0, 1.0),
        )
        for route, path, ack in zip(ROUTES, paths, acks, strict=True)
        for _ in range(FLOWS_PER_SET)
    ]
    return [Queue(RATE_PPS, buffer_pkts) for _ in names], flows


def _path(route: str, routers: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the queues on the path of data, and those on the path of acknowledgements.

    If `routers` is `per-link`, acknowledgements pass no queues, since they are small (40 bytes).
    """
    if routers == "per-link":
        return [f"{start}-{other}" for start, other in pairwise(route)], []
    return list(route), list(reversed(route))


def run(
    buffer_pkts: float, *, routers: str = "shared", hours: float = HOURS, seed: int = 1
) -> tuple[Sets, Measured]:
    """Simulate the model's thirty flows for `hours` hours.

    Return the results of the three sets of flows, and the averages over each minute.
    """
    queues, flows = network(buffer_pkts, routers, seed)
    intervals = round(hours * 3600.0 / INTERVAL_S)
    simulated_h = intervals * INTERVAL_S / 3600.0
    result = simulate(queues, flows, interval_s=INTERVAL_S, intervals=intervals, seed=seed)
    cuts = float(result.reductions.sum()) / len(flows) / simulated_h
    return Sets.of(buffer_pkts, result.throughput_pps, result.rtt_s, cuts), result
