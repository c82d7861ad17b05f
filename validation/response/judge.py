"""Comparison of mean windows in packet simulations with those that the update rules give.

A verdict names the reason for a difference.
"""

from __future__ import annotations

from enum import Enum

from longhaul.analysis.judging import Expected
from validation.response.measure import Figures, Measurement

TOLERANCE = 0.05
BY_INTERVAL_AT = 1e-5
"""Maximum loss rate at which a difference within the mean's 95 % interval is allowed."""
FEW_ROUND_TRIPS = 3.0


class Verdict(Enum):
    """Verdict on the mean window of the packet simulation (the network)."""

    WITHIN = "within"
    """Agreement with the law in which feedback is immediate."""
    FEEDBACK = "with feedback delay"
    """Agreement only with the law in which feedback takes a round trip."""
    RECOVERY_DOMINATED = "recovery-dominated"
    """Difference because losses are less than three round trips apart: recoveries dominate."""
    RTT_QUANTISED = "RTT-quantised"
    """Verdict that simulated and predicted periods of the sawtooth differ by less than half an RTT.

    This verdict exists only for evenly spaced losses.
    """
    OUTSIDE = "outside"
    """Unexplained difference between the mean window and the law."""


def judge(measurement: Measurement, figures: Figures) -> Verdict:
    """Return the verdict on `figures`, one of the two parts of `measurement`.

    One part is measured with evenly spaced losses, the other with random losses.
    """
    if _close(measurement.p, figures, figures.law):
        return Verdict.WITHIN
    if _close(measurement.p, figures, figures.law_with_feedback):
        return Verdict.FEEDBACK
    if 1.0 / (measurement.p * figures.law) < FEW_ROUND_TRIPS:
        return Verdict.RECOVERY_DOMINATED
    if figures is measurement.even and _quantised(measurement.p, figures):
        return Verdict.RTT_QUANTISED
    return Verdict.OUTSIDE


def holds(measurement: Measurement) -> bool | None:
    """Return true if the update rule's mean window agrees with the published response function.

    The mean window is that under evenly spaced losses; it agrees if the difference is at most the
    fraction `TOLERANCE`. The result is None if the algorithm has no published response function.
    """
    if measurement.response is None:
        return None
    return Expected.within_part(measurement.response, TOLERANCE).holds(measurement.even.law)


def _quantised(p: float, figures: Figures) -> bool:
    """Return true if the sawtooth's simulated period is within half an RTT of the law's period."""
    return abs(1.0 / figures.network - 1.0 / figures.law_with_feedback) / p < 0.5


def _close(p: float, figures: Figures, expected: float) -> bool:
    distance = figures.interval if p <= BY_INTERVAL_AT else 0.0
    band = Expected.within_part(expected, TOLERANCE, at_least=distance)
    return band.holds(figures.network)
