"""What claims about web traffic measure.

Protocols of one replication share their connections, so that differences are taken within each
replication before the median.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from longhaul.analysis.statistics import crossing
from longhaul.studies.data import Combine, Data, NotRunError
from longhaul.studies.measures import Measures

WEB = Measures()
measure = WEB.register
# Points of the response time distribution, in ms.
TIMES_MS = tuple(range(100, 1501, 100))
# Experiments of which one has the tuned queues of the other's loads.
TUNED = {"ecn-136": "H1-TUNED", "ecn-340": "H1-TUNED", "ecn-5-136": "H1-TUNED"}


def _paired(
    data: Data, of: str, metric: str, one: str, other: str, axis: str, combine: Combine,
    cell: Mapping[str, str | float],
) -> float:  # fmt: skip
    """The median over replications of what is made of a metric of two protocols."""
    first, second = ((TUNED.get(name, of), {axis: name, **cell}) for name in (one, other))
    return data.paired(metric, first, second, combine)


def _ratios(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One over the other, where there is a denominator."""
    made = np.full_like(first, np.nan)
    np.divide(first, second, out=made, where=second != 0)
    return made


@measure
def difference(
    data: Data, of: str, metric: str, one: str, other: str, axis: str = "protocol",
    **cell: str | float,
) -> float:  # fmt: skip
    """The median over replications of what one protocol has more than another."""
    return _paired(data, of, metric, one, other, axis, np.subtract, cell)


def _along(
    data: Data, of: str, metric: str, one: str, other: str, low: float, high: float,
    axis: str, **cell: str | float,
) -> Iterator[float]:  # fmt: skip
    """The differences at all loads between two at which both were run."""
    loads = data.levels("load", TUNED.get(other, of), **{axis: other}, **cell)
    some = False
    for load in loads:
        if low <= load <= high:
            try:
                yield difference(data, of, metric, one, other, axis, load=load, **cell)
                some = True
            except NotRunError:
                continue
    if not some:
        raise NotRunError(f"{one} and {other} have no load in common")


@measure
def largest_difference(
    data: Data, of: str, metric: str, one: str, other: str, low: float = 0, high: float = 1e9,
    axis: str = "protocol", **cell: str | float,
) -> float:  # fmt: skip
    """The largest difference at any load: negative if one is always below the other."""
    return max(_along(data, of, metric, one, other, low, high, axis, **cell))


@measure
def smallest_difference(
    data: Data, of: str, metric: str, one: str, other: str, low: float = 0, high: float = 1e9,
    axis: str = "protocol", **cell: str | float,
) -> float:  # fmt: skip
    """The smallest difference at any load: positive if one is always above the other."""
    return min(_along(data, of, metric, one, other, low, high, axis, **cell))


@measure
def distance(
    data: Data, of: str, metric: str, one: str, other: str, low: float = 0, high: float = 1e9,
    axis: str = "protocol", **cell: str | float,
) -> float:  # fmt: skip
    """The largest difference of either sign at any load."""
    return max(abs(gap) for gap in _along(data, of, metric, one, other, low, high, axis, **cell))


@measure
def worst_of_distribution(
    data: Data, of: str, one: str, other: str, low: float = 0, high: float = 1e9,
    axis: str = "protocol", **cell: str | float,
) -> float:  # fmt: skip
    """How far the response time distribution of one protocol falls below that of another at most.

    In per cent of the responses, of all points up to 1500 ms and of all loads; negative is below.
    """
    return min(
        smallest_difference(data, of, f"within_{ms}", one, other, low, high, axis, **cell)
        for ms in TIMES_MS
    )


@measure
def spread_of_protocols(
    data: Data, of: str, metric: str, load: float, protocols: str, axis: str = "protocol"
) -> float:
    """The largest median less the smallest of some protocols at one load."""
    found = [
        data.value(metric, TUNED.get(name, of), load=load, **{axis: name})
        for name in protocols.split(",")
    ]
    return max(found) - min(found)


@measure
def largest_spread_of_protocols(
    data: Data, of: str, metric: str, protocols: str, low: float, high: float,
    axis: str = "protocol",
) -> float:  # fmt: skip
    """The same at the load between two where it is largest."""
    loads = data.levels("load", of, **{axis: protocols.split(",")[0]})
    return max(
        spread_of_protocols(data, of, metric, load, protocols, axis)
        for load in loads
        if low <= load <= high
    )


@measure
def best_is(
    data: Data, of: str, metric: str, one: str, others: str, low: float, high: float,
    largest: float = 1, axis: str = "protocol", **cell: str | float,
) -> float:  # fmt: skip
    """By how much one protocol is ahead of the best of others at the load where it is least so."""
    sign = 1.0 if largest else -1.0
    return min(
        sign * gap
        for other in others.split(",")
        for gap in _along(data, of, metric, one, other, low, high, axis, **cell)
    )


@measure
def crossing_ms(
    data: Data, of: str, one: str, other: str, axis: str = "queue", **cell: str | float
) -> float:
    """The response time up to which one is ahead, by straight lines between points of 100 ms."""
    return _crossing(data, of, one, other, axis, cell)[0]


@measure
def crossing_share(
    data: Data, of: str, one: str, other: str, axis: str = "queue", **cell: str | float
) -> float:
    """The share of the responses, in per cent, that are complete where two distributions cross."""
    return _crossing(data, of, one, other, axis, cell)[1]


def _crossing(
    data: Data, of: str, one: str, other: str, axis: str, cell: Mapping[str, str | float]
) -> tuple[float, float]:
    """Where the first distribution, ahead at short times, comes down to the second."""
    first, second = (
        [data.value(f"within_{ms}", of, **{axis: level}, **cell) for ms in TIMES_MS]
        for level in (one, other)
    )
    found = crossing(TIMES_MS, first, second)
    if found is None:
        raise NotRunError(f"{one} does not come down to {other} within {TIMES_MS[-1]} ms")
    return found, float(np.interp(found, TIMES_MS, first))


@measure
def median_ratio(
    data: Data, of: str, metric: str, one: str, other: str, axis: str = "protocol",
    **cell: str | float,
) -> float:  # fmt: skip
    """The median over replications of one protocol's metric over another's."""
    return _paired(data, of, metric, one, other, axis, _ratios, cell)


@measure
def extreme_ratio(
    data: Data, of: str, metric: str, one: str, other: str, total: float, largest: float
) -> float:
    """The largest or smallest ratio of two protocols over the pairs of loads of a total load."""
    pairs = _pairs(data, of, total, other)
    ratios = [median_ratio(data, of, metric, one, other, pair=pair) for pair in pairs]
    return float(max(ratios) if largest else min(ratios))


@measure
def largest_rise_of_pairs(
    data: Data, of: str, first: str, last: str, total: float, protocol: str
) -> float:
    """How much one metric is above another one, at the pair of a total load where it is most."""
    return max(
        data.value(last, of, pair=pair, protocol=protocol)
        - data.value(first, of, pair=pair, protocol=protocol)
        for pair in _pairs(data, of, total, protocol)
    )


@measure
def spread_of_pairs(data: Data, of: str, metric: str, total: float, protocol: str) -> float:
    """The largest over the smallest median of the pairs of a total load."""
    found = [
        data.value(metric, of, pair=pair, protocol=protocol)
        for pair in _pairs(data, of, total, protocol)
    ]
    return max(found) / min(found)


@measure
def least_of_pairs(
    data: Data, of: str, metric: str, total: float, protocol: str, over: str = ""
) -> float:
    """The smallest median of the pairs of a total load, or smallest ratio to another metric."""
    return min(
        data.value(metric, of, pair=pair, protocol=protocol)
        / (data.value(over, of, pair=pair, protocol=protocol) if over else 1.0)
        for pair in _pairs(data, of, total, protocol)
    )


def _pairs(data: Data, of: str, total: float, protocol: str) -> list[str]:
    """The pairs of loads of a total load."""
    pairs = [
        pair for pair in data.levels("pair", of, protocol=protocol)
        if pair.startswith(f"{total:g}-")
    ]  # fmt: skip
    if not pairs:
        raise NotRunError(f"no pair of a total load of {total:g} % was run")
    return pairs


@measure
def overtakes(data: Data, of: str) -> float:
    """How far Pcwnd is ahead of Reno and MixReact where over a tenth of its flows had losses.

    The smallest difference of the shares of responses within 1500 ms, at such loads.
    """
    curve = data.curve("with_losses", "load", of, protocol="pcwnd")
    loads = curve.x[curve.y > 10.0]
    if not len(loads):
        raise NotRunError("at no load had a tenth of the flows losses")
    return min(
        smallest_difference(data, of, "within_1500", "pcwnd", other, low=float(loads.min()))
        for other in ("reno", "mixreact")
    )


def curve_of(data: Data, of: str, name: str, **cell: str | float) -> tuple[np.ndarray, np.ndarray]:
    """A recorded curve of the first replication."""
    points = data.trajectory(of, **cell).filter(pl.col("curve") == name).sort("x")
    if points.is_empty():
        raise NotRunError(f"{of} has no curve {name} at {cell}")
    return points["x"].to_numpy(), points["y"].to_numpy()


def map_difference(data: Data, one: str, other: str, load: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells of the map that both have, and what one protocol takes longer there, in ms."""
    first, second = (curve_of(data, "Z2", "map", protocol=name, load=load) for name in (one, other))
    cells, left, right = np.intersect1d(first[0], second[0], return_indices=True)
    if not len(cells):
        raise NotRunError("the maps have no cell in common")
    return cells, first[1][left] - second[1][right]


@measure
def cells_slower(data: Data, one: str, other: str, load: float, by: float = 0) -> float:
    """The share of the map's cells in which one protocol takes longer, by more than so many ms."""
    return float((map_difference(data, one, other, load)[1] > by).mean())


@measure
def fewer_cells_slower(data: Data, one: str, other: str, low: float, high: float) -> float:
    """How much larger the share of the map's cells that are slower is at one load than another."""
    return cells_slower(data, one, other, low) - cells_slower(data, one, other, high)


@measure
def mean_map_difference(data: Data, one: str, other: str, load: float) -> float:
    """The median over the map's cells of what one protocol takes longer, in ms."""
    return float(np.median(map_difference(data, one, other, load)[1]))


@measure
def connections_faster(
    data: Data, one: str, other: str, load: float, tolerance: float = 1, slower: float = 0
) -> float:
    """The share of connections that are faster under one protocol than under another, one by one.

    By more than a tolerance in ms; with `slower`, the share of those that are slower.
    """
    first, second = (
        curve_of(data, "Z2", "connection", protocol=name, load=load) for name in (one, other)
    )
    _, left, right = np.intersect1d(first[0], second[0], return_indices=True)
    if not len(left):
        raise NotRunError("the runs have no connection in common")
    gained = second[1][right] - first[1][left]
    return float((-gained > tolerance).mean() if slower else (gained > tolerance).mean())
