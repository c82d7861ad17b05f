"""Measures of chapters 8 and 9, over all conditions and for flow groups.

Groups are named as in table 8-6: `M_VF-F` for movies on very fast paths with fast interfaces.
"""

from itertools import product

import numpy as np

from longhaul.analysis import components, congestion, users
from longhaul.analysis.ranks import value_ranks
from longhaul.analysis.statistics import rank_correlation
from longhaul.mesonet import groups
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

from . import tables
from .tables import ALGORITHMS, by_condition, chosen, goodput

MEASURES = Measures()
measure = MEASURES.register
of_design = MEASURES.register_of_design


# Conditions in the printed order of increasing congestion (rows of figures 8-68 and 8-69).
ORDER = (
    16, 8, 24, 32, 28, 12, 4, 20, 14, 6, 30, 22, 15, 2, 10, 31,
    23, 26, 11, 3, 7, 13, 5, 18, 27, 9, 29, 25, 17, 1, 19, 21,
)  # fmt: skip
# Conditions whose flow states are printed, one per congestion class (figures 8-3 and 8-4).
REPRESENTATIVES = (4, 22, 26, 5, 29, 1)
RETRANSMISSIONS = "retransmission_rate_mean"


def places(names: str) -> list[int]:
    """Return the column indices of algorithms, whose names are joined by commas."""
    return [ALGORITHMS.index(name) for name in names.split(",")]


# Measures of goodput (tables 8-26 to 8-30, 9-10 to 9-12).


@of_design
def off_printed(data: Data, of: str, role: str, groups: str = "") -> float:
    """Return the largest relative deviation of groups' mean goodputs from the printed means.

    `role` is `alternate` or `TCP`; an empty `groups` stands for all groups.
    """
    means = users.goodput_table(goodput(data, of, role))
    return float(np.abs(means / tables.printed(of, role) - 1)[chosen(groups)].max())


@of_design
def least_advantage(data: Data, of: str, groups: str) -> float:
    """Return the smallest ratio of an alternate algorithm's mean goodput to that of competing TCP.

    The result is the minimum over alternate algorithms and `groups`.
    """
    return float(_advantages(data, of)[chosen(groups)].min())


@of_design
def largest_advantage(data: Data, of: str, groups: str) -> float:
    """Return the largest relative difference in goodput between alternate algorithms and TCP.

    Each of the flow groups `groups` has one difference: between the mean goodput of all alternate
    algorithms in experiment `of` and the mean goodput of the competing TCP flows.
    """
    own, others = (
        users.goodput_table(goodput(data, of, role)).mean(axis=1)[chosen(groups)]
        for role in tables.ROLES
    )
    return float(np.abs(own / others - 1).max())


def _advantages(data: Data, of: str) -> np.ndarray:
    own, others = (users.goodput_table(goodput(data, of, role)) for role in tables.ROLES)
    ratios: np.ndarray = own / others
    return ratios


@of_design
def off_differences(data: Data, of: str, base: str) -> float:
    """Return the largest error of our relative goodput differences, in percentage points.

    The expected differences are recomputed from the printed goodputs, because the differences in
    tables 8-30 and 9-12 are rounded irregularly. `base` is the denominator, as in `ranges`.
    """
    means = [users.goodput_table(goodput(data, of, role)) for role in tables.ROLES]
    wanted = [tables.printed(of, role) for role in tables.ROLES]
    return float(100 * np.abs(ranges(means, base) - ranges(wanted, base)).max())


def ranges(roles: list[np.ndarray], base: str) -> np.ndarray:
    """Return three relative differences of mean goodputs for each flow group.

    These are the range among alternate algorithms, the range among the competing TCP flows, and the
    difference between the means of both roles. `roles` has the goodputs of both roles. If `base` is
    `larger`, ranges are relative to their largest value, and the difference to the alternates'
    mean; if it is `smaller`, to their smallest value and to TCP's mean.
    """
    own, others = roles
    groups_ = zip(own, others, strict=True)
    differences = [users.differences(first, other, base=base) for first, other in groups_]
    return np.array([[x.among_first, x.among_second, x.first_over_second] for x in differences])


# Measures of ranks (tables 8-31, 8-32 and 9-13).


@of_design
def rank(data: Data, of: str, algorithm: str, role: str = "", file: str = "") -> float:
    """Return the average rank of an algorithm's goodput among seven algorithms; 7 is best.

    The average is over conditions, over the flow groups that `file` names (default: all), and over
    both roles unless `role` names one.
    """
    (column,) = places(algorithm)
    roles = [role] if role else list(tables.ROLES)
    ranks = [value_ranks(goodput(data, of, role_))[:, chosen(file), column] for role_ in roles]
    return float(np.mean(ranks))


@of_design
def rank_place(data: Data, of: str, algorithm: str, role: str = "", file: str = "") -> float:
    """Return the place of an algorithm by average rank (`rank`); 1 is best."""
    means = [rank(data, of, name, role, file) for name in ALGORITHMS]
    return 1.0 + sum(mean > means[places(algorithm)[0]] for mean in means)


@of_design
def rank_deviation(data: Data, of: str, algorithm: str) -> float:
    """Return the sample standard deviation of an algorithm's eight average ranks.

    There is one average for each of the two roles (the alternate's flows, and the TCP flows that
    compete with it) and each of the four kinds of file.
    """
    cells = product(tables.ROLES, tables.FILES)
    return float(np.std([rank(data, of, algorithm, *cell) for cell in cells], ddof=1))


@of_design
def rank_matrix(data: Data, of: str, algorithm: str) -> float:
    """Return the rank correlation between our ranks of an algorithm and the printed ones.

    Ranks are by goodput, for each condition and flow group.
    """
    (column,) = places(algorithm)
    ranks = value_ranks(goodput(data, of, "alternate"))[:, :, column]
    return rank_correlation(ranks.ravel(), tables.printed_ranks(algorithm).ravel())


@of_design
def rank_range(data: Data, of: str) -> float:
    """Return the largest of the algorithms' average ranks minus the smallest."""
    means = [rank(data, of, name) for name in ALGORITHMS]
    return max(means) - min(means)


# Measures of congestion (figures 8-1, 8-2 and 9-1).


def _rates(data: Data, of: str) -> np.ndarray:
    rates: np.ndarray = by_condition(data, of, RETRANSMISSIONS).mean(axis=1)
    return rates


@of_design
def congestion_place(data: Data, of: str, condition: float) -> float:
    """Return the rank of `condition` by mean retransmission rate; rank 1 is least congested."""
    order = congestion.congestion_order(by_condition(data, of, RETRANSMISSIONS))
    return 1.0 + order.index(int(condition) - 1)


@of_design
def congestion_correlation(data: Data, of: str, beside: str = "") -> float:
    """Return the rank correlation of congestion with the printed order of conditions.

    Congestion is the mean retransmission rate of a condition. If `beside` is given, the congestion
    in experiment `beside` replaces the printed order.
    """
    rates = _rates(data, of)
    if beside:
        return rank_correlation(rates, _rates(data, beside))
    places = [ORDER.index(condition) for condition in range(1, tables.CONDITIONS + 1)]
    return rank_correlation(rates, np.array(places, float))


@of_design
def most_congested(data: Data, of: str, conditions: str) -> float:
    """Return how many of the n conditions in `conditions` are among the n most congested ones."""
    wanted = {int(number) for number in conditions.split(",")}
    order = congestion.congestion_order(by_condition(data, of, RETRANSMISSIONS))
    return float(len(wanted & {place + 1 for place in order[-len(wanted) :]}))


# Measures of macroscopic responses (table 8-19).


@measure
def state_trend(data: Data, of: str, algorithm: str, state: str) -> float:
    """Return the rank correlation between congestion and the share of active flows in `state`.

    It is computed over six conditions, one per class of congestion.
    """
    parts = []
    for condition in REPRESENTATIVES:
        cell = {"condition": condition, "algorithm": algorithm}
        there, active = (data.value(f"{name}_flows_half", of, **cell) for name in (state, "active"))
        parts.append(there / active)
    return rank_correlation(np.arange(len(parts), dtype=float), np.array(parts))


# Measures of principal components (figures 8-33, 8-42 and 9-15).


def goodput_scores(data: Data, of: str) -> np.ndarray:
    """Return the scores of goodput's principal components.

    The array has the axes condition, algorithm and component.
    """
    parts = [goodput(data, of, role) for role in tables.ROLES]
    matrix = np.concatenate(parts, axis=1).transpose(0, 2, 1).reshape(-1, 2 * len(groups.GROUPS))
    scores = components.principal_components(matrix).scores
    return scores.reshape(tables.CONDITIONS, len(ALGORITHMS), -1)


@of_design
def purity(data: Data, of: str, count: float) -> float:
    """Return the purity of clusters of runs: the fraction of runs in their cluster's majority.

    Ward's linkage forms `count` clusters by the first two principal components. Runs are classified
    by network speed and, at the higher speed, by delay.
    """
    scores = goodput_scores(data, of)
    labels = components.score_groups(scores.reshape(-1, scores.shape[-1])[:, :2], int(count))
    speed, delay = (by_condition(data, of, factor).ravel() for factor in ("speed", "delay"))
    levels = (speed == speed.max()) * 2 + (delay == delay.max()) * (speed == speed.max())
    right = sum(
        max(np.bincount(levels[labels == label].astype(int))) for label in np.unique(labels)
    )
    return float(right / len(labels))
