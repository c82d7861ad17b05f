"""Tests of the cells that claims need: their descriptions, and those that were not run."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from longhaul.studies import coverage
from longhaul.studies.cells import Cell
from longhaul.studies.coverage import RecordedCells
from longhaul.studies.data import Data
from longhaul.studies.partial import CoveredLevels


def experiment(name: str = "E", replications: int = 1, **levels: list[Any]) -> Any:  # noqa: ANN401
    return SimpleNamespace(
        name=name,
        axes=tuple(levels),
        replications={"quick": 1, "full": replications},
        levels=lambda axis, scale: levels[axis] if scale == "full" else [],
    )


def cells(name: str, **levels: list[Any]) -> list[Cell]:
    """Return cells of experiment `name`, one for each position in the lists of levels."""
    rows = zip(*levels.values(), strict=True) if levels else [()]
    return [(name, tuple(zip(levels, row, strict=True))) for row in rows]


MANY = [*range(1, 11)]


@pytest.mark.parametrize(
    ("every", "chosen", "text"),
    [
        (MANY, MANY, "all 10 delays"), (MANY, MANY[:9], "9 of 10 delays"),
        (MANY, MANY[:8], "delays 1, 2, 3, 4, 5, 6, 7, 8"), (MANY, [10, 2], "delays 2, 10"),
        (MANY, [3], "delay 3"), ([3], [3], "delay 3"), ([1, 2], [2, 1], "all 2 delays"),
        # Levels of cells are rounded as in recorded results.
        ([1 / 3, 1.0], [0.333333, 1.0], "all 2 delays"),
    ],
)  # fmt: skip
def test_levels_of_an_axis_are_named_up_to_eight(
    every: list[float], chosen: list[float], text: str
) -> None:
    of = experiment(delay=every)
    found = coverage._levels_in_words(of, "delay", [{"delay": level} for level in chosen])
    assert found == text


@pytest.mark.parametrize(
    ("axis", "plural"),
    [("size", "sizes"), ("proxy", "proxies"), ("delay", "delays"), ("flows", "flows"), ("n", "n"),
     ("y", "y"), ("class", "class"), ("way", "ways"), ("by", "bies")],
)  # fmt: skip
def test_axes_have_a_plural(axis: str, plural: str) -> None:
    assert coverage._plural(axis) == plural


TWO: dict[str, Any] = {"n": [1, 2], "queue": ["red", "codel"]}


@pytest.mark.parametrize(
    ("of", "there", "count", "text"),
    [
        (experiment(**TWO), {"n": [1, 1], "queue": ["red", "codel"]}, 2,
         "n 1, all 2 queues (2 runs)"),
        (experiment(**TWO), {"n": [1, 1], "queue": ["red", "codel"]}, 4,
         "n 1, all 2 queues (2 of 4 runs)"),
        (experiment(**TWO), {"n": [2], "queue": ["red"]}, 1, "n 2, queue red (1 run)"),
        # A cell with several replications has several runs.
        (experiment(replications=2, **TWO), {"n": [2], "queue": ["red"]}, 1,
         "n 2, queue red (1 cell)"),
        (experiment(replications=3, **TWO), {"n": [2], "queue": ["red"]}, 2,
         "n 2, queue red (1 of 2 cells)"),
        (experiment(**TWO), None, 2, "none of 2 runs"),
        (experiment(**TWO), None, 1, "none of 1 run"),
    ],
)  # fmt: skip
def test_an_experiment_is_described_by_its_cells(
    of: Any,  # noqa: ANN401
    there: dict[str, list[Any]] | None,
    count: int,
    text: str,
) -> None:
    rows = [] if there is None else [dict(levels) for _, levels in cells("E", **there)]
    assert coverage._described(of, rows, count) == text


def test_an_experiment_without_replications_has_one() -> None:
    of = experiment(n=[1, 2])
    of.replications = {}
    assert coverage._described(of, [{"n": 1}], 1) == "n 1 (1 run)"


def test_experiments_are_described_in_the_order_of_the_study() -> None:
    first, other = experiment("F", n=[1, 2]), experiment("E", n=[1, 2])
    study: Any = SimpleNamespace(experiments={"F": first, "E": other, "G": experiment("G")})
    needed = [*cells("E", n=[1]), *cells("F", n=[1, 2])]
    assert list(coverage.in_words(study, needed)) == ["F: all 2 n (2 runs)", "E: n 1 (1 run)"]
    there = cells("F", n=[2])
    assert list(coverage.in_words(study, needed, there)) == [
        "F: n 2 (1 of 2 runs)", "E: none of 1 run",
    ]  # fmt: skip
    assert list(coverage.in_words(study, [])) == []


def recorded() -> RecordedCells:
    """Return recorded cells: two of experiment E, one of F; other rows belong to no cell.

    One cell of E has no value of `loss`.
    """
    rows: list[dict[str, Any]] = [
        {"experiment": "E", "n": 1, "loss": 0.5, "rate": 1.0},
        {"experiment": "E", "n": 2, "loss": None, "rate": 2.0},
        {"experiment": "F", "n": None, "loss": None, "rate": 3.0},
        {"experiment": "unknown", "n": 1, "loss": 0.5, "rate": 1.0},
        {"experiment": "G", "n": 1, "loss": 0.5, "rate": 1.0},
    ]
    values = pl.DataFrame([row | {"replication": 0} for row in rows], infer_schema_length=None)
    study: Any = SimpleNamespace(
        experiments={"E": experiment("E", n=[1, 2]), "F": experiment("F"),
                     "G": experiment("G", m=[1])}
    )  # fmt: skip
    return RecordedCells(study, Data(values, pl.DataFrame(), ("n",)))


@pytest.mark.parametrize(
    ("cell", "metrics", "has"),
    [
        (("E", (("n", 1),)), (), True), (("E", (("n", 2),)), (), True),
        (("E", (("n", 3),)), (), False), (("E", (("n", 1),)), ("loss", "rate"), True),
        (("E", (("n", 2),)), ("rate",), True), (("E", (("n", 2),)), ("rate", "loss"), False),
        (("E", (("n", 1),)), ("rate", "delay"), False), (("F", ()), ("rate",), True),
        (("F", ()), ("loss",), False),
        # Rows of an unknown experiment, or without an axis, belong to no cell.
        (("unknown", (("n", 1),)), (), False), (("G", (("m", 1),)), (), False),
    ],
)  # fmt: skip
def test_a_cell_was_run_if_its_row_has_all_metrics(
    cell: Cell, metrics: tuple[str, ...], has: bool
) -> None:
    assert recorded().has(cell, metrics) == has


def asked(needed: dict[Cell, tuple[str, ...]], **facts: Any) -> Any:  # noqa: ANN401
    """Return a claim that needs these cells for these metrics."""
    of: dict[str, Any] = {"whole": "", "whole_axis": None, "names_runs": True}
    question = SimpleNamespace(
        cells=lambda experiments, scale="full": needed if scale == "full" else {},
        **{**of, "needs_all_runs": False, **facts},
    )
    return SimpleNamespace(question=question, is_set_up=facts.get("set_up", False))


ONE, TWO_, THREE, NO_AXIS, MISSING = (
    ("E", (("n", 1),)), ("E", (("n", 2),)), ("E", (("n", 3),)), ("F", ()), ("H", ()),
)  # fmt: skip


@pytest.mark.parametrize(
    ("needed", "there", "of"),
    [
        ({TWO_: ("rate",), ONE: ("rate",)}, (1, 2), 2),
        ({ONE: ("loss",), TWO_: ("loss",)}, (1,), 2),
        ({ONE: ("rate",), THREE: ("rate",)}, (1,), 2), ({THREE: ()}, (), 1),
        # Cells without the axis are needed at each of its levels.
        ({ONE: (), TWO_: (), NO_AXIS: ("rate",)}, (1, 2), 2),
        ({ONE: (), TWO_: (), NO_AXIS: ("loss",)}, (), 2), ({ONE: (), MISSING: ()}, (), 1),
        # All cells of a level are needed, in any order.
        ({ONE: (), ("G", (("m", 1), ("n", 1))): ()}, (), 1),
        ({("G", (("m", 1), ("n", 1))): (), ONE: ()}, (), 1),
    ],
)  # fmt: skip
def test_levels_are_covered_at_which_all_cells_were_run(
    needed: dict[Cell, tuple[str, ...]], there: tuple[int, ...], of: int
) -> None:
    study: Any = SimpleNamespace(experiments={})
    found = coverage.part_of(study, recorded(), asked(needed, whole_axis="n"))
    assert found == CoveredLevels("n", there, of)
    assert coverage.part_of(study, recorded(), asked(needed)) is None


@pytest.mark.parametrize(
    ("facts", "needed", "lacking", "on_runs"),
    [
        ({}, {ONE: (), THREE: (), MISSING: ()}, "", "on 1 of 3 runs"), ({}, {ONE: ()}, "", ""),
        ({"needs_all_runs": True, "whole": "*"}, {ONE: (), THREE: ()}, "1 of 2 runs are there", ""),
        ({"needs_all_runs": True, "whole": "*"}, {ONE: (), TWO_: ()}, "", ""),
        ({"whole": "n"}, {ONE: (), THREE: ()}, "", ""),
        ({"names_runs": False}, {THREE: ()}, "", ""), ({"set_up": True}, {THREE: ()}, "", ""),
        # A run without the metric exists all the same.
        ({}, {TWO_: ("loss",)}, "", ""),
    ],
)  # fmt: skip
def test_missing_runs_are_counted(
    facts: dict[str, Any], needed: dict[Cell, tuple[str, ...]], lacking: str, on_runs: str
) -> None:
    for replications, unit in ((1, "runs"), (2, "cells")):
        experiments = {"E": experiment("E", replications), "H": experiment("H")}
        study: Any = SimpleNamespace(experiments=experiments)
        claim = asked(needed, **facts)
        assert coverage.lacking(study, recorded(), claim) == lacking.replace("runs", unit)
        assert coverage.on_runs(study, recorded(), claim, "full") == on_runs.replace("runs", unit)
    # A scale may need fewer runs; a claim that needs all asks for those of the full scale.
    assert coverage.on_runs(study, recorded(), claim, "quick") == ""
