"""Comparison of selected values: differences, ratios, and pairs at equal points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from longhaul.studies.data import Cell, Combine, Data, NotRunError
from longhaul.studies.data.lookup import UnevenError
from longhaul.studies.questions.points import Points, points_of
from longhaul.studies.questions.shape import Shape
from longhaul.studies.questions.words import METRIC, OF, Key, Number, Sides, Words


@dataclass(frozen=True)
class ComparedValues:
    """Numbers (values, differences or ratios) at points along an axis, and their positions."""

    x: np.ndarray
    """Position of each point: its level of an axis, or its value of another metric; otherwise 0."""
    y: np.ndarray
    same: float
    """Value of `y` if the compared values are equal: 1 for ratios, otherwise 0."""

    @property
    def count(self) -> int:
        """Number of points along the axis."""
        return int(self.y.shape[-1])


def ratio(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the ratios left/right; raise ZeroDivisionError if a denominator is 0."""
    if (right == 0.0).any():
        raise ZeroDivisionError
    ratios: np.ndarray = left / right
    return ratios


def _ratio_of_runs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the ratios left/right of single runs; NaN where the denominator is 0."""
    ratios = np.full_like(left, np.nan)
    np.divide(left, right, out=ratios, where=right != 0)
    return ratios


# For each comparison: its function for medians, its function for single runs, and the number that
# means equality.
COMPARED: dict[str, tuple[Combine, Combine, float]] = {
    "less": (np.subtract, np.subtract, 0.0),
    "over": (ratio, _ratio_of_runs, 1.0),
}


def values_of(data: Data, sides: Sides, shape: Shape) -> ComparedValues:
    """Return a claim's numbers: the values that it selects, or differences or ratios of values.

    Raise NotRunError if there is no value.
    """
    points = points_of(data, sides.own, shape)
    same = 0.0
    keys, values = list(points.values), _stacked(points.values.values())
    for how, (of_medians, of_runs, equal) in COMPARED.items():
        if how not in sides.compared:
            continue
        others = points_of(data, sides.side(how), shape)
        pairs = _pairs(points, keys, others, sides.compared[how])
        same = equal
        if shape.by_replication:
            cells = [(points.cell(keys[place]), others.cell(other)) for place, other in pairs]
            medians = _medians_of_runs(data, str(sides.own[METRIC]), cells, of_runs)
            pairs = [pairs[place] for place in medians]
            values = _stacked(medians.values())
        else:
            right = _stacked(others.values[other] for _, other in pairs)
            values = of_medians(values[..., [place for place, _ in pairs]], right)
        keys = [keys[place] for place, _ in pairs]
    beside = None
    if "with" in sides.compared:
        others = points_of(data, sides.side("with"), shape)
        pairs = _pairs(points, keys, others, sides.compared["with"])
        beside = _stacked(others.values[other] for _, other in pairs)
        values = values[..., [place for place, _ in pairs]]
        keys = [keys[place] for place, _ in pairs]
    if not keys:
        raise NotRunError("no points in common")
    if beside is not None:
        return ComparedValues(beside, values, same)
    return _along(points, keys, values, same, shape.along)


def _stacked(numbers: Iterable[Number]) -> np.ndarray:
    """Return one number per point as an array; shape: points, or bootstrap samples x points.

    Raise UnevenError if a bootstrap sample has no number for a point.
    """
    stacked = np.ascontiguousarray(np.array(list(numbers)).T)
    if stacked.ndim > 1 and np.isnan(stacked).any():
        raise UnevenError
    return stacked


def _medians_of_runs(
    data: Data, metric: str, cells: Sequence[tuple[Cell, Cell]], combine: Combine
) -> dict[int, Number]:
    """Compare a metric in pairs of cells: return the result of each pair, by the pair's index.

    The result is the median of the numbers that `combine` computes for each replication from the
    values in both cells. Pairs without a result are left out.
    """
    medians: dict[int, Number] = {}
    for place, (one, other) in enumerate(cells):
        try:
            medians[place] = data.paired(metric, one, other, combine)
        except NotRunError:
            continue
    return medians


def _along(
    points: Points, keys: list[Key], values: np.ndarray, same: float, axis: str | None
) -> ComparedValues:
    """Return the `values` sorted by their levels of `axis`, with these levels as positions.

    If `axis` is None, the values keep their order, and all positions are 0. Raise NotRunError if
    the points have no such axis, or if two values have the same level. `same` is passed on.
    """
    if axis is None:
        return ComparedValues(np.zeros(len(keys)), values, same)
    if axis not in points.axes:
        raise NotRunError(f"no axis {axis} is left")
    place = points.axes.index(axis)
    levels = [key[place] for key in keys]
    if len(set(levels)) < len(levels):
        raise NotRunError(f"there are several values for each {axis}")
    order = sorted(range(len(levels)), key=levels.__getitem__)
    return ComparedValues(np.array([levels[at] for at in order]), values[..., order], same)


def _pairs(
    points: Points, keys: Sequence[Key], others: Points, words: Words
) -> list[tuple[int, Key]]:
    """Return the pairs of points that are compared: index into `keys`, and key of `others`.

    Points are compared if they have equal levels of all axes that `_is_matched` selects.
    """
    common = [
        axis
        for axis in points.axes
        if axis in others.axes and _is_matched(axis, points.count(axis), others.count(axis))
    ]
    # A point has a pair for each level of another axis that the second side's `words` name.
    chosen = [axis for axis in others.axes if words.get(axis, "") != ""]
    named = [others.axes.index(axis) for axis in chosen if axis not in common]
    left, right = ([side.axes.index(axis) for axis in common] for side in (points, others))
    by_levels: dict[Key, dict[Key, Key]] = {}
    for key in others.values:
        beside = by_levels.setdefault(tuple(key[place] for place in right), {})
        several = tuple(key[place] for place in named)
        if several in beside:
            raise NotRunError("there are several values to compare with")
        beside[several] = key
    return [
        (number, other)
        for number, key in enumerate(keys)
        for other in by_levels.get(tuple(key[place] for place in left), {}).values()
    ]


def _is_matched(axis: str, count: int, other: int) -> bool:
    """Return true if points of the two sides must have equal levels of an axis to be compared.

    `count` and `other` are the numbers of levels of the axis on the two sides.
    """
    return min(count, other) > 1 if axis == OF else max(count, other) > 1
