"""Mean windows at one loss rate: in packet simulations, and by the algorithms' update rules."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Any

from longhaul.analysis.comparisons import half_width
from validation.response import network, sawtooth
from validation.response.algorithms import Algorithm

LOSS_RATES = (1e-2, 1e-3, 1e-4, 1e-5)
SEEDS = range(1, 9)
MOST_LOSSES = 1000
MOST_PACKETS = 2e7
"""Maximum number of packets per run, in which a loss rate of 1e-5 gives 200 losses."""


@dataclass(frozen=True)
class Figures:
    """Mean windows in segments of one algorithm under one kind of loss: even or random."""

    law: float
    """Mean window by the algorithm's update rule if feedback is immediate."""
    law_with_feedback: float
    """Mean window by the algorithm's update rule if feedback takes a round trip."""
    network: float
    """Mean window in the packet simulation, averaged over seeds."""
    interval: float
    """Half-width of the 95 % confidence interval of `network`, a mean over seeds; 0 for one run."""
    timeouts_per_loss: float
    """Timeouts divided by the sum of timeouts and other window reductions, over all seeds."""


@dataclass(frozen=True)
class Measurement:
    """Results of one algorithm at one loss rate `p`."""

    algorithm: str
    p: float
    response: float | None
    """Mean window by the response function for evenly spaced losses; None without a function."""
    even: Figures
    random: Figures

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Measurement:
        """Return the measurement of an entry of figures.json."""
        even, random = Figures(**entry["even"]), Figures(**entry["random"])
        return cls(entry["algorithm"], entry["p"], entry["response"], even, random)


def measure(algorithm: Algorithm, p: float) -> Measurement:
    """Return mean windows at loss rate `p`: from simulations, and from the algorithm's law.

    Both are for evenly spaced and for random losses.
    """
    response = algorithm.response(p)
    start = sawtooth.under_even_loss(algorithm.law(), p, response or sqrt(1.5 / p))
    losses = int(min(MOST_LOSSES, MOST_PACKETS * p))
    return Measurement(
        algorithm.name,
        p,
        response,
        _even(algorithm, p, start, losses),
        _random(algorithm, p, start, losses),
    )


def _even(algorithm: Algorithm, p: float, start: float, losses: int) -> Figures:
    flow = network.under_even_loss(algorithm, p, start, losses)
    return Figures(
        law=start,
        law_with_feedback=sawtooth.under_even_loss(algorithm.law(), p, start, feedback=True),
        network=flow.mean_window_pkts,
        interval=0.0,
        timeouts_per_loss=flow.timeouts / (flow.cuts + flow.timeouts),
    )


def _random(algorithm: Algorithm, p: float, start: float, losses: int) -> Figures:
    flows = [network.under_random_loss(algorithm, p, start, losses, seed) for seed in SEEDS]
    windows = [flow.mean_window_pkts for flow in flows]
    timeouts = sum(flow.timeouts for flow in flows)
    return Figures(
        law=sawtooth.under_random_loss(algorithm.law(), p, start),
        law_with_feedback=sawtooth.under_random_loss(algorithm.law(), p, start, feedback=True),
        network=fmean(windows),
        interval=half_width(windows) or 0.0,
        timeouts_per_loss=timeouts / (timeouts + sum(flow.cuts for flow in flows)),
    )
