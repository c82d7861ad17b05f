"""Models of slow start: its duration, and Adaptive RED's first mark, which ends it.

Closed forms count round trips (RFC 3742). The fluid model follows one flow alone over one link with
Adaptive RED as ns-2 configures it, and gives the first reduction of Table 6.1 of "A
simulation-based study of HighSpeed TCP and its deployment" (LBNL-52549). Windows and queues are in
segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log2

from longhaul.models.response import Response, path_window

# Steps of the fluid model in one round trip of an empty path.
STEPS = 20
# RED's max_p (Floyd, Gummadi and Shenker, 2001, as in ns-2) starts at 0.1, is multiplied by 0.9
# every half second while the average queue is below the target, and stays once below 1e-4.
FIRST_MAX_P, DECAY, INTERVAL_S, LEAST_MAX_P = 0.1, 0.9, 0.5, 1e-4


def rounds_to(window: float, max_ssthresh: float | None = None) -> float:
    """Return the number of round trips in which slow start reaches `window` from one segment.

    Standard slow start doubles the window; limited slow start (RFC 3742 section 3) adds half of
    `max_ssthresh` segments per round trip above `max_ssthresh`.
    """
    if max_ssthresh is None or window <= max_ssthresh:
        return log2(window)
    return log2(max_ssthresh) + (window - max_ssthresh) / (max_ssthresh / 2.0)


@dataclass(frozen=True)
class AutomaticRed:
    """Adaptive RED with thresholds and weight that follow from the link's rate, as in ns-2."""

    min_th: float
    max_th: float
    weight: float

    @classmethod
    def at(
        cls, rate_bps: float, target_delay_s: float = 0.005, mean_packet_bytes: float = 500.0
    ) -> AutomaticRed:
        """Return the parameters for a link; the defaults are ns-2's."""
        packets_per_s = rate_bps / (8.0 * mean_packet_bytes)
        min_th = max(5.0, target_delay_s * packets_per_s / 2.0)
        return cls(min_th, 3.0 * min_th, 1.0 - exp(-1.0 / packets_per_s))


@dataclass(frozen=True)
class FirstCut:
    """Time and window of the reduction that ends a slow start."""

    time_s: float
    window: float


def first_cut(
    max_ssthresh: float,
    response: Response,
    red: AutomaticRed,
    rate_bps: float = 1e9,
    rtt_s: float = 0.1,
) -> FirstCut:
    """Return the time and window of the first reduction of a flow alone on a path.

    The sender learns of RED's first mark a round trip later. The mark is assumed at its median
    time: when the probability that RED (in "wait" mode) has marked a packet reaches one half.
    """
    flow = _Flow(max_ssthresh, response, path_window(rate_bps, rtt_s), rtt_s)
    average, max_p, adapted_s = 0.0, FIRST_MAX_P, 0.0
    count = hazard = 0.0
    target = red.min_th + 0.4 * (red.max_th - red.min_th)
    while hazard < log(2.0):
        queue = flow.queue()
        packets = flow.step()
        average += (1.0 - (1.0 - red.weight) ** packets) * (queue - average)
        if flow.time_s - adapted_s >= INTERVAL_S and average < target and max_p > LEAST_MAX_P:
            max_p, adapted_s = max_p * DECAY, flow.time_s
        if average < red.min_th:
            continue
        count += packets
        p = max_p * (average - red.min_th) / (red.max_th - red.min_th)
        if count * p >= 2.0:
            break
        if count * p >= 1.0:
            hazard += packets * p / (2.0 - count * p)
    heard_s = flow.time_s + rtt_s * (1.0 + flow.queue() / flow.capacity)
    while flow.time_s < heard_s:
        flow.step()
    return FirstCut(flow.time_s, flow.window)


@dataclass
class _Flow:
    """One flow before its first reduction, alone on its link."""

    max_ssthresh: float
    response: Response
    capacity: float
    rtt_s: float
    window: float = 2.0
    time_s: float = 0.0

    def __post_init__(self) -> None:
        # The handshake takes a round trip.
        self.time_s = self.rtt_s

    def queue(self) -> float:
        return max(0.0, self.window - self.capacity)

    def step(self) -> float:
        """Advance by a fraction of a round trip, and return the packets that were sent in it."""
        packets = min(self.window, self.capacity) / STEPS
        self.window += packets * self._increment()
        self.time_s += self.rtt_s / STEPS
        return packets

    def _increment(self) -> float:
        """Return the growth of the window per acknowledgement."""
        if self.window <= self.max_ssthresh:
            return 1.0
        # ns-2's limited slow start grows at least as fast as congestion avoidance.
        limited = 1.0 / int(self.window / (0.5 * self.max_ssthresh))
        return max(limited, float(self.response.increase(self.window)) / self.window)
