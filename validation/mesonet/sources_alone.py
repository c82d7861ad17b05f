"""Values of NIST SP 500-282, chapter 6, that follow from other printed values without simulation.

In conditions 2 and 32, flows hardly lose packets, so the sources alone determine their numbers:
a source thinks, connects in a round trip, and transfers a file. The values are think time, window
growth (y2) and flows at a router (T.y27) of tables 6-9, 6-29 and 6-30.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.rows import Row, close

ROUND_TRIP_S = 0.0407
"""Mean round-trip propagation delay in seconds."""
RUN_S = 1500
KNEE_PKTS = 100
"""Window up to which each ACK adds a packet; beyond it, each RTT adds `KNEE_PKTS / 2` packets."""


@dataclass(frozen=True)
class Lossless:
    """A condition almost without losses, with values of standard TCP in tables 6-29 and 6-30."""

    number: int
    think_s: float
    """Mean think time."""
    delay_factor: int
    """Factor of all propagation delays."""
    file_pkts: int
    """Mean size of a Web object."""
    sources: int
    below_j: int
    """Number of the sources that are below backbone router J."""
    active_flows: float
    """Response y1 as printed in the study: mean number of active flows."""
    growth_pkts: float
    """Response y2 as printed in the study: mean growth of a flow's window in 200 ms, in packets."""
    flows_at_j: float
    """Response T.y27 as printed in the study: number of flows with an end below router J."""

    @property
    def flows_per_s(self) -> float:
        """Flows started per second: idle sources divided by their mean idle time (Little's law)."""
        idle_s = self.think_s + self.delay_factor * ROUND_TRIP_S
        return (self.sources - self.active_flows) / idle_s


CONDITIONS = (
    Lossless(2, 2.0, 1, 50, 174_600, 8_400, 15_333.99, 41.4579, 16_634_422),
    Lossless(32, 5.0, 2, 100, 278_000, 28_000, 27_644.4, 25.66166, 13_993_455),
)


def rows() -> Iterator[Row]:
    """Yield rows for values of chapter 6 that follow without simulation."""
    for condition in CONDITIONS:
        case = f"N6-MAIN condition {condition.number} without a simulation"
        printed = condition.growth_pkts * condition.active_flows / 0.2 / condition.flows_per_s
        metric = "growth of a flow's window, packets: print, and slow start"
        yield close(case, metric, printed, mean_growth(condition.file_pkts), 0.02)
        # Receivers are equally likely below each of the ten other backbone routers.
        share = condition.below_j / condition.sources
        at_j = condition.flows_per_s * RUN_S * (share + (1 - share) / 10)
        yield close(case, "flows with an end below J", condition.flows_at_j, at_j, 0.02)


def mean_growth(file_pkts: int, draws: int = 200_000) -> float:
    """Return the mean growth of a flow's congestion window in packets, while it sends one file.

    File sizes are `draws` quantiles of a Pareto distribution with the mean `file_pkts`. One file in
    100 is a document, ten times as large.
    """
    quantiles = (np.arange(draws) + 0.5) / draws
    sizes = np.ceil(file_pkts / 3 * quantiles ** (-1 / 1.5))
    documents = np.ceil(10 * file_pkts / 3 * quantiles ** (-1 / 1.5))
    # The flow ends with the last acknowledgement, which does not count.
    return float(0.99 * _growth(sizes - 1).mean() + 0.01 * _growth(documents - 1).mean())


def _growth(acknowledgements: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the growth of a window of two packets, in packets, after `acknowledgements` ACKs."""
    to_knee = KNEE_PKTS - 2
    beyond = np.maximum(acknowledgements - to_knee, 0.0)
    window: NDArray[np.float64] = np.sqrt(KNEE_PKTS**2 + KNEE_PKTS * beyond)
    return np.minimum(acknowledgements, float(to_knee)) + (window - KNEE_PKTS)
