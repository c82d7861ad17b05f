"""Search for two-level fractional factorial designs of low aberration.

A regular fraction of 2^q runs is a set of columns, each of which is a product of some of q basic
factors. The search adds one column after another to the best fractions so far. It keeps the
fractions of least aberration (Fries and Hunter 1980, Technometrics 22, pp. 601-608), and removes
those that seem equivalent to others (following the sequential construction of Chen, Sun and Wu
1993, International Statistical Review 61, pp. 131-145). The search is not exhaustive: fractions
of less aberration, or of higher resolution, may exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from longhaul.designs.properties import DesignError, krawtchouk

MAX_BASIC = 10
# Word lengths that are compared; longer words are ignored.
COMPARED = (3, 4, 5, 6)
# Number of fractions kept in each step of the search, by the design's runs.
BEAM = {16: 200, 32: 200, 64: 120, 128: 60, 256: 30, 512: 40}
LEAST_BEAM = 12


@dataclass(frozen=True)
class _Fraction:
    """A fractional factorial: bit masks of its columns, and the number of 1s in each run."""

    columns: tuple[int, ...]
    weights: np.ndarray


def least_aberration(factors: int, basic: int) -> list[int]:
    """Return a fractional factorial with 2^basic runs: columns as bit masks over basic factors.

    Basic factors come first. The fraction has the least aberration that was found.
    """
    if not basic <= factors < 2**basic:
        raise DesignError(
            f"expected {basic} to {2**basic - 1} factors for {2**basic} runs, found {factors}"
        )
    if basic > MAX_BASIC:
        raise DesignError(f"fractions of more than {2**MAX_BASIC} runs are not searched for")
    return list(_best(factors, basic))


@cache
def _best(factors: int, basic: int) -> tuple[int, ...]:
    parity = _parities(basic)
    units = tuple(1 << i for i in range(basic))
    beam = [_Fraction(units, parity[list(units)].sum(axis=0))]
    width = BEAM.get(2**basic, LEAST_BEAM)
    while len(beam[0].columns) < factors:
        beam = _extended(beam, parity, width)
    best = beam[0].columns
    return units + tuple(sorted(best[basic:], key=lambda mask: (mask.bit_count(), mask)))


def _parities(basic: int) -> np.ndarray:
    """Return a matrix of parities: 1 if two masks share an odd number of bits, otherwise 0.

    Rows and columns are all masks of `basic` bits.
    """
    masks = np.arange(2**basic, dtype=np.uint64)
    return (np.bitwise_count(masks[:, None] & masks[None, :]) & 1).astype(np.int16)


def _extended(beam: Sequence[_Fraction], parity: np.ndarray, width: int) -> list[_Fraction]:
    """Extend each fraction by one column in all possible ways, and return the best fractions.

    The best are the `width` of least aberration. `parity` is the result of `_parities`.
    """
    length = len(beam[0].columns) + 1
    size = len(parity)
    polynomials = np.array(
        [[krawtchouk(j, w, length) for j in COMPARED] for w in range(length + 1)], dtype=np.int64
    )
    designs: list[tuple[tuple[int, ...], int, int]] = []
    for index, fraction in enumerate(beam):
        free = np.setdiff1d(np.arange(1, size), fraction.columns)
        weights = fraction.weights[None, :] + parity[free]
        offsets = (length + 1) * np.arange(len(free))[:, None]
        counts = np.bincount((weights + offsets).ravel(), minlength=len(free) * (length + 1))
        words = counts.reshape(len(free), length + 1) @ polynomials // size
        # Columns with equal word lengths mostly give equivalent fractions, of which two are enough.
        _, first = np.unique(words, axis=0, return_index=True)
        last = len(free) - 1 - np.unique(words[::-1], axis=0, return_index=True)[1]
        designs += [(tuple(words[i]), index, int(free[i])) for i in {*first, *last}]
    designs.sort()
    kept: dict[object, _Fraction] = {}
    for words_, index, column in designs:
        columns = (*beam[index].columns, column)
        look = (words_, _letters(columns))
        if look not in kept:
            kept[look] = _Fraction(columns, beam[index].weights + parity[column])
        if len(kept) == width:
            break
    return list(kept.values())


def _letters(columns: tuple[int, ...]) -> tuple[int, ...]:
    """Return a signature of a fraction; fractions with different signatures are not equivalent.

    The signature has a number for each column, and the numbers are sorted. A number grows with the
    count of words of length four (sets of four columns whose product is constant) that contain the
    column.
    """
    pairs: dict[int, int] = {}
    for i, column in enumerate(columns):
        for other in columns[i + 1 :]:
            pairs[column ^ other] = pairs.get(column ^ other, 0) + 1
    # Each number is the count of other columns, plus three times the count of words.
    return tuple(
        sorted(
            sum(pairs[column ^ other] for other in columns if other != column) for column in columns
        )
    )


def fewest_runs(factors: int, wanted: int) -> int:
    """Return a lower bound of log2 of the number of runs that the resolution `wanted` needs.

    It is the sphere-packing bound (MacWilliams and Sloane 1977, chapter 1): if the resolution
    exceeds 2t, no two effects of at most t factors are aliased.
    """
    # An even resolution needs twice the runs of the one below with one factor fewer.
    odd = wanted % 2
    letters = factors if odd else factors - 1
    reach = (wanted - 1) // 2 if odd else (wanted - 2) // 2
    balls = sum(comb(letters, i) for i in range(min(reach, letters) + 1))
    return min(factors, max(1, (balls - 1).bit_length() + (0 if odd else 1)))
