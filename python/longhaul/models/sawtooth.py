"""Mean windows of algorithms whose response functions are no power laws of the loss rate.

At the loss rate `p`, each sawtooth of the window has `1 / p` segments, which determines its peak.
Windows are in segments, times in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike

from longhaul.models.response import Numbers, root

# Function from the size of a sawtooth to its segments and its duration in round trips.
Tooth = Callable[[float], tuple[float, float]]
# Range of sizes in which sawteeth are searched: peaks in segments, or periods in seconds.
LEAST, MOST = 1e-6, 1e12


def mean_window(tooth: Tooth, p: ArrayLike, least: float = LEAST) -> Numbers:
    """Return the mean window (segments per round trip) at each loss rate `p`.

    In each sawtooth, `1 / p` segments are sent. `tooth` maps the size of a sawtooth (its peak in
    segments, or its period in seconds) to its number of segments and its duration in round trips.
    `least` is the smallest size that is tried.
    """

    def of_one(loss: float) -> float:
        def excess(log_size: float) -> float:
            return log(tooth(exp(log_size))[0] * loss)

        sent, rounds = tooth(exp(root(excess, log(least), log(MOST))))
        return sent / rounds

    return np.asarray(np.vectorize(of_one, otypes=[float])(np.asarray(p, float)))


def binomial(
    k: float = 0.5,
    l: float = 0.5,  # noqa: E741 (the paper's name)
    increase: float = 1.0,
    decrease: float = 0.5,
) -> Callable[[ArrayLike, float], Numbers]:
    """Return the response function of binomial algorithms (Bansal and Balakrishnan 2001)."""

    def tooth(peak: float) -> tuple[float, float]:
        low = max(peak - decrease * peak**l, 1.0)
        sent = (peak ** (k + 2.0) - low ** (k + 2.0)) / (k + 2.0) / increase
        rounds = (peak ** (k + 1.0) - low ** (k + 1.0)) / (k + 1.0) / increase
        return sent, rounds

    return lambda p, rtt_s: mean_window(tooth, p, least=1.0 + 1e-9)


def htcp(kept: float = 0.8, low_speed_s: float = 1.0) -> Callable[[ArrayLike, float], Numbers]:
    """Return H-TCP's response function (draft-leith-tcp-htcp-06).

    The increase per round trip is `2 (1 - kept)` until `low_speed_s` seconds after a loss. `d`
    seconds later, it is `1 + 10 d + (d / 2)^2` times as much. `kept` is the fraction of the window
    that remains after a loss; it is 0.8 if throughput is steady and nothing queues.
    """

    def law(p: ArrayLike, rtt_s: float) -> Numbers:
        def tooth(period_s: float) -> tuple[float, float]:
            d = max(period_s - low_speed_s, 0.0)
            scale = 2.0 * (1.0 - kept) / rtt_s
            # Growth over the period, and its integral over the period.
            growth = scale * (period_s + 5.0 * d**2 + d**3 / 12.0)
            area = scale * (period_s**2 / 2.0 + 5.0 * d**3 / 3.0 + d**4 / 48.0)
            low = growth * kept / (1.0 - kept)
            return (low * period_s + area) / rtt_s, period_s / rtt_s

        return mean_window(tooth, p)

    return law


def bic(
    decrease: float = 0.125,
    max_increment: float = 32.0,
    min_increment: float = 0.01,
    low_window: float = 14.0,
) -> Callable[[ArrayLike, float], Numbers]:
    """Return BIC's response function (Xu, Harfoush and Rhee 2004, section III).

    In each round trip, the window grows by half of its distance to the peak, but by
    `min_increment` to `max_increment`. A loss occurs at the peak. Below `low_window`, the function
    is standard TCP's.
    """

    def tooth(peak: float) -> tuple[float, float]:
        if peak < low_window:
            return 3.0 / 8.0 * peak**2, peak / 2.0
        # First the steps of the largest size, computed at once.
        window = peak * (1.0 - decrease)
        whole = max(0, int((peak - window) / max_increment) - 1)
        sent = whole * window + max_increment * whole * (whole - 1) / 2.0
        window += whole * max_increment
        rounds = float(whole)
        while window < peak:
            step = min(max((peak - window) / 2.0, min_increment), max_increment)
            # The last step counts in part, so that segments rise smoothly with the peak.
            part = min(1.0, (peak - window) / step)
            sent += part * window
            rounds += part
            window += part * step
        return sent, rounds

    return lambda p, rtt_s: mean_window(tooth, p, least=1.0)
