"""Results of a study: a table with a row per run, and time series of some runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from longhaul.analysis.statistics import medians
from longhaul.files.writing import atomic
from longhaul.studies.data.bootstrap import COUNT, EXPERIMENT, REPLICATION
from longhaul.studies.data.lookup import Lookup, NotRunError, Samples, TableLookup, at
from longhaul.studies.selection import widened

__all__ = ["EXPERIMENT", "REPLICATION", "VERSION", "Curve", "Data", "NotRunError", "together"]

# A cell: the experiment, and a level of each axis.
Cell = tuple[str, Mapping[str, Any]]
# Function that combines the values of two cells, replication by replication.
Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]
LookupOrSamples = TypeVar("LookupOrSamples", Lookup, Samples)
# Column with the results version of each row.
VERSION = "results_version"


@dataclass(frozen=True)
class Data:
    """Results of a study as tables.

    `values` has one row per run, with its experiment, levels of axes, replication and metrics.
    `trajectories` has time series of some runs, and identifies the runs by the same columns.
    """

    values: pl.DataFrame
    trajectories: pl.DataFrame
    axes: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path, known: Iterable[str]) -> "Data":
        """Read the results in a directory.

        Columns whose names are in `known` become the axes of the results.
        """
        values = pl.read_parquet(folder / "values.parquet")
        trajectories = pl.read_parquet(folder / "trajectories.parquet")
        axes = tuple(axis for axis in known if axis in values.columns)
        return cls(_exact(values, axes), _exact(trajectories, axes), axes)

    def write(self, folder: Path) -> None:
        """Write the tables in small files, with values in single precision.

        Time series, except their times and levels, are rounded to six digits, which compress well.
        """
        folder.mkdir(parents=True, exist_ok=True)
        drawn = pl.col(pl.Float32, pl.Float64).exclude("t_s", *self.axes).map_batches(_six_digits)
        trajectories = self.trajectories.with_columns(drawn)
        for name, table in (("values", self.values), ("trajectories", trajectories)):
            small = table.with_columns(pl.col(pl.Float64).cast(pl.Float32))
            with atomic(folder / f"{name}.parquet") as file:
                # One row group without column statistics, since these files are read whole.
                small.write_parquet(
                    file, compression="brotli", compression_level=11, statistics=False,
                    row_group_size=max(1, small.height),
                )  # fmt: skip

    def share(self, folder: Path) -> "Shared":
        """Write the tables in Arrow format, so that other processes can map them into memory."""
        for name, table in (("values", self.values), ("trajectories", self.trajectories)):
            table.write_ipc(folder / name)
        return Shared(folder, self.axes)

    @cached_property
    def trajectories_by_run(self) -> dict[tuple[str, int], Samples]:
        """Time series by experiment and replication."""
        return {
            (name, number): Samples(name, part, keep=True)
            for name, samples in self.trajectories_by_experiment.items()
            for number, part in _split(samples.having({}), REPLICATION)
        }

    @cached_property
    def trajectories_by_experiment(self) -> Mapping[str, Samples]:
        """Time series of all replications, by experiment."""
        return {name: Samples(name, part) for name, part in _split(self.trajectories, EXPERIMENT)}

    @cached_property
    def measured(self) -> pl.DataFrame:
        """The table `values`, with null instead of NaN where a metric was not measured."""
        return self.values.fill_nan(None)

    @cached_property
    def runs_by_experiment(self) -> Mapping[str, Lookup]:
        """Runs by experiment; columns that are empty in all runs of an experiment are left out."""
        return _experiments(self.measured)

    @cached_property
    def cells_by_experiment(self) -> Mapping[str, Lookup]:
        """Cells (combinations of levels) by experiment, with medians over replications."""
        return _experiments(self.medians)

    @cached_property
    def medians(self) -> pl.DataFrame:
        """Table with a row per cell (combination of levels), with medians over replications.

        A column has the number of replications.
        """
        if self.values.is_empty():
            return self.values
        keys = [EXPERIMENT, *self.axes]
        numbers = pl.col(pl.Float64, pl.Float32, pl.Int64).exclude(REPLICATION, *keys).median()
        groups = self.measured.group_by(keys, maintain_order=True)
        return groups.agg(numbers, pl.len().alias(COUNT))

    def lookup(self, experiment: str, *, of_runs: bool = False) -> Lookup:
        """Return an experiment's runs if `of_runs`, otherwise medians by cell (levels of all axes).

        Raise NotRunError if the experiment has no run.
        """
        return _of(self.runs_by_experiment if of_runs else self.cells_by_experiment, experiment)

    def cells(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return an experiment's cells with the levels `where`; raise NotRunError if none exist."""
        return _of(self.cells_by_experiment, experiment).having(where)

    def points(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return an experiment's runs with the levels `where`; raise NotRunError if none exist."""
        return _of(self.runs_by_experiment, experiment).having(where)

    @cached_property
    def each_replication(self) -> "list[Data]":
        """Return a list with the results of each replication separately."""
        if self.values.is_empty():
            return []
        samples = self.trajectories_by_run
        return [
            _OneReplication(part, self.trajectories, self.axes, number, samples)
            for number, part in _split(self.values, REPLICATION)
        ]

    @cached_property
    def replications(self) -> dict[str, int]:
        """The smallest number of replications of a cell, by experiment."""
        return {name: min(cells.column(COUNT)) for name, cells in self.cells_by_experiment.items()}

    def runs(self, metric: str, experiment: str, **where: Any) -> dict[int, float]:  # noqa: ANN401
        """Return a metric's value in each replication of the cell with the levels `where`.

        Raise NotRunError if the metric has no value, or if the levels select several cells.
        """
        lookup = _of(self.runs_by_experiment, experiment)
        values, rows = lookup.measured(metric, where)
        if not rows:
            raise NotRunError(f"{experiment} has no {metric}{at(where)}")
        numbers = lookup.column(REPLICATION)
        by_number = {numbers[place]: float(values[place]) for place in rows}
        if len(by_number) < len(rows):
            raise NotRunError(f"{experiment} has several cells{at(where)}")
        return by_number

    def paired(self, metric: str, first: Cell, other: Cell, combine: Combine) -> float:
        """Compare a metric in two cells: return the median of its combined values.

        For each replication that both cells have, `combine` computes a number, such as the
        difference, from the values in `first` and `other`. Numbers that are NaN are left out.
        Raise NotRunError if no replication is left.
        """
        values = combine(*self.pairs(metric, first, other)[1:])
        median = float(medians(values)) if len(values) else np.nan
        if np.isnan(median):
            places = " and".join(f" in {name}{at(levels)}" for name, levels in (first, other))
            raise NotRunError(f"no replication has {metric} both{places}")
        return median

    def pairs(
        self, metric: str, cell: Cell, other: Cell
    ) -> tuple[list[int], np.ndarray, np.ndarray]:
        """Return the replications that both cells have, and the metric's values in each cell."""
        first, second = (self.runs(metric, name, **where) for name, where in (cell, other))
        common = [number for number in first if number in second]
        return (
            common,
            np.array([first[number] for number in common]),
            np.array([second[number] for number in common]),
        )

    def levels(self, axis: str, experiment: str, **where: Any) -> list[Any]:  # noqa: ANN401
        """Return the sorted levels of `axis` in the cells that have the levels `where`."""
        return _of(self.cells_by_experiment, experiment).levels(axis, where)

    def value(self, metric: str, experiment: str, **where: Any) -> float:  # noqa: ANN401
        """Return the median of a metric over the replications of the cell with the levels `where`.

        Raise NotRunError unless exactly one cell has a value.
        """
        values, rows = _of(self.cells_by_experiment, experiment).measured(metric, where)
        if len(rows) != 1:
            raise NotRunError(f"{experiment} has {len(rows)} cells{at(where)}, not one")
        return float(values[rows[0]])

    def curve(self, metric: str, axis: str, experiment: str, **where: Any) -> "Curve":  # noqa: ANN401
        """Return the medians of a metric along an axis, sorted by the level of the axis.

        Only cells that have the levels `where` are used. Raise NotRunError if no cell has a value,
        or if several cells have the same level.
        """
        lookup = _of(self.cells_by_experiment, experiment)
        values, measured = lookup.measured(metric, where)
        if not measured:
            raise NotRunError(f"{experiment} has no {metric}{at(where)}")
        levels = lookup.column(axis)
        points = sorted((levels[place], float(values[place])) for place in measured)
        if len({level for level, _ in points}) != len(points):
            raise NotRunError(f"{experiment} has several cells for each {axis}{at(where)}")
        return Curve(np.array([x for x, _ in points]), np.array([y for _, y in points]))

    def having(self, metric: str, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return the measured values of a metric in the cells with the levels `where`.

        The columns are the axes and the metric. Raise NotRunError if no cell is left.
        """
        lookup = _of(self.cells_by_experiment, experiment)
        _, rows = lookup.measured(metric, where)
        if not rows:
            raise NotRunError(f"{experiment} has no {metric}{at(where)}")
        return lookup.picked((*self.axes, metric), rows)

    def trajectory(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return time series of the cell with the levels `where`.

        They are of the first replication that has time series.
        """
        samples = self.samples(experiment, **where)
        numbers = samples[REPLICATION]
        first = numbers.min()
        return samples if first == numbers.max() else samples.filter(numbers == first)

    def samples(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return the time series of the runs with the levels `where`."""
        return _of(self.trajectories_by_experiment, experiment).having(where)


@dataclass(frozen=True)
class _OneReplication(Data):
    """The results of one replication.

    `trajectories` has the time series of all replications, `trajectories_by_experiment` only those
    of this one.
    """

    number: int
    samples_by_run: Mapping[tuple[str, int], Samples]

    @cached_property
    def trajectories_by_experiment(self) -> Mapping[str, Samples]:
        """Time series of this replication, by experiment."""
        return {
            name: samples for (name, number), samples in self.samples_by_run.items()
            if number == self.number
        }  # fmt: skip


@dataclass(frozen=True)
class Shared:
    """Tables in Arrow format that another process wrote."""

    folder: Path
    axes: tuple[str, ...]

    def data(self) -> Data:
        """Read the tables, and return them as the results of a study."""
        values, trajectories = (
            pl.read_ipc(self.folder / name) for name in ("values", "trajectories")
        )
        return Data(values, trajectories, self.axes)


@dataclass(frozen=True)
class Curve:
    """Values of a metric at the levels of an axis, in ascending order of the levels."""

    x: np.ndarray
    y: np.ndarray

    def at(self, x: float) -> float:
        """Return `y` at `x`; raise NotRunError if no run has this `x`."""
        places = np.flatnonzero(np.isclose(self.x.astype(float), x, rtol=1e-9, atol=0.0))
        if not len(places):
            raise NotRunError(f"nothing was run at {x:g}")
        return float(self.y[places[0]])

    def where(self, low: float, high: float) -> "Curve":
        """Return the points of the curve with `x` from `low` to `high`, both included."""
        least, most = widened(low, high)
        inside = (self.x >= least) & (self.x <= most)
        return Curve(self.x[inside], self.y[inside])


def together(first_curve: Curve, other: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the `x` values that both curves have, and the `y` values of each curve there."""
    x, first, second = np.intersect1d(first_curve.x, other.x, return_indices=True)
    if not len(x):
        raise NotRunError("the curves have no points in common")
    return x, first_curve.y[first], other.y[second]


def _experiments(table: pl.DataFrame) -> dict[str, Lookup]:
    """Return the rows of each experiment, without columns that are null in all these rows."""
    if table.is_empty():
        return {}
    parts = table.partition_by(EXPERIMENT, as_dict=True)
    return {
        str(name): TableLookup(str(name), _without_empty(part)) for (name,), part in parts.items()
    }


def _split(table: pl.DataFrame, column: str) -> Iterator[tuple[Any, pl.DataFrame]]:
    """Yield each value of a column, with the rows that have this value.

    The rows are selected for one value at a time, to save memory. A column that has only nulls in
    these rows is stored as one constant null.
    """
    for value in [] if table.is_empty() else table[column].unique(maintain_order=True).to_list():
        part = table.filter(pl.col(column) == value)
        nulls = zip(part.schema.items(), part.null_count().row(0), strict=True)
        empty = [pl.lit(None, kind).alias(name) for (name, kind), n in nulls if n == len(part)]
        yield value, part.with_columns(empty)


def _without_empty(part: pl.DataFrame) -> pl.DataFrame:
    rows, nulls = len(part), part.null_count().row(0)
    return part[[name for name, count in zip(part.columns, nulls, strict=True) if count < rows]]


def _of(lookups: Mapping[str, LookupOrSamples], experiment: str) -> LookupOrSamples:
    """Return the table of an experiment; raise NotRunError if there is none."""
    if experiment not in lookups:
        raise NotRunError(f"{experiment} was not run")
    return lookups[experiment]


def _exact(table: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    """Return the table with levels rounded to six digits.

    This restores levels of at most six digits after rounding to single precision.
    """
    numbers = [axis for axis in axes if axis in table.columns and table[axis].dtype.is_float()]
    return table.with_columns(pl.col(numbers).cast(pl.Float64).round_sig_figs(6))


def _six_digits(values: pl.Series) -> pl.Series:
    """Return numbers rounded to 20 of the 24 bits of single precision.

    The relative error is at most 1.02e-6.
    """
    single = values.to_numpy().astype(np.float32)
    bits = single.view(np.uint32)
    rounded = ((bits + np.uint32(1 << 3)) & ~np.uint32((1 << 4) - 1)).view(np.float32)
    kept = np.where(np.isfinite(single), rounded, single)
    return pl.Series(values.name, kept.astype(float)).set(values.is_null(), None)
