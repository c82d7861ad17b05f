"""Order and classification of conditions by congestion."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike


def congestion_order(rates: ArrayLike) -> list[int]:
    """Return the indices of conditions in ascending order of a rate, such as a retransmission rate.

    If `rates` has shape (condition, competitor), rates are averaged over competitors first.
    """
    given = np.asarray(rates, float)
    means = given.reshape(len(given), -1).mean(axis=1)
    return [int(i) for i in np.argsort(means, kind="stable")]


# Four classes (Mills et al. 2010, NIST SP 500-282, figures 6-5 and 7-1).
NAMES = {
    "N": "no congestion", "L": "little congestion", "M": "moderate congestion", "C": "congested"
}  # fmt: skip


def class_names(classes: int) -> list[str]:
    """Return names of `classes` congestion classes: NIST's letters for four, else C1, C2, ..."""
    return list(NAMES) if classes == len(NAMES) else [f"C{k}" for k in range(1, classes + 1)]


def congestion_classes(rates: Sequence[float], bounds: Sequence[float]) -> list[int]:
    """Return the class of each condition: how many `bounds` its loss (or other) rate reaches."""
    if any(a >= b for a, b in pairwise(bounds)):
        raise ValueError("expected ascending bounds")
    return [int(np.searchsorted(bounds, rate, side="right")) for rate in rates]


def natural_bounds(rates: Sequence[float], classes: int) -> list[float]:
    """Return the rates that divide conditions into `classes` congestion classes.

    They lie in the widest gaps between the logarithms of the conditions' `rates`: each is the
    geometric mean of the two rates beside its gap. Zero rates belong to the first class.
    """
    positive = np.unique([rate for rate in rates if rate > 0])
    if len(positive) < classes:
        raise ValueError(f"{len(positive)} different rates are too few for {classes} classes")
    gaps = np.diff(np.log(positive))
    widest = np.sort(np.argsort(-gaps, kind="stable")[: classes - 1])
    return [float(np.sqrt(positive[i] * positive[i + 1])) for i in widest]
