"""Goodput of users by group of flows and algorithm, and differences of goodput."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Differences:
    """Differences of goodput between alternative algorithms and competing flows, as fractions."""

    among_first: float
    """Range of the goodputs of the alternatives."""
    among_second: float
    """Range of the goodputs of the flows that compete with each alternative."""
    first_over_second: float
    """Mean goodput of the alternatives minus that of the other flows, as a fraction."""


def differences(first: ArrayLike, second: ArrayLike, *, base: str = "larger") -> Differences:
    """Return ranges of goodputs of algorithms, and of the flows that compete with them.

    `base` is the denominator of the ranges: the `larger` value (the maximum, or the mean of the
    alternatives) or the `smaller` one (the minimum, or the mean of the competitors).
    """
    alternatives, other = np.asarray(first, float), np.asarray(second, float)
    if base not in ("larger", "smaller"):
        raise ValueError(f"base: expected larger or smaller, found `{base}`")
    pick = np.max if base == "larger" else np.min
    gap = float(alternatives.mean() - other.mean())
    return Differences(
        float(np.ptp(alternatives) / pick(alternatives)),
        float(np.ptp(other) / pick(other)),
        gap / float(alternatives.mean() if base == "larger" else other.mean()),
    )


def goodput_table(values: ArrayLike) -> np.ndarray:
    """Return mean goodputs over conditions of an array (condition, group, algorithm)."""
    table: np.ndarray = np.asarray(values, float).mean(axis=0)
    return table
