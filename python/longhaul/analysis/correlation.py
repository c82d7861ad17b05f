"""Correlations between responses, and groups of responses that are correlated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.analysis.statistics import unit_deviations
from longhaul.libraries import graphs

# Gap in the histogram of |r| (NIST SP 500-282, section 4.4).
NIST_THRESHOLD = 0.65


def correlations(responses: ArrayLike) -> np.ndarray:
    """Return Pearson's correlations of all pairs of columns; zero for constant columns."""
    scaled = unit_deviations(responses, axis=0)
    matrix: np.ndarray = np.clip(scaled.T @ scaled, -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


@dataclass(frozen=True)
class Pair:
    """Two responses and their correlation coefficient."""

    first: int
    second: int
    r: float


def pairs(matrix: ArrayLike, at_least: float = 0.0) -> list[Pair]:
    """Return pairs with |r| of at least `at_least`, in descending order of |r|.

    `matrix` is a correlation matrix.
    """
    r = np.asarray(matrix, float)
    upper = zip(*np.triu_indices(len(r), k=1), strict=True)
    listed = [Pair(int(i), int(j), float(r[i, j])) for i, j in upper]
    return sorted((p for p in listed if abs(p.r) >= at_least), key=lambda p: -abs(p.r))


@dataclass(frozen=True)
class Group:
    """Responses that are linked, directly or through others, by correlations above a threshold."""

    members: tuple[int, ...]
    correlated: int
    """Number of pairs in the group whose correlation is above the threshold."""

    @property
    def possible(self) -> int:
        """Number of all pairs of the group's responses."""
        return len(self.members) * (len(self.members) - 1) // 2


def groups(matrix: ArrayLike, threshold: float = NIST_THRESHOLD) -> list[Group]:
    """Return groups of responses linked by correlations |r| above `threshold`; smallest first."""
    linked = np.abs(np.asarray(matrix, float)) > threshold
    np.fill_diagonal(linked, val=False)
    _, label = graphs.connected_components(linked, directed=False)
    members = [tuple(int(i) for i in np.flatnonzero(label == g)) for g in np.unique(label)]
    linked_groups = [Group(m, int(linked[np.ix_(m, m)].sum()) // 2) for m in members]
    return sorted(linked_groups, key=lambda group: (len(group.members), group.correlated))


def mean_strength(matrix: ArrayLike) -> np.ndarray:
    """Return, for each response, the mean |r| of its correlations with all others."""
    r = np.abs(np.asarray(matrix, float))
    strength: np.ndarray = (r.sum(axis=0) - 1.0) / (len(r) - 1)
    return strength


def by_strength(matrix: ArrayLike) -> list[int]:
    """Return the indices of responses by descending mean |r|, the order in correlation plots."""
    return [int(i) for i in np.argsort(-mean_strength(matrix), kind="stable")]


def by_partners(matrix: ArrayLike, threshold: float = NIST_THRESHOLD) -> list[int]:
    """Return the indices of responses, sorted by their number of strong correlations.

    These have |r| above `threshold`. The fewest come first, as in index plots. Ties are sorted by
    the number of correlations with |r| above 0.5.
    """
    r = np.abs(np.asarray(matrix, float))
    above = [(r > limit).sum(axis=0) for limit in (threshold, 0.5)]
    return [int(i) for i in np.lexsort((above[1], above[0]))]


def histogram(matrix: ArrayLike, bins: int = 13) -> tuple[np.ndarray, np.ndarray]:
    """Return a histogram of |r| for all pairs of responses: counts, and edges of bins."""
    r = np.abs(np.asarray(matrix, float))[np.triu_indices(len(np.asarray(matrix)), k=1)]
    count, edges = np.histogram(r, bins=bins, range=(0.0, 1.0))
    return count, edges


def gained_and_lost(
    before: ArrayLike, after: ArrayLike, at_least: float
) -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
    """Return the pairs of responses whose |r| reaches `at_least` in only one of two matrices.

    The first list has the pairs that reach it only in `after`, the second those only in `before`.
    """
    first, second = (
        {(p.first, p.second) for p in pairs(matrix, at_least)} for matrix in (before, after)
    )
    return sorted(second - first), sorted(first - second)
