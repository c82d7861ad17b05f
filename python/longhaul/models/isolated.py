"""Fluid model of one flow at a drop-tail queue: its sawtooth, continuous between losses.

NIST SP 500-282 (2010), equations 1 to 4, with the capacity in place of the printed rate:

    dW/dt = 1 / (T + Q(t - T) / C)        W is halved when a loss is detected
    dQ/dt = W / (T + Q(t - T) / C) - C    between an empty and a full queue

A loss is detected when path and queue are full. Windows and queues are in packets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from longhaul.models import delay
from longhaul.models.response import Numbers


@dataclass(frozen=True)
class SawTooth:
    """A sawtooth: window and queue of one flow over time, with a value for each step."""

    t_s: Numbers
    window_pkts: Numbers
    queue_pkts: Numbers
    rate_pps: Numbers
    """Throughput of the link in packets per second."""
    losses_s: list[float]
    """Times at which losses were detected."""


def saw_tooth(
    capacity_pps: float, rtt_s: float, buffer_pkts: float, end_s: float, steps: int = 200
) -> SawTooth:
    """Compute the sawtooth of one standard TCP flow over a drop-tail link.

    The initial window is half of the sum of BDP and buffer. `steps` is the number of steps per
    round-trip time.
    """
    top = capacity_pps * rtt_s + buffer_pkts
    losses: list[float] = []

    def derivative(t: float, x: delay.State, past: delay.Past) -> list[float]:
        window, queue = x
        rtt = rtt_s + past(t - rtt_s)[1] / capacity_pps
        net = window / rtt - capacity_pps
        stays = (net < 0.0 and queue <= 0.0) or (net > 0.0 and queue >= buffer_pkts)
        return [1.0 / rtt, 0.0 if stays else net]

    def project(t: float, x: delay.State) -> None:
        x[1] = min(max(x[1], 0.0), buffer_pkts)
        if x[0] >= top:
            x[0] /= 2.0
            losses.append(t)

    path = delay.integrate(derivative, [top / 2.0, 0.0], end_s, rtt_s / steps, project)
    window, queue = path.states.T
    rates = np.where(queue > 0.0, capacity_pps, np.minimum(window / rtt_s, capacity_pps))
    return SawTooth(path.t_s, window, queue, rates, losses)
