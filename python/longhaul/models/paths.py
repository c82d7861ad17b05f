"""Closed forms for paths: recovery times, buffer sizes, transfers without losses.

Windows and buffers are in segments of one size, times in seconds, and rates in segments per second,
except if a name has another unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, inf, log, sqrt

from longhaul.models.dynamics import of_algorithm

# Integration steps per round trip, and the maximum recovery time (s).
STEPS, MOST_S = 20, 86_400.0


def recovery_s(
    kind: str, window: float, rtt_s: float, parameters: Mapping[str, float] | None = None
) -> float:
    """Return the seconds that an algorithm takes after a loss to reach its old `window` again.

    There is no queueing and no further loss. The time is infinite if it exceeds a day.

    Raises:
        KeyError: There is no model of the algorithm.

    """
    dynamics = of_algorithm(kind, rtt_s, rtt_s, parameters)
    states, step = dynamics.begin(window), rtt_s / STEPS
    t = 0.0
    before = dynamics.window(states)
    while t < MOST_S:
        slope = dynamics.derivative(states, rtt_s, 0.0, 0.0)
        middle = [x + step / 2.0 * dx for x, dx in zip(states, slope, strict=True)]
        slope = dynamics.derivative(middle, rtt_s, 0.0, 0.0)
        states = [x + step * dx for x, dx in zip(states, slope, strict=True)]
        now = dynamics.window(states)
        # CUBIC and BIC hardly grow near their peak.
        if now >= window * (1.0 - 1e-9):
            return t + step * (window - before) / (now - before) if now > before else t
        t, before = t + step, now
    return inf


# Buffers.


def full_buffer(bdp: float, decrease: float = 0.5) -> float:
    """Return the smallest buffer with which one flow keeps a link busy: `b / (1 - b)` of the BDP.

    `b` is `decrease`. After a reduction, the window is just the BDP. For standard TCP, the
    buffer is one BDP, a rule of thumb (Villamizar and Song, CCR 24(5), 1994).
    """
    return bdp * decrease / (1.0 - decrease)


def shared_buffer(bdp: float, flows: int) -> float:
    """Return `BDP / sqrt(n)`: the buffer for many desynchronised flows.

    Appenzeller, Keslassy and McKeown, "Sizing router buffers", SIGCOMM 2004.
    """
    return bdp / sqrt(flows)


def tiny_buffer(max_window: float) -> float:
    """Return the buffer for paced flows: the natural logarithm of the largest window.

    The rule lacks an unknown constant factor, and it does not guarantee a full link (Enachescu et
    al., "Routers with very small buffers", INFOCOM 2006).
    """
    return log(max_window)


def utilisation(buffer: float, bdp: float) -> float:
    """Return a link's utilisation by synchronised standard flows: `0.75 (1 + f)^2 / (1 + f + f^2)`.

    `f` is the buffer divided by the BDP, at most 1. Source: equation 5.4 of "High-Speed
    Transport-Layer Protocols for Fast Long-Distance Networks" (Osaka University, 2006), for large
    windows.
    """
    f = min(1.0, buffer / bdp)
    return 0.75 * (1.0 + f) ** 2 / (1.0 + f + f * f)


# Transfers without losses.


def loss_free_s(
    segments: int,
    rtt_s: float,
    host_pps: float,
    *,
    initial_window: float = 2.0,
    ssthresh: float = inf,
    max_ssthresh: float = inf,
) -> float:
    """Return the time from the start of a transfer to its last acknowledgement, without losses.

    Each segment is acknowledged after a round trip, and the host sends at most `host_pps` segments
    a second. Slow start adds a segment per acknowledgement; above `max_ssthresh` it adds
    `max_ssthresh / 2` segments per round trip (RFC 3742). From `ssthresh` on, the window grows by
    one segment per round trip. NIST SP 500-282, chapter 9, measures the mean of this time
    over sizes and round-trip times on very fast paths.
    """
    window, acked = initial_window, 0
    acks: list[float] = []
    sent = 0.0
    for number in range(segments):
        free = sent
        # Acknowledgements arrive in order; the window has to include this segment.
        while number + 1 > acked + floor(window):
            window += _growth(window, ssthresh, max_ssthresh)
            free = max(free, acks[acked])
            acked += 1
        # Acknowledgements that arrived while the host was sending are processed as well.
        while acked < len(acks) and acks[acked] <= free:
            window += _growth(window, ssthresh, max_ssthresh)
            acked += 1
        acks.append(free + 1.0 / host_pps + rtt_s)
        sent = free + 1.0 / host_pps
    return acks[-1]


def _growth(window: float, ssthresh: float, max_ssthresh: float) -> float:
    """Return the segments that one acknowledgement adds to the window, in slow start or later."""
    if window >= ssthresh:
        return 1.0 / window
    if window <= max_ssthresh:
        return 1.0
    return 1.0 / floor(window / (max_ssthresh / 2.0))


def loss_free_goodput(segments: int, rtt_s: float, host_pps: float, **start: float) -> float:
    """Return the goodput of a transfer without losses, in segments per second.

    The parameters are those of `loss_free_s`.
    """
    return segments / loss_free_s(segments, rtt_s, host_pps, **start)
