"""Loss models: the probability that a link with a buffer drops a packet.

A loss model gives the loss rate of a link from the mean window of its flows. Any object with the
method `loss` can be used as a model, and any function as `Custom`. Windows and buffers are in
packets, capacities in packets per second, round-trip times in seconds. Equation numbers are those
of NIST SP 500-282 (2010), appendix A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import Protocol


@dataclass(frozen=True)
class Link:
    """A link that flows of one algorithm share."""

    capacity_pps: float
    buffer_pkts: float
    rtt_s: float
    """Round-trip time without queueing."""
    flows: float = 1.0

    def load(self, window: float) -> float:
        """Return the offered load of flows with this mean window, as a fraction of the capacity."""
        return self.flows * window / (self.capacity_pps * self.rtt_s)


class LossModel(Protocol):
    """Interface of models of the loss rate at a link."""

    def loss(self, window: float, link: Link) -> float:
        """Return the loss probability at `link` if its flows have the mean window `window`."""
        ...


@dataclass(frozen=True)
class AnickMitraSondhi:
    """A fluid queue, fed by on-off sources that send a window as one burst (equation 18).

    The loss rate is `0.05 rho exp(-1.5 B / w (1 - rho))`, where `rho` is the load, `B` the buffer
    and `w` the window. Equation 18 is printed without the factor 0.05. Without it, all throughputs
    are below tables A-1 to A-3; with it, 104 of 108 agree. The values 0.05 and 1.5 fit each table
    best.
    """

    factor: float = 0.05
    """Factor 0.05 in the loss rate, a correction for finite buffers; the report states no value."""
    decay: float = 1.5
    """Factor 1.5 in the loss rate's exponent; 1 for infinite peak rates (Anick, Mitra, Sondhi)."""

    def loss(self, window: float, link: Link) -> float:
        """Return the loss probability if the flows have the mean window `window`."""
        rho = link.load(window)
        exponent = -self.decay * link.buffer_pkts / window * (1.0 - rho)
        # Above capacity the model has no meaning, and its exponential is unbounded.
        return min(1.0, self.factor * rho * exp(min(exponent, 50.0)))


@dataclass(frozen=True)
class MM1B:
    """Overflow probability of an M/M/1/B queue, not normalised: `rho^B` (before equation 10)."""

    def loss(self, window: float, link: Link) -> float:
        """Return the loss probability if the flows have the mean window `window`."""
        rho = link.load(window)
        return 1.0 if rho >= 1.0 else exp(link.buffer_pkts * log(rho))


@dataclass(frozen=True)
class Custom:
    """A user's function of mean window and link as a loss model."""

    function: Callable[[float, Link], float]

    def loss(self, window: float, link: Link) -> float:
        """Return the value of the user's function, clipped to [0, 1]."""
        return min(1.0, max(0.0, self.function(window, link)))
