"""Stability of a fluid model's equilibrium, and its margin.

A model is linearised at its equilibrium, and the characteristic roots of the linear delay equation
`x' = A0 x + sum Ai x(t - Ri)` are found by collocation on Chebyshev points (Breda, Maset and
Vermiglio, SIAM J. Sci. Comput. 27(2), 2005). The equilibrium is stable if all roots are left of the
imaginary axis. For one equation with one delay, and for standard TCP under RED, there are
closed-form conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import acos, exp, inf, log, log1p, sqrt

import numpy as np

from longhaul._engine import RunError
from longhaul.models.fluid import OF_LINK, Model
from longhaul.models.response import Numbers, root

# Intervals between Chebyshev points over the longest delay; roots near the axis have then eight
# digits or more.
POINTS = 24
# Relative step of numerical derivatives.
NUDGE = 1e-6
# Maximum number of sweeps over all links in search of an equilibrium.
SWEEPS = 200


@dataclass(frozen=True)
class Equilibrium:
    """The equilibrium of a fluid model."""

    state: list[float]
    window_pkts: list[float]
    queue_pkts: list[float]
    loss: list[float]


@dataclass(frozen=True)
class Linear:
    """A linear delay equation: the matrices of the present state and of each delayed state."""

    present: Numbers
    delayed: Sequence[tuple[float, Numbers]]

    def rightmost(self, points: int = POINTS) -> complex:
        """Return the characteristic root with the largest real part."""
        # States at Chebyshev points of [-longest, 0]: the row of point 0 is the equation, all other
        # rows are the derivative of the interpolating polynomial.
        size = len(self.present)
        longest = max(lag for lag, _ in self.delayed)
        nodes = np.cos(np.pi * np.arange(points + 1) / points)
        places = longest / 2.0 * (nodes - 1.0)
        matrix = np.kron(_differentiation(nodes) * 2.0 / longest, np.eye(size))
        matrix[:size] = 0.0
        matrix[:size, :size] = self.present
        for lag, by in self.delayed:
            matrix[:size] += np.kron(_interpolation(places, -lag)[None, :], by)
        roots = np.linalg.eigvals(matrix)
        return complex(roots[np.argmax(roots.real)])


def _differentiation(nodes: Numbers) -> Numbers:
    """Return the matrix that differentiates a polynomial, given its values at Chebyshev `nodes`."""
    n = len(nodes) - 1
    c = np.ones(n + 1)
    c[[0, n]] = 2.0
    c *= (-1.0) ** np.arange(n + 1)
    apart = nodes[:, None] - nodes[None, :] + np.eye(n + 1)
    matrix = np.outer(c, 1.0 / c) / apart
    return np.asarray(matrix - np.diag(matrix.sum(axis=1)))


def _interpolation(places: Numbers, at: float) -> Numbers:
    """Return weights: the weighted sum of values at `places` is the interpolated value at `at`."""
    hit = np.isclose(places, at, rtol=0.0, atol=1e-14 * abs(places[-1]))
    if hit.any():
        return hit.astype(float)
    weights = (-1.0) ** np.arange(len(places))
    weights[[0, -1]] *= 0.5
    parts = weights / (at - places)
    return np.asarray(parts / parts.sum())


def equilibrium(model: Model) -> Equilibrium:
    """Return the equilibrium at which every queue is between empty and full.

    Longer queues reduce arrivals, so queues are adjusted in turn until none changes.

    Raises:
        ValueError: There is none: queues fill or empty, or a window or loss rate jumps.
        RunError: The search did not converge.

    """
    queues = [0.0] * len(model.links)
    numbers = range(len(model.classes))

    def at_rest() -> list[float]:
        x = [queue for queue in queues for _ in range(OF_LINK)]
        for number in numbers:
            x += [-1.0, *_resting(model, number, x)]
        return x

    def excess(number: int, queue: float) -> float:
        queues[number] = queue
        rates = zip(model.classes, model.rates(at_rest()), strict=True)
        arriving = sum(rate for class_, rate in rates if number in class_.path)
        return arriving - model.links[number].capacity_pps

    for _ in range(SWEEPS):
        before = list(queues)
        for number, link in enumerate(model.links):
            queues[number] = _zero(partial(excess, number), 0.0, link.buffer_pkts)
        if np.allclose(queues, before, rtol=1e-9):
            break
    else:
        raise RunError("the equilibrium was not found")
    x = at_rest()
    slope = model.derivative(x, [model.lost(n, x) for n in numbers])
    inside = all(0.0 < q < link.buffer_pkts for q, link in zip(queues, model.links, strict=True))
    if not inside or max(map(abs, slope)) > 1e-5 * min(link.capacity_pps for link in model.links):
        none = "no equilibrium between an empty and a full queue"
        raise ValueError(f"{none}: they go to {np.round(queues, 3)} packets")
    losses = model.losses(x, model.rates(x))
    return Equilibrium(x, [model.window(n, x) for n in numbers], queues, losses)


def _resting(model: Model, number: int, x: Sequence[float]) -> list[float]:
    """Return the stationary state of class `number` of flows.

    Its window is searched for on one side of the window with which the class alone fills a link
    of its path: below it if it shrinks there, otherwise above it.
    """
    class_, rtt_s = model.classes[number], model.rtt(number, x)
    kept, share = 1.0, inf
    for k in class_.path:
        link, queue = model.links[k], x[OF_LINK * k]
        kept *= 1.0 - link.marking.probability(queue, queue, link.capacity_pps, link)
        share = min(share, link.capacity_pps * rtt_s / class_.count)

    def at(log_window: float) -> tuple[float, list[float]]:
        events = min((1.0 - kept) * exp(log_window), 1.0) / rtt_s
        states = class_.dynamics.resting(exp(log_window), rtt_s, events)
        slope = class_.dynamics.derivative(states, rtt_s, rtt_s - class_.rtt_s, events)
        return sum(slope), states

    ends = (-14.0, log(share)) if at(log(share))[0] < 0.0 else (log(share), 41.0)
    return at(_zero(lambda log_window: at(log_window)[0], *ends))[1]


def _zero(of: Callable[[float], float], low: float, high: float) -> float:
    """Return the argument at which a function falls below zero.

    Return an end of the range from `low` to `high` if the function does not change its sign.
    """
    if of(low) <= 0.0:
        return low
    return high if of(high) >= 0.0 else root(of, low, high, within=1e-15, relative=1e-15)


def linearised(model: Model, at: Equilibrium) -> Linear:
    """Return the linear delay equation for small deviations from the equilibrium `at`."""
    free = model.moving()
    numbers = range(len(model.classes))
    x = at.state
    lost = [model.lost(n, x) for n in numbers]

    def slope(x: Sequence[float], lost: Sequence[float]) -> Numbers:
        derivative = model.derivative(x, lost)
        return np.array([derivative[place] for place in free])

    present = np.empty((len(free), len(free)))
    heard = np.empty((len(numbers), len(free)))
    for column, place in enumerate(free):
        up, down, width = _nudged(x, place)
        present[:, column] = (slope(up, lost) - slope(down, lost)) / width
        heard[:, column] = [(model.lost(n, up) - model.lost(n, down)) / width for n in numbers]
    delayed = []
    for n in numbers:
        more, less, width = _nudged(lost, n)
        by = (slope(x, more) - slope(x, less)) / width
        delayed.append((model.rtt(n, x), np.outer(by, heard[n])))
    return Linear(present, delayed)


def _nudged(values: Sequence[float], place: int) -> tuple[list[float], list[float], float]:
    width = NUDGE * max(abs(values[place]), 1e-9)
    up, down = list(values), list(values)
    up[place] += width
    down[place] -= width
    return up, down, 2.0 * width


def gain_margin(linear: Linear, most: float = 1e4) -> float:
    """Return the factor by which all feedback may be multiplied before the equilibrium is unstable.

    A factor below one means that the equilibrium is unstable. The factor multiplies changes of the
    losses that flows see, and so the slope of a marking function. It is limited to the range from
    `1 / most` to `most`.
    """

    def growth(log_factor: float) -> float:
        factor = float(np.exp(log_factor))
        scaled = [(lag, factor * by) for lag, by in linear.delayed]
        return Linear(linear.present, scaled).rightmost().real

    ends = -log(most), log(most)
    if growth(ends[1]) < 0.0:
        return most
    if growth(ends[0]) > 0.0:
        return 1.0 / most
    return float(np.exp(root(growth, *ends, within=1e-6)))


# Conditions in closed form.


@dataclass(frozen=True)
class OneDelay:
    """Linear delay equation `x'(t) = -a x(t) - b x(t - T)`, where T is `delay_s`."""

    a: float
    b: float
    delay_s: float

    @classmethod
    def of_small_buffer(cls, window: float, loss: float, slope: float, rtt_s: float) -> OneDelay:
        """Linearise equation 8 of NIST SP 500-282 (2010); `slope` is d(loss rate)/d(window)."""
        half = window / (2.0 * rtt_s)
        return cls(half * loss, half * (loss + window * slope), rtt_s)

    def is_stable(self) -> bool:
        """Return true if the equilibrium is stable, by the exact condition for a single delay."""
        if self.a + self.b <= 0.0:
            return False
        if self.b <= self.a:
            return True
        rate = sqrt(self.b**2 - self.a**2)
        return self.delay_s < acos(-self.a / self.b) / rate


def hollot_bound(
    flows: int, rtt_s: float, capacity_pps: float, slope: float, weight: float
) -> tuple[float, float]:
    """Return both sides of a sufficient condition for the stability of standard TCP under RED.

    The equilibrium is stable if the first value is at most the second (Hollot, Misra, Towsley and
    Gong, "A control theoretic analysis of RED", INFOCOM 2001, proposition 1). `slope` is RED's
    `max_p / (max_th - min_th)`, and `rtt_s` the round-trip time including the queue.
    """
    k = -log1p(-weight) * capacity_pps
    crossover = 0.1 * min(2.0 * flows / (rtt_s**2 * capacity_pps), 1.0 / rtt_s)
    loop = slope * (rtt_s * capacity_pps) ** 3 / (2.0 * flows) ** 2
    return loop, sqrt(crossover**2 / k**2 + 1.0)
