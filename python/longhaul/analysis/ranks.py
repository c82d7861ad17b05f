"""Ranks of factors by effect and of competitors by value; changes of ranks along a cube's edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import stats

# A corner of a cube of two-level factors.
Corner = tuple[int, ...]


def _ranked(values: np.ndarray, method: str = "average", axis: int | None = None) -> np.ndarray:
    """Return ascending ranks from 1; `method` is SciPy's rule for ties."""
    ranks: np.ndarray = stats.rankdata(values, method=method, axis=axis)
    return ranks


def factor_ranks(effects: ArrayLike, digits: int | None = None) -> np.ndarray:
    """Return ranks of factors by effect size: 1 for the largest, ties share their mean rank.

    The last axis is the factor. With `digits`, sizes that are equal after rounding to so many
    decimals are ties.
    """
    sizes = np.abs(np.asarray(effects, float))
    if digits is not None:
        sizes = np.round(sizes, digits)
    return _ranked(-sizes, axis=-1)


def ordinal(averages: ArrayLike) -> np.ndarray:
    """Rank averages from 1 for the smallest; equal averages get the largest of their ranks."""
    return _ranked(np.asarray(averages, float), "max").astype(int)


def value_ranks(given: ArrayLike, *, low_is_best: bool = False) -> np.ndarray:
    """Rank values along the last axis; the best gets the highest rank, ties get their mean rank."""
    values = np.asarray(given, float)
    return _ranked(-values if low_is_best else values, axis=-1)


def corners(factors: int) -> list[Corner]:
    """Return the corners of a cube of two-level factors, each a tuple of -1 and +1.

    They are in standard order: the first factor changes fastest.
    """
    return [corner[::-1] for corner in product((-1, 1), repeat=factors)]


@dataclass(frozen=True)
class Edge:
    """An edge of a cube of two-level factors: one factor changes, the others do not."""

    factor: int
    ends: tuple[int, int]
    """Indices of the two corners that the edge joins: at the factor's minus and plus level."""
    change: float
    """Absolute difference between the values at the edge's two corners."""


def cube_edges(values: Sequence[float], digits: int | None = None) -> list[Edge]:
    """Return the edges of a cube of two-level factors; each corner has a value, such as a rank.

    `values` are in the order of `corners`. Large changes along the edges of a factor mean that its
    effect is large. With `digits`, values are rounded to so many decimals first, as in printed
    tables.
    """
    count = len(values)
    factors = count.bit_length() - 1
    if count != 2**factors:
        raise ValueError(f"expected a power of two of corners, found {count}")
    given = [round(value, digits) if digits is not None else value for value in values]
    return [
        Edge(factor, (low, low | 1 << factor), abs(given[low | 1 << factor] - given[low]))
        for factor in range(factors)
        for low in range(count)
        if not low >> factor & 1
    ]


def edge_means(edges: Sequence[Edge]) -> dict[int, float]:
    """Return the mean of `change` over the edges of each factor, by the factor's index."""
    factors = sorted({edge.factor for edge in edges})
    return {f: float(np.mean([e.change for e in edges if e.factor == f])) for f in factors}


@dataclass(frozen=True)
class RankSummary:
    """Average ranks of competitors, by group of responses and over all groups."""

    groups: Mapping[str, np.ndarray]
    """Average rank of each competitor in each group."""
    average: np.ndarray
    """Average rank of each competitor, as a mean over the groups."""
    spread: np.ndarray
    """Sample standard deviation of each competitor's average rank over the groups."""


def summarise_ranks(groups: Mapping[str, ArrayLike]) -> RankSummary:
    """Return each competitor's average rank in each group, and its mean over the groups.

    The last axis of each array in `groups` is the competitor; all other axes are averaged.
    """
    means = {
        name: np.asarray(ranks, float).reshape(-1, np.shape(ranks)[-1]).mean(axis=0)
        for name, ranks in groups.items()
    }
    whole = np.stack(list(means.values()))
    spread = whole.std(axis=0, ddof=1) if len(whole) > 1 else np.zeros(whole.shape[1])
    return RankSummary(means, whole.mean(axis=0), spread)


def distinctive(values: ArrayLike) -> int:
    """Return the index of the competitor whose value is farthest from the mean of all.

    Plots of ranks mark this competitor by a filled square (Mills et al. 2010, NIST SP 500-282,
    chapter 8).
    """
    given = np.asarray(values, float)
    mean = given.mean()
    return int(given.argmax() if given.max() - mean > mean - given.min() else given.argmin())
