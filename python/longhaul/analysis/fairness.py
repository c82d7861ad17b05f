"""Fairness of flows, and of groups of flows, that share a link."""

from collections.abc import Sequence

import polars as pl


def jain_of_column(shares: pl.Expr) -> pl.Expr:
    """Return Jain's index of a column of n values: 1 if all are equal, 1/n if only one is not zero.

    The index is NaN if all values are zero. Source: Jain, Chiu and Hawe 1984, DEC-TR-301.
    """
    return shares.sum() ** 2 / (shares.len() * (shares**2).sum())


def jain(shares: Sequence[float]) -> float | None:
    """Return Jain's index of a list of values; None if all are zero."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0.0 else None


def relative_fairness(share: float, other: float) -> float | None:
    """Return the ratio of one group's throughput to that of the `other`; None if `other` is zero.

    The throughputs may be of whole groups, or of the average flow of each group.
    """
    return share / other if other > 0.0 else None


def bandwidth_stolen(beside_its_own_kind: float, beside_another: float) -> float:
    """Return the goodput that a group of flows loses if flows of another algorithm compete with it.

    The arguments are the group's goodput next to flows of its own algorithm, and next to flows of
    the other one.
    """
    return beside_its_own_kind - beside_another
