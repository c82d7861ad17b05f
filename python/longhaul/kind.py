"""Interface of a kind of simulation, for code that works on runs of any kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from longhaul.figure_table import Table

if TYPE_CHECKING:  # a short run does without it
    import numpy as np


class RunData(Protocol):
    """A run as kinds see it: `longhaul.Results`."""

    path: Path
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """What the run is called."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario."""

    @property
    def tables(self) -> dict[str, int]:
        """The tables of the run and their numbers of rows."""

    @property
    def own_tables(self) -> Any:  # noqa: ANN401
        """The tables of the run as its kind offers them."""

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run."""


class Figures(Protocol):
    """A run in a few figures."""

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain lists and dictionaries."""


TimeSeries = Iterator[tuple[str, "np.ndarray", "np.ndarray"]]
"""Names, times in seconds, values."""


@dataclass(frozen=True)
class Kind:
    """A kind of simulation other than connections over links."""

    name: str
    """Of the table of scenarios, and of `run.json`, that only this kind has."""
    title: str
    """What messages call it."""
    tables: Callable[[RunData], Any]
    """The tables of a run, each read when it is first asked for."""
    summary: Callable[[RunData], Figures]
    columns: Callable[[], Mapping[str, Sequence[str]]]
    """Columns of numbers that the tables of figures have."""
    compare: Callable[[Sequence[RunData]], Table]
    """The figures of several runs side by side."""
    plots: str
    """The module that registers plots."""
    report_plots: tuple[str, ...]
    """Plots of a report that names none, as far as the runs have them."""
    remedies: Mapping[str, str]
    """What to do about a table that is missing, by its name."""
    provenance: Callable[[Mapping[str, Any]], dict[str, str]]
    """Facts of `run.json` worth showing, in words."""
    kept: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Facts of `run.json` that campaigns keep of a run."""
    time_series: Callable[[RunData], TimeSeries]
    """What shows whether a run is in a steady state."""
    expected_packets: Callable[[Mapping[str, Any], float], float]
    """Estimated data packets of a scenario of a duration in seconds."""
