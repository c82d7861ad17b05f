"""Response functions of standard and HighSpeed TCP, and quantities derived from them.

A response function gives the mean congestion window of a flow that loses segments at the rate `p`,
if losses are evenly spaced and recovered immediately. Windows are in segments, loss rates are
fractions, times are in seconds, rates in bits per second. Functions of a loss rate or window take
numbers or arrays and return arrays. The sources are RFC 3649 and "A simulation-based study of
HighSpeed TCP and its deployment" (LBNL-52549, 2003), chapter 3. RFC 3649 section 5 prints the
rounded form of `p(w)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from longhaul.libraries import optimize

Numbers = NDArray[np.float64]

# Range of loss rates in which equilibria are searched.
LEAST_LOSS, MOST_LOSS = 1e-15, 1.0


class Response(Protocol):
    """Increase, decrease and response function of a congestion control algorithm."""

    def window(self, p: ArrayLike) -> Numbers:
        """Return the mean window at a loss rate."""
        ...

    def loss(self, w: ArrayLike) -> Numbers:
        """Return the loss rate at which the mean window is `w`."""
        ...

    def increase(self, w: ArrayLike) -> Numbers:
        """Return the increase `a(w)` in segments per round trip."""
        ...

    def decrease(self, w: ArrayLike) -> Numbers:
        """Return the fraction `b(w)` of the window that a loss removes."""
        ...


@dataclass(frozen=True)
class PowerLaw:
    """The response function `w = coefficient / p^exponent`."""

    coefficient: float
    exponent: float

    @classmethod
    def through(cls, w1: float, p1: float, w2: float, p2: float) -> PowerLaw:
        """Return the power law through the points (`p1`, `w1`), (`p2`, `w2`): loss rate, window."""
        exponent = log(w2 / w1) / log(p1 / p2)
        return cls(w1 * p1**exponent, exponent)

    def window(self, p: ArrayLike) -> Numbers:
        """Return the mean window `w` at loss rate `p`."""
        return np.asarray(self.coefficient * np.asarray(p, float) ** -self.exponent)

    def loss(self, w: ArrayLike) -> Numbers:
        """Return the loss rate `p` at mean window `w`."""
        return np.asarray((np.asarray(w, float) / self.coefficient) ** (-1.0 / self.exponent))


@dataclass(frozen=True)
class StandardTcp:
    """Standard TCP: increase by one segment per round trip, reduction to one half at a loss.

    Its mean window is `constant / sqrt(p)`. The sawtooth gives a constant of sqrt(1.5) = 1.22. RFC
    3649 prints 1.2 (section 2) and uses it for its tables.
    """

    constant: float = sqrt(1.5)

    def window(self, p: ArrayLike) -> Numbers:
        """Return the mean window at a loss rate."""
        return PowerLaw(self.constant, 0.5).window(p)

    def loss(self, w: ArrayLike) -> Numbers:
        """Return the loss rate at which the mean window is `w`."""
        return PowerLaw(self.constant, 0.5).loss(w)

    def increase(self, w: ArrayLike) -> Numbers:
        """Return 1 segment per round trip."""
        return np.ones_like(np.asarray(w, float))

    def decrease(self, w: ArrayLike) -> Numbers:
        """Return the decrease, one half."""
        return np.full_like(np.asarray(w, float), 0.5)


@dataclass(frozen=True)
class HighSpeed:
    """HighSpeed TCP (RFC 3649): standard TCP up to `low_window`, a steeper power law above it.

    `line` is the response function above the low window. The decrease falls from one half at the
    low window to `high_decrease` at the high window, linearly in the logarithm of the window, and
    continues to fall beyond. The increase follows from the decrease and the mean window of `line`.
    """

    line: PowerLaw
    low_window: float = 38.0
    high_window: float = 83_000.0
    high_decrease: float = 0.1
    standard: StandardTcp = field(default_factory=StandardTcp)

    @classmethod
    def through(
        cls,
        low_window: float = 38.0,
        low_p: float | None = 1e-3,
        high_window: float = 83_000.0,
        high_p: float = 1e-7,
        high_decrease: float = 0.1,
    ) -> HighSpeed:
        """Return the HighSpeed TCP whose response function passes through two points.

        The points (window, loss rate) are by default those of RFC 3649. If `low_p` is None, the low
        point is on standard TCP's response function, as in ns-2.
        """
        standard = StandardTcp()
        first = float(standard.loss(low_window)) if low_p is None else low_p
        line = PowerLaw.through(low_window, first, high_window, high_p)
        return cls(line, low_window, high_window, high_decrease, standard)

    def window(self, p: ArrayLike) -> Numbers:
        """Return the mean window at a loss rate; never less than standard TCP's."""
        return np.maximum(self.line.window(p), self.standard.window(p))

    def loss(self, w: ArrayLike) -> Numbers:
        """Return the loss rate `p(w)`: standard TCP's up to the low window, `line`'s above."""
        return np.where(self._is_low(w), self.standard.loss(w), self.line.loss(w))

    def increase(self, w: ArrayLike) -> Numbers:
        """Return `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`, at least 1 segment per round trip."""
        w = np.asarray(w, float)
        b = self.decrease(w)
        above = w * w * self.line.loss(w) * 2.0 * b / (2.0 - b)
        return np.where(self._is_low(w), 1.0, np.maximum(above, 1.0))

    def decrease(self, w: ArrayLike) -> Numbers:
        """Return `b(w)`, the fraction of the window that a loss removes."""
        climbed = np.log(np.asarray(w, float) / self.low_window)
        b = 0.5 - (0.5 - self.high_decrease) / self._width() * climbed
        return np.where(self._is_low(w), 0.5, b)

    def _width(self) -> float:
        return log(self.high_window / self.low_window)

    def _is_low(self, w: ArrayLike) -> NDArray[np.bool_]:
        return np.asarray(w, float) <= self.low_window


STANDARD = StandardTcp()
STANDARD_ROUNDED = StandardTcp(1.2)

# Forms of the response function in the literature. RFC 3649 section 5 has the two points and the
# equation from which its tables are made; its appendix has p(w) = 0.078 / w^1.2.
FORMS: dict[str, HighSpeed] = {
    "rfc3649": HighSpeed.through(),
    "tables": HighSpeed(PowerLaw(0.12, 0.835), standard=STANDARD_ROUNDED),
    "rounded": HighSpeed(PowerLaw(0.078 ** (1 / 1.2), 1 / 1.2)),
    "ns2": HighSpeed.through(low_p=None),
}


def rounds_between_losses(response: Response, p: ArrayLike) -> Numbers:
    """Return the round trips between losses: `1 / p` segments divided by the mean window."""
    return np.asarray(1.0 / (np.asarray(p, float) * response.window(p)))


def relative_fairness(high_speed: Response, standard: Response, p: ArrayLike) -> Numbers:
    """Return the window of `high_speed` divided by that of `standard`, at equal loss rates `p`."""
    return high_speed.window(p) / standard.window(p)


@dataclass(frozen=True)
class Sharing:
    """Mean windows of flows of two algorithms that share a path and have the same loss rate."""

    loss: float
    high_speed_window: float
    standard_window: float
    aggregate_fairness: float
    """Total throughput of the first algorithm's flows, divided by that of the second's."""


def sharing(
    high_speed: Response, flows: int, standard: Response, standard_flows: int, capacity: float
) -> Sharing:
    """Return the mean windows of flows of two algorithms that share a path.

    `capacity` is the window that fills the path, in segments. All flows have the same round-trip
    time and, as under RED, the same loss rate: the one at which the windows add up to the capacity.
    """

    def total(log_p: float) -> float:
        p = exp(log_p)
        return flows * float(high_speed.window(p)) + standard_flows * float(standard.window(p))

    p = exp(root(lambda at: total(at) - capacity, log(LEAST_LOSS), log(MOST_LOSS)))
    windows = float(high_speed.window(p)), float(standard.window(p))
    ratio = flows * windows[0] / (standard_flows * windows[1])
    return Sharing(p, *windows, ratio)


def equivalent_flows(high_speed: Response, standard: Response, capacity: float) -> float:
    """Return how many `standard` flows together have the throughput of one `high_speed` flow.

    All flows see the same loss rate on a path of `capacity` segments. Since the throughputs are
    equal, the `high_speed` flow has half of the capacity.
    """
    p = float(high_speed.loss(capacity / 2.0))
    return float(relative_fairness(high_speed, standard, p))


def path_window(rate_bps: float, rtt_s: float, packet_bytes: float = 1500.0) -> float:
    """Return the window in segments that fills a path: rate times round-trip time."""
    return rate_bps * rtt_s / (8.0 * packet_bytes)


def recovery_time_s(rate_bps: float, rtt_s: float, packet_bytes: float = 1500.0) -> float:
    """Return the seconds that standard TCP takes to fill a path again after one halving.

    The window grows by one segment per round trip, from half the path's window.
    """
    return path_window(rate_bps, rtt_s, packet_bytes) / 2.0 * rtt_s


def root(
    of: Callable[[float], float],
    low: float,
    high: float,
    within: float = 1e-12,
    relative: float = 1e-13,
) -> float:
    """Return the zero of a function that changes its sign once between `low` and `high`.

    `within` and `relative` are the absolute and relative tolerances of the result.
    """
    return float(optimize.brentq(of, low, high, xtol=within, rtol=relative))
