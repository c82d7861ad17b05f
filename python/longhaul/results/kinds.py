"""Registry of the kinds of simulation, so that other code can work on runs of every kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from longhaul._engine import Scenario
from longhaul.results.table import Table

if TYPE_CHECKING:  # short runs need not load NumPy
    import numpy as np


class RunData(Protocol):
    """The attributes of `longhaul.Results` that a definition of a kind of simulation uses."""

    path: Path
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the run."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario, with all defaults."""

    @property
    def tables(self) -> dict[str, int]:
        """Number of rows of each table of the run."""

    @property
    def own_tables(self) -> Any:  # noqa: ANN401
        """Tables of the run, in a class for its kind of simulation, such as `MesoNet`."""

    def figures(self) -> dict[str, Any]:
        """Return the run's metrics as lists and dictionaries."""

    def table(self, name: str) -> pl.DataFrame:
        """Return the run's table `name`."""


class Figures(Protocol):
    """Interface of summaries of runs."""

    def as_dict(self) -> dict[str, Any]:
        """Return the values of the summary as lists and dictionaries."""


class PlannedRun(Protocol):
    """Interface of a planned run of a campaign, `longhaul.campaign.sweep.Run`."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as written, without defaults."""

    @property
    def resolved(self) -> Scenario:
        """Scenario after all checks and with all defaults; computing it takes some time."""


TimeSeries = Iterator[tuple[str, "np.ndarray", "np.ndarray"]]
"""Iterator over series: the name, times in seconds, and values of each."""


@dataclass(frozen=True)
class Kind:
    """A kind of simulation, with the functions that read, summarise and compare its runs."""

    name: str
    """Name of the kind, `connections` or `mesonet`."""
    title: str
    """Name of the kind in messages."""
    tables: Callable[[RunData], Any]
    """Function that returns the tables of a run; each table is read when it is first used."""
    required: Callable[[str], Sequence[str]]
    """Function that returns the columns which every run's table with the given name must have."""
    summary: Callable[[RunData], Figures]
    without_numbers: Callable[[Sequence[Scenario]], dict[str, Any]]
    """Function that returns the summary of planned runs: the names of metrics, without values.

    If the rows of a table are known only after a run, a single row stands for all of them.
    """
    card: Callable[[Any], str]
    """Function that returns HTML for a notebook, with the summary of a run and a small plot."""
    compare: Callable[[Sequence[RunData]], Table]
    """Function that returns a table which compares the metrics of several runs."""
    changes: Callable[[Sequence[RunData]], Table | None]
    """Function that returns a table of the differences between each run and the first.

    The function returns None if there are no differences to show.
    """
    plots: tuple[str, ...]
    """Modules that register the plots of this kind, in the order in which plots are listed."""
    report_plots: tuple[str, ...]
    """Plots in a report if the user names none; plots without data are left out."""
    remedies: Mapping[str, str]
    """Advice for a missing table, by the table's name."""
    provenance: Callable[[Mapping[str, Any]], dict[str, str]]
    """Function that returns facts of a `run.json` that pages show, as texts."""
    kept: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Function that returns the part of a `run.json` which campaigns store."""
    reduced: Callable[[RunData, int | None], dict[str, Any]]
    """Function that returns the tables of a run that campaigns store.

    If its second argument is a number n, time series have fewer than 2 n points; None means all.
    """
    time_series: Callable[[RunData], TimeSeries]
    """Function that yields time series, which show whether a run is in a steady state."""
    expected_packets: Callable[[PlannedRun], float]
    """Function that returns the estimated number of data packets of a run."""
    is_resumable: bool
    """True if runs can write checkpoints (`checkpoint_every`), from which they can be resumed."""
    same_since: int
    """Earliest results version that computed the same results as today's (see `CHANGES.md`)."""


# The default kind: that of scenarios and runs without another kind's table.
CONNECTIONS = "connections"
# Module that defines each kind as `KIND`, by the name of the kind. It is loaded on first use, since
# it imports this module.
MODULES = {CONNECTIONS: "longhaul.connections.kind", "mesonet": "longhaul.mesonet.kind"}
# Names of tables in scenarios that identify a kind.
OWN_TABLES = tuple(name for name in MODULES if name != CONNECTIONS)


@cache
def named(name: str) -> Kind:
    """Return the kind of simulation with this name."""
    kind: Kind = import_module(MODULES[name]).KIND
    return kind


def every() -> list[Kind]:
    """Return all kinds of simulation."""
    return [named(name) for name in MODULES]


def of(tables: Mapping[str, Any]) -> Kind:
    """Return the kind of simulation of a scenario or `run.json`, given its tables."""
    own = (name for name in OWN_TABLES if isinstance(tables.get(name), Mapping))
    return named(next(own, CONNECTIONS))
