"""Bootstrap samples of a study's results over replications.

An experiment's replications are drawn with replacement. All cells of an experiment use the same
draw, because the cells of a replication share random numbers. Experiments with the same
replications use the same draw too. If a replication is drawn again, the copy gets a new number,
which is equal in all cells, so that paired runs remain paired.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import polars as pl

from longhaul.analysis.statistics import medians
from longhaul.studies.data import Cell, Combine, Data
from longhaul.studies.data.bootstrap import DrawnExperiment
from longhaul.studies.data.lookup import Key, Lookup, NotRunError, Samples, UnevenError


class ResampledData:
    """Bootstrap samples of a study's results; empty if no experiment has several replications."""

    def __init__(self, data: Data, count: int) -> None:
        drawn = {
            name: DrawnExperiment(name, runs, data.cells_by_experiment[name], data.axes, count)
            for name, runs in data.runs_by_experiment.items()
        }
        several = any(len(experiment.replications) > 1 for experiment in drawn.values())
        self._count = count if several else 0
        self._samples = _Samples(data, drawn, count)

    def __iter__(self) -> Iterator[Data]:
        """Yield one sample at a time, because a sample's cached lookups take much memory."""
        return (_Sample(self._samples, number) for number in range(self._count))

    @cached_property
    def at_once(self) -> Data:
        """The results of all bootstrap samples; each number is an array with a value per sample.

        A computation raises UnevenError if samples have different rows.
        """
        return _AllSamplesData(self._samples)


class _Samples:
    """Replications drawn for all bootstrap samples, with statistics of each sample."""

    def __init__(self, data: Data, drawn: Mapping[str, DrawnExperiment], count: int) -> None:
        self.data = data
        self.drawn = drawn
        self._count = count
        self._paired: dict[tuple[str, str, Key, str, Key, Combine], np.ndarray] = {}

    def paired(self, metric: str, cell: Cell, other: Cell, combine: Combine) -> np.ndarray:
        """Return the median of a metric's paired values in two cells, for each bootstrap sample.

        `combine` computes one number from both values of a replication. The median is NaN in a
        sample without a common replication. Both experiments must have the same replications.
        """
        (name, where), (beside, there) = cell, other
        key = metric, name, tuple(where.items()), beside, tuple(there.items()), combine
        if key not in self._paired:
            self._paired[key] = self._all_paired(metric, cell, other, combine)
        return self._paired[key]

    def have_the_same_replications(self, cell: Cell, other: Cell) -> bool:
        """Return true if the experiments of `cell` and `other` have the same replications.

        Every bootstrap sample then draws the same replications of both experiments.
        """
        names = (name for name, _ in (cell, other) if name in self.drawn)
        return len({tuple(self.drawn[name].replications) for name in names}) == 1

    def _all_paired(self, metric: str, cell: Cell, other: Cell, combine: Combine) -> np.ndarray:
        drawn = self.drawn[cell[0]]
        values = np.full(len(drawn.replications), np.nan)
        try:
            common, first, second = self.data.pairs(metric, cell, other)
        except NotRunError:
            return np.full(self._count, np.nan)
        values[np.searchsorted(drawn.replications, common)] = combine(first, second)
        return medians(values[drawn.draws])


class _AllSamplesData(Data):
    """Results in all bootstrap samples; each number is an array with a value per sample."""

    _samples: _Samples

    def __init__(self, samples: _Samples) -> None:
        vars(self).update(axes=samples.data.axes, _samples=samples)

    @cached_property
    def cells_by_experiment(self) -> Mapping[str, Lookup]:
        """Cells by experiment; a cell's metric is an array of medians, one per bootstrap sample."""
        return {name: experiment.cells_of_all() for name, experiment in self._samples.drawn.items()}

    @cached_property
    def runs_by_experiment(self) -> Mapping[str, Lookup]:
        """Drawn runs by experiment; a run's metric is an array with one value per sample."""
        return {name: experiment.runs_of_all() for name, experiment in self._samples.drawn.items()}

    def paired(self, metric: str, cell: Cell, other: Cell, combine: Combine) -> np.ndarray:  # type: ignore[override]
        """Return, for each bootstrap sample, the median of a metric's paired values in two cells.

        `combine` computes one number from both values of a replication. The median is NaN in a
        sample without a common replication. Raise NotRunError if all medians are NaN, and
        UnevenError if both experiments have different replications.
        """
        if not self._samples.have_the_same_replications(cell, other):
            raise UnevenError
        medians = self._samples.paired(metric, cell, other, combine)
        if np.isnan(medians).all():
            raise NotRunError(f"no replication has {metric} in both {cell} and {other}")
        return medians


class _Sample(Data):
    """Bootstrap sample: runs of drawn replications, time series of the replication drawn first."""

    _samples: _Samples
    _number: int

    def __init__(self, samples: _Samples, number: int) -> None:
        # Sets the fields of a frozen class; `values` is computed on first use.
        vars(self).update(trajectories=samples.data.trajectories, axes=samples.data.axes)
        vars(self).update(_samples=samples, _number=number)

    @cached_property
    def runs_by_experiment(self) -> Mapping[str, Lookup]:
        """Runs of the drawn replications, by experiment."""
        return {
            name: experiment.runs(self._number) for name, experiment in self._samples.drawn.items()
        }

    @cached_property
    def cells_by_experiment(self) -> Mapping[str, Lookup]:
        """Cells by experiment, with medians over the drawn runs."""
        return {
            name: experiment.cells(self._number) for name, experiment in self._samples.drawn.items()
        }

    @cached_property
    def trajectories_by_experiment(self) -> Mapping[str, Samples]:
        """Time series by experiment, of the replication that was drawn first.

        An experiment is left out if no time series of this replication were stored.
        """
        runs = self._samples.data.trajectories_by_run
        firsts = (
            (name, experiment.replications[experiment.draws[self._number, 0]])
            for name, experiment in self._samples.drawn.items()
        )
        return {run[0]: runs[run] for run in firsts if run in runs}

    @cached_property
    def values(self) -> pl.DataFrame:
        """Table with a row per drawn run."""
        tables = [runs.table for runs in self.runs_by_experiment.values()]
        return pl.concat(tables, how="diagonal_relaxed")

    def paired(self, metric: str, cell: Cell, other: Cell, combine: Combine) -> float:
        """Return `Data.paired` of this bootstrap sample."""
        if not self._samples.have_the_same_replications(cell, other):
            return super().paired(metric, cell, other, combine)
        median = self._samples.paired(metric, cell, other, combine)[self._number]
        if np.isnan(median):
            raise NotRunError(f"no replication has {metric} in both {cell} and {other}")
        return float(median)
