"""Which packets ns-2's error model loses: its random numbers, drawn again.

gold.tcl gives the error model a generator of its own, MRG32k3a with all six words of its state
equal to the seed, and one number per packet. (L'Ecuyer, "Good parameters and implementations for
combined multiple recursive random number generators", Operations Research 47, 1999.) With the same
packets lost, both simulators can be compared packet for packet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

M1, M2 = 4294967087, 4294944443
A12, A13N, A21, A23N = 1403580, 810728, 527612, 1370589

Matrix = list[list[int]]

# One step of the two components, oldest word of the state first.
STEP_1: Matrix = [[0, 1, 0], [0, 0, 1], [-A13N, A12, 0]]
STEP_2: Matrix = [[0, 1, 0], [0, 0, 1], [-A23N, 0, A21]]

LANES = 4096
"""Stretches of the sequence that are drawn side by side."""


def lost_packets(seed: int, probability: float, packets: int) -> list[int]:
    """Return the numbers of the packets lost among the first `packets`, counted from zero."""
    length = -(-packets // LANES)
    first = _lanes(seed, STEP_1, M1, length)
    second = _lanes(seed, STEP_2, M2, length)
    lost = []
    for step in range(length):
        # Adding multiples of the moduli keeps the unsigned differences positive.
        one = (A12 * first[1] + A13N * (M1 - first[0])) % M1
        two = (A21 * second[2] + A23N * (M2 - second[0])) % M2
        first[0], first[1], first[2] = first[1], first[2], one
        second[0], second[1], second[2] = second[1], second[2], two
        number = np.where(one > two, one - two, one + np.uint64(M1) - two) / (M1 + 1.0)
        lost.append(np.nonzero(number < probability)[0] * length + step)
    return sorted(index for index in np.concatenate(lost).tolist() if index < packets)


def _lanes(seed: int, step: Matrix, modulus: int, length: int) -> list[NDArray[np.uint64]]:
    """Return the state at the start of every lane: one array per word."""
    jump = _power(step, length, modulus)
    state, states = [seed, seed, seed], []
    for _ in range(LANES):
        states.append(state)
        state = [sum(a * b for a, b in zip(row, state, strict=True)) % modulus for row in jump]
    return [np.array(words, dtype=np.uint64) for words in zip(*states, strict=True)]


def _power(matrix: Matrix, exponent: int, modulus: int) -> Matrix:
    result: Matrix = [[int(row == column) for column in range(3)] for row in range(3)]
    while exponent:
        if exponent & 1:
            result = _product(result, matrix, modulus)
        matrix = _product(matrix, matrix, modulus)
        exponent >>= 1
    return result


def _product(left: Matrix, right: Matrix, modulus: int) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) % modulus for column in columns]
        for row in left
    ]
