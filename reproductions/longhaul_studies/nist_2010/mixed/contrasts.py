"""Contrasts between algorithms under some conditions, and between experiments.

An advantage is an alternate's mean goodput divided by that of the competing TCP flows, minus one.
Conditions are given by number, or as `least` and `most`, the 16 least and the 16 most congested
conditions in the order that the study prints.
"""

import numpy as np

from longhaul.analysis import outliers, users
from longhaul.analysis.statistics import rank_correlation
from longhaul.mesonet import groups
from longhaul.studies.data import Data

from . import tables
from .measures import MEASURES, ORDER, goodput_scores, of_design, places, ranges
from .tables import ALGORITHMS, CONDITIONS, by_condition, chosen, goodput

__all__ = ["MEASURES"]

NUMBERS = [number for number, *_ in groups.GROUPS]
HALVES = {"least": ORDER[: CONDITIONS // 2], "most": ORDER[CONDITIONS // 2 :]}
# Responses of table 8-19 as metrics of runs.
MACROSCOPIC = (
    "active_flows_half", "initial_slow_start_flows_half", "normal_mode_flows_half",
    "above_threshold_flows_half", "connecting_flows_half", "out_pps_half", "completed_per_s_half",
    "cwnd_mean_pkts_half", "growth_pkts_mean", "retransmission_rate_mean",
    "srtt_mean_s_half", "completed_per_h", "web_share", "document_share", "service_pack_share",
    "movie_share",
)  # fmt: skip


def _rows(conditions: str) -> list[int]:
    """Return the row indices of conditions; all of them if `conditions` is empty.

    `conditions` is `3,17`, for example, or `least` or `most`: the 16 least or most congested ones.
    """
    if not conditions:
        return list(range(CONDITIONS))
    numbers = HALVES.get(conditions) or tuple(map(int, conditions.split(",")))
    return [number - 1 for number in numbers]


# Alternates compared with competing TCP.


def _advantages(data: Data, of: str, group: str, algorithms: str) -> np.ndarray:
    """Return the advantages of `algorithms` over TCP as an array (condition, algorithm).

    An advantage is a ratio of goodputs in the flow group `group`, minus 1. An empty `algorithms`
    stands for all.
    """
    (place,), columns = chosen(group), places(algorithms or ",".join(ALGORITHMS))
    own, others = (goodput(data, of, role)[:, place][:, columns] for role in tables.ROLES)
    advantages: np.ndarray = own / others - 1
    return advantages


@of_design
def advantage_lead(data: Data, of: str, group: str, algorithms: str) -> float:
    """Return the smallest advantage of `algorithms` minus the largest advantage of all others.

    An advantage is the goodput of an algorithm's flows in flow group `group` divided by that of
    competing TCP flows, minus 1. It is a mean over the conditions of experiment `of`.
    """
    means = _advantages(data, of, group, "").mean(axis=0)
    leading = np.isin(np.arange(len(means)), places(algorithms))
    return float(means[leading].min() - means[~leading].max())


@of_design
def advantage_grows(data: Data, of: str, group: str, algorithms: str = "") -> float:
    """Return the rank correlation, over conditions, between congestion and advantage over TCP.

    `ORDER` ranks the conditions by congestion. The advantage in flow group `group` is a mean over
    `algorithms`; an empty `algorithms` stands for all.
    """
    order = [condition - 1 for condition in ORDER]
    by_congestion = _advantages(data, of, group, algorithms).mean(axis=1)[order]
    return rank_correlation(np.arange(CONDITIONS, dtype=float), by_congestion)


# Algorithms compared with each other.


def _against_others(
    data: Data, of: str, metric: str, algorithm: str, conditions: str = ""
) -> float:
    """Return the relative deviation of `algorithm` from the mean of all others in `metric`.

    The deviation is a mean over conditions.
    """
    values = by_condition(data, of, metric)[_rows(conditions)]
    own = np.isin(np.arange(values.shape[1]), places(algorithm))
    return float((values[:, own].mean(axis=1) / values[:, ~own].mean(axis=1) - 1).mean())


@of_design
def against_others(
    data: Data, of: str, metric: str, algorithm: str, conditions: str = "", beside: str = ""
) -> float:
    """Return the relative deviation of `algorithm` from the mean of all others in `metric`.

    The deviation is a mean over conditions of experiment `of`. With `beside`, the deviation in that
    experiment is subtracted.
    """
    there = _against_others(data, beside, metric, algorithm, conditions) if beside else 0.0
    return _against_others(data, of, metric, algorithm, conditions) - there


@of_design
def outlier_share(data: Data, of: str) -> float:
    """Return the fraction of pairs (response, condition) in `of` with a significant outlier."""
    is_outlier = [
        outliers.residuals(row, outliers.NIST_CRITICAL).is_outlier
        for metric in MACROSCOPIC
        for row in by_condition(data, of, metric)
    ]
    return float(np.mean(is_outlier))


@of_design
def first_component_gap(data: Data, of: str, algorithms: str, conditions: str) -> float:
    """Return the gap between `algorithms` and all others on principal component 1.

    Scores are means over `conditions`. The gap is a fraction of the range of the others' scores. It
    is positive only if all of `algorithms` are above, or all are below, this range.
    """
    means = goodput_scores(data, of)[_rows(conditions), :, 0].mean(axis=0)
    apart = np.isin(np.arange(len(means)), places(algorithms))
    low, high = means[~apart].min(), means[~apart].max()
    gap = max(low - means[apart].max(), means[apart].min() - high)
    return float(gap / (high - low))


# Comparisons of experiments.


@of_design
def threshold_effect(data: Data, of: str, beside: str, group: str) -> float:
    """Return the mean effect at high congestion divided by the mean effect at low congestion.

    The effect is the absolute relative difference in goodput between experiments `of` and `beside`,
    for alternate algorithms in flow group `group`. The 16 most congested of 32 conditions have high
    congestion, the others low.
    """
    (place,) = chosen(group)
    own, other = (goodput(data, name, "alternate")[:, place] for name in (of, beside))
    effect = np.abs(own / other - 1)
    most, least = (effect[_rows(name)].mean() for name in ("most", "least"))
    return float(most / least)


@of_design
def share_of_users_better(data: Data, of: str, above: float) -> float:
    """Return the fraction of the alternate algorithms' flows that are in favoured flow groups.

    A flow group is favoured if the alternate algorithms' goodput, divided by that of the competing
    TCP flows, exceeds 1 + `above` in the mean over conditions and algorithms.
    """
    own, others = (goodput(data, of, role) for role in tables.ROLES)
    better = (own / others - 1).mean(axis=(0, 2)) > above
    flows = np.array(
        [by_condition(data, of, f"flows_per_h_alternate_{number}").sum() for number in NUMBERS]
    )
    return float(flows[better].sum() / flows.sum())


@of_design
def spread_of_alternates(data: Data, of: str, group: str) -> float:
    """Return the largest mean goodput of an alternate over the smallest, in flow group `group`."""
    (place,) = chosen(group)
    means = goodput(data, of, "alternate")[:, place].mean(axis=0)
    return float(means.max() / means.min())


@of_design
def differences_narrow(data: Data, of: str, beside: str) -> float:
    """Return the largest ratio of a goodput difference in experiment `of` to that in `beside`.

    There are three differences: the range among alternate algorithms, the range among competing TCP
    flows, and the distance between the means of both. Ranges are relative to their smallest value,
    the distance to TCP's mean. Each difference is a mean over flow groups.
    """
    own, other = (
        np.abs(ranges([users.goodput_table(goodput(data, name, role)) for role in tables.ROLES],
                      "smaller"))
        for name in (of, beside)
    )  # fmt: skip
    return float((own.mean(axis=0) / other.mean(axis=0)).max())
