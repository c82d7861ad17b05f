"""Registry of the analyses that `longhaul analyze` applies to tables of factors and responses.

An analysis is a function of a table and options. It returns tables of text, and functions that draw
its plots. The computations are in the package `analysis`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from longhaul.analysis import congestion, correlation
from longhaul.analysis.comparisons import MeanInterval
from longhaul.analysis.table import LOGARITHM, ResponseTable, TableError
from longhaul.files.names import unknown
from longhaul.files.options import unused
from longhaul.findings.labels import in_row_unit, label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Maximum printed lines of a table, more than the conditions of NIST SP 500-282; --json has all
# lines.
MAX_ROWS = 40
# Columns in the unit of the response.
OF_RESPONSE = ("mean", "difference", "size", "95 % from", "to")


@dataclass(frozen=True)
class Options:
    """Options that a user may give for an analysis."""

    responses: tuple[str, ...] = ()
    """Selected responses; if empty, all responses."""
    of: str | None = None
    """The factor whose levels compete, such as the algorithm."""
    factors: tuple[str, ...] = ()
    """Selected factors; if empty, all suitable factors."""
    threshold: float = correlation.NIST_THRESHOLD
    critical: float | None = None
    min_percent: float = 0.0
    low_is_best: tuple[str, ...] = ()
    classes: int | None = None
    """Number of congestion classes.

    None means four, or fewer if fewer different rates are above 0.
    """
    order_by: str | None = None
    """Response whose mean over competitors orders the conditions, in ascending order."""
    against: ResponseTable | None = None
    """Table of another campaign, whose correlations are compared with this campaign's."""


@dataclass(frozen=True)
class Text:
    """A table for printing, whose cells are texts and unformatted numbers."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    left_out: Sequence[str] = ()
    """Items that the analysis left out, such as runs, each with the reason."""
    note: str = ""
    """Explanation of columns, such as what an interval covers; printed below the table."""
    heading: str = ""
    """Title with a response's unit, printed instead of `title` unless empty."""
    scale: float = 1.0
    """Factor by which values are multiplied to get the unit in the heading."""

    def printed(self) -> list[list[str]]:
        """Return the rows as text, with values converted to the unit of the heading."""
        scales = [self.scale if head in OF_RESPONSE else 1.0 for head in self.heads]
        return [
            [
                shown(cell * scale if isinstance(cell, float) else cell)
                for cell, scale in zip(row, scales, strict=True)
            ]
            for row in self.rows
        ]


@dataclass
class Findings:
    """Results of an analysis: tables of text, and plots."""

    tables: list[Text] = field(default_factory=list)
    plots: dict[str, Callable[[], "Figure"]] = field(default_factory=dict)
    scores: pl.DataFrame | None = None
    """Factors and principal-component scores of runs, if the analysis computes them."""

    def add(
        self, title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]],
        left_out: Sequence[str] = (), note: str = "", place: str = "",
    ) -> None:  # fmt: skip
        """Add a table to the findings.

        `place` is the original name of the response (`ResponseTable.place`), such as
        `labels.cubic.goodput_bps`. It determines the unit of the heading. Without it, the table has
        no heading.
        """
        if place.startswith(LOGARITHM):
            title = f"{LOGARITHM}({title})"
        found = Text(title, tuple(heads), [*map(tuple, rows)], left_out, note)
        if place:
            values = [cell for row in rows for head, cell in zip(heads, row, strict=True)
                      if head in OF_RESPONSE and isinstance(cell, float)]  # fmt: skip
            words, scale = in_row_unit(place, values)
            heading = title if words == title else f"{title}: {words}"
            found = replace(found, heading=heading, scale=scale)
        self.tables.append(found)


@dataclass(frozen=True)
class Analysis:
    """An analysis: its name, its line of help, and the function that performs it."""

    name: str
    help: str
    find: Callable[[ResponseTable, Options], Findings]
    takes: frozenset[str]
    """Names of the fields of `Options` that the analysis uses, other than those in `OF_ALL`."""


# Options that apply to every analysis; tables without declared factors are read with `factors`.
OF_ALL = ("responses", "factors")
ANALYSES: dict[str, Analysis] = {}

Find = Callable[[ResponseTable, Options], Findings]


def named(name: str, help: str, takes: Iterable[str] = ()) -> Callable[[Find], Find]:
    """Return a decorator that registers an analysis; the arguments are fields of `Analysis`."""

    def register(find: Find) -> Find:
        ANALYSES[name] = Analysis(name, help, find, frozenset(takes))
        return find

    return register


def refuse_unused(names: Sequence[str], options: Options) -> None:
    """Raise an error for an option that none of these analyses uses."""
    takes = {name: analysis.takes for name, analysis in ANALYSES.items()}
    if message := unused("an analysis", names, options, takes, of_all=OF_ALL, flags={}):
        raise TableError(message)


def analyse(name: str, table: ResponseTable, options: Options) -> Findings:
    """Run the analysis with this name on a table."""
    if name not in ANALYSES:
        raise TableError(unknown("analysis", name, ANALYSES, "longhaul analyze list"))
    return ANALYSES[name].find(table, options)


def drawn_by(place: str, *given: Any) -> Callable[[], "Figure"]:  # noqa: ANN401
    """Return a function that draws a plot.

    `place` is the drawing function, as `module.function` in the package `plots.analysis`, and
    `given` are its arguments. The module is imported only when the plot is drawn, because loading
    takes longer than an analysis.
    """
    module, function = place.split(".")
    return lambda: getattr(import_module(f"longhaul.plots.analysis.{module}"), function)(*given)


def chosen(table: ResponseTable, options: Options) -> list[str]:
    """Return the responses that the user has named, or else those worth analysing.

    See `ResponseTable.telling` for the latter.
    """
    for name in options.responses:
        table.values(name)
    chosen = list(options.responses or table.telling())
    if not chosen:
        raise TableError("no response has a value in every run")
    return chosen


def matrix(table: ResponseTable, options: Options) -> tuple[list[str], np.ndarray]:
    """Return the selected responses, and their values; shape: runs x responses.

    A constant response has no correlation, and is left out. If the user has named it, this is an
    error.
    """
    names = chosen(table, options)
    values = np.stack([table.values(name) for name in names], axis=1)
    varies = (values != values[0]).any(axis=0)
    for name in (name for name, does in zip(names, varies, strict=True) if not does):
        if name in options.responses:
            raise TableError(f"{name}: expected a response that varies, found it equal in all runs")
    if not varies.any():
        raise TableError(f"all responses are equal in all runs: {', '.join(names)}")
    return [name for name, does in zip(names, varies, strict=True) if does], values[:, varies]


def competitors_of(table: ResponseTable, options: Options, at_least: int = 1) -> str:
    """Return the factor whose levels are the competitors, such as the algorithm.

    Raise an error if the factor has fewer than `at_least` levels.
    """
    if options.of is None:
        raise TableError(
            f"expected --of, the factor whose levels compete; available: {', '.join(table.varying)}"
        )
    factor = table.require(options.of)
    if (found := len(table.factors[factor])) < at_least:
        raise TableError(f"{factor}: expected {at_least} levels or more, found {found}")
    return factor


def with_ends(mean: MeanInterval, scale: float = 1.0) -> tuple[float, float | None, float | None]:
    """Return a mean and the ends of its interval, times `scale`; None for infinite ends."""
    is_finite = np.isfinite(mean.low)
    ends = (scale * mean.low, scale * mean.high) if is_finite else (None, None)
    return (scale * mean.mean, *ends)


def title(levels_: Mapping[str, object]) -> str:
    """Return a condition, a mapping from factors to levels, as text."""
    return ", ".join(f"{name} {level}" for name, level in levels_.items()) or "all"


# Factors whose levels are only numbers of conditions.
NUMBERS = ("condition", "run")
MINUS = "\N{MINUS SIGN}"


def in_signs(
    table: ResponseTable, conditions: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, list[str]], str]:
    """Return each factor's levels in `conditions` as texts or signs, and a legend of the signs.

    The first level of a factor with two levels is written as a minus, the second as a plus, except
    for the factors in `NUMBERS`.
    """
    rows, signs = {}, []
    for name in conditions[0]:
        low, *others = table.factors[name]
        if len(others) == 1 and name not in NUMBERS:
            rows[name] = [MINUS if row[name] == low else "+" for row in conditions]
            signs.append(f"{name} {low}, {others[0]}")
        else:
            rows[name] = [str(row[name]) for row in conditions]
    return rows, f"Levels {MINUS} and +: {'; '.join(signs)}." if signs else ""


def short(table: ResponseTable, conditions: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
    """Return short names of the conditions, and a legend.

    A short name lists the levels of a condition without the names of the factors. The signs minus
    and plus stand for the two levels of a factor, which the legend states.
    """
    rows, signs = in_signs(table, conditions)
    names = [" ".join(levels) for levels in zip(*rows.values(), strict=True)]
    return names or ["all"] * len(conditions), signs


def order_in_words(table: ResponseTable, options: Options) -> str:
    """Return a description of the order of conditions; empty if it is the order of the table."""
    return f"by increasing {label(table.place(options.order_by))}" if options.order_by else ""


def cells_of(
    table: ResponseTable, options: Options, who: str
) -> tuple[list[dict[str, Any]], np.ndarray, list[str]]:
    """Return conditions in the order of `options`, and the values of the selected responses.

    `who` is the factor whose levels are compared. Values have shape (condition, response, level).
    The last item describes the conditions that are left out because a level is missing.
    """
    conditions, cells, left_out = table.conditions(who)
    every = list(table.complete())
    if options.order_by is not None:
        table.values(options.order_by)
        order = congestion.congestion_order(cells[:, every.index(options.order_by)])
        conditions, cells = [conditions[c] for c in order], cells[order]
    places = [every.index(name) for name in chosen(table, options)]
    return conditions, cells[:, places, :], left_out


def shown(cell: object) -> str:
    """Return a value as the text of a table cell; empty for None."""
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
