"""Registry of the kinds of simulation, through which other code works on runs of any kind."""

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
    """The part of `longhaul.Results` that kinds of simulation use."""

    path: Path
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the run."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario."""

    @property
    def tables(self) -> dict[str, int]:
        """The tables of the run and their numbers of rows."""

    @property
    def own_tables(self) -> Any:  # noqa: ANN401
        """The tables of the run, in the type that the kind of simulation defines."""

    def figures(self) -> dict[str, Any]:
        """Return the run's figures as plain lists and dictionaries."""

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of the run."""


class Figures(Protocol):
    """The summary of a run."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain lists and dictionaries."""


class PlannedRun(Protocol):
    """A run of a campaign before it is done: `longhaul.campaign.sweep.Run`."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as written, without defaults."""

    @property
    def resolved(self) -> Scenario:
        """The resolved scenario; resolving takes some time."""


TimeSeries = Iterator[tuple[str, "np.ndarray", "np.ndarray"]]
"""Series as name, times in seconds, and values."""


@dataclass(frozen=True)
class Kind:
    """A kind of simulation."""

    name: str
    """Name of the kind, and of the table of scenarios and `run.json` that only this kind has."""
    title: str
    """Name of the kind in messages."""
    tables: Callable[[RunData], Any]
    """The tables of a run, each read when it is first asked for."""
    required: Callable[[str], Sequence[str]]
    """Required columns of a table, by the table's name."""
    summary: Callable[[RunData], Figures]
    without_numbers: Callable[[Sequence[Scenario]], dict[str, Any]]
    """Summaries of runs of some scenarios before they run: names of rows and columns, no values.

    A row without a name stands for rows whose names only a finished run shows.
    """
    card: Callable[[Any], str]
    """A run as a piece of HTML for a notebook: its summary and a small plot."""
    compare: Callable[[Sequence[RunData]], Table]
    """Table that compares several runs."""
    changes: Callable[[Sequence[RunData]], Table | None]
    """Differences of each run from the first; None if they are not shown."""
    plots: tuple[str, ...]
    """The modules that register plots, in the order of lists."""
    report_plots: tuple[str, ...]
    """Default plots of a report, as far as the runs have their data."""
    remedies: Mapping[str, str]
    """Remedy for a missing table, by the table's name."""
    provenance: Callable[[Mapping[str, Any]], dict[str, str]]
    """Facts of `run.json` worth showing, as text."""
    kept: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Facts of `run.json` that campaigns store in addition to those of all runs."""
    reduced: Callable[[RunData, int | None], dict[str, Any]]
    """Tables that campaigns keep of a run, with a number of points of each time series, or all."""
    time_series: Callable[[RunData], TimeSeries]
    """Time series that show whether a run is in a steady state."""
    expected_packets: Callable[[PlannedRun], float]
    """Estimated data packets."""
    is_resumable: bool
    """True if its runs write checkpoints, from which they are resumed."""
    same_since: int
    """The results version since which its runs have the same figures (`CHANGES.md` says so)."""


# The default kind: that of scenarios and runs without another kind's table.
CONNECTIONS = "connections"
# The module that declares each kind as `KIND`, by the kind's name; it is loaded on first use, since
# it imports the tables and plots of runs.
MODULES = {CONNECTIONS: "longhaul.connections.kind", "mesonet": "longhaul.mesonet.kind"}
# Names of tables in scenarios that identify a kind.
OWN_TABLES = tuple(name for name in MODULES if name != CONNECTIONS)


@cache
def named(name: str) -> Kind:
    """Return the kind with a name."""
    kind: Kind = import_module(MODULES[name]).KIND
    return kind


def every() -> list[Kind]:
    """Return all kinds."""
    return [named(name) for name in MODULES]


def of(tables: Mapping[str, Any]) -> Kind:
    """Return the kind of a scenario or of a run's `run.json`."""
    own = (name for name in OWN_TABLES if isinstance(tables.get(name), Mapping))
    return named(next(own, CONNECTIONS))
