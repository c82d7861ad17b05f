"""Delay differential equations whose delays depend on the state.

They are solved by Heun's method with a fixed step, and past states are interpolated linearly; both
have errors of second order. Before time zero, the state is the initial one. No available solver
fits: SciPy has none for delays; ddeint copies all past states at every step, which takes quadratic
time; jitcdde needs symbolic expressions and a C compiler, but a user's marking function is Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from longhaul.models.response import Numbers

State = list[float]
Past = Callable[[float], State]
# Function that returns the derivative from time, state and past states.
Derivative = Callable[[float, State, Past], Sequence[float]]
# Function that changes a state in place at time zero and after each step, to apply bounds and
# events.
Project = Callable[[float, State], None]


@dataclass(frozen=True)
class Solution:
    """Solution of a delay differential equation; shapes: `t_s` (n,), `states` (n, size)."""

    t_s: Numbers
    states: Numbers


class History:
    """Computed states of a delay differential equation, at equal time steps from time zero on."""

    def __init__(self, initial: State, step: float) -> None:
        self.step = step
        self.states = [initial]

    def __call__(self, t: float) -> State:
        """Return the state at time `t` in seconds; after the last step, return the last state."""
        place = t / self.step
        index = int(place)
        if place <= 0.0:
            return self.states[0]
        if index >= len(self.states) - 1:
            return self.states[-1]
        part = place - index
        before, after = self.states[index], self.states[index + 1]
        return [a + part * (b - a) for a, b in zip(before, after, strict=True)]


def integrate(
    derivative: Derivative,
    initial: Sequence[float],
    end_s: float,
    step_s: float,
    project: Project | None = None,
    every: int = 1,
) -> Solution:
    """Integrate a delay differential equation from time zero to `end_s`.

    `project` changes a state in place at time zero and after each step. The solution has the
    initial state and every `every`-th step.
    Delays have to be at least one step.
    """
    state = [float(value) for value in initial]
    if project is not None:
        project(0.0, state)
    past = History(state, step_s)
    steps = round(end_s / step_s)
    for number in range(steps):
        t = number * step_s
        first = derivative(t, state, past)
        ahead = [x + step_s * dx for x, dx in zip(state, first, strict=True)]
        second = derivative(t + step_s, ahead, past)
        state = [
            x + step_s / 2.0 * (k1 + two) for x, k1, two in zip(state, first, second, strict=True)
        ]
        if project is not None:
            project(t + step_s, state)
        past.states.append(state)
    kept = np.array(past.states[::every])
    return Solution(np.arange(len(kept), dtype=np.float64) * (step_s * every), kept)
