"""What claims of chapters 6 and 7 measure between algorithms, condition by condition.

`condition` has the conditions that are there; what is counted over them can only grow with more.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import to_tree

from longhaul.analysis import clusters, outliers
from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import KINDS, Measure, Measures
from longhaul.studies.selection import Word, selects

MEASURES = Measures()
measure = MEASURES.register
# Responses of a period, and of the whole run (tables 6-15 to 6-25).
OF_PERIODS = tuple(f"y{number}" for number in range(1, 46))
OF_RUNS = tuple(f"T.y{number}" for number in range(1, 29))
WHOLE_RUN = "run"


def of_kind(kind: str) -> Callable[[Measure], Measure]:
    """Register a measure of which some conditions show something of all; a decorator."""

    def registered(function: Measure) -> Measure:
        KINDS[function] = kind
        return measure(function)

    return registered


def _conditions(
    data: Data, of: str, condition: Word, without: str = "", only: str = ""
) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """The algorithms of each condition, in order, and a row for each."""
    cells = data.cells(of)
    chosen = [level for level in data.levels("condition", of) if _is(condition, level)]
    if not chosen:
        raise NotRunError(f"{of} was not run under any of these conditions")
    left_out = without.split(",")
    for level in chosen:
        rows = cells.filter(
            (pl.col("condition") == level)
            & ~pl.col("algorithm").is_in(left_out)
            & (pl.lit(not only) | (pl.col("algorithm") == only))
        ).sort("algorithm")
        yield rows["algorithm"].to_list(), rows


def _is(condition: Word, level: float) -> bool:
    return condition == "" or selects(condition)(level)


def _values(rows: pl.DataFrame, metric: str) -> np.ndarray:
    """A metric in each row, or the mean of several."""
    names = metric.split(",")
    for name in names:
        if name not in rows.columns or rows[name].null_count():
            raise NotRunError(f"some runs have no {name}")
    values: np.ndarray = rows.select(names).cast(pl.Float64).to_numpy().mean(axis=1)
    return values


def _dendrogram(rows: pl.DataFrame, period: str) -> clusters.Dendrogram:
    names = OF_RUNS if period == WHOLE_RUN else [f"{name}_{period}" for name in OF_PERIODS]
    return clusters.dendrogram(np.column_stack([_values(rows, name) for name in names]))


@of_kind("count")
def distinctive(
    data: Data, of: str, period: str, algorithms: str, condition: Word = "", without: str = ""
) -> float:
    """Under how many conditions these algorithms are what clustering separates from all others."""
    wanted = set(algorithms.split(","))
    return float(
        sum(
            {names[place] for place in _dendrogram(rows, period).distinctive} == wanted
            for names, rows in _conditions(data, of, condition, without)
        )
    )


@of_kind("count")
def distinctive_any(
    data: Data, of: str, period: str, condition: Word = "", without: str = ""
) -> float:
    """Under how many conditions clustering separates some algorithms from all others."""
    by_condition = _conditions(data, of, condition, without)
    return float(sum(bool(_dendrogram(rows, period).distinctive) for _, rows in by_condition))


@of_kind("count")
def together(data: Data, of: str, period: str, algorithms: str, condition: Word = "") -> float:
    """Under how many conditions these algorithms are a cluster without any other."""
    wanted = set(algorithms.split(","))
    count = 0
    for names, rows in _conditions(data, of, condition):
        merges = _dendrogram(rows, period).merges
        count += any({names[leaf] for leaf in leaves} == wanted for leaves in _nodes(merges))
    return float(count)


def _nodes(merges: np.ndarray) -> Iterator[list[int]]:
    """The competitors of each cluster."""
    _, nodes = to_tree(merges, rd=True)
    yield from (node.pre_order() for node in nodes)


@of_kind("count")
def stands_out(
    data: Data, of: str, metric: str, algorithm: str = "", sign: str = "", percent: float = 0.0,
    condition: Word = "", without: str = "",
) -> float:  # fmt: skip
    """Under how many conditions an algorithm is a significant outlier, up or down.

    By Grubbs' test with the study's critical value; `percent` from the mean at least.
    """
    count = 0
    for names, rows in _conditions(data, of, condition, without):
        residuals = outliers.residuals(_values(rows, metric), outliers.NIST_CRITICAL)
        if not residuals.is_outlier or abs(residuals.percent) < percent:
            continue
        is_wanted = algorithm in ("", names[residuals.extreme])
        count += is_wanted and (not sign or (residuals.largest > 0) == (sign == "up"))
    return float(count)


@measure
def part_of_outliers(
    data: Data, of: str, period: str, condition: Word = "", without: str = ""
) -> float:
    """The part of responses and conditions that have a significant outlier."""
    names = OF_RUNS if period == WHOLE_RUN else [f"{name}_{period}" for name in OF_PERIODS]
    return float(
        np.mean([
            outliers.residuals(_values(rows, name), outliers.NIST_CRITICAL).is_outlier
            for _, rows in _conditions(data, of, condition, without)
            for name in names
        ])
    )  # fmt: skip


@measure
def order_step(data: Data, of: str, metric: str, order: str, condition: Word = "") -> float:
    """The smallest ratio of the mean with an algorithm to that with the next of a list.

    `A+B>C`: the smaller one of A and B to C. `*` are all others.
    """
    names, sums = _means(data, of, metric, condition)
    means = dict(zip(names, sums, strict=True))
    groups = [group.split("+") for group in order.split(">")]
    listed = {name for group in groups for name in group}
    if missing := listed - {"*", *names}:
        raise NotRunError(f"{of} was not run with {', '.join(sorted(missing))}")
    others = [name for name in names if name not in listed]
    values = [[means[name] for name in (others if group == ["*"] else group)] for group in groups]
    return float(min(min(now) / max(other) for now, other in pairwise(values)))


@measure
def order_agreement(data: Data, of: str, metric: str, order: str, condition: Word = "") -> float:
    """Rank correlation of means with a printed order, most first; `A+B` share a place.

    Algorithms that the order does not name are left out.
    """
    groups = [group.split("+") for group in order.split(">")]
    places = {name: -float(place) for place, group in enumerate(groups) for name in group}
    names, means = _means(data, of, metric, condition)
    by_name = dict(zip(names, means, strict=True))
    if missing := set(places) - set(names):
        raise NotRunError(f"{of} was not run with {', '.join(sorted(missing))}")
    measured = np.array([by_name[name] for name in places])
    return rank_correlation(np.array(list(places.values())), measured)


def _means(data: Data, of: str, metric: str, condition: Word) -> tuple[list[str], np.ndarray]:
    """The mean over conditions with each algorithm."""
    by_condition = list(_conditions(data, of, condition))
    names = by_condition[0][0]
    if any(others != names for others, _ in by_condition):
        raise NotRunError(f"{of}: some conditions lack algorithms")
    means: np.ndarray = np.mean([_values(rows, metric) for _, rows in by_condition], axis=0)
    return names, means


@of_kind("least")
def separated(
    data: Data, of: str, metric: str, algorithm: str, above: str, condition: Word = ""
) -> float:
    """The smallest value under some conditions over the largest under all others."""
    wanted = {int(number) for number in above.split(",")}
    values: dict[bool, list[float]] = {True: [], False: []}
    for level, value in _by_condition(data, of, metric, algorithm, condition).items():
        values[level in wanted].append(value)
    if not all(values.values()):
        raise NotRunError("conditions of one kind alone are there")
    return min(values[True]) / max(values[False])


@measure
def off_means(data: Data, of: str, metric: str, printed: str, condition: Word = "") -> float:
    """The largest relative deviation of an algorithm's mean over conditions from print.

    `printed` is such as `BIC:59.8,CTCP:62.5`.
    """
    names, means = _means(data, of, metric, condition)
    wanted = _printed(printed)
    computed = dict(zip(names, means, strict=True))
    return float(max(abs(computed[name] / value - 1) for name, value in wanted.items()))


@of_kind("largest")
def off_range(
    data: Data, of: str, metric: str, least: str, most: str, algorithm: str = "",
    condition: Word = "",
) -> float:  # fmt: skip
    """By what part a value is below an algorithm's least of all conditions, or above its most."""
    low, high = _printed(least), _printed(most)
    beyond = [
        max(1 - value / low[name], value / high[name] - 1, 0.0)
        for names, rows in _conditions(data, of, condition, only=algorithm)
        for name, value in zip(names, _values(rows, metric), strict=True)
        if name in low
    ]
    return float(max(beyond))


def _printed(words: str) -> dict[str, float]:
    return {name: float(value) for name, value in (word.split(":") for word in words.split(","))}


# Of single conditions.


@measure
def ratio_in(data: Data, of: str, metric: str, to: str, algorithm: str, condition: Word) -> float:
    """One metric over another in the same run."""
    cell = {"algorithm": algorithm, "condition": condition}
    return data.value(metric, of, **cell) / data.value(to, of, **cell)


@measure
def residual(data: Data, of: str, metric: str, algorithm: str, condition: Word) -> float:
    """A metric with an algorithm less the mean of all algorithms, under one condition."""
    ((names, rows),) = _conditions(data, of, condition)
    values = _values(rows, metric)
    return float(values[names.index(algorithm)] - values.mean())


# Over conditions.


@of_kind("count")
def highest_in(data: Data, of: str, metric: str, algorithm: str, condition: Word = "") -> float:
    """Under how many conditions an algorithm has the highest value."""
    return float(
        sum(
            names[int(_values(rows, metric).argmax())] == algorithm
            for names, rows in _conditions(data, of, condition)
        )
    )


@of_kind("largest")
def best_over_mean(data: Data, of: str, metric: str, condition: Word = "") -> float:
    """The best algorithm over the mean of all, the most of any condition."""
    per_condition = [_values(rows, metric) for _, rows in _conditions(data, of, condition)]
    return float(max(values.max() / values.mean() for values in per_condition))


@of_kind("least")
def order_of_conditions(
    data: Data, of: str, metric: str, algorithm: str, first: float, end: str, condition: Word = ""
) -> float:
    """How far a condition is the least or the most: the next one's value over its own, or back."""
    values = _by_condition(data, of, metric, algorithm, condition)
    if first not in values or len(values) < 2:
        raise NotRunError(f"condition {first:g} and another one are needed")
    own = values.pop(first)
    return min(values.values()) / own if end == "least" else own / max(values.values())


@measure
def congestion_agreement(
    data: Data, of: str, beside: str, metric: str, algorithm: str, condition: Word = ""
) -> float:
    """Rank correlation over conditions of a metric in two experiments."""
    first, other = (
        _by_condition(data, name, metric, algorithm, condition) for name in (of, beside)
    )
    common = sorted(set(first) & set(other))
    if len(common) < 3:
        raise NotRunError(f"three conditions are needed, and {len(common)} are there")
    return rank_correlation(
        *(np.array([side[level] for level in common]) for side in (first, other))
    )


@measure
def correlation_over_conditions(
    data: Data, of: str, metric: str, to: str, by: str, algorithm: str, condition: Word = ""
) -> float:
    """Rank correlation over conditions of the ratio of two metrics with a third one."""
    dividends, other, third = (
        _by_condition(data, of, name, algorithm, condition) for name in (metric, to, by)
    )
    if len(dividends) < 3:
        raise NotRunError(f"three conditions are needed, and {len(dividends)} are there")
    ratios = np.array([dividends[level] / other[level] for level in dividends])
    return rank_correlation(ratios, np.array([third[level] for level in dividends]))


@of_kind("largest")
def largest_gap_in(
    data: Data, of: str, beside: str, metric: str, to: str, algorithm: str, condition: Word = ""
) -> float:
    """The largest difference between two experiments of the ratio of two metrics."""
    first, other = (
        {
            level: value / _by_condition(data, name, to, algorithm, condition)[level]
            for level, value in _by_condition(data, name, metric, algorithm, condition).items()
        }
        for name in (of, beside)
    )
    gaps = [abs(first[level] - other[level]) for level in first if level in other]
    if not gaps:
        raise NotRunError("no condition in common")
    return max(gaps)


def _by_condition(
    data: Data, of: str, metric: str, algorithm: str, condition: Word
) -> dict[float, float]:
    """A metric with an algorithm under each condition that has it."""
    rows = data.having(metric, of, algorithm=algorithm).to_dicts()
    return {
        row["condition"]: float(row[metric]) for row in rows if _is(condition, row["condition"])
    }


@measure
def newcomers(data: Data, of: str, metric: str, algorithms: str, condition: Word = "") -> float:
    """The highest mean with some algorithms over the lowest with CTCP, H-TCP and standard TCP."""
    names, means = _means(data, of, metric, condition)
    by_name = dict(zip(names, means, strict=True))
    rest = min(by_name[name] for name in ("CTCP", "HTCP", "TCP"))
    return float(max(by_name[name] for name in algorithms.split(",")) / rest)


@measure
def grubbs_of_a_pair(data: Data, count: float) -> float:
    """Grubbs' statistic of so many values, two of them apart together and the others equal."""
    del data
    values = np.zeros(int(count))
    values[:2] = 1.0
    return outliers.residuals(values).statistic
