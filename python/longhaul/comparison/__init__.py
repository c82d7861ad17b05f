"""Comparison of runs in one table: a row for each metric, and a column for each run and label.

The terminal and the HTML report show the same rows. JSON comes from `Results.as_json` and has all
metrics.
"""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from longhaul.comparison import differences
from longhaul.results import Results, ResultsError, with_distinct_names
from longhaul.results.table import Table

# Maximum runs side by side on the terminal; further runs follow in another block.
RUNS_IN_A_ROW = 3


def table(runs: Sequence[Results]) -> Table:
    """Return one table with the metrics of all runs side by side."""
    kind = runs[0].kind
    if any(run.kind is not kind for run in runs):
        titles = dict.fromkeys(run.kind.title for run in runs)
        raise ResultsError(f"runs of {' and '.join(titles)} have no figures in common")
    return kind.compare(runs)


def changes(runs: Sequence[Results]) -> Table | None:
    """Return a table of the differences between each run and the first run.

    Return None for a single run, for runs of different kinds, and for runs of MesoNet.
    """
    kind = runs[0].kind
    if len(runs) < 2 or any(run.kind is not kind for run in runs):
        return None
    return kind.changes(runs)


def compare(runs: Sequence[Results], *, every: bool = False) -> Group:
    """Return tables that compare runs, for printing with rich.

    If there are several runs, the tables include the differences between their scenarios, and the
    changes from the first run. Keys that differ only because other keys differ, such as defaults,
    are shown only if `every` is true.
    """
    runs = with_distinct_names(runs)
    steps = range(0, len(runs), RUNS_IN_A_ROW)
    parts: list[Any] = [table(runs[step : step + RUNS_IN_A_ROW]) for step in steps]
    if len(runs) > 1:
        if (changed := changes(runs)) is not None:
            parts.append(changed)
        parts.append(_differences(runs, every=every))
    return Group(*parts)


def _differences(runs: Sequence[Results], *, every: bool) -> RichTable:
    """Return a table of the differences between scenarios.

    Values that follow from other differences are included only if `every` is true.
    """
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("scenarios differ in", *(run.name for run in runs)):
        shown.add_column(Text(head), overflow="fold")
    given, derived = differences.given_and_derived(runs)
    for path, values in [*given, *(derived if every else [])]:
        shown.add_row(Text(path), *(Text(value) for value in values))
    if derived and not every:
        shown.add_row(f"and {len(derived)} values that follow from others: --all")
    if not shown.row_count:
        shown.add_row("nothing")
    return shown
