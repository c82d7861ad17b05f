"""Response functions of loss-based algorithms: mean window by loss rate and round-trip time.

Losses are `1 / p` segments apart. They are detected immediately, retransmission costs nothing, and
there is no queueing. Functions for other loss processes say so. `LAWS` has the response functions
(laws) of sixteen algorithms of the registry with their default parameters; `PRINTED` has the forms
in NIST SP 500-282 (2010), appendix A. Windows are in segments, loss rates are fractions, times are
in seconds.

Algorithms that react only to delay or rate, such as Vegas, FAST, LEDBAT and BBR, have no function
of the loss rate. Westwood+ has none either: without queueing, it keeps its whole window at a random
loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import integrate, optimize
from longhaul.models import sawtooth
from longhaul.models.response import FORMS, STANDARD, HighSpeed, Numbers, PowerLaw, Response, root

# The mean window at a loss rate and a round-trip time.
Window = Callable[[ArrayLike, float], Numbers]

# Range of loss rates in which windows are inverted.
LEAST_LOSS, MOST_LOSS = 1e-15, 1.0


@dataclass(frozen=True)
class Law:
    """A response function with its source."""

    kind: str
    """The algorithm's name in the registry."""
    window: Window
    source: str
    note: str = ""

    def loss(self, window: float, rtt_s: float) -> float:
        """Return the loss rate at which the mean window is `window` segments.

        Raises:
            ValueError: No loss rate between 1e-15 and 1 has this mean window.

        """

        def excess(log_p: float) -> float:
            return log(float(self.window(np.exp(log_p), rtt_s))) - log(window)

        ends = log(LEAST_LOSS), log(MOST_LOSS)
        if not excess(ends[1]) <= 0.0 <= excess(ends[0]):
            raise ValueError(f"{self.kind} has no mean window of {window:g} segments")
        return float(np.exp(root(excess, *ends)))

    def scaled(self, factor: float) -> Law:
        """Return the response function with all windows multiplied by `factor`.

        Such functions are the edges of an error band.
        """
        return Law(
            self.kind, lambda p, rtt_s: factor * self.window(p, rtt_s), self.source, self.note
        )


def crossing(first: Law, other: Law, rtt_s: float) -> float | None:
    """Return the loss rate below which `first` has a larger mean window than `other`.

    Return None if `first` has no larger window at a loss rate of 1e-9, and 1 if it has a larger one
    at all loss rates.
    """

    def is_ahead(p: float) -> bool:
        return float(first.window(p, rtt_s)) > (1.0 + 1e-9) * float(other.window(p, rtt_s))

    grid = np.geomspace(1e-9, 0.9, 200)
    if not is_ahead(grid[0]):
        return None
    behind = next((n for n, p in enumerate(grid) if not is_ahead(p)), None)
    if behind is None:
        return 1.0
    low, high = float(grid[behind - 1]), float(grid[behind])
    while high / low > 1.0 + 1e-9:
        middle = sqrt(low * high)
        low, high = (middle, high) if is_ahead(middle) else (low, middle)
    return high


def _at_any_rtt(law: PowerLaw | Response) -> Window:
    """Return a response function that does not depend on the round-trip time."""
    return lambda p, rtt_s: law.window(p)


def aimd(increase: float, decrease: float) -> Window:
    """Return the response function of additive increase and multiplicative decrease."""
    return _at_any_rtt(PowerLaw(sqrt(increase * (2.0 - decrease) / (2.0 * decrease)), 0.5))


def above(low_window: float, law: Window) -> Window:
    """Return the response function of standard TCP for windows below `low_window`, else `law`."""

    def window(p: ArrayLike, rtt_s: float) -> Numbers:
        standard = STANDARD.window(p)
        return np.where(standard < low_window, standard, law(p, rtt_s))

    return window


def scalable(increase: float = 0.01, decrease: float = 0.125) -> Window:
    """Return the response function of Scalable TCP, whose sawteeth have equal durations in RTTs."""
    return _at_any_rtt(PowerLaw(increase / -log(1.0 - decrease), 1.0))


def constant_rate(c: float = 25.0) -> Window:
    """Return the response function of an increase by `c rtt^2` segments per round trip."""
    return lambda p, rtt_s: aimd(c * rtt_s**2, 0.5)(p, rtt_s)


def hybla(reference_rtt_s: float = 0.025) -> Window:
    """Return Hybla's response function, with an increase by `rho^2` segments per round trip.

    `rho` is the round-trip time divided by `reference_rtt_s`, and at least 1.
    """
    return lambda p, rtt_s: aimd(max(1.0, rtt_s / reference_rtt_s) ** 2, 0.5)(p, rtt_s)


def compound(increase: float = 0.125, exponent: float = 0.75, decrease: float = 0.5) -> Window:
    """Return Compound TCP's response function without queueing.

    Sources: Tan et al. 2006; NIST SP 500-282, equations 16 and 17. Two misprints of the report are
    corrected: the sign of gamma's denominator, and tau's inverted outer exponent. The defaults then
    give `0.2553 p^-0.8`; the printed factor is 0.25.
    """
    k = exponent
    kept = (1.0 - decrease) ** (1.0 - k)
    gamma = kept / (1.0 - kept)
    power = (2.0 - k) / (1.0 - k)
    d = (1.0 + gamma) ** power - gamma**power
    coefficient = (1.0 - k) / (2.0 - k) * d ** (1.0 / power)
    factor = coefficient * ((2.0 - k) * increase) ** (1.0 / (2.0 - k))
    return _at_any_rtt(PowerLaw(factor, 1.0 / (2.0 - k)))


def cubic(scale: float = 0.4, decrease: float = 0.3) -> Window:
    """Return CUBIC's response function if a loss occurs each time the window returns to its peak.

    RFC 9438 equation 6; NIST SP 500-282 equation 14 with a decrease of 0.2. The Reno-friendly
    region is left out.
    """
    law = PowerLaw((scale * (4.0 - decrease) / (4.0 * decrease)) ** 0.25, 0.75)
    return lambda p, rtt_s: law.window(np.asarray(p, float) / rtt_s)


def cubic_poisson(scale: float = 0.4, decrease: float = 0.2) -> Window:
    """Return CUBIC's response function for Poisson losses (NIST SP 500-282, equation 15).

    It solves the source's fit of the mean window, `w = (0.3 beta + 3.8) c / (beta lambda^3)`, with
    c = `scale`, beta = `decrease`, and `lambda = p w / R` losses per second.
    """
    law = PowerLaw(((0.3 * decrease + 3.8) * scale / decrease) ** 0.25, 0.75)
    return lambda p, rtt_s: law.window(np.asarray(p, float) / rtt_s)


@dataclass(frozen=True)
class PoissonCubic:
    """CUBIC under Poisson losses at rate 1; times are in units of the mean time between losses."""

    plateau: float
    """Mean time from a loss to the plateau of the cubic function, CUBIC's `k`."""
    peak: float
    """Mean window just before a loss, in packets (`w0`)."""
    mean: float
    """Mean window over time, in packets."""


def solve_poisson_cubic(
    scale: float = 0.4, decrease: float = 0.2, *, as_printed: bool = False
) -> PoissonCubic:
    """Solve the mean-field equations of CUBIC under Poisson losses (NIST SP 500-282, equation 15).

    A loss before the plateau lowers the next peak by half the decrease (fast convergence), and so
    shortens the time to the next plateau. With `as_printed`, a loss after the plateau shortens the
    time too, although the window is then above the old peak.
    """
    late = decrease / 2.0 if as_printed else decrease

    def both(k: float, f: Callable[[float, bool], float]) -> float:
        early, _ = integrate.quad(lambda t: np.exp(-t) * f(t, True), 0.0, k)
        after, _ = integrate.quad(lambda t: np.exp(-t) * f(t, False), k, k + 60.0)
        return float(early + after)

    def window(t: float, k: float, w0: float) -> float:
        return scale * (t - k) ** 3 + w0

    def excess(values: Numbers) -> list[float]:
        k, w0 = values
        kept = 1.0 - decrease / 2.0
        peak = both(k, lambda t, early: (kept if early else 1.0) * window(t, k, w0))
        way = both(
            k,
            lambda t, early: np.cbrt((decrease / 2 if early else late) / scale * window(t, k, w0)),
        )
        return [peak - w0, way - k]

    k, w0 = (float(value) for value in optimize.fsolve(excess, [1.3, 6.5]))
    return PoissonCubic(k, w0, both(k, lambda t, early: window(t, k, w0)))


def friendly(law: Window) -> Window:
    """Return the response function whose window is the larger of `law`'s and standard TCP's."""
    return lambda p, rtt_s: np.maximum(law(p, rtt_s), STANDARD.window(p))


def _independent(p: ArrayLike, rtt_s: float) -> Numbers:
    """Return standard TCP's mean window for independent losses, `sqrt(1.5 (1 - p) / p)`."""
    del rtt_s
    p = np.asarray(p, float)
    return np.asarray(np.sqrt(1.5 * (1.0 - p) / p))


_GENTLE = HighSpeed.through(low_p=0.078 / 38.0**1.2, high_p=0.078 / 83_000.0**1.2)

LAWS: dict[str, Law] = {
    law.kind: law
    for law in (
        Law("reno", _at_any_rtt(STANDARD), "RFC 3649 section 5"),
        Law("gaimd", aimd(4.0 / 3.0 * (1.0 - 0.875**2), 0.125), "Yang and Lam 2000"),
        Law("increase-by-k", aimd(2.0, 0.5), "Henderson et al. 1998"),
        Law("multcp", aimd(2.0, 0.25), "Crowcroft and Oechslin 1998"),
        Law("constant-rate", constant_rate(), "Floyd 1991"),
        Law("hybla", hybla(), "Caini and Firrincieli 2004"),
        Law("binomial", sawtooth.binomial(), "Bansal and Balakrishnan 2001", "SQRT"),
        Law("scalable", above(16.0, scalable()), "Kelly 2003"),
        Law("hstcp", _at_any_rtt(FORMS["rfc3649"]), "RFC 3649 section 5"),
        Law("ghstcp", _at_any_rtt(_GENTLE), "thesis, Osaka University, 2006", "empty queue"),
        Law("ctcp", above(41.0, compound()), "Tan et al. 2006", "empty queue"),
        Law("cubic", friendly(cubic()), "RFC 9438 equation 6"),
        Law("htcp", sawtooth.htcp(), "draft-leith-tcp-htcp-06", "steady throughput, empty queue"),
        Law("bic", sawtooth.bic(), "Xu, Harfoush and Rhee 2004"),
        Law("illinois", aimd(10.0, 0.125), "Liu, Basar and Srikant 2008", "empty queue"),
        Law("veno", aimd(1.0, 0.2), "Fu and Liew 2003", "empty queue"),
    )
}

# Laws printed in appendix A of NIST SP 500-282.
PRINTED: dict[str, Law] = {
    "reno": Law("reno", _at_any_rtt(STANDARD), "section A.2.1.1", "independent losses, small p"),
    "reno, any p": Law("reno", _independent, "section A.2.1.1", "independent losses"),
    "cubic": Law("cubic", cubic_poisson(), "equation 15", "Poisson losses"),
    "cubic, periodic": Law("cubic", cubic(decrease=0.2), "equation 14", "periodic losses"),
    "ctcp": Law("ctcp", _at_any_rtt(PowerLaw(0.25, 0.8)), "equation 17", "rounded"),
}
