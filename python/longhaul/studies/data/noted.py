"""Results that record how many replications' trajectories a measure has used."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from longhaul.studies.data import REPLICATION, Data
from longhaul.studies.data.lookup import Lookup, Samples


class NotedData(Data):
    """The results of a study, which record accesses to trajectories.

    A study may keep trajectories of fewer replications than it has runs, often only of the first
    one.
    """

    _data: Data
    _counts: list[int]

    def __init__(self, data: Data) -> None:
        super().__init__(data.values, data.trajectories, data.axes)
        vars(self).update(_data=data, _counts=[])

    def samples(self, experiment: str, **where: Any) -> pl.DataFrame:  # noqa: ANN401
        """Return samples over time of some runs, and record the number of their replications."""
        samples = super().samples(experiment, **where)
        self._counts.append(samples[REPLICATION].n_unique())
        return samples

    def noted(self) -> int | None:
        """Return the smallest recorded number since the last call; None without any access."""
        fewest = min(self._counts, default=None)
        self._counts.clear()
        return fewest

    @cached_property
    def medians(self) -> pl.DataFrame:
        """The medians of the results."""
        return self._data.medians

    @cached_property
    def runs_by_experiment(self) -> Mapping[str, Lookup]:
        """The runs of each experiment."""
        return self._data.runs_by_experiment

    @cached_property
    def cells_by_experiment(self) -> Mapping[str, Lookup]:
        """The medians of each experiment."""
        return self._data.cells_by_experiment

    @cached_property
    def trajectories_by_experiment(self) -> Mapping[str, Samples]:
        """The samples over time of each experiment."""
        return self._data.trajectories_by_experiment
