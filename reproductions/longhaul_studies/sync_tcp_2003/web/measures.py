"""Measures of claims on web traffic, in addition to general measures."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from longhaul.analysis.statistics import crossing
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures

from .reduce import SMALL_BYTES

WEB = Measures()
measure = WEB.register
# Points of the distribution of response times, in ms.
TIMES_MS = tuple(range(100, 1501, 100))


@measure
def crossing_ms(
    data: Data, of: str, one: str, other: str, axis: str = "queue", **cell: str | float
) -> float:
    """Return the time (ms) at which the distribution function of `one` falls below that of `other`.

    The distributions are of response times; that of `one` is higher at first.
    """
    return _crossing(data, of, one, other, axis, cell)[0]


@measure
def crossing_share(
    data: Data, of: str, one: str, other: str, axis: str = "queue", **cell: str | float
) -> float:
    """Return the percentage of complete responses at which two distribution functions cross.

    The functions are of response times in runs with the levels `one` and `other` of `axis`. The
    first function is above the second at times before the crossing.
    """
    return _crossing(data, of, one, other, axis, cell)[1]


def _crossing(
    data: Data, of: str, one: str, other: str, axis: str, cell: Mapping[str, str | float]
) -> tuple[float, float]:
    """Return the point at which two distribution functions of response times cross.

    The point is a time in ms and a percentage of complete responses. The functions are of runs with
    the levels `one` and `other` of `axis`. At smaller times, the first is above the second.
    """
    first, second = (
        [data.value(f"within_{ms}", of, **{axis: level}, **cell) for ms in TIMES_MS]
        for level in (one, other)
    )
    time_ms = crossing(TIMES_MS, first, second)
    if time_ms is None:
        raise NotRunError(f"{one} does not come down to {other} within {TIMES_MS[-1]} ms")
    return time_ms, float(np.interp(time_ms, TIMES_MS, first))


@measure
def small_among_long(data: Data, of: str, seconds: float) -> float:
    """Return the share of small responses among all responses with base RTTs above `seconds`.

    The result is the minimum over all protocols and loads.
    """
    cells = data.points(of).select("protocol", "load").unique().iter_rows(named=True)
    return min(_small_among_long(data, of, seconds, cell) for cell in cells)


def _small_among_long(
    data: Data, of: str, seconds: float, cell: Mapping[str, str | float]
) -> float:
    beyond = {
        name: _at(data.trajectory(of, curve=f"round-trips-{name}", **cell), seconds)
        for name in ("small", "large")
    }
    sizes = data.trajectory(of, curve="sizes", **cell)
    large = _at(sizes, float(SMALL_BYTES))
    small_beyond = (1.0 - large) * beyond["small"]
    return small_beyond / (small_beyond + large * beyond["large"])


def _at(points: pl.DataFrame, place: float) -> float:
    """Return the y of that point of a recorded curve whose x is nearest to `place`."""
    return float(points["y"][int((points["x"] - place).abs().arg_min() or 0)])


def curve_of(data: Data, of: str, name: str, **cell: str | float) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of the recorded curve `name` in the first replication."""
    points = data.trajectory(of, **cell).filter(pl.col("curve") == name).sort("x")
    if points.is_empty():
        raise NotRunError(f"{of} has no curve {name} at {cell}")
    return points["x"].to_numpy(), points["y"].to_numpy()


def map_difference(data: Data, one: str, other: str, load: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells that both protocols' maps have, and differences of response times in ms.

    A cell is a range of base RTTs and of response sizes. Differences are `one` minus `other`.
    """
    first, second = (curve_of(data, "Z2", "map", protocol=name, load=load) for name in (one, other))
    cells, left, right = np.intersect1d(first[0], second[0], return_indices=True)
    if not len(cells):
        raise NotRunError("the maps have no cell in common")
    return cells, first[1][left] - second[1][right]


@measure
def cells_slower(data: Data, one: str, other: str, load: float, by: float = 0) -> float:
    """Return the share of cells in which `one` is slower than `other` by more than `by` ms.

    A cell is a range of base RTTs and response sizes, with its mean response time.
    """
    return float((map_difference(data, one, other, load)[1] > by).mean())


@measure
def fewer_cells_slower(data: Data, one: str, other: str, low: float, high: float) -> float:
    """Return the measure `cells_slower` at load `low` minus that at load `high`.

    `cells_slower` is the share of cells of RTT and response size with `one` slower than `other`.
    """
    return cells_slower(data, one, other, low) - cells_slower(data, one, other, high)


@measure
def map_difference_gained(data: Data, one: str, other: str, low: float, high: float) -> float:
    """Return the lead of `one` over `other` at load `high` minus that at load `low`, in ms.

    The lead is the response time with `other` minus that with `one`, as the median over ranges of
    base RTT and response size.
    """
    behind = {load: np.median(map_difference(data, one, other, load)[1]) for load in (low, high)}
    return float(behind[low] - behind[high])


@measure
def connections_faster(
    data: Data, one: str, other: str, load: float, tolerance: float = 1, slower: float = 0
) -> float:
    """Return the share of connections that are faster with `one` than with `other`.

    Differences have to exceed `tolerance` in ms. If `slower` is not 0, slower connections are
    counted instead.
    """
    first, second = (
        curve_of(data, "Z2", "connection", protocol=name, load=load) for name in (one, other)
    )
    _, left, right = np.intersect1d(first[0], second[0], return_indices=True)
    if not len(left):
        raise NotRunError("the runs have no connection in common")
    gained = second[1][right] - first[1][left]
    return float((-gained > tolerance).mean() if slower else (gained > tolerance).mean())


@measure
def advantage_gained(
    data: Data, of: str, metric: str, one: str, others: str, before: float, after: str
) -> float:
    """Return the change in a protocol's advantage from load `before` to the loads `after`.

    The advantage is `metric` of protocol `one` minus that of another protocol. The result is the
    minimum over the loads `after` and the protocols `others`.
    """

    def advantage(other: str, load: float) -> float:
        first, second = (data.value(metric, of, protocol=name, load=load) for name in (one, other))
        return first - second

    return min(
        advantage(other, float(load)) - advantage(other, before)
        for other in others.split(",")
        for load in after.split(",")
    )
