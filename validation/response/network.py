"""Packet simulation of one flow on a path with losses and without queueing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import longhaul
from validation.experiments import dumbbell
from validation.response.algorithms import RTT_S, Algorithm

RATE = "1 Tbps"
"""Rate of the path, so high that 10,000 packets take a thousandth of a round trip."""
SETTLING = 0.25
"""Fraction of a run at its beginning that is not measured."""


@dataclass(frozen=True)
class Flow:
    """Measurements of one flow after the settling time."""

    mean_window_pkts: float
    cuts: int
    timeouts: int


def under_even_loss(algorithm: Algorithm, p: float, start: float, losses: int) -> Flow:
    """Simulate a flow that loses every `1 / p`-th packet, for about `losses` losses.

    `start` is the window in segments at which slow start ends.
    """
    distance = round(1.0 / p)
    # Twice the packets that the law predicts, in case the flow is faster.
    listed = [distance * number for number in range(1, 2 * losses)]
    return _run(algorithm, {"packets": listed}, p, start, losses, seed=1)


def under_random_loss(algorithm: Algorithm, p: float, start: float, losses: int, seed: int) -> Flow:
    """Simulate a flow that loses each packet with probability `p`, for about `losses` losses.

    `start` is the window in segments at which slow start ends.
    """
    return _run(algorithm, {"bernoulli": p}, p, start, losses, seed)


def _run(
    algorithm: Algorithm, loss: Mapping[str, Any], p: float, start: float, losses: int, seed: int
) -> Flow:
    duration_s = losses / (p * start) * RTT_S
    scenario = {
        "title": f"{algorithm.name} under a loss rate of {p:g}",
        "duration": f"{duration_s:.1f} s",
        "seed": seed,
        "measure": {"from": f"{SETTLING * duration_s:.1f} s"},
        "topology": dumbbell(RATE, f"{RTT_S / 2.0:g} s", loss=dict(loss)),
        # Response functions assume an acknowledgement for every segment and a steady state.
        "tcp": {"delayed_ack": False, "initial_ssthresh": max(2.0, start)},
        "flows": [{"congestion": dict(algorithm.congestion)}],
    }
    row = longhaul.run(scenario).flows.row(0, named=True)
    return Flow(row["cwnd_mean_pkts"], row["cuts_loss"], row["timeouts"])
