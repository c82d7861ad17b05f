"""Adding new results to a study's recorded results: choice of rows, and missing runs."""

from types import SimpleNamespace
from typing import Any

import polars as pl

from longhaul.studies.addition import and_recorded, lost, not_recorded
from longhaul.studies.data import EXPERIMENT, REPLICATION, Data

NAMES = (EXPERIMENT, REPLICATION, "n")


def run(experiment: str, replication: int, n: float, key: str = "") -> Any:  # noqa: ANN401
    name = f"{experiment} {replication} {n}"
    return SimpleNamespace(
        experiment=experiment, replication=replication, cell={"n": n}, key=key or name, name=name
    )


def data(values: list[tuple[Any, ...]], samples: list[tuple[Any, ...]] = ()) -> Data:  # type: ignore[assignment]
    """Return results with a metric y, and with samples of y over time."""
    tables = [
        pl.DataFrame(rows, schema=[*NAMES, *own], orient="row") if rows else pl.DataFrame()
        for rows, own in ((values, ["y"]), (samples, ["t_s"]))
    ]
    return Data(tables[0], tables[1], ("n",) if values else ())


RUNS = [run("A", 0, 1), run("A", 0, 2), run("A", 1, 1), run("B", 0, 1, "A 0 1")]
RECORDED = data(
    [("A", 0, 1, 10.0), ("A", 0, 2, 20.0), ("C", 0, 1, 30.0)],
    [("A", 0, 1, 0.5), ("A", 0, 2, 0.5), ("C", 0, 1, 0.5)],
)


def rows(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(*NAMES, *columns).rows()


def test_runs_without_a_new_row_have_the_recorded_one() -> None:
    """Check that runs without new results get recorded results of their scenario.

    Recorded results of another experiment serve, too; results of unknown runs are dropped.
    """
    new = data([("A", 0, 1, 11.0)], [("A", 0, 1, 0.25)])
    whole = and_recorded(new, RECORDED, RUNS)
    assert rows(whole.values, "y") == [("A", 0, 1, 11.0), ("A", 0, 2, 20.0), ("B", 0, 1, 10.0)]
    assert rows(whole.trajectories, "t_s") == [("A", 0, 1, 0.25), ("A", 0, 2, 0.5)]
    assert whole.axes == ("n",)


def test_without_new_rows_all_are_recorded_and_without_recorded_ones_all_are_new() -> None:
    assert rows(and_recorded(data([]), RECORDED, RUNS).values, "y") == [
        ("A", 0, 1, 10.0), ("A", 0, 2, 20.0), ("B", 0, 1, 10.0),
    ]  # fmt: skip
    new = data([("A", 0, 1, 11.0)])
    alone = and_recorded(new, data([("C", 0, 1, 30.0)], [("C", 0, 1, 0.5)]), RUNS)
    assert alone.values.equals(new.values)
    assert alone.trajectories.is_empty()


def test_runs_that_lack_a_recorded_row_are_named() -> None:
    assert not_recorded(RECORDED, RUNS) == [RUNS[2]]
    new = data([("A", 0, 1, 11.0), ("A", 1, 1, 12.0)])
    # The second run is recorded, but not new; the fourth run has the first's scenario.
    assert lost(new, RECORDED, RUNS) == [RUNS[1]]
    assert lost(RECORDED, RECORDED, RUNS) == []


def test_levels_of_many_digits_are_found_as_recorded() -> None:
    runs, recorded = [run("A", 0, 1 / 3)], data([("A", 0, 0.333333, 10.0)])
    assert not_recorded(recorded, runs) == []
    assert lost(data([]), recorded, runs) == runs
    assert and_recorded(data([]), recorded, runs).values["y"].to_list() == [10.0]
