"""Resolution and aliases of a two-level design, computed from its matrix alone.

Matrices have a row per run and a column per factor, with entries -1 and +1. The generalised
word-length pattern describes aliases, also partial ones (Xu and Wu 2001, Annals of Statistics 29,
pp. 1066-1077). It is computed from the distances between rows of the matrix (Ma and Fang 2001,
Metrika 53, pp. 85-93).
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from longhaul._engine import LonghaulError

# Number of rows whose distances from all others are in memory at a time.
ROWS = 1024


class DesignError(LonghaulError):
    """Error: a design is invalid or unknown, or none meets the requirements."""


def check_two_level(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix as integers; raise DesignError for entries other than -1 and +1."""
    whole = np.asarray(matrix)
    if whole.ndim != 2 or not np.isin(whole, (-1, 1)).all():
        raise DesignError("only designs of two levels, coded -1 and +1, have words and aliases")
    return whole.astype(np.int64)


def unbalanced(matrix: np.ndarray) -> list[int]:
    """Return the indices of the columns whose two levels are not equally frequent."""
    return [int(j) for j in np.flatnonzero(check_two_level(matrix).sum(axis=0))]


def correlated(matrix: np.ndarray) -> list[tuple[int, int, float]]:
    """Return the pairs of columns that are not orthogonal, as (column, column, covariance)."""
    columns = check_two_level(matrix)
    runs, sums = len(columns), columns.sum(axis=0)
    # Integers, so that zero is exact.
    covariances = runs * (columns.T @ columns) - np.outer(sums, sums)
    pairs = np.argwhere(np.triu(covariances != 0, k=1))
    return [(int(i), int(j), float(covariances[i, j]) / runs**2) for i, j in pairs]


def word_lengths(matrix: np.ndarray) -> list[Fraction]:
    """Return the generalised word-length pattern A1, A2, ....

    Aj is the sum, over all products of j columns, of the squared mean of the product. For a regular
    fraction, Aj is the number of words of length j in the defining relation.
    """
    columns = check_two_level(matrix)
    runs, factors = columns.shape
    count = np.zeros(factors + 1, dtype=np.int64)
    signs = columns.astype(np.float32)
    for block in np.array_split(signs, -(-runs // ROWS)):
        distances = (factors - (block @ signs.T).astype(np.int64)) // 2
        count += np.bincount(distances.ravel(), minlength=factors + 1)
    return [
        Fraction(sum(n * krawtchouk(j, d, factors) for d, n in enumerate(count.tolist())), runs**2)
        for j in range(1, factors + 1)
    ]


def krawtchouk(degree: int, x: int, length: int) -> int:
    """Return the value at `x` of the Krawtchouk polynomial of this degree for codes of this length.

    These polynomials turn distances between a design's rows into its word-length pattern
    (MacWilliams and Sloane 1977, The Theory of Error-Correcting Codes, chapter 5, section 7).
    """
    return sum((-1) ** i * comb(x, i) * comb(length - x, degree - i) for i in range(degree + 1))


def resolution(lengths: Sequence[Fraction]) -> int | None:
    """Return the resolution from a word-length pattern: the length of the shortest word.

    The resolution of a full factorial, which has no words, is None.
    """
    return next((j for j, words in enumerate(lengths, start=1) if words), None)


def effects(factors: int, order: int) -> Iterator[tuple[int, ...]]:
    """Yield main effects and interactions of at most `order` factors, as indices of columns."""
    for size in range(1, order + 1):
        yield from combinations(range(factors), size)


def contrast(matrix: np.ndarray, effect: Sequence[int]) -> np.ndarray:
    """Return the product of the columns of an effect, a vector with an entry per run."""
    product: np.ndarray = matrix[:, list(effect)].prod(axis=1)
    return product


def alias_groups(matrix: np.ndarray, order: int = 2) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Return groups of effects of at most `order` factors that are aliased with one another.

    Each member of a group is a pair (sign, effect). An effect without aliases is alone in its
    group. Only complete aliasing counts; see `partial_aliases` for other correlations.
    """
    columns = check_two_level(matrix)
    groups: dict[bytes, list[tuple[int, tuple[int, ...]]]] = {}
    for effect in effects(columns.shape[1], order):
        column = contrast(columns, effect)
        sign = int(column[0])
        groups.setdefault((column * sign).astype(np.int8).tobytes(), []).append((sign, effect))
    # Signs are relative to the first effect of a group.
    return [[(sign * group[0][0], effect) for sign, effect in group] for group in groups.values()]


def aliased_with_the_mean(matrix: np.ndarray, order: int = 2) -> list[tuple[int, ...]]:
    """Return the effects of at most `order` factors that are aliased with the mean.

    In the column of such an effect, -1 and +1 are not equally frequent.
    """
    columns = check_two_level(matrix)
    aliased = effects(columns.shape[1], order)
    return [effect for effect in aliased if contrast(columns, effect).sum() != 0]


def partial_aliases(
    matrix: np.ndarray, order: int = 2
) -> list[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """Return partly aliased pairs of effects of up to `order` factors, with the degree of aliasing.

    The degree is the mean, over runs, of the product of the columns of both effects. It is their
    correlation if neither effect is aliased with the mean.
    """
    columns = check_two_level(matrix)
    named = list(effects(columns.shape[1], order))
    contrasts = np.stack([contrast(columns, effect) for effect in named], axis=1)
    products = contrasts.T @ contrasts / len(columns)
    pairs = np.argwhere(np.triu((products != 0) & (np.abs(products) != 1), k=1))
    return [(named[i], named[j], float(products[i, j])) for i, j in pairs]
