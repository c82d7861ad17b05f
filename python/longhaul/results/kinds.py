"""Kinds of simulation, for code that works on runs of any kind: another one is a line here.

Connections over links, which most scenarios describe, are the default and have no entry: what
`longhaul.Results`, `comparison` and `plots` do without asking a kind is about them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from longhaul.results.table import Table

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
    same_since: int
    """The results version since which its runs have the same figures (`CHANGES.md` says so)."""


# The module that declares each kind as `KIND`, by the kind's name. It is loaded when it is asked
# for: a kind uses the tables and plots of runs.
MODULES = {"mesonet": "longhaul.mesonet.kind"}


@cache
def named(name: str) -> Kind:
    """The kind of a name."""
    kind: Kind = import_module(MODULES[name]).KIND
    return kind


def every() -> list[Kind]:
    """All kinds."""
    return [named(name) for name in MODULES]


def of(tables: Mapping[str, Any]) -> Kind | None:
    """The kind of a scenario or of a run's `run.json`; none of connections over links."""
    names = (name for name in MODULES if isinstance(tables.get(name), Mapping))
    return next(map(named, names), None)
