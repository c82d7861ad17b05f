"""Addition of recorded results to new results that lack some runs of a study."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from longhaul.campaign import Run
from longhaul.studies.cells import as_recorded
from longhaul.studies.data import EXPERIMENT, REPLICATION, Data

# Key of a run: its experiment, its replication, and its level of each axis, as recorded.
Place = tuple[Any, ...]


def and_recorded(new: Data, recorded: Data, runs: Sequence[Run]) -> Data:
    """Return the new results of `runs`, with recorded results for runs that have no new ones.

    Several experiments may contain the same scenario. Values recorded in one of these experiments
    are used in the others. Time series are added separately: a run with new values but without new
    time series gets its recorded time series.
    """
    # Keys contain axes only: factors of a condition follow from its number, and their recorded
    # values are rounded to single precision.
    axes = _unique((*new.axes, *recorded.axes))
    done = set(_places(new.values, axes))
    lacking = [run for run in runs if _place(_levels(run), axes) not in done]
    values = _values(lacking, runs, recorded, axes)
    wanted = {_place(_levels(run), axes) for run in runs} - set(_places(new.trajectories, axes))
    kept = [place in wanted for place in _places(recorded.trajectories, axes)]
    trajectories = recorded.trajectories.filter(pl.Series(kept, dtype=pl.Boolean))
    used = (*new.axes, *(axis for axis in axes if axis in values.columns))
    return Data(
        _stacked(new.values, values), _stacked(new.trajectories, trajectories), _unique(used)
    )


def not_recorded(recorded: Data, runs: Sequence[Run]) -> list[Run]:
    """Return the runs without a recorded row.

    The row of another of `runs` with the same scenario counts too.
    """
    row_of = _recorded_rows(runs, recorded, recorded.axes)
    return [run for run in runs if row_of(run) is None]


def lost(new: Data, recorded: Data, runs: Sequence[Run]) -> list[Run]:
    """Return the runs that have a row in the recorded results but none in the new results."""
    lacking = {run.name for run in not_recorded(recorded, runs)}
    return [run for run in not_recorded(new, runs) if run.name not in lacking]


def _values(
    lacking: Sequence[Run], runs: Sequence[Run], recorded: Data, axes: Sequence[str]
) -> pl.DataFrame:
    """Return recorded results for the runs in `lacking`, which have no new results.

    A run that was not recorded gets the results of another of `runs` with the same scenario. If
    there is no such run either, the table has no row for it.
    """
    row_of = _recorded_rows(runs, recorded, axes)
    rows = [
        {**row, **dict.fromkeys(axes), **_levels(run)} for run in lacking if (row := row_of(run))
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _recorded_rows(
    runs: Sequence[Run], recorded: Data, axes: Sequence[str]
) -> Callable[[Run], dict[str, Any] | None]:
    """Return a function that finds a run's recorded row by experiment, replication and levels.

    For a run without a row, it returns the row of a run with the same scenario, or None.
    """
    by_place = {_place(row, axes): row for row in recorded.values.to_dicts()}
    by_scenario = {
        run.key: row for run in runs if (row := by_place.get(_place(_levels(run), axes)))
    }
    return lambda run: by_place.get(_place(_levels(run), axes)) or by_scenario.get(run.key)


def _levels(run: Run) -> dict[str, Any]:
    return {EXPERIMENT: run.experiment, REPLICATION: run.replication, **run.cell}


def _places(table: pl.DataFrame, axes: Sequence[str]) -> list[Place]:
    if table.is_empty():
        return []
    known = [axis for axis in axes if axis in table.columns]
    rows = table.select(EXPERIMENT, REPLICATION, *known).iter_rows(named=True)
    return [_place(row, axes) for row in rows]


def _place(row: Mapping[str, Any], axes: Sequence[str]) -> Place:
    return row[EXPERIMENT], row[REPLICATION], *(as_recorded(row.get(axis)) for axis in axes)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _stacked(new: pl.DataFrame, recorded: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of both tables, with null in columns that one of the tables lacks."""
    tables = [table for table in (new, recorded) if not table.is_empty()]
    return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()
