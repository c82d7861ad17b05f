"""Designs for any number of levels: full factorial, Latin hypercube, one factor at a time."""

from collections.abc import Sequence

import numpy as np

from longhaul.designs.design import Design, Factor
from longhaul.designs.properties import DesignError
from longhaul.libraries import stats


def full(factors: Sequence[Factor]) -> Design:
    """Return a design with every combination of all levels; the first factor changes fastest."""
    grids = np.meshgrid(*(factor.coded() for factor in factors), indexing="ij")
    coded = np.stack([grid.ravel(order="F") for grid in grids], axis=1)
    shape = " x ".join(str(len(factor.levels)) for factor in factors)
    kind = f"{shape} full factorial" if len(factors) > 1 else f"{shape} levels"
    return Design(tuple(factors), coded, kind)


def latin_hypercube(factors: Sequence[Factor], runs: int, seed: int = 1) -> Design:
    """Return a Latin hypercube of `runs` points between each factor's first and last level.

    It is SciPy's Latin hypercube of strength one, optimised for low discrepancy, and depends on the
    `seed`.
    """
    if runs < 2:
        raise DesignError(f"expected at least 2 runs of a Latin hypercube, found {runs}")
    if seed < 0:
        raise DesignError(f"expected a seed of at least 0, found {seed}")
    sampler = stats.qmc.LatinHypercube(d=len(factors), optimization="random-cd", rng=seed)
    coded = sampler.random(runs) * 2.0 - 1.0
    return Design(tuple(factors), coded, f"Latin hypercube, seed {seed}")


def one_at_a_time(factors: Sequence[Factor]) -> Design:
    """Return a design that varies one factor at a time.

    In the first run, all factors have their first level. Each further run changes one factor to one
    of its other levels.
    """
    base = -np.ones(len(factors))
    rows = [base]
    for column, factor in enumerate(factors):
        for level in factor.coded()[1:]:
            rows.append(np.where(np.arange(len(factors)) == column, level, base))
    return Design(tuple(factors), np.stack(rows), "one factor at a time")
