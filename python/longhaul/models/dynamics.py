"""Differential equations for the mean window of many flows: the senders in a fluid model.

Between losses a window grows as the algorithm specifies; losses are a Poisson process of rate
`events` per flow and second, and each removes a fraction of the window (Misra, Gong and Towsley,
SIGCOMM 2000). An algorithm whose growth depends on more than its window has further states. Windows
are in segments, times in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from math import cbrt, log, log2
from typing import Protocol

from longhaul.models.response import FORMS, HighSpeed


class Dynamics(Protocol):
    """Dynamics of an algorithm: its state variables, and their derivatives with respect to time."""

    def begin(self, window: float) -> list[float]:
        """Return the states of a flow that has just had its first loss, at this window."""
        ...

    def at(self, window: float) -> list[float]:
        """Return the states of a flow that has this window and has had no loss."""
        ...

    def window(self, states: Sequence[float]) -> float:
        """Return the mean window, in segments, for these states."""
        ...

    def resting(self, window: float, rtt_s: float, events: float) -> list[float]:
        """Return the states in equilibrium, given the mean window.

        The derivatives of all states but one are zero. In CUBIC and BIC that one is the time or
        number of round trips since the last loss, in Compound TCP the delay window, otherwise the
        window. `events` is the rate of loss events per flow and second.
        """
        return self.at(window)

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the time derivatives of a flow's states, such as the window.

        `rtt_s` includes the queueing delay `queueing_s`; `events` counts loss events per second.
        """
        ...


class OneState(Dynamics):
    """Base of algorithms whose only state is the window."""

    def at(self, window: float) -> list[float]:
        """Return the list of states for a given window: the window alone."""
        return [window]

    def window(self, states: Sequence[float]) -> float:
        """Return the window, which is the only state."""
        return states[0]


@dataclass(frozen=True)
class WindowOnly(OneState):
    """An algorithm whose state is only the window; losses reduce it by a fraction.

    `increase` maps window and round-trip time to the growth in segments per round trip. `decrease`
    maps the window to the fraction by which a loss reduces it.
    """

    increase: Callable[[float, float], float]
    decrease: Callable[[float], float]

    def begin(self, window: float) -> list[float]:
        """Return the window after a loss."""
        return [window * (1.0 - self.decrease(window))]

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the window's derivative `a(w) / R - b(w) w events`: growth minus decrease."""
        w = states[0]
        return [self.increase(w, rtt_s) / rtt_s - self.decrease(w) * w * events]


def aimd(increase: float = 1.0, decrease: float = 0.5) -> WindowOnly:
    """Return the dynamics of additive increase and multiplicative decrease.

    The default is standard TCP. `increase` is in segments per round trip, `decrease` a fraction of
    the window.
    """
    return WindowOnly(lambda w, rtt: increase, lambda w: decrease)


def scalable(
    increase: float = 0.01, decrease: float = 0.125, low_window: float = 16.0
) -> WindowOnly:
    """Return the dynamics of Scalable TCP, which is standard TCP below `low_window`."""
    return WindowOnly(
        lambda w, rtt: increase * w if w >= low_window else 1.0,
        lambda w: decrease if w >= low_window else 0.5,
    )


def high_speed(form: HighSpeed = FORMS["rfc3649"], min_decrease: float = 0.01) -> WindowOnly:
    """Return the dynamics of HighSpeed TCP, in one of the forms of its response function."""
    low, line = form.low_window, form.line
    slope = (0.5 - form.high_decrease) / log(form.high_window / low)

    def decrease(w: float) -> float:
        return 0.5 if w <= low else max(min_decrease, 0.5 - slope * log(w / low))

    def increase(w: float, rtt_s: float) -> float:
        if w <= low:
            return 1.0
        b = decrease(w)
        p = float((w / line.coefficient) ** (-1.0 / line.exponent))
        return max(1.0, w * w * p * 2.0 * b / (2.0 - b))

    return WindowOnly(increase, decrease)


def binomial(
    k: float = 0.5,
    l: float = 0.5,  # noqa: E741 (the paper's name)
    increase: float = 1.0,
    decrease: float = 0.5,
) -> WindowOnly:
    """Return the dynamics of binomial congestion control (Bansal and Balakrishnan 2001)."""
    return WindowOnly(
        lambda w, rtt: increase / w**k, lambda w: min(decrease * w ** (l - 1.0), 1.0 - 1.0 / w)
    )


@dataclass(frozen=True)
class Cubic(Dynamics):
    """CUBIC, whose states are the window before the last loss (peak) and the time since that loss.

    The window follows from both states (Vardoyan, Hollot and Towsley, "Towards stability analysis
    of data transport mechanisms: a fluid model and its applications", IEEE/ACM ToN 29(4), 2021).
    Fast convergence and the Reno-friendly region are left out.
    """

    scale: float = 0.4
    decrease: float = 0.3

    def begin(self, window: float) -> list[float]:
        """Return a flow's states at its first loss: the peak `window`, and 0 s since the loss."""
        return [window, 0.0]

    def at(self, window: float) -> list[float]:
        """Return the states of a flow that starts at the plateau of the cubic, with this window.

        The peak equals the window, and the time is the time from a loss to the plateau.
        """
        return [window, cbrt(window * self.decrease / self.scale)]

    def window(self, states: Sequence[float]) -> float:
        """Return the window: the cubic's value at the time since the last loss."""
        peak, since = states
        return self.scale * (since - cbrt(peak * self.decrease / self.scale)) ** 3 + peak

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the derivatives of the peak and of the time since the last loss.

        A loss sets the peak to the window, and the time to 0.
        """
        peak, since = states
        return [(self.window(states) - peak) * events, 1.0 - since * events]


@dataclass(frozen=True)
class HTcp(Dynamics):
    """H-TCP, whose states are its window and the time since the last loss.

    A loss multiplies the window by the propagation delay divided by the round-trip time, but at
    least by 0.5 and at most by `max_kept`. The larger reduction after a change of throughput is
    left out. Source: draft-leith-tcp-htcp-06.
    """

    low_speed_time: float = 1.0
    max_kept: float = 0.8

    def begin(self, window: float) -> list[float]:
        """Return a flow's states after its first loss: half of `window`, and 0 s since the loss."""
        return [0.5 * window, 0.0]

    def at(self, window: float) -> list[float]:
        """Return the states of a flow without losses: `window`, and 0 for the time since a loss."""
        return [window, 0.0]

    def resting(self, window: float, rtt_s: float, events: float) -> list[float]:
        """Return the states in equilibrium: the window, and the mean time between losses."""
        return [window, 1.0 / max(events, 1e-30)]

    def window(self, states: Sequence[float]) -> float:
        """Return the window, the first of the states."""
        return states[0]

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the derivatives of the window and of the time since the last loss.

        The increase grows with this time.
        """
        w, since = states
        kept = min(self.max_kept, max(0.5, 1.0 - queueing_s / rtt_s))
        d = max(0.0, since - self.low_speed_time)
        increase = 2.0 * (1.0 - kept) * (1.0 + 10.0 * d + d * d / 4.0)
        return [increase / rtt_s - (1.0 - kept) * w * events, 1.0 - since * events]


@dataclass(frozen=True)
class Bic(Dynamics):
    """BIC, whose states are its last peak and the number of round trips since the last loss.

    The window follows from both states, as with CUBIC (Xu, Harfoush and Rhee 2004). If the mean
    window were a state, it would stay at the peak, where BIC hardly grows. Fast convergence and the
    region below the low window are left out.
    """

    decrease: float = 0.125
    max_increment: float = 32.0
    min_increment: float = 0.01

    def begin(self, window: float) -> list[float]:
        """Return the states after the first loss: `window` as the peak, and zero round trips."""
        return [window, 0.0]

    def at(self, window: float) -> list[float]:
        """Return the states before any loss: the peak is `window`, and has just been reached."""
        return [window, sum(self._phases(window))]

    def window(self, states: Sequence[float]) -> float:
        """Return BIC's window, given its peak and the number of round trips since the loss.

        The window approaches the peak, and then grows beyond it.
        """
        peak, rounds = states
        additive, halving = self._phases(peak)
        below = peak * self.decrease
        if rounds < additive:
            return peak - below + self.max_increment * rounds
        if rounds < additive + halving:
            away = min(below, 2.0 * self.max_increment)
            return float(peak - away * 0.5 ** (rounds - additive))
        beyond = rounds - additive - halving
        doubling = log2(self.max_increment / self.min_increment)
        steps = float(2.0 ** min(beyond, doubling)) - 1.0
        return peak + self.min_increment * steps + self.max_increment * max(0.0, beyond - doubling)

    def _phases(self, peak: float) -> tuple[float, float]:
        """Return the lengths, in round trips, of the two phases from a loss until the peak.

        Per round trip, the window grows by the maximum step in the first phase; in the second, its
        distance to the peak is halved.
        """
        below = peak * self.decrease
        near = min(below, 2.0 * self.max_increment)
        return (below - near) / self.max_increment, max(0.0, log2(near / self.min_increment))

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return derivatives of both states: the peak, and the round trips since the last loss.

        A loss sets the peak to the window, and the round trips to 0.
        """
        peak, rounds = states
        return [(self.window(states) - peak) * events, 1.0 / rtt_s - rounds * events]


@dataclass(frozen=True)
class Compound(Dynamics):
    """Compound TCP, whose states are its loss window and its delay window.

    A loss halves the loss window, and removes the fraction `decrease` of the sum of both windows;
    the fraction is a half if the sum is below `low_window`. The sum stays at least as large as the
    loss window. Source: Tan, Song, Zhang and Sridharan 2006.
    """

    increase: float = 0.125
    exponent: float = 0.75
    decrease: float = 0.5
    gamma: float = 30.0
    zeta: float = 1.0
    low_window: float = 41.0

    def begin(self, window: float) -> list[float]:
        """Return the states after the first loss, before which the delay window is zero."""
        return [window / 2.0, -self._lost(window, 0.0)]

    def at(self, window: float) -> list[float]:
        """Return the states before any loss: loss window `window`, delay window zero."""
        return [window, 0.0]

    def resting(self, window: float, rtt_s: float, events: float) -> list[float]:
        """Return the loss window and the delay window in equilibrium; their sum is `window`.

        `events` is the number of losses per second.
        """
        cwnd = min(window, 2.0 / max(rtt_s * events, 1e-30))
        return [cwnd, window - cwnd]

    def window(self, states: Sequence[float]) -> float:
        """Return the sum of loss window and delay window."""
        return states[0] + states[1]

    def _lost(self, cwnd: float, dwnd: float) -> float:
        """Return what a loss removes from the delay window; it is negative if the window grows."""
        total = cwnd + dwnd
        decrease = self.decrease if total >= self.low_window else 0.5
        return min(decrease * total - 0.5 * cwnd, dwnd)

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the derivatives of loss window and delay window.

        The delay window grows while fewer than `gamma` packets of the flow queue and the sum of
        both windows is at least `low_window`.
        """
        cwnd, dwnd = states
        total = cwnd + dwnd
        queued = total * queueing_s / rtt_s
        if queued >= self.gamma:
            growth = -self.zeta * queued if dwnd > 0.0 else 0.0
        elif total < self.low_window:
            growth = 0.0
        else:
            growth = max(0.0, self.increase * total**self.exponent - 1.0)
        return [
            1.0 / rtt_s - 0.5 * cwnd * events,
            growth / rtt_s - self._lost(cwnd, dwnd) * events,
        ]


@dataclass(frozen=True)
class Illinois(OneState):
    """TCP-Illinois, whose only state is its window (Liu, Basar and Srikant 2008).

    `max_queueing_s` is the largest queueing delay that a flow has seen: that of a full buffer.
    """

    max_queueing_s: float
    max_increase: float = 10.0
    min_increase: float = 0.3
    max_decrease: float = 0.5
    min_decrease: float = 0.125
    low_window: float = 15.0

    def begin(self, window: float) -> list[float]:
        """Return the window after the first loss: the queue is full, so the decrease is largest."""
        return [window * (1.0 - self.max_decrease)]

    def derivative(
        self, states: Sequence[float], rtt_s: float, queueing_s: float, events: float
    ) -> list[float]:
        """Return the window's derivative; increase and decrease depend on the queueing delay."""
        w = states[0]
        if w < self.low_window:
            return [1.0 / rtt_s - 0.5 * w * events]
        delay = queueing_s / self.max_queueing_s
        increase = self.max_increase
        if delay > 0.01:
            # A hyperbola through the largest increase at 1 % of the delay and the smallest at its
            # maximum.
            k1 = (
                0.99
                * self.min_increase
                * self.max_increase
                / (self.max_increase - self.min_increase)
            )
            k2 = k1 / self.max_increase - 0.01
            increase = k1 / (k2 + delay)
        place = min(1.0, max(0.0, (delay - 0.1) / 0.7))
        decrease = self.min_decrease + place * (self.max_decrease - self.min_decrease)
        return [increase / rtt_s - decrease * w * events]


@dataclass(frozen=True)
class Setting:
    """Input to an algorithm's dynamics: delays of the path, and the algorithm's parameters."""

    rtt_s: float
    """Round-trip time without queueing."""
    max_queueing_s: float
    """Queueing delay if all queues of the path are full."""
    parameters: Mapping[str, float]

    def get(self, name: str, default: float) -> float:
        """Return the algorithm's parameter `name`, or `default` if it is not set."""
        return float(self.parameters.get(name, default))


def _gaimd(to: Setting) -> Dynamics:
    decrease = to.get("decrease", 0.125)
    friendly = 4.0 / 3.0 * (1.0 - (1.0 - decrease) ** 2)
    return aimd(to.get("increase", friendly), decrease)


def _multcp(to: Setting) -> Dynamics:
    flows = to.get("flows", 2.0)
    return aimd(flows, 0.5 / max(flows, 1.0))


def _constant_rate(to: Setting) -> Dynamics:
    increase, step = to.get("c", 25.0) * to.rtt_s**2, to.get("max_step", 1.0)
    return WindowOnly(lambda w, rtt: min(increase, step * w), lambda w: 0.5)


def _high_speed(to: Setting) -> Dynamics:
    low_window = to.get("low_window", 38.0)
    form = HighSpeed.through(
        low_window,
        to.get("low_p", 1e-3 * (38.0 / low_window) ** 2),
        to.get("high_window", 83_000.0),
        to.get("high_p", 1e-7),
        to.get("high_decrease", 0.1),
    )
    return high_speed(form, to.get("min_decrease", 0.01))


def _by_name(make: Callable[..., Dynamics]) -> Callable[[Setting], Dynamics]:
    """Return a function that makes dynamics from a `Setting`, by the class or function `make`.

    The arguments of `make` have the names of the algorithm's parameters in the registry, except
    `max_queueing_s` of Illinois.
    """
    names = signature(make).parameters

    def build(to: Setting) -> Dynamics:
        known = {**to.parameters, "max_queueing_s": to.max_queueing_s}
        return make(**{name: float(known[name]) for name in names if name in known})

    return build


BUILDERS: dict[str, Callable[[Setting], Dynamics]] = {
    "reno": _by_name(aimd),
    "gaimd": _gaimd,
    "increase-by-k": lambda to: aimd(to.get("k", 2.0)),
    "multcp": _multcp,
    "constant-rate": _constant_rate,
    "hybla": lambda to: aimd(max(1.0, to.rtt_s / to.get("reference_rtt", 0.025)) ** 2),
    "binomial": _by_name(binomial),
    "scalable": _by_name(scalable),
    "hstcp": _high_speed,
    "bic": _by_name(Bic),
    "htcp": _by_name(HTcp),
    "cubic": _by_name(Cubic),
    "ctcp": _by_name(Compound),
    "illinois": _by_name(Illinois),
}
# Algorithms of the registry that have a fluid model.
MODELLED = tuple(BUILDERS)


def of_algorithm(
    kind: str, rtt_s: float, max_queueing_s: float, parameters: Mapping[str, float] | None = None
) -> Dynamics:
    """Return the dynamics of the algorithm `kind`, a name in the registry.

    Raises:
        KeyError: There is no fluid model of the algorithm.

    """
    return BUILDERS[kind](Setting(rtt_s, max_queueing_s, parameters or {}))
