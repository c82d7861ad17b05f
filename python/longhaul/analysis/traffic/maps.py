"""Maps of means over two coordinates (such as round-trip time and size), and their differences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class MeanMap:
    """Number and sum of the values in each cell of a two-dimensional grid."""

    x_edges: np.ndarray
    y_edges: np.ndarray
    counts: np.ndarray
    """Number of values in each cell of the grid; shape: cells along x, cells along y."""
    totals: np.ndarray
    """Sum of the values in each cell of the grid."""

    def means(self, min_count: int = 10) -> np.ndarray:
        """Return the mean of each cell with at least `min_count` values; NaN in other cells."""
        enough = self.counts >= max(min_count, 1)
        return np.where(enough, self.totals / np.maximum(self.counts, 1), np.nan)

    def __add__(self, other: "MeanMap") -> "MeanMap":
        """Merge the values of two maps with the same cells, such as those of two replications."""
        _require_same_cells(self, other)
        return MeanMap(
            self.x_edges, self.y_edges, self.counts + other.counts, self.totals + other.totals
        )


def _require_same_cells(first: MeanMap, other: MeanMap) -> None:
    if not (np.array_equal(first.x_edges, other.x_edges)
            and np.array_equal(first.y_edges, other.y_edges)):  # fmt: skip
        raise ValueError("expected two maps with the same cells")


def mean_map(
    x: ArrayLike, y: ArrayLike, values: ArrayLike, x_edges: ArrayLike, y_edges: ArrayLike
) -> MeanMap:
    """Assign `values` to the cells of a grid by their coordinates `x` and `y`.

    `x_edges` and `y_edges` are the borders of the cells. A cell includes its lower borders but not
    its upper ones. Values outside the grid are left out.
    """
    edges = np.asarray(x_edges, float), np.asarray(y_edges, float)
    given = np.asarray(values, float)
    places = [
        np.searchsorted(edge, np.asarray(of, float), side="right") - 1
        for edge, of in zip(edges, (x, y), strict=True)
    ]
    shape = len(edges[0]) - 1, len(edges[1]) - 1
    inside = np.logical_and.reduce(
        [(place >= 0) & (place < size) for place, size in zip(places, shape, strict=True)]
    )
    cell = places[0][inside] * shape[1] + places[1][inside]
    counts, totals = (
        np.bincount(cell, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)
        for weights in (None, given[inside])
    )
    return MeanMap(*edges, counts, totals)


def difference(first: MeanMap, other: MeanMap, min_count: int = 10) -> np.ndarray:
    """Return the means of `first` minus those of `other`, cell by cell.

    Cells with fewer than `min_count` values in either map are NaN.
    """
    _require_same_cells(first, other)
    return np.asarray(first.means(min_count) - other.means(min_count))
