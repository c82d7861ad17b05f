"""Loss and marking rates of queue disciplines, as functions of a fluid queue.

A marking function returns the probability that an arriving packet is lost or marked. It depends on
the queue length `queue`, its moving average `average`, and the arrival rate `arriving_pps`. Queues
are in packets, rates in packets per second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log1p
from typing import Protocol

# A queue counts as full within this relative distance from its limit, due to discrete steps.
FULL = 1e-9


@dataclass(frozen=True)
class FluidLink:
    """A link of a fluid model: capacity, buffer and queue discipline."""

    capacity_pps: float
    buffer_pkts: float
    marking: Marking


class Marking(Protocol):
    """Interface of queue disciplines in a fluid model."""

    def probability(
        self, queue: float, average: float, arriving_pps: float, link: FluidLink
    ) -> float:
        """Return the probability that an arriving packet is lost or marked."""
        ...

    def gain(self, link: FluidLink) -> float:
        """Return the rate (1/s) at which the average queue follows the queue; 0 without average."""
        ...


@dataclass(frozen=True)
class DropTail:
    """Drop-tail: a full queue drops the arrivals in excess of the link's rate."""

    def probability(
        self, queue: float, average: float, arriving_pps: float, link: FluidLink
    ) -> float:
        """Return the fraction of arrivals that a full queue drops; 0 if the queue is not full."""
        del average
        if queue < link.buffer_pkts * (1.0 - FULL) or arriving_pps <= link.capacity_pps:
            return 0.0
        return 1.0 - link.capacity_pps / arriving_pps

    def gain(self, link: FluidLink) -> float:
        """Return 0, because drop-tail uses no average queue."""
        return 0.0


@dataclass(frozen=True)
class Red:
    """RED (Floyd and Jacobson 1993), with gentle mode if `gentle` is true.

    `spacing` is the loss rate divided by the probability `p` of RED's curve. It is 1 if losses are
    independent. It is 2 if the gaps between losses are uniform up to `1 / p` packets (RED paper),
    and 2/3 if they are uniform from `1 / p` to `2 / p` packets (ns-2's `wait`).
    """

    min_th: float
    max_th: float
    max_p: float
    weight: float
    gentle: bool = True
    spacing: float = 2.0 / 3.0

    def curve(self, average: float) -> float:
        """Return the probability `p` of RED's curve at this average queue length."""
        if average < self.min_th:
            return 0.0
        if average < self.max_th:
            return self.max_p * (average - self.min_th) / (self.max_th - self.min_th)
        if not self.gentle:
            return 1.0
        return min(1.0, self.max_p + (1.0 - self.max_p) * (average / self.max_th - 1.0))

    def probability(
        self, queue: float, average: float, arriving_pps: float, link: FluidLink
    ) -> float:
        """Return RED's loss rate at the `average` queue, or drop-tail's if it is larger."""
        curve = self.curve(average)
        # Where RED drops every packet, there are no gaps.
        selected = 1.0 if curve >= 1.0 else min(1.0, self.spacing * curve)
        return max(selected, DropTail().probability(queue, average, arriving_pps, link))

    def gain(self, link: FluidLink) -> float:
        """Return `-ln(1 - weight) C`, the rate at which the average follows the queue.

        C is the link's capacity: the average is updated with every packet sent (Misra, Gong and
        Towsley 2000).
        """
        return -log1p(-self.weight) * link.capacity_pps


@dataclass(frozen=True)
class Custom:
    """A user's marking function of the queue length (packets); a full queue still drops packets."""

    function: Callable[[float], float]

    def probability(
        self, queue: float, average: float, arriving_pps: float, link: FluidLink
    ) -> float:
        """Return `function(queue)`, clipped to [0, 1], or drop-tail's loss rate if it is larger."""
        chosen = min(1.0, max(0.0, self.function(queue)))
        return max(chosen, DropTail().probability(queue, average, arriving_pps, link))

    def gain(self, link: FluidLink) -> float:
        """Return 0, because the marking function uses the current queue, not an average."""
        return 0.0
