"""Goodput of user flows by group and algorithm, and how it differs between algorithms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Differences:
    """Relative differences in goodput within and between two groups: alternatives, competing flows.

    The alternatives are algorithms. In each run, flows of one alternative share the network with
    the competing flows.
    """

    among_first: float
    """Range of the alternatives' goodputs, divided by the largest or, on request, the smallest."""
    among_second: float
    """Range of the competing flows' goodputs, divided by the largest or, on request, smallest."""
    first_over_second: float
    """Mean goodput of the alternatives minus that of the competing flows, as a fraction.

    It is a fraction of the alternatives' mean or, on request, of the competing flows' mean.
    """


def differences(first: ArrayLike, second: ArrayLike, *, base: str = "larger") -> Differences:
    """Return relative differences in goodput: range of each group, and difference of the means.

    `first` has the goodput of each alternative, `second` the goodput of its competing flows. With
    `base="larger"`, the range of a group is divided by its largest goodput, and the difference of
    means by the mean of `first`. With `base="smaller"`, the divisors are the group's smallest
    goodput and the mean of `second`.
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
    """Return goodputs averaged over conditions.

    `values` has shape (condition, group, algorithm), the result (group, algorithm).
    """
    table: np.ndarray = np.asarray(values, float).mean(axis=0)
    return table
