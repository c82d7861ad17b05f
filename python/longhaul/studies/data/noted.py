"""Results of a study, with a count of the replications of each time series that is read."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from longhaul.studies.data import REPLICATION, Data
from longhaul.studies.data.lookup import Lookup, Samples


class NotedData(Data):
    """Results of a study; when time series are read, the number of their replications is noted.

    A study may keep the time series of only some replications, often of the first.
    """

    _data: Data
    _counts: list[int]

    def __init__(self, data: Data) -> None:
        super().__init__(data.values, data.trajectories, data.axes)
        vars(self).update(_data=data, _counts=[])

    def samples(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return time series as `Data` does, and record from how many replications they are."""
        samples = super().samples(experiment, **where)
        self._counts.append(samples[REPLICATION].n_unique())
        return samples

    def noted(self) -> int | None:
        """Return the smallest number of replications in the time series read since the last call.

        Return None if no time series were read.
        """
        fewest = min(self._counts, default=None)
        self._counts.clear()
        return fewest

    @cached_property
    def medians(self) -> pl.DataFrame:
        """Table of medians over replications."""
        return self._data.medians

    @cached_property
    def runs_by_experiment(self) -> Mapping[str, Lookup]:
        """Runs by experiment."""
        return self._data.runs_by_experiment

    @cached_property
    def cells_by_experiment(self) -> Mapping[str, Lookup]:
        """Cells (combinations of levels) by experiment, with medians over replications."""
        return self._data.cells_by_experiment

    @cached_property
    def trajectories_by_experiment(self) -> Mapping[str, Samples]:
        """Time series by experiment."""
        return self._data.trajectories_by_experiment
