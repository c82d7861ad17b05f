"""The numbers that a study judges and draws: a row per run, and courses over time of some runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from longhaul._engine import LonghaulError
from longhaul.campaign import Run, Store
from longhaul.studies.study import Study
from longhaul.writing import whole

Where = Mapping[str, Any]

# Columns of a row that say which run it is; the rest are axes and metrics.
EXPERIMENT, REPLICATION = "experiment", "replication"


class NotRunError(LonghaulError):
    """Results that a measure needs and that are not there."""


@dataclass(frozen=True)
class Data:
    """Tables of a study.

    `values` has a row per run: experiment, axes, replication, metrics. `courses` has samples over
    time of the runs that record them, with the same first columns.
    """

    values: pl.DataFrame
    courses: pl.DataFrame
    axes: tuple[str, ...]

    @classmethod
    def collect(cls, study: Study, runs: list[Run], store: Store) -> "Data":
        """From what a store has of these runs."""
        metrics = study.module("metrics")
        rows, courses = [], []
        for run in runs:
            kept = store.get(run.resolved)
            if kept is None:
                continue
            place = {EXPERIMENT: run.experiment, **run.cell, REPLICATION: run.replication}
            cost = {key: kept["run"][key] for key in ("data_packets", "wall_s")}
            rows.append(place | metrics.metrics(kept, run) | cost)
            if "flow_series" in kept:
                samples = pl.DataFrame(metrics.course(kept))
                courses.append(samples.with_columns(**{k: pl.lit(v) for k, v in place.items()}))
        values = pl.DataFrame(rows, infer_schema_length=None)
        return cls(values, _stack(courses), _axes(study, values))

    @classmethod
    def read(cls, folder: Path, study: Study) -> "Data":
        """From tables that were written before."""
        values = pl.read_parquet(folder / "values.parquet")
        courses = pl.read_parquet(folder / "courses.parquet")
        return cls(values, courses, _axes(study, values))

    def write(self, folder: Path) -> None:
        """Write the tables, small: single precision is finer than any interval."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (("values", self.values), ("courses", self.courses)):
            small = table.with_columns(pl.col(pl.Float64).cast(pl.Float32))
            with whole(folder / f"{name}.parquet") as file:
                small.write_parquet(file, compression="zstd")

    @property
    def replications(self) -> list[int]:
        """The replications there are."""
        return [] if self.values.is_empty() else self.values[REPLICATION].unique().sort().to_list()

    def of_replication(self, replication: int) -> "Data":
        """The data as if there were only this replication."""
        kept = [
            table if table.is_empty() else table.filter(pl.col(REPLICATION) == replication)
            for table in (self.values, self.courses)
        ]
        return Data(kept[0], kept[1], self.axes)

    @cached_property
    def medians(self) -> pl.DataFrame:
        """A row per cell: the medians over replications, and how many there are."""
        if self.values.is_empty():
            return self.values
        keys = [EXPERIMENT, *self.axes]
        numbers = pl.col(pl.Float64, pl.Float32, pl.Int64).exclude(REPLICATION, *keys).median()
        groups = self.values.group_by(keys, maintain_order=True)
        return groups.agg(numbers, pl.len().alias("replications"))

    def cells(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """The medians of an experiment's cells with these levels; some, or NotRunError."""
        return _found(self.medians, experiment, where)

    def points(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """The rows of single runs."""
        return _found(self.values, experiment, where)

    def value(self, metric: str, experiment: str, **where: Any) -> float:  # noqa: ANN401
        """The median of a metric in one cell."""
        cells = self.having(metric, experiment, **where)
        if len(cells) != 1:
            raise NotRunError(f"{experiment} has {len(cells)} cells at {where}, not one")
        return float(cells[metric][0])

    def curve(self, metric: str, axis: str, experiment: str, **where: Any) -> "Curve":  # noqa: ANN401
        """The medians of a metric along an axis."""
        cells = self.having(metric, experiment, **where).sort(axis)
        if cells[axis].n_unique() != len(cells):
            raise NotRunError(f"{experiment} has several cells for each {axis} at {where}")
        return Curve(cells[axis].to_numpy(), cells[metric].cast(pl.Float64).to_numpy())

    def having(self, metric: str, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """The cells of an experiment that measures the metric."""
        cells = self.cells(experiment, **where)
        if metric not in cells.columns or cells[metric].null_count() == len(cells):
            raise NotRunError(f"{experiment} has no {metric} at {where}")
        return cells.drop_nulls(metric)

    def course(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """The samples over time of one run, the first replication's."""
        samples = _found(self.courses, experiment, where)
        return samples.filter(pl.col(REPLICATION) == samples[REPLICATION].min())


@dataclass(frozen=True)
class Curve:
    """A metric along an axis."""

    x: np.ndarray
    y: np.ndarray

    def at(self, x: float) -> float:
        """The value at a point that was run."""
        found = np.flatnonzero(np.isclose(self.x.astype(float), x, rtol=1e-9))
        if not len(found):
            raise NotRunError(f"nothing was run at {x:g}")
        return float(self.y[found[0]])

    def where(self, low: float, high: float) -> "Curve":
        """The points between two levels, ends included."""
        inside = (self.x >= low * (1 - 1e-9)) & (self.x <= high * (1 + 1e-9))
        return Curve(self.x[inside], self.y[inside])


def together(one: Curve, other: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The points that both curves have: the axis, and both values."""
    x, first, second = np.intersect1d(one.x, other.x, return_indices=True)
    if not len(x):
        raise NotRunError("the curves have no points in common")
    return x, one.y[first], other.y[second]


def _found(table: pl.DataFrame, experiment: str, where: Where) -> pl.DataFrame:
    if table.is_empty():
        raise NotRunError("nothing was run")
    kept = table.filter(pl.col(EXPERIMENT) == experiment)
    for axis, level in where.items():
        if axis not in table.columns:
            raise NotRunError(f"{experiment}: there is no axis {axis}")
        if isinstance(level, str):
            kept = kept.filter(pl.col(axis) == level)
        else:
            kept = kept.filter(
                (pl.col(axis) / level - 1).abs() < 1e-6 if level else pl.col(axis) == 0
            )
    if kept.is_empty():
        raise NotRunError(f"{experiment} was not run at {dict(where)}")
    return kept


def _axes(study: Study, values: pl.DataFrame) -> tuple[str, ...]:
    """The axes that anything was run along."""
    axes = dict.fromkeys(axis for one in study.experiments.values() for axis in one.axes)
    return tuple(axis for axis in axes if axis in values.columns)


def _stack(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()
