"""Registry of metrics ("figures"), and functions that declare them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import inf
from typing import Any

from longhaul import _engine

RUN, LABEL, LINK, PROXY = "run", "label", "link", "proxy"
# Label that means all flows together.
ALL = "all"
# Modules that declare figures, in the order of lists.
MODULES = {LABEL: "labels", LINK: "links", PROXY: "proxies", RUN: "runs"}
# Lists that show figures: the summary, and figures of merit; then the default for each owner.
SUMMARY, MERIT = "summary", "merit"
_LISTED = {LABEL: (SUMMARY,), LINK: (SUMMARY,), PROXY: (SUMMARY,), RUN: (MERIT,)}
# Tables of summaries with a row for each owner, as paths name them.
ROWS = {LABEL: "labels", LINK: "links", PROXY: "proxies"}
# The engine's tables that describe columns, by the owner of figures.
_TABLES = {LABEL: "flows", LINK: "links", PROXY: "proxies", RUN: "flows"}

# Units at the end of names, and the same units in text.
UNITS = {
    "bps": "bit/s", "pps": "packets/s", "pkts": "packets", "bytes": "bytes", "s": "s", "ms": "ms",
}  # fmt: skip
# Units in rows of tables, by base unit.
OF_ROWS = {"bit/s": "Mbit/s", "s": "ms"}

# Format of a figure in tables: a function, or a number of decimals in the unit of the row.
Form = Callable[[Any], str] | int
# `longhaul.Results`, which this module cannot import: its layer is above this one.
Run = Any


class PreparedRun:
    """A run, with data that is prepared once and used by several metrics."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._found: dict[Source, Any] = {}

    def of(self, source: "Source") -> Any:  # noqa: ANN401
        """Return the data that `source` prepares for the run; calls after the first reuse them."""
        if source not in self._found:
            self._found[source] = source(self)
        return self._found[source]


# Function that prepares the data of several figures, or returns None if the run lacks them.
Source = Callable[[PreparedRun], Any]
Compute = Callable[..., Any]


@dataclass(frozen=True)
class Figure:
    """A metric of runs, labels, links or proxies."""

    name: str
    of: str
    title: str
    about: str
    compute: Any = field(compare=False)
    """Function or expression that computes the metric from the data that `source` returns.

    For a metric of a run, it is a function of the data. For other metrics, it is a Polars
    expression over the rows of a table that belong to one label, link or proxy.
    """
    source: Source
    unit: str
    """Base unit, such as `s`; empty for a number without dimension."""
    better: str = ""
    """`more` or `less`, the better direction, so that harm can be computed from the metric.

    It is empty if neither is better.
    """
    needs: tuple[str, ...] = ()
    """Names of the tables that a run must have for the metric."""
    form: Form | None = None
    """Format in tables; None if tables that compare runs leave the metric out."""
    row: str = ""
    """Title of the metric's row in tables; if empty, `title` with the unit."""
    listed: tuple[str, ...] = ()
    """Lists that show the metric, if any: `summary` (of a run), `merit` (RFC 5166), or both."""
    only_some: bool = False
    """True if only some links or proxies have the metric.

    Tables omit its row if all values are missing or 0.
    """
    needs_capacity: bool = False
    """True if the metric is undefined for links without capacity in the measurement window."""
    most: float = inf
    """Largest possible value of the metric."""
    is_time_until: bool = False
    """True if a missing value means that the event had not happened when the run ended."""

    @property
    def heading(self) -> str:
        """Title of the metric's row in a table: `row`, or else `title` with the unit for tables."""
        return self.row or with_unit(self.title, OF_ROWS.get(self.unit, self.unit))

    def meaning(self, **lengths: str) -> str:
        """Return the meaning of the metric, with the lengths of the run's averaging windows.

        A length that is not given appears as its rule, such as `10 round trips, at least 1 s`.
        """
        return self.about.format(**(_LENGTHS | lengths))


# Rules for lengths of windows; `longhaul.figures.runs` computes the lengths of a run.
_LENGTHS = {
    "shares": "10 round trips, at least 1 s",
    "starvation": "50 round trips, at least 5 s",
}

_FIGURES: dict[tuple[str, str], Figure] = {}


def declare(name: str, title: str, compute: Any, about: str = "", **more: Any) -> None:  # noqa: ANN401
    """Declare a metric; the arguments are fields of `Figure`.

    By default, `about` is the engine's description of the column with this name, and `unit` is the
    unit at the end of the name, if there is one; `listed` is `merit` for metrics of runs, and
    `summary` for others.
    """
    of = more["of"]
    if (of, name) in _FIGURES:
        raise ValueError(f"{name}: declared twice as a figure of a {of}")
    usual = {"about": about or columns(of).get(name, ""), "unit": unit_of(name)}
    given = {"listed": _LISTED[of]} | usual | more
    _FIGURES[of, name] = Figure(name=name, title=title, compute=compute, **given)


def figure(name: str, title: str, about: str = "", **more: Any) -> Callable[[Compute], Compute]:  # noqa: ANN401
    """Return a decorator that declares a metric on the function that computes it.

    The arguments are those of `declare`.
    """

    def on(compute: Compute) -> Compute:
        declare(name, title, compute, about, **more)
        return compute

    return on


def unit_of(name: str) -> str:
    """Return the unit at the end of a metric's name; empty if there is none."""
    # In `within_10_s`, `s` is the unit of the 10, not of the metric.
    *start, last = name.split("_")
    before = start[-1] if start else "1"
    return "" if before == "per" or before.isdigit() else UNITS.get(last, "")


def with_unit(words: str, unit: str) -> str:
    """Append a unit in parentheses, unless the words contain it, as `flows completed` does."""
    return f"{words} ({unit})" if unit and unit not in re.findall(r"\w+", words) else words


@cache
def columns(of: str) -> dict[str, str]:
    """Return the engine's descriptions of columns, by name; `of` is the owner of figures.

    The table is that of links or proxies; for labels and runs, that of flows.
    """
    table = _TABLES[of]
    return {row["name"]: row["description"] for row in _engine.columns() if row["table"] == table}


def declared(of: str) -> list[Figure]:
    """Return the metrics of runs, labels, links or proxies (`of`), in the order of declaration."""
    import_module(f"longhaul.figures.{MODULES[of]}")
    return [entry for entry in _FIGURES.values() if entry.of == of]


def every() -> list[Figure]:
    """Return all metrics: of labels, links, proxies and runs."""
    return [entry for of in MODULES for entry in declared(of)]


def find(of: str, name: str) -> Figure | None:
    """Return the metric `name` of runs, labels, links or proxies (`of`); None if there is none."""
    return next((entry for entry in declared(of) if entry.name == name), None)


def expressions(of: str, source: Source) -> list[Any]:
    """Return the Polars expressions of the metrics that use `source` and that summaries show."""
    figures = [
        entry for entry in declared(of) if SUMMARY in entry.listed and entry.source == source
    ]
    return [entry.compute.alias(entry.name) for entry in figures]
