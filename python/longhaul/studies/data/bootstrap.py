"""Bootstrap samples of an experiment's runs; medians are computed for all samples at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis.statistics import bootstrap_samples, medians
from longhaul.studies.data.lookup import Lookup, RowIndex, UnevenError

# Columns that, with the axes, identify a run; the other columns are metrics.
EXPERIMENT, REPLICATION = "experiment", "replication"
# Column with the number of each cell's runs, in a table of medians.
COUNT = "replications"
# Added to a replication's number each time that it is drawn again within a sample.
AGAIN = 1_000_000


class DrawnExperiment:
    """An experiment's runs and cells, with the replications drawn for each bootstrap sample.

    A cell is a combination of levels.
    """

    def __init__(
        self, name: str, runs: Lookup, cells: Lookup, axes: Sequence[str], count: int
    ) -> None:
        self.name = name
        self.whole = runs
        self.whole_cells = cells
        # The schema is stored since Polars builds it again on each access.
        self.schema = runs.table.schema
        self.schema_of_cells = cells.table.schema
        self.axes = [axis for axis in axes if axis in runs.table.columns]
        self.replications: list[int] = sorted(set(runs.column(REPLICATION)))
        drawn = bootstrap_samples(range(len(self.replications)), count) or [[0]] * count
        self.draws = np.array(drawn)
        """Indices of the drawn replications; shape: samples x draws."""
        self._orders: dict[bytes, _CellOrder] = {}
        self._medians: dict[str, np.ndarray] = {}

    def runs(self, sample: int) -> Lookup:
        """Return the runs of the bootstrap sample with this number."""
        return self.whole if self._once else _SampleRuns(self, sample)

    def cells(self, sample: int) -> Lookup:
        """Return each cell's medians of metrics in the bootstrap sample with this number."""
        return self.whole_cells if self._once else _SampleCells(self, sample)

    def cells_of_all(self) -> Lookup:
        """Return each cell's medians of metrics, as arrays with one median per bootstrap sample."""
        return _CellsOfAllSamples(self)

    def runs_of_all(self) -> Lookup:
        """Return the metrics of drawn runs, as arrays with one value per bootstrap sample."""
        return _RunsOfAllSamples(self)

    @property
    def _once(self) -> bool:
        """True if all bootstrap samples are the same, as with a single replication."""
        return len(self.replications) < 2

    @cached_property
    def cell_of_row(self) -> np.ndarray:
        """Index of the cell of each run."""
        levels = zip(*(self.whole.column(axis) for axis in self.axes), strict=True)
        numbers: dict[tuple[Any, ...], int] = {}
        keys = levels if self.axes else ((),) * len(self.whole.table)
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys])

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """Row numbers of the runs of each replication."""
        numbers = np.array(self.whole.column(REPLICATION))
        return [np.flatnonzero(numbers == number) for number in self.replications]

    def rows_of(self, sample: int) -> np.ndarray:
        """Return the row numbers of the runs in a bootstrap sample, in the order of the draws."""
        return np.concatenate([self.rows[place] for place in self.draws[sample]])

    def order(self, rows: np.ndarray) -> "_CellOrder":
        """Return the cells of a sample in the order in which they first occur in its `rows`."""
        cells = self.cell_of_row[rows]
        key = cells.tobytes()
        if key not in self._orders:
            _, first = np.unique(cells, return_index=True)
            first.sort()
            counts = np.bincount(cells)[cells[first]]
            self._orders[key] = _CellOrder(
                cells[first], counts, self._places(rows), self._places(rows[first])
            )
        return self._orders[key]

    def _places(self, rows: np.ndarray) -> RowIndex:
        """Return an index by level of some runs; `rows` are their numbers in the whole table."""

        def column(axis: str) -> list[Any]:
            whole = self.whole.column(axis)
            return [whole[row] for row in rows]

        return RowIndex(self.name, frozenset(self.axes), len(rows), column)

    def levels(self, axis: str) -> list[Any]:
        """Return the level of `axis` in each cell."""
        first = np.unique(self.cell_of_row, return_index=True)[1]
        whole = self.whole.column(axis)
        return [whole[row] for row in first]

    def medians(self, metric: str) -> np.ndarray:
        """Return the medians of a metric; shape: samples x cells, NaN where a cell has no value."""
        if metric not in self._medians:
            drawn = self.drawn(metric)
            samples, replications, cells, rows = drawn.shape
            each = drawn.transpose(0, 2, 1, 3).reshape(samples, cells, replications * rows)
            self._medians[metric] = medians(each)
        return self._medians[metric]

    def drawn(self, metric: str) -> np.ndarray:
        """Return the values of a metric in all runs that the bootstrap samples contain.

        Shape: samples x drawn replications x cells x runs of a replication in a cell, padded with
        NaN.
        """
        column = self.whole.table[metric].to_numpy()
        kind = column.dtype if np.issubdtype(column.dtype, np.floating) else np.dtype(float)
        values = np.append(column.astype(kind), kind.type(np.nan))
        drawn: np.ndarray = values[self._row_of_cell][self.draws]
        return drawn

    @cached_property
    def _row_of_cell(self) -> np.ndarray:
        """Row numbers of the runs of each replication in each cell (combination of levels).

        Shape: replications x cells x most runs of a replication in a cell. Where there are fewer,
        the array is padded with the index after the last row.
        """
        none = len(self.cell_of_row)
        most = max(np.bincount(self.cell_of_row[rows]).max() for rows in self.rows)
        table = np.full((len(self.rows), self.cell_of_row.max() + 1, most), none)
        for place, rows in enumerate(self.rows):
            taken: Counter[int] = Counter()
            for row in rows:
                cell = int(self.cell_of_row[row])
                table[place, cell, taken[cell]] = row
                taken[cell] += 1
        return table


class _AllSamples(Lookup):
    """Table of all bootstrap samples at once: a metric is an array with a number per sample.

    The rows are the same for all samples; only the numbers differ.
    """

    def __init__(
        self, drawn: DrawnExperiment, schema: pl.Schema, axes: Sequence[str], height: int
    ) -> None:
        super().__init__(schema)
        self._drawn = drawn
        self._axes = frozenset(axes)
        self._rows = RowIndex(drawn.name, self._axes, height, self.column)

    def _read_all(self) -> pl.DataFrame:
        raise UnevenError

    def _places(self, *axes: str) -> RowIndex:
        if not self._axes.issuperset(axes):
            raise UnevenError
        return self._rows

    @staticmethod
    def _arrays(numbers: np.ndarray) -> list[Any]:
        """Return the rows of `numbers` as arrays; None for a row without any value."""
        none = np.isnan(numbers).all(axis=-1)
        rows = numbers.astype(float)
        return [None if lacks else found for found, lacks in zip(rows, none, strict=True)]


class _CellsOfAllSamples(_AllSamples):
    """Cells of an experiment; a cell's metric is an array of medians, one per bootstrap sample."""

    def __init__(self, drawn: DrawnExperiment) -> None:
        super().__init__(drawn, drawn.schema_of_cells, drawn.axes, len(drawn.whole_cells.table))

    def _read(self, name: str) -> list[Any]:
        if name in self._drawn.axes:
            return self._drawn.whole_cells.column(name)
        return self._arrays(self._drawn.medians(name).T)


class _RunsOfAllSamples(_AllSamples):
    """Runs of all bootstrap samples: row k of a cell has the k-th run that each sample drew."""

    def __init__(self, drawn: DrawnExperiment) -> None:
        self._draws = drawn.draws.shape[1]
        cells = len(drawn.whole_cells.table)
        super().__init__(drawn, drawn.schema, (*drawn.axes, REPLICATION), cells * self._draws)

    def _read(self, name: str) -> list[Any]:
        cells = len(self._drawn.whole_cells.table)
        if name == REPLICATION:
            # The replications are included, since draws of two experiments are comparable only if
            # both experiments have the same replications.
            same = tuple(self._drawn.replications)
            return [(same, draw) for draw in range(self._draws)] * cells
        if name in self._drawn.axes:
            levels = self._drawn.whole_cells.column(name)
            return [level for level in levels for _ in range(self._draws)]
        drawn = self._drawn.drawn(name)
        if drawn.shape[-1] > 1:
            raise UnevenError
        by_row = drawn[..., 0].transpose(2, 1, 0)
        return self._arrays(by_row.reshape(cells * self._draws, -1))


@dataclass(frozen=True)
class _CellOrder:
    """Cells of a bootstrap sample, in the order in which they first occur among its runs."""

    cells: np.ndarray
    counts: np.ndarray
    """Number of the sample's runs in each cell."""
    run_places: RowIndex
    cell_places: RowIndex


class _SampleRuns(Lookup):
    """The runs of one bootstrap sample."""

    def __init__(self, drawn: DrawnExperiment, sample: int) -> None:
        super().__init__(drawn.schema)
        self._drawn = drawn
        self._sample = sample

    @cached_property
    def _rows(self) -> np.ndarray:
        return self._drawn.rows_of(self._sample)

    def _read(self, name: str) -> list[Any]:
        if name == REPLICATION:
            return self._numbers()
        whole = self._drawn.whole.column(name)
        return [whole[row] for row in self._rows]

    def _read_all(self) -> pl.DataFrame:
        numbers = pl.Series(REPLICATION, self.column(REPLICATION))
        return self._drawn.whole.table[self._rows].with_columns(numbers)

    def _places(self, *axes: str) -> RowIndex:
        if set(axes) <= set(self._drawn.axes):
            return self._drawn.order(self._rows).run_places
        return RowIndex(self._drawn.name, frozenset(self._schema), len(self._rows), self.column)

    def _numbers(self) -> list[int]:
        """Return each run's replication number; a replication drawn again gets a new number."""
        numbers: list[int] = []
        times: Counter[int] = Counter()
        for place in self._drawn.draws[self._sample].tolist():
            number = self._drawn.replications[place] + AGAIN * times[place]
            numbers += [number] * len(self._drawn.rows[place])
            times[place] += 1
        return numbers


class _SampleCells(Lookup):
    """The cells of one bootstrap sample, with medians over the drawn replications."""

    def __init__(self, drawn: DrawnExperiment, sample: int) -> None:
        super().__init__(drawn.schema_of_cells)
        self._drawn = drawn
        self._sample = sample

    @cached_property
    def _order(self) -> _CellOrder:
        return self._drawn.order(self._drawn.rows_of(self._sample))

    def _read(self, name: str) -> list[Any]:
        if name == COUNT:
            return self._order.counts.tolist()  # type: ignore[no-any-return]
        if name == EXPERIMENT:
            return [self._drawn.name] * len(self._order.cells)
        if name in self._drawn.axes:
            levels = self._drawn.levels(name)
            return [levels[cell] for cell in self._order.cells]
        return [None if isnan(value) else value for value in self._found(name).tolist()]

    def _found(self, metric: str) -> np.ndarray:
        """Return the median of a metric for each cell of the sample; NaN if a cell has no value."""
        medians: np.ndarray = self._drawn.medians(metric)[self._sample, self._order.cells]
        return medians

    def _medians(self, metric: str) -> pl.Series:
        """Return each cell's median of a metric as a column; null if a cell has no value."""
        return pl.Series(metric, self._found(metric), nan_to_null=True)

    def _read_all(self) -> pl.DataFrame:
        known = {COUNT, EXPERIMENT, *self._drawn.axes}
        return pl.DataFrame(
            [
                pl.Series(name, self.column(name), kind) if name in known else self._medians(name)
                for name, kind in self._schema.items()
            ]
        )

    def _places(self, *axes: str) -> RowIndex:
        if set(axes) <= set(self._drawn.axes):
            return self._order.cell_places
        return RowIndex(
            self._drawn.name, frozenset(self._schema), len(self._order.cells), self.column
        )
