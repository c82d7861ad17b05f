"""Measures of the sensitivity analyses, each computed from all 64 runs of experiment `of`.

Factors have the study's signs: in chapter 4 the plus levels of network speed, of the probability of
larger files and of the probability of fast hosts are the lower values (table 4-11).
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl

from longhaul.analysis import components, correlation
from longhaul.analysis.effects import block_means, by_size, corner_means, effects
from longhaul.analysis.ranks import (
    cube_edges,
    edge_means,
    factor_ranks,
    ordinal,
    value_ranks,
)
from longhaul.designs import published
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures

MEASURES = Measures()
measure = MEASURES.register_of_design
RUNS = 64
RESPONSES = tuple(f"y{number}" for number in range(1, 23))
FACTORS = tuple(f"x{number}" for number in range(1, 12))
# Responses by which the study ranks factors (tables 4-25 and C-13).
RANKED = ("y4", "y6", "y10", "y15", "y17", "y20")
# Responses of the cube of delay, speed and buffers (tables 4-28 and C-15), and responses of which
# low values are better.
CUBE = ("y4", "y6", "y10", "y16", "y17", "y20", "y22")
LOW_IS_BEST = ("y10", "y16")


@cache
def _signs() -> np.ndarray:
    """Return the levels of the factors as an array (run, factor) of -1 and +1 (figure 4-1)."""
    matrix: np.ndarray = np.asarray(published("nist-2to11m5").coded)
    return matrix


def _responses(data: Data, of: str, names: Sequence[str] = RESPONSES) -> np.ndarray:
    """Return the named responses of all runs as an array (run, response)."""
    cells = data.cells(of)
    columns = [f"{name}_measured" for name in names]
    if len(cells) != RUNS or not set(columns) <= set(cells.columns):
        raise NotRunError(f"{of} has {len(cells)} of {RUNS} runs")
    values: np.ndarray = cells.sort("run").select(columns).cast(pl.Float64).to_numpy()
    return values


def _response(data: Data, of: str, response: str) -> np.ndarray:
    values: np.ndarray = _responses(data, of, [response])[:, 0]
    return values


def _relative(data: Data, of: str, response: str) -> dict[str, float]:
    """Return signed effects of factors and pairs of factors on `response`, in % of its mean.

    Pairs that the design confounds all have the value of the first of them, with its sign.
    """
    terms = effects(_signs(), _response(data, of, response), FACTORS)
    return {
        name: 100 * effect.effect / effect.grand_mean
        for effect in terms
        for name in (effect.name, *effect.aliases)
    }


@measure
def effect(data: Data, of: str, response: str, term: str) -> float:
    """Return the effect of a factor or a pair of factors (`term`), in percent of the mean.

    An effect is the mean at level +1 minus the mean at level -1.
    """
    return _relative(data, of, response)[term]


@measure
def effect_size(data: Data, of: str, response: str, term: str) -> float:
    """Return the absolute effect of a factor or a pair of factors, in percent of the mean."""
    return abs(_relative(data, of, response)[term])


@measure
def effect_step(data: Data, of: str, response: str, order: str) -> float:
    """Return the smallest ratio of a factor's absolute effect to that of the next in `order`.

    `order` is written as `x2>x5>x1`.
    """
    relative = _relative(data, of, response)
    sizes = np.array([abs(relative[name]) for name in order.split(">")])
    return float((sizes[:-1] / sizes[1:]).min())


@measure
def signs_as_printed(data: Data, of: str, response: str, raised_by: str) -> float:
    """Return the share of factors whose level in `raised_by` increases the response.

    `raised_by` is written as `x2-,x5+`, a list of printed levels.
    """
    relative = _relative(data, of, response)
    wanted = [(name[:-1], 1 if name.endswith("+") else -1) for name in raised_by.split(",")]
    return float(np.mean([relative[name] * sign > 0 for name, sign in wanted]))


@measure
def largest_other_effect(data: Data, of: str, response: str, than: str) -> float:
    """Return a ratio of absolute effects of factors on `response`.

    The largest effect of a factor that `than` does not name is divided by the smallest effect of a
    factor that `than` names.
    """
    relative, named = _relative(data, of, response), than.split(",")
    others = [abs(relative[name]) for name in FACTORS if name not in named]
    return max(others) / min(abs(relative[name]) for name in named)


@measure
def largest_interaction(data: Data, of: str, response: str) -> float:
    """Return the largest interaction of two factors divided by the largest effect of one factor."""
    relative = _relative(data, of, response)
    pairs = [abs(size) for name, size in relative.items() if "*" in name]
    return max(pairs) / max(abs(relative[name]) for name in FACTORS)


@measure
def runs_of_the_most(data: Data, of: str, response: str, count: float, levels: str) -> float:
    """Count the runs with all of `levels` among the `count` runs with the largest response.

    Levels are written as `x2-,x11+`.
    """
    most = _response(data, of, response).argsort()[-int(count) :]
    wanted = [
        (FACTORS.index(name[:-1]), 1 if name.endswith("+") else -1) for name in levels.split(",")
    ]
    rows = _signs()[most]
    return float(sum(all(row[place] == sign for place, sign in wanted) for row in rows))


@measure
def corner(data: Data, of: str, response: str, first: str, then: str) -> float:
    """Return a response's mean over the runs with the levels `first` and `then` of two factors.

    Levels are written as `x2-` and `x3+`.
    """
    return _corners(data, of, response, first, then)[0]


@measure
def corner_lead(data: Data, of: str, response: str, first: str, then: str) -> float:
    """Return a response's mean at two factors' levels, divided by the largest of the other means.

    The levels are `first` and `then`, such as `x2-` and `x3+`; there are three other combinations.
    """
    own, others = _corners(data, of, response, first, then)
    return own / max(others)


def _corners(
    data: Data, of: str, response: str, first: str, then: str
) -> tuple[float, Sequence[float]]:
    places = [FACTORS.index(name[:-1]) for name in (first, then)]
    means = corner_means(_signs(), _response(data, of, response), *places)
    a, b = (1 if name.endswith("+") else -1 for name in (first, then))
    own = means.pop((a, b))
    return own, list(means.values())


@measure
def robust_factors(data: Data, of: str, response: str, factors: str) -> float:
    """Count the factors in `factors` whose better level does not depend on other factors.

    For each, the better of its two levels must be the same at all levels of the two other factors
    with the largest effects.
    """
    y = _response(data, of, response)
    ordered = by_size(effects(_signs(), y, FACTORS, order=1))
    largest = [FACTORS.index(effect.name) for effect in ordered]
    robust = 0
    for name in factors.split(","):
        place = FACTORS.index(name)
        others = [other for other in largest if other != place][:2]
        ahead = {low < high for low, high in block_means(_signs(), y, place, others).values()}
        robust += len(ahead) == 1
    return float(robust)


# Measures of correlations and components.


def _correlations(data: Data, of: str) -> np.ndarray:
    matrix: np.ndarray = correlation.correlations(_responses(data, of))
    return matrix


@measure
def pairs_above(data: Data, of: str, threshold: float) -> float:
    """Count the pairs of responses whose correlation r has |r| of at least `threshold`."""
    return float(len(correlation.pairs(_correlations(data, of), threshold)))


@measure
def weakest_pair(data: Data, of: str, pairs: str) -> float:
    """Return the smallest correlation of the responses in `pairs`, written as `5:10,19:22`."""
    matrix = _correlations(data, of)
    chosen = [
        matrix[int(a) - 1, int(b) - 1] for a, b in (pair.split(":") for pair in pairs.split(","))
    ]
    return float(min(chosen))


@measure
def strongest_between(data: Data, of: str, one: str, other: str) -> float:
    """Return the largest signed correlation of responses in `one` with responses in `other`."""
    return float(_between(data, of, one, other).max())


@measure
def strongest_size(data: Data, of: str, one: str, other: str) -> float:
    """Return the largest |r| between a response listed in `one` and a response listed in `other`.

    r is the correlation of two responses over the runs of experiment `of`.
    """
    return float(np.abs(_between(data, of, one, other)).max())


def _between(data: Data, of: str, one: str, other: str) -> np.ndarray:
    rows, columns = ([RESPONSES.index(name) for name in names.split(",")] for names in (one, other))
    matrix: np.ndarray = _correlations(data, of)[np.ix_(rows, columns)]
    return matrix


@measure
def correlated_pairs_within(data: Data, of: str, group: str, threshold: float) -> float:
    """Count the pairs of responses in `group` whose correlation r has |r| above `threshold`."""
    places = [RESPONSES.index(name) for name in group.split(",")]
    matrix = np.abs(_correlations(data, of)[np.ix_(places, places)])
    return float((matrix[np.triu_indices(len(places), 1)] > threshold).sum())


@measure
def strength_place(data: Data, of: str, response: str) -> float:
    """Return the place of a response by mean absolute correlation with all others; 1 is highest."""
    order = correlation.by_strength(_correlations(data, of))
    return 1.0 + [RESPONSES[place] for place in order].index(response)


@measure
def explained(data: Data, of: str, count: float) -> float:
    """Return the fraction of the variance that the first `count` principal components explain."""
    analysis = components.principal_components(_responses(data, of))
    return float(analysis.variance_shares[: int(count)].sum())


@measure
def component_step(data: Data, of: str, number: float, responses: str) -> float:
    """Return the smallest weight of `responses` divided by the largest weight of all others.

    Weights are absolute values in the principal component `number`, counted from 1.
    """
    analysis = components.principal_components(_responses(data, of))
    weights = np.abs(analysis.weights[int(number) - 1])
    chosen = np.isin(RESPONSES, responses.split(","))
    return float(weights[chosen].min() / weights[~chosen].max())


@measure
def component_effect_step(data: Data, of: str, number: float, order: str) -> float:
    """Return the smallest ratio of a factor's absolute effect to that of the next in `order`.

    Effects are on the scores of principal component `number`. `order` is written as `x2>x5>x1`.
    """
    scores = components.principal_components(_responses(data, of)).scores[:, int(number) - 1]
    sizes = {
        effect.name: abs(effect.effect) for effect in effects(_signs(), scores, FACTORS, order=1)
    }
    listed = np.array([sizes[name] for name in order.split(">")])
    return float((listed[:-1] / listed[1:]).min())


# Measures of ranks of factors.


@measure
def factor_rank(data: Data, of: str, factor: str) -> float:
    """Return a factor's place by mean rank over responses (tables 4-25, C-13); 1 is strongest."""
    sizes = np.array([
        [abs(effect.effect) for effect in effects(_signs(), y, FACTORS, order=1)]
        for y in _responses(data, of, RANKED).T
    ])  # fmt: skip
    means = np.array([factor_ranks(row) for row in sizes]).mean(axis=0)
    return float(ordinal(means)[FACTORS.index(factor)])


@measure
def component_factor_rank(data: Data, of: str, factor: str) -> float:
    """Return a factor's rank by influence on the first four principal components; 1 is strongest.

    The influence is the mean of four ranks, by absolute effect on each component (table 4-26).
    """
    scores = components.principal_components(_responses(data, of)).scores[:, :4]
    ranks = [
        factor_ranks([abs(effect.effect) for effect in effects(_signs(), y, FACTORS, order=1)])
        for y in scores.T
    ]
    return float(ordinal(np.mean(ranks, axis=0))[FACTORS.index(factor)])


# Measures of ranks of the eight combinations of delay, speed and buffers, with eight runs each.


def _average_ranks(data: Data, of: str) -> np.ndarray:
    """Return the average rank, over responses in `CUBE`, of each combination of levels (C1 to C8).

    Each response ranks the combinations by the mean over their eight runs (figure 4-1).
    """
    # C1 has runs 1, 9, 17, ...
    means = _responses(data, of, CUBE).reshape(8, 8, len(CUBE)).mean(axis=0)
    ranks = [
        value_ranks(column, low_is_best=name in LOW_IS_BEST)
        for name, column in zip(CUBE, means.T, strict=True)
    ]
    averages: np.ndarray = np.mean(ranks, axis=0)
    return averages


@measure
def rank_change_step(data: Data, of: str, order: str) -> float:
    """Return the smallest ratio of a factor's effect to the effect of the next one in `order`.

    `order` is written as `A>B>C`. The effect of a factor is the mean difference in average rank
    between its two levels (tables 4-30 and C-17).
    """
    by_factor = edge_means(cube_edges(_average_ranks(data, of).tolist()))
    changes = [by_factor[FACTORS.index(name)] for name in order.split(">")]
    return min(larger / other for larger, other in pairwise(changes))
