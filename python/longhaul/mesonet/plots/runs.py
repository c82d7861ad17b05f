"""Parts of plots of MesoNet runs: required tables, part of the run, styles of runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from longhaul.mesonet.tables import ROUNDING_S, MesoNet
from longhaul.plots import styles
from longhaul.plots.registry import Options
from longhaul.plots.styles import Style
from longhaul.results import Results


def has_table(needs: str) -> Callable[[Results], bool]:
    """Return a test that is true for MesoNet runs that have the table `needs`."""
    return lambda run: isinstance(run.own_tables, MesoNet) and run.own_tables.has(needs)


def in_part_of_run(table: pl.DataFrame, end_s: pl.Expr, options: Options) -> pl.DataFrame:
    """Return the rows of intervals that end after `--from` and not after `--to`."""
    if options.from_s is not None:
        table = table.filter(end_s > options.from_s + ROUNDING_S)
    if options.to_s is not None:
        table = table.filter(end_s <= options.to_s + ROUNDING_S)
    return table


def looks_of(runs: Sequence[Results]) -> list[tuple[str, Style]]:
    """Return the name and style of each run.

    A run has the name and style of its algorithm if each run has one built-in algorithm and no two
    have the same. Colours differ as long as there are enough: dashes are invisible in noisy curves
    and bars.
    """
    kinds = [
        "+".join(
            algorithm["congestion"].get("kind", "Python")
            for algorithm in run.scenario["mesonet"]["algorithms"]
        )
        for run in runs
    ]
    if len(set(kinds)) < len(kinds) or not set(kinds) <= set(styles.ALGORITHMS):
        names = [run.name for run in runs]
        return list(zip(names, styles.many(len(runs)), strict=True))
    looks = [replace(styles.ALGORITHMS[kind], line="-") for kind in kinds]
    if len({look.colour for look in looks}) < len(looks):
        looks = styles.many(len(runs))
    return list(zip(kinds, looks, strict=True))
