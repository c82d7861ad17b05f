"""Equilibrium of many flows on one link: the intersection of a response function and a loss model.

A response function gives the window at a loss rate, and a loss model gives the loss rate at a
window. The first curve falls and the second one rises, so they intersect once. As in NIST SP
500-282, appendix A, round-trip times do not include queueing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING

from longhaul.models.loss import Link, LossModel
from longhaul.models.response import root

if TYPE_CHECKING:
    from longhaul.models.laws import Window

# Range of loss rates in which equilibria are searched.
LEAST_LOSS, MOST_LOSS = 1e-9, 1.0


@dataclass(frozen=True)
class Equilibrium:
    """Window, loss rate and throughput of flows on one link in equilibrium."""

    loss: float
    window_pkts: float
    load: float
    """Offered load as a fraction of the link's capacity."""
    throughput_pps: float
    """Total throughput of all flows, without lost packets."""


def equilibrium(window: Window, model: LossModel, link: Link) -> Equilibrium:
    """Return the equilibrium at which a response function and a loss model intersect.

    Raises:
        ValueError: There is no intersection between loss rates of 1e-9 and 1.

    """

    def excess(log_p: float) -> float:
        return model.loss(float(window(exp(log_p), link.rtt_s)), link) - exp(log_p)

    low, high = log(LEAST_LOSS), log(MOST_LOSS)
    if excess(low) < 0.0:
        raise ValueError("even at a loss rate of 1e-9 the flows do not fill the link enough")
    p = exp(root(excess, low, high))
    w = float(window(p, link.rtt_s))
    return Equilibrium(p, w, link.load(w), link.flows * w * (1.0 - p) / link.rtt_s)


def sweep(
    window: Window, model: LossModel, link: Link, rtts_s: Sequence[float], buffers: Sequence[float]
) -> list[list[Equilibrium]]:
    """Return equilibria for all combinations of round-trip times and buffers.

    Each row is a round-trip time, each column a buffer size in packets.
    """
    return [
        [
            equilibrium(window, model, replace(link, rtt_s=rtt, buffer_pkts=buffer))
            for buffer in buffers
        ]
        for rtt in rtts_s
    ]
