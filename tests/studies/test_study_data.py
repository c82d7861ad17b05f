"""Results of a study: values and curves of cells, pairs of replications, missing values."""

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.data.lookup import Samples, at


def data() -> Data:
    """Return results of experiment A, by `load` and `name`, and of B, which has a single cell."""
    rows = [
        {"experiment": "A", "load": load, "name": name, "replication": number, "rate": rate,
         "loss": loss}
        for load, name, number, rate, loss in (
            (0.2, "reno", 0, 6.0, None), (0.2, "reno", 1, 8.0, nan), (0.1, "reno", 0, 1.0, 5.0),
            (0.1, "reno", 1, 4.0, None), (0.1, "reno", 2, 2.0, 7.0), (0.1, "bic", 2, 9.0, 3.0),
            (0.1, "bic", 0, 5.0, 1.0),
        )
    ]  # fmt: skip
    rows.append({"experiment": "B", "load": None, "name": None, "replication": 0, "rate": 7.0,
                 "loss": None})  # fmt: skip
    samples = [
        {"experiment": name, "load": load, "replication": number, "t_s": t}
        for name, load, number in (("A", 0.1, 2), ("A", 0.1, 1), ("A", 0.2, 3), ("B", None, 0))
        for t in (0.0, 1.0)
    ]
    values, drawn = (pl.DataFrame(table, infer_schema_length=None) for table in (rows, samples))
    return Data(values, drawn, ("load", "name"))


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, ""), ({"condition": 32, "algorithm": "FAST"}, " at condition 32, algorithm FAST"),
        ({"load": 1e-5}, " at load 1e-05"), ({"load": 2.0, "n": None}, " at load 2, n None"),
    ],
)  # fmt: skip
def test_levels_are_written_in_messages(where: dict[str, Any], text: str) -> None:
    assert at(where) == text


def test_a_value_is_the_median_of_a_cell() -> None:
    assert data().value("rate", "A", load=0.1, name="reno") == 2.0
    assert data().value("loss", "A", load=0.1, name="reno") == 6.0
    assert data().value("rate", "B") == 7.0
    assert data().replications == {"A": 2, "B": 1}


def test_a_curve_has_the_cells_with_a_value_in_order() -> None:
    curve = data().curve("rate", "load", "A", name="reno")
    assert (curve.x.tolist(), curve.y.tolist()) == ([0.1, 0.2], [2.0, 7.0])
    short = data().curve("loss", "load", "A", name="reno")
    assert (short.x.tolist(), short.y.tolist()) == ([0.1], [6.0])


def test_runs_are_of_one_cell_by_replication() -> None:
    assert data().runs("rate", "A", load=0.1, name="bic") == {2: 9.0, 0: 5.0}
    assert data().runs("loss", "A", load=0.1, name="reno") == {0: 5.0, 2: 7.0}


RENO, BIC = (("A", {"load": 0.1, "name": name}) for name in ("reno", "bic"))


def test_pairs_are_of_replications_that_both_cells_have() -> None:
    numbers, first, other = data().pairs("rate", RENO, BIC)
    assert (numbers, first.tolist(), other.tolist()) == ([0, 2], [1.0, 2.0], [5.0, 9.0])
    assert data().paired("rate", RENO, BIC, np.subtract) == -5.5
    late = ("A", {"load": 0.2, "name": "reno"})
    assert data().paired("rate", late, RENO, np.divide) == 4.0


def test_levels_and_cells_are_those_at_other_levels() -> None:
    assert data().levels("load", "A") == [0.1, 0.2]
    assert data().levels("load", "A", name="bic") == [0.1]
    assert data().levels("other", "A") == []
    assert len(data().cells("A", load=0.1)) == 2
    assert len(data().cells("A")) == 3
    assert len(data().points("A", load=0.1)) == 5
    assert data().having("loss", "A").rows() == [(0.1, "reno", 6.0), (0.1, "bic", 2.0)]
    assert data().having("loss", "A").columns == ["load", "name", "loss"]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda d: d.value("rate", "A", load=0.1), "A has 2 cells at load 0.1, not one"),
        (lambda d: d.value("loss", "A", load=0.2), "A has 0 cells at load 0.2, not one"),
        (lambda d: d.value("rate", "C"), "C was not run"),
        (lambda d: d.value("rate", "A", load=0.3), "A was not run at load 0.3"),
        (lambda d: d.value("rate", "A", n=3), "A: there is no axis n"),
        (lambda d: d.curve("loss", "load", "A", load=0.2), "A has no loss at load 0.2"),
        (lambda d: d.curve("rate", "load", "A"), "A has several cells for each load"),
        (lambda d: d.curve("rate", "load", "A", load=0.1),
         "A has several cells for each load at load 0.1"),
        (lambda d: d.runs("loss", "A", load=0.2), "A has no loss at load 0.2"),
        (lambda d: d.runs("rate", "A", load=0.1), "A has several cells at load 0.1"),
        (lambda d: d.runs("delay", "A"), "A has no delay"),
        (lambda d: d.having("loss", "A", load=0.2), "A has no loss at load 0.2"),
        (lambda d: d.paired("rate", ("A", {"load": 0.1, "name": "bic"}), ("B", {}),
                            lambda a, b: a * nan),
         "no replication has rate both in A at load 0.1, name bic and in B"),
        (lambda d: d.paired("loss", ("A", {"load": 0.1, "name": "bic"}),
                            ("A", {"load": 0.2, "name": "reno"}), np.subtract),
         "A has no loss at load 0.2, name reno"),
        (lambda d: d.samples("C"), "C was not run"),
        (lambda d: d.samples("A", load=0.5), "A was not run at load 0.5"),
        (lambda d: d.samples("A", name="bic"), "A: there is no axis name"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(ask: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(NotRunError) as refused:
        ask(data())
    assert str(refused.value) == message


def test_a_trajectory_is_of_the_first_replication() -> None:
    assert data().trajectory("A")["replication"].to_list() == [1, 1]
    assert data().trajectory("A", load=0.2)["replication"].to_list() == [3, 3]
    assert len(data().samples("A", load=0.1)) == 4
    assert len(data().samples("A")) == 6


def test_samples_that_are_kept_are_looked_up_once() -> None:
    table = pl.DataFrame({"n": [1.0, None, 2.0], "t_s": [0.0, 1.0, 2.0]})
    kept, fresh = Samples("A", table, keep=True), Samples("A", table)
    assert kept.having({"n": 2.0}) is kept.having({"n": 2.0})
    assert fresh.having({"n": 2.0}) is not fresh.having({"n": 2.0})
    assert fresh.having({"n": 2.0 * (1 + 1e-12)})["t_s"].to_list() == [2.0]
    assert fresh.having({"n": None})["t_s"].to_list() == [1.0]
    assert fresh.having({}) is table


def test_each_replication_is_data_of_its_own() -> None:
    """Check that a replication's data contain no samples over time of other replications."""
    each = data().each_replication
    assert [len(one.values) for one in each] == [4, 2, 2]
    assert [one.values["replication"].unique().to_list() for one in each] == [[0], [1], [2]]
    assert each[1].samples("A")["load"].unique().to_list() == [0.1]
    assert each[0].samples("B")["t_s"].to_list() == [0.0, 1.0]
    with pytest.raises(NotRunError, match="A was not run"):
        each[0].samples("A")
    empty = Data(pl.DataFrame(), pl.DataFrame(), ())
    assert empty.each_replication == []
    assert empty.medians.is_empty()
    assert (empty.replications, empty.cells_by_experiment) == ({}, {})


def test_columns_that_an_experiment_does_not_measure_are_not_there() -> None:
    lookup = data().lookup("B")
    assert [lookup.has(name) for name in ("rate", "loss", "load")] == [True, False, False]
    assert data().lookup("A", of_runs=True).has("loss")
    assert len(data().lookup("A", of_runs=True).table) == 7
    assert len(data().lookup("A").table) == 3


CURVE = Curve(np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 40.0]))


def test_a_curve_has_values_at_its_points() -> None:
    assert CURVE.at(2.0 * (1 + 1e-10)) == 20.0
    for x in (2.0 * (1 + 1e-8), 3.0):
        with pytest.raises(NotRunError, match=f"nothing was run at {x:g}"):
            CURVE.at(x)


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(1.0, 4.0, [1.0, 2.0, 4.0]), (1.0 + 1e-10, 4.0 - 1e-10, [1.0, 2.0, 4.0]),
     (1.0 + 1e-8, 4.0 - 1e-8, [2.0]), (2.0, 2.0, [2.0]), (5.0, 6.0, [])],
)  # fmt: skip
def test_a_part_of_a_curve_has_both_ends(low: float, high: float, inside: list[float]) -> None:
    part = CURVE.where(low, high)
    assert (part.x.tolist(), (part.y / 10.0).tolist()) == (inside, inside)
    negative = Curve(-CURVE.x[::-1], CURVE.y[::-1]).where(-high, -low)
    assert (-negative.x[::-1]).tolist() == inside


def test_two_curves_are_compared_at_common_points() -> None:
    other = Curve(np.array([4.0, 3.0, 1.0]), np.array([7.0, 8.0, 9.0]))
    x, first, second = together(CURVE, other)
    assert (x.tolist(), first.tolist(), second.tolist()) == ([1, 4], [10.0, 40.0], [9.0, 7.0])
    with pytest.raises(NotRunError, match="the curves have no points in common"):
        together(CURVE, Curve(np.array([3.0]), np.array([1.0])))


def test_tables_are_read_with_exact_levels(tmp_path: Path) -> None:
    """Check that levels are read exactly, although tables are stored in single precision.

    Axes that no table has are left out.
    """
    data().write(tmp_path)
    after = Data.read(tmp_path, ("other", "load", "name"))
    assert after.axes == ("load", "name")
    assert after.values["load"].to_list() == data().values["load"].to_list()
    assert after.trajectories["load"].to_list() == data().trajectories["load"].to_list()
    shared = data().share(tmp_path).data()
    assert shared.axes == ("load", "name")
    assert shared.values.equals(data().values)
    assert shared.trajectories.equals(data().trajectories)
