"""Laws of the congestion window from the papers: growth, and reduction after a signal.

The laws are written from the papers, independently of the engine's algorithms, which are compared
with them. A law computes many flows at once: windows (segments) and elapsed round trips are arrays
with an element per flow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

Windows = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Law(ABC):
    """Rules by which flows grow and reduce their congestion windows, with the flows' state."""

    def begin(self, cwnd: Windows) -> None:  # noqa: B027 (most laws remember nothing)
        """Initialise the state of flows that have just reduced their windows to `cwnd`."""

    @abstractmethod
    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Return the windows after a step of at most one round trip.

        `rounds` is the length of the step in round trips. `acked` is the data acknowledged in the
        step, as a fraction of each window: equal to `rounds` if acknowledgements keep up with the
        window, and 0 in recovery.
        """

    @abstractmethod
    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Return the windows after congestion signals to the flows that `signalled` marks."""


class MultiplicativeDecrease(Law):
    """A law that removes a constant fraction of the window on a congestion signal."""

    decrease: float

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Remove the fraction `decrease` of the window from the flows that `signalled` marks."""
        return np.where(signalled, cwnd * (1.0 - self.decrease), cwnd)


@dataclass
class Aimd(MultiplicativeDecrease):
    """Additive increase, multiplicative decrease (RFC 5681: one segment per RTT, one half)."""

    increase: float = 1.0
    decrease: float = 0.5

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add `increase` segments per round trip."""
        return cwnd + self.increase * acked


@dataclass
class Binomial(Law):
    """Binomial congestion control (Bansal and Balakrishnan, INFOCOM 2001, equation 1, alpha 1)."""

    k: float
    l: float  # noqa: E741 (the paper's name)
    decrease: float

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add `1 / w^k` segments per round trip to the window w."""
        return cwnd + acked * cwnd**-self.k

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Remove `decrease w^l` segments from the window w, and leave at least one."""
        return np.where(signalled, np.maximum(cwnd - self.decrease * cwnd**self.l, 1.0), cwnd)


@dataclass
class AboveLowWindow(Law):
    """A law that applies above a low window; below it, standard TCP's law applies."""

    law: Law
    low_window: float

    def begin(self, cwnd: Windows) -> None:
        """Initialise the state of `self.law` for flows with the windows `cwnd`.

        Standard TCP's law, which applies below the low window, has no state.
        """
        self.law.begin(cwnd)

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Grow by standard TCP's law below the low window, and by `self.law` above it."""
        own = self.law.grow(cwnd, rounds, acked)
        return np.where(cwnd < self.low_window, cwnd + acked, own)

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Halve windows below the low window, and reduce larger windows by `self.law`."""
        small = signalled & (cwnd < self.low_window)
        return np.where(small, cwnd / 2.0, self.law.cut(cwnd, signalled))


@dataclass
class HighSpeed(Law):
    """HighSpeed TCP above the low window (RFC 3649 section 5; LBNL-52549 equations 3.3 to 3.8)."""

    low_window: float = 38.0
    low_p: float = 1e-3
    high_window: float = 83_000.0
    high_p: float = 1e-7
    high_decrease: float = 0.1

    def decrease(self, cwnd: Windows) -> Windows:
        """Return b(w), the fraction of the window w to remove, which is linear in log(w)."""
        place: Windows = np.log(cwnd / self.low_window) / log(self.high_window / self.low_window)
        return 0.5 + (self.high_decrease - 0.5) * place

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add a(w) = w^2 p(w) 2 b(w) / (2 - b(w)) segments per round trip to the window w.

        p(w) is the loss rate at which the law has the mean window w, and b(w) is `decrease`.
        """
        slope = log(self.high_p / self.low_p) / log(self.high_window / self.low_window)
        p: Windows = self.low_p * (cwnd / self.low_window) ** slope
        b = self.decrease(cwnd)
        return cwnd + acked * cwnd**2 * p * 2.0 * b / (2.0 - b)

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Remove the fraction b(w) of the window."""
        return np.where(signalled, cwnd * (1.0 - self.decrease(cwnd)), cwnd)


@dataclass
class Scalable(MultiplicativeDecrease):
    """Scalable TCP (Kelly, CCR 33(2), 2003): growth by 1 % per RTT, reduction by an eighth."""

    increase: float = 0.01
    decrease: float = 0.125

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Grow the window exponentially, because each acknowledgement adds the same amount."""
        return cwnd * np.exp(self.increase * acked)


@dataclass
class Compound(MultiplicativeDecrease):
    """Compound TCP without queueing: growth of `alpha w^k` per RTT (Tan et al., INFOCOM 2006)."""

    decrease: float = 0.5
    increase: float = 0.125
    exponent: float = 0.75

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add `increase` w^`exponent` segments per round trip to window w, but at least one."""
        return cwnd + acked * np.maximum(self.increase * cwnd**self.exponent, 1.0)


@dataclass
class Cubic(Law):
    """CUBIC at a constant round-trip time (RFC 9438 sections 4.2 to 4.7)."""

    rtt_s: float
    scale: float = 0.4
    kept: float = 0.7
    peak: Windows = field(init=False)
    prior: Windows = field(init=False)
    start: Windows = field(init=False)
    standard: Windows = field(init=False)
    elapsed_s: Windows = field(init=False)

    def begin(self, cwnd: Windows) -> None:
        """Set each flow's peak to its window before the reduction to `cwnd`."""
        self.start, self.standard = cwnd, cwnd
        self.prior = self.peak = cwnd / self.kept
        self.elapsed_s = np.zeros_like(cwnd)

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Follow the cubic function, or the Reno-friendly window if that is larger.

        Windows do not decrease, and do not change in recovery (`acked` is 0).
        """
        going = acked > 0.0
        self.elapsed_s = self.elapsed_s + going * rounds * self.rtt_s
        plateau = np.maximum(self.peak, self.start)
        until_plateau_s = np.cbrt((plateau - self.start) / self.scale)
        cubic = plateau + self.scale * (self.elapsed_s - until_plateau_s) ** 3
        friendly = 3.0 * (1.0 - self.kept) / (1.0 + self.kept)
        slope = np.where(self.standard < self.prior, friendly, 1.0)
        self.standard = self.standard + slope * acked
        return np.where(going, np.maximum(np.maximum(cubic, self.standard), cwnd), cwnd)

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Store the windows of `signalled` flows as peaks, then keep 0.7 of each window.

        With fast convergence, a window below the last peak is stored as 0.85 of its size.
        """
        peak = np.where(cwnd < self.peak, cwnd * (1.0 + self.kept) / 2.0, cwnd)
        self.peak = np.where(signalled, peak, self.peak)
        self.prior = np.where(signalled, cwnd, self.prior)
        left = np.where(signalled, cwnd * self.kept, cwnd)
        self.start = np.where(signalled, left, self.start)
        self.standard = np.where(signalled, left, self.standard)
        self.elapsed_s = np.where(signalled, 0.0, self.elapsed_s)
        return left


@dataclass
class Htcp(Law):
    """H-TCP without queueing (Leith and Shorten, draft-leith-tcp-htcp-06).

    Growth depends on the time since the last congestion event. An event leaves the fraction
    `steady_kept` of the window: the largest that H-TCP allows, because the RTT does not vary. If
    throughput changed by more than a fifth since the previous event, the window is halved.
    """

    rtt_s: float
    low_speed_s: float = 1.0
    steady_kept: float = 0.8
    steady_change: float = 0.2
    throughput_gain: float = 0.25
    kept: Windows = field(init=False)
    elapsed_s: Windows = field(init=False)
    throughput: Windows = field(init=False)
    largest: Windows = field(init=False)
    last_largest: Windows = field(init=False)

    def begin(self, cwnd: Windows) -> None:
        """Initialise flows that have just reduced their windows to `cwnd`.

        The fraction `steady_kept` of each window has remained.
        """
        self.kept = np.full_like(cwnd, self.steady_kept)
        self.elapsed_s = np.zeros_like(cwnd)
        self.throughput = self.largest = cwnd
        self.last_largest = cwnd / self.steady_kept

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add `2 (1 - kept) (1 + 10 t + t^2 / 4)` segments per round trip.

        `t` is the time in seconds since the last congestion event, minus `low_speed_s`. `kept` is
        the fraction of the window that remained after the event.
        """
        fast_s = np.maximum(self.elapsed_s - self.low_speed_s, 0.0)
        increase = 2.0 * (1.0 - self.kept) * (1.0 + 10.0 * fast_s + fast_s**2 / 4.0)
        self.elapsed_s = self.elapsed_s + rounds * self.rtt_s
        gain = self.throughput_gain * rounds
        self.throughput = self.throughput + gain * (cwnd - self.throughput)
        self.largest = np.maximum(self.largest, self.throughput)
        return cwnd + acked * increase

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Keep the fraction `steady_kept` of windows, or a half if throughput has changed."""
        change = np.abs(self.largest - self.last_largest)
        steady = change <= self.steady_change * self.last_largest
        kept = np.where(steady, self.steady_kept, 0.5)
        self.kept = np.where(signalled, kept, self.kept)
        self.last_largest = np.where(signalled, self.largest, self.last_largest)
        self.largest = np.where(signalled, 0.0, self.largest)
        self.elapsed_s = np.where(signalled, 0.0, self.elapsed_s)
        return np.where(signalled, cwnd * self.kept, cwnd)


@dataclass
class Bic(Law):
    """BIC above its low window (Xu, Harfoush and Rhee, INFOCOM 2004)."""

    max_increment: float = 32.0
    min_increment: float = 0.01
    decrease: float = 0.125
    peak: Windows = field(init=False)

    def begin(self, cwnd: Windows) -> None:
        """Set each flow's peak to its window before the reduction to `cwnd`."""
        self.peak = cwnd / (1.0 - self.decrease)

    def grow(self, cwnd: Windows, rounds: float, acked: Windows) -> Windows:
        """Add half the distance to the peak per RTT; above the peak, add 1, 2, 4, ... segments.

        The increase is at least `min_increment` and at most `max_increment` segments per RTT.
        """
        half = np.maximum((self.peak - cwnd) / 2.0, self.min_increment)
        beyond = np.exp2(np.floor(np.log2(np.maximum(cwnd - self.peak, 0.0) + 1.0)))
        step = np.where(cwnd < self.peak, half, beyond)
        return cwnd + acked * np.minimum(step, self.max_increment)

    def cut(self, cwnd: Windows, signalled: Flags) -> Windows:
        """Reduce each `signalled` flow's window by an eighth, and store the old window as its peak.

        With fast convergence, 15/16 of the old window are stored if it is below the last peak.
        """
        peak = np.where(cwnd < self.peak, cwnd * (1.0 - self.decrease / 2.0), cwnd)
        self.peak = np.where(signalled, peak, self.peak)
        return np.where(signalled, cwnd * (1.0 - self.decrease), cwnd)
