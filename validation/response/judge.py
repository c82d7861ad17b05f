"""Comparison of a mean window on the network with a law, with the reason for a difference."""

from __future__ import annotations

from enum import Enum

from longhaul.analysis.judging import Expected
from validation.response.measure import Figures, Measurement

TOLERANCE = 0.05
BY_INTERVAL_AT = 1e-5
"""Loss rate below which the interval of the mean is used, since runs have few losses."""
FEW_ROUND_TRIPS = 3.0


class Verdict(Enum):
    """Verdict on a mean window on the network."""

    WITHIN = "within"
    FEEDBACK = "with feedback delay"
    """The mean is within the bounds of the law with feedback after a round trip."""
    RECOVERY_DOMINATED = "recovery-dominated"
    """Losses are so few round trips apart that recoveries overlap."""
    RTT_QUANTISED = "RTT-quantised"
    """Evenly spaced losses, where the sawtooth differs from the law's by less than half an RTT."""
    OUTSIDE = "outside"
    """The mean is outside the bounds for an unknown reason."""


def judge(measurement: Measurement, figures: Figures) -> Verdict:
    """Return the verdict on the network's mean window."""
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
    """Return true if the closed form equals the law's mean window; None without a closed form."""
    if measurement.response is None:
        return None
    return Expected.within_part(measurement.response, TOLERANCE).holds(measurement.even.law)


def _quantised(p: float, figures: Figures) -> bool:
    """Return true if the sawtooth has the law's length, rounded to round trips."""
    return abs(1.0 / figures.network - 1.0 / figures.law_with_feedback) / p < 0.5


def _close(p: float, figures: Figures, expected: float) -> bool:
    distance = figures.interval if p <= BY_INTERVAL_AT else 0.0
    band = Expected.within_part(expected, TOLERANCE, at_least=distance)
    return band.holds(figures.network)
