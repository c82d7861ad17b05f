"""The registry of figures, and the decorator that adds figures."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import inf
from typing import Any

from longhaul import _engine

RUN, LABEL, LINK, PROXY = "run", "label", "link", "proxy"
# The label that stands for all flows together.
ALL = "all"
# The modules that declare figures, in the order of lists.
MODULES = {LABEL: "labels", LINK: "links", PROXY: "proxies", RUN: "runs"}
# Lists that contain a figure by default; other lists contain it on request.
SUMMARY, MERIT = "summary", "merit"
_LISTED = {LABEL: (SUMMARY,), LINK: (SUMMARY,), PROXY: (SUMMARY,), RUN: (MERIT,)}
# Tables of summaries with a row for each owner, as paths name them.
ROWS = {LABEL: "labels", LINK: "links", PROXY: "proxies"}
# The engine's tables whose columns are figures without further computation.
_TABLES = {LABEL: "flows", LINK: "links", PROXY: "proxies", RUN: "flows"}

# Suffixes of names that are units, and the units as written in text.
UNITS = {
    "bps": "bit/s", "pps": "packets/s", "pkts": "packets", "bytes": "bytes", "s": "s", "ms": "ms",
}  # fmt: skip
# Units of rows in tables, by base unit.
OF_ROWS = {"bit/s": "Mbit/s", "s": "ms"}

# Format of a figure in a table: a function, or a number of decimals in the unit of its row.
Form = Callable[[Any], str] | int
# `longhaul.Results`, which this module cannot import: its layer is above this one.
Run = Any


class PreparedRun:
    """A run with the prepared data of its figures."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._found: dict[Source, Any] = {}

    def of(self, source: "Source") -> Any:  # noqa: ANN401
        """Return the data that a source prepares, computed once."""
        if source not in self._found:
            self._found[source] = source(self)
        return self._found[source]


# Function that prepares the data of several figures, or returns None if the run lacks them.
Source = Callable[[PreparedRun], Any]
Compute = Callable[..., Any]


@dataclass(frozen=True)
class Figure:
    """A figure of runs, labels, links or proxies."""

    name: str
    of: str
    title: str
    about: str
    compute: Any = field(compare=False)
    """Figures of a run: a function of the data that `source` returns. Other figures: a Polars
    expression over those rows of `source`'s table that belong to one label, link or proxy.
    """
    source: Source
    unit: str
    """The base unit; empty for a dimensionless number."""
    better: str = ""
    """`more` or `less`, if either is better; only figures with a value measure harm to labels."""
    needs: tuple[str, ...] = ()
    """Tables that the figure needs."""
    form: Form | None = None
    """Format in tables; tables that compare runs leave out figures without a format."""
    row: str = ""
    """Title of the figure's row in tables; default: `title` with the unit."""
    listed: tuple[str, ...] = ()
    """Lists that include the figure: the `summary` of a run, its figures of `merit`."""
    only_some: bool = False
    """True if only some links have the figure; tables omit its row if no link has it."""
    needs_capacity: bool = False
    """True if the figure is undefined for links without capacity in the measurement window."""
    most: float = inf
    """The largest possible value."""
    is_time_until: bool = False
    """True if a missing value means that the event had not happened when the run ended."""

    @property
    def heading(self) -> str:
        """Title of the figure's row in a table, with the unit unless the title contains it."""
        return self.row or with_unit(self.title, OF_ROWS.get(self.unit, self.unit))

    def meaning(self, **lengths: str) -> str:
        """Return the meaning, with a run's window lengths; by default, with the rules for them."""
        return self.about.format(**(_LENGTHS | lengths))


# Rules for lengths of windows; `longhaul.figures.runs` computes the lengths of a run.
_LENGTHS = {
    "shares": "10 round trips, at least 1 s",
    "starvation": "50 round trips, at least 5 s",
}

_FIGURES: dict[tuple[str, str], Figure] = {}


def declare(name: str, title: str, compute: Any, about: str = "", **more: Any) -> None:  # noqa: ANN401
    """Declare a figure; the arguments are fields of `Figure`.

    The default of `about` is the engine's description of the column with this name; the default of
    `unit` is the suffix of the name, if that is a unit.
    """
    of = more["of"]
    if (of, name) in _FIGURES:
        raise ValueError(f"{name}: declared twice as a figure of a {of}")
    usual = {"about": about or columns(of).get(name, ""), "unit": unit_of(name)}
    given = {"listed": _LISTED[of]} | usual | more
    _FIGURES[of, name] = Figure(name=name, title=title, compute=compute, **given)


def figure(name: str, title: str, about: str = "", **more: Any) -> Callable[[Compute], Compute]:  # noqa: ANN401
    """Declare a figure on the function that computes it, with the arguments of `declare`."""

    def on(compute: Compute) -> Compute:
        declare(name, title, compute, about, **more)
        return compute

    return on


def unit_of(name: str) -> str:
    """Return the unit at the end of a name; empty if there is none, as in `within_10_s`."""
    *start, last = name.split("_")
    before = start[-1] if start else "1"
    return "" if before == "per" or before.isdigit() else UNITS.get(last, "")


def with_unit(words: str, unit: str) -> str:
    """Append a unit to words in parentheses, unless they contain it, such as `flows completed`."""
    return f"{words} ({unit})" if unit and unit not in re.findall(r"\w+", words) else words


@cache
def columns(of: str) -> dict[str, str]:
    """Return the descriptions of the engine's columns of flows, links or proxies."""
    table = _TABLES[of]
    return {row["name"]: row["description"] for row in _engine.columns() if row["table"] == table}


def declared(of: str) -> list[Figure]:
    """Return the figures of a run, labels, links or proxies, in the order of their declaration."""
    import_module(f"longhaul.figures.{MODULES[of]}")
    return [entry for entry in _FIGURES.values() if entry.of == of]


def every() -> list[Figure]:
    """Return all figures: of labels, links, proxies and runs."""
    return [entry for of in MODULES for entry in declared(of)]


def find(of: str, name: str) -> Figure | None:
    """Return the figure with a name; None if nothing of this kind has it."""
    return next((entry for entry in declared(of) if entry.name == name), None)


def expressions(of: str, source: Source) -> list[Any]:
    """Return named Polars expressions of a source's figures that summaries contain."""
    figures = [
        entry for entry in declared(of) if SUMMARY in entry.listed and entry.source == source
    ]
    return [entry.compute.alias(entry.name) for entry in figures]
