"""Goodput of user flows by group and algorithm, and how it differs between algorithms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Differences:
    """Relative differences of goodput among alternative algorithms and their competitors."""

    among_first: float
    """Range of the alternatives' goodputs, divided by the denominator."""
    among_second: float
    """Range of the competing flows' goodputs over all alternatives, divided by the denominator."""
    first_over_second: float
    """The alternatives' mean goodput minus that of competing flows, divided by the denominator."""


def differences(first: ArrayLike, second: ArrayLike, *, base: str = "larger") -> Differences:
    """Return the relative differences of goodput, given that of each alternative (`first`).

    `second` has the goodput of the competing flows for each alternative. `base` selects the
    denominators. With `larger`, they are the maximum for a range, and the alternatives' mean for
    the difference of means. With `smaller`, they are the minimum, and the competing flows' mean.
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
    """Average goodputs over conditions.

    Shapes: (condition, group, algorithm) to (group, algorithm).
    """
    table: np.ndarray = np.asarray(values, float).mean(axis=0)
    return table
