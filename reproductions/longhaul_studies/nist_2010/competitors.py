"""Measures of chapters 6 and 7 that compare algorithms under each condition.

`condition` selects conditions; an empty `condition` selects all.
"""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import to_tree

from longhaul.analysis import clusters, outliers
from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import KINDS, Measure, Measures
from longhaul.studies.partial import COUNT, LARGEST, RATIO, SHARE, SIGN
from longhaul.studies.selection import Word, selects

MEASURES = Measures()
measure = MEASURES.register
# Responses of a period, and of the whole run (tables 6-15 to 6-25).
OF_PERIODS = tuple(f"y{number}" for number in range(1, 46))
OF_RUNS = tuple(f"T.y{number}" for number in range(1, 29))
WHOLE_RUN = "run"


def of_kind(kind: str) -> Callable[[Measure], Measure]:
    """Return a decorator that registers a measure of a `kind`, such as a count or a maximum.

    The kind tells what is known while conditions are missing: for example, a count can only grow
    (`studies.partial`).
    """

    def registered(function: Measure) -> Measure:
        KINDS[function] = kind
        return measure(function)

    return registered


def _conditions(
    data: Data, of: str, condition: Word, without: str = "", only: str = ""
) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """Yield the algorithms of each selected condition in sorted order, and their rows.

    Algorithms in `without` are left out. If `only` is not empty, all others are left out.
    """
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
    """Return `metric` of each row, or the mean of several metrics joined by commas."""
    values: np.ndarray = np.mean([_column(rows, name) for name in metric.split(",")], axis=0)
    return values


def _column(rows: pl.DataFrame, name: str) -> np.ndarray:
    column = rows.get_column(name, default=None)
    if column is None or column.null_count():
        raise NotRunError(f"some runs have no {name}")
    values: np.ndarray = column.cast(pl.Float64).to_numpy()
    return values


def _dendrogram(rows: pl.DataFrame, period: str, left_out: str = "") -> clusters.Dendrogram:
    """Return the dendrogram that clusters the algorithms of one condition by their responses.

    `period` is a period of the study or `run`; `left_out` names responses that are not used.
    """
    is_run = period == WHOLE_RUN
    kept = [name for name in (OF_RUNS if is_run else OF_PERIODS) if name not in left_out.split(",")]
    names = kept if is_run else [f"{name}_{period}" for name in kept]
    return clusters.dendrogram(np.column_stack([_values(rows, name) for name in names]))


@of_kind(COUNT)
def distinctive(
    data: Data, of: str, period: str, algorithms: str, condition: Word = "", without: str = "",
    left_out: str = "",
) -> float:  # fmt: skip
    """Count the conditions in which `algorithms`, and no others, are distinctive.

    Distinctive algorithms are a minority that joins all others in the last merge, if these others
    form one cluster. `without` names algorithms that do not take part. Clusters are formed by the
    responses in `period`, except the responses named in `left_out`. Names are joined by commas.
    """
    wanted = set(algorithms.split(","))
    return float(
        sum(
            {names[place] for place in _dendrogram(rows, period, left_out).distinctive} == wanted
            for names, rows in _conditions(data, of, condition, without)
        )
    )


@of_kind(COUNT)
def distinctive_any(
    data: Data, of: str, period: str, condition: Word = "", without: str = ""
) -> float:
    """Count the conditions in which some algorithms are distinctive (see `distinctive`).

    Algorithms are clustered by their responses in `period`. Algorithms in `without` are left out.
    """
    by_condition = _conditions(data, of, condition, without)
    return float(sum(bool(_dendrogram(rows, period).distinctive) for _, rows in by_condition))


@of_kind(COUNT)
def together(
    data: Data, of: str, period: str, algorithms: str, condition: Word = "", without: str = "",
    sometimes: str = "",
) -> float:  # fmt: skip
    """Count the conditions in which `algorithms`, and no others, form a subtree of the dendrogram.

    A subtree counts at any height. One that also contains the algorithm `sometimes` counts as well.
    Algorithms are clustered by their responses in `period`; those in `without` are left out. Names
    are joined by commas.
    """
    own = set(algorithms.split(","))
    wanted = (own, own | {sometimes}) if sometimes else (own,)
    count = 0
    for names, rows in _conditions(data, of, condition, without):
        merges = _dendrogram(rows, period).merges
        count += any({names[leaf] for leaf in leaves} in wanted for leaves in _nodes(merges))
    return float(count)


def _nodes(merges: np.ndarray) -> Iterator[list[int]]:
    """Yield the indices of the algorithms in each subtree of a dendrogram with these `merges`."""
    _, nodes = to_tree(merges, rd=True)
    yield from (node.pre_order() for node in nodes)


@of_kind(COUNT)
def stands_out(
    data: Data, of: str, metric: str, algorithm: str = "", sign: str = "", percent: float = 0.0,
    condition: Word = "", without: str = "",
) -> float:  # fmt: skip
    """Return the number of conditions in which `algorithm` is a significant outlier in `metric`.

    The test is Grubbs' with the study's critical value, adapted if there are fewer than seven
    algorithms. Only outliers count that differ from the mean by at least `percent` of the mean.
    `sign` is `up`, `down` or empty for both; an empty `algorithm` stands for any.
    """
    count = 0
    for names, rows in _conditions(data, of, condition, without):
        residuals = outliers.residuals(_values(rows, metric), outliers.nist_critical(len(names)))
        if not residuals.is_outlier or abs(residuals.percent) < percent:
            continue
        is_wanted = algorithm in ("", names[residuals.extreme])
        count += is_wanted and (not sign or (residuals.largest > 0) == (sign == "up"))
    return float(count)


@of_kind(SHARE)
def part_of_outliers(
    data: Data, of: str, period: str, condition: Word = "", without: str = ""
) -> float:
    """Return the share of pairs (response of `period`, condition) with an outlying algorithm."""
    metrics = [f"{name}_{period}" for name in OF_PERIODS]
    return float(
        np.mean([
            outliers.residuals(_values(rows, name), outliers.nist_critical(len(names))).is_outlier
            for names, rows in _conditions(data, of, condition, without)
            for name in metrics
        ])
    )  # fmt: skip


@of_kind(SIGN)
def order_agreement(data: Data, of: str, metric: str, order: str, condition: Word = "") -> float:
    """Return the rank correlation between a printed order of algorithms and means of `metric`.

    `order` is written as `A>B+C`, where B and C are tied. Other algorithms are left out; means are
    over conditions.
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
    """Return the algorithms, and the mean of `metric` over conditions for each."""
    by_condition = list(_conditions(data, of, condition))
    names = by_condition[0][0]
    if any(others != names for others, _ in by_condition):
        raise NotRunError(f"{of}: some conditions lack algorithms")
    means: np.ndarray = np.mean([_values(rows, metric) for _, rows in by_condition], axis=0)
    return names, means


@measure
def off_means(
    data: Data, of: str, metric: str, printed: str, condition: Word = "", within: float = 0.0
) -> float:
    """Return the largest relative deviation of an algorithm's mean `metric` from its printed mean.

    Means are over conditions. `printed` has means such as `BIC:59.8,CTCP:62.5`. If `within` is not
    0, each deviation is divided by the allowed deviation, which is at most `within` (see `_bands`).
    """
    names, means = _means(data, of, metric, condition)
    wanted = _printed(printed)
    bands = _bands(wanted, within)
    computed = dict(zip(names, means, strict=True))
    off = [abs(computed[name] / value - 1) / bands[name] for name, value in wanted.items()]
    return float(max(off))


@of_kind(LARGEST)
def off_range(
    data: Data, of: str, metric: str, least: str, most: str, algorithm: str = "",
    condition: Word = "", within: float = 0.0,
) -> float:  # fmt: skip
    """Return the largest distance by which `metric` lies outside an algorithm's printed range.

    A distance is a fraction of the nearer end of the range, and 0 inside the range. `least` and
    `most` give the lower and upper ends, such as `BIC:59.8,CTCP:62.5`. If `within` is not 0, each
    distance is divided by the allowed deviation, which is at most `within` (see `_bands`).
    """
    low, high = _printed(least), _printed(most)
    below, above = _bands(low, within), _bands(high, within)
    beyond = [
        max((1 - value / low[name]) / below[name], (value / high[name] - 1) / above[name], 0.0)
        for names, rows in _conditions(data, of, condition, only=algorithm)
        for name, value in zip(names, _values(rows, metric), strict=True)
        if name in low
    ]
    return float(max(beyond))


def _printed(words: str) -> dict[str, float]:
    return {name: float(value) for name, value in (word.split(":") for word in words.split(","))}


def _bands(printed: dict[str, float], within: float) -> dict[str, float]:
    """Return, by name, the relative deviation that is allowed from each printed number.

    The deviation is half the relative distance to the nearest other number, but at most `within`.
    As an exception, all deviations are 1 if `within` is 0, so that dividing by them has no effect.
    """
    if not within:
        return dict.fromkeys(printed, 1.0)
    return {
        name: min([within, *(abs(other / of - 1) / 2 for other in printed.values() if other != of)])
        for name, of in printed.items()
    }


@measure
def residual(data: Data, of: str, metric: str, algorithm: str, condition: Word) -> float:
    """Return `metric` of `algorithm` minus the mean over all algorithms, in one condition."""
    ((names, rows),) = _conditions(data, of, condition)
    values = _values(rows, metric)
    return float(values[names.index(algorithm)] - values.mean())


# Measures over conditions.


@of_kind(LARGEST)
def best_over_mean(data: Data, of: str, metric: str, condition: Word = "") -> float:
    """Return the largest ratio, over conditions, of the best algorithm's `metric` to the mean.

    The mean is over all algorithms. The conditions are all those of the experiment `of`, or those
    in `condition`.
    """
    per_condition = [_values(rows, metric) for _, rows in _conditions(data, of, condition)]
    return float(max(values.max() / values.mean() for values in per_condition))


@of_kind(RATIO)
def newcomers(data: Data, of: str, metric: str, algorithms: str, condition: Word = "") -> float:
    """Return the highest mean of `algorithms` divided by the lowest mean of CTCP, H-TCP and TCP.

    A mean is the mean of `metric` over the conditions of the experiment `of`, or over those in
    `condition`.
    """
    names, means = _means(data, of, metric, condition)
    by_name = dict(zip(names, means, strict=True))
    rest = min(by_name[name] for name in ("CTCP", "HTCP", "TCP"))
    return float(max(by_name[name] for name in algorithms.split(",")) / rest)


@measure
def grubbs_of_a_pair(data: Data, count: float) -> float:
    """Return Grubbs' statistic of `count` values, two of which are equal and all others 0."""
    del data
    values = np.zeros(int(count))
    values[:2] = 1.0
    return outliers.residuals(values).statistic
