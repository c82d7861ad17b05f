"""Means of the response in all cells of a design: their intervals, table and plot."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine
from scipy import stats

from longhaul.analysis.cells import cell_means
from longhaul.analysis.levels import factor_means
from longhaul.analysis.table import Level, ResponseTable, TableError
from longhaul.analysis.variance import anova
from longhaul.findings import Options, analyse
from longhaul.plots.analysis.effects import variance_shares

# Goodput of three replications by (buffer, algorithm).
GIVEN: dict[tuple[Level, ...], list[float]] = {
    ("small", "reno"): [1.0, 2.0, 3.0],
    ("small", "cubic"): [4.0, 4.0, 4.0],
    ("large", "reno"): [10.0, 12.0, 14.0],
    ("large", "cubic"): [20.0, 22.0, 27.0],
}


def table(*, numbered: bool = True) -> ResponseTable:
    rows = [
        {"buffer": buffer, "algorithm": algorithm, "y": value}
        | ({"replication": number + 1} if numbered else {})
        for (buffer, algorithm), values in GIVEN.items()
        for number, value in enumerate(values)
    ]
    factors = {"buffer": ["small", "large"], "algorithm": ["reno", "cubic"]}
    return ResponseTable.of(pl.DataFrame(rows), factors, ["y"])


@pytest.mark.parametrize("numbered", [True, False])
def test_a_cell_has_the_mean_and_interval_of_its_replications(numbered: bool) -> None:
    found = cell_means(table(numbered=numbered), "y", ["buffer", "algorithm"])
    assert [cell.levels for cell in found] == list(GIVEN)
    for cell in found:
        values = np.array(GIVEN[cell.levels], float)
        assert cell.mean.mean == pytest.approx(values.mean())
        reach = stats.t.ppf(0.975, 2) * values.std(ddof=1) / 3**0.5
        assert cell.mean.high - cell.mean.mean == pytest.approx(reach)


def test_means_of_levels_have_the_intervals_of_cells() -> None:
    given = table(numbered=False)
    for own in factor_means(given, "y"):
        assert [*own.means] == [cell.mean for cell in cell_means(given, "y", [own.factor])]
        assert {mean.count for mean in own.means} == {3}
    # A replication that some cells lack does not count in means over several cells.
    uneven = ResponseTable.of(given.frame[1:], given.factors, ["y"])
    small, large = cell_means(uneven, "y", ["buffer"])
    assert small.mean.mean == pytest.approx(3.4)
    assert small.mean.count == 1
    assert large.mean.count == 3


def test_factors_that_are_not_named_are_averaged_within_replications() -> None:
    small, large = cell_means(table(), "y", ["buffer"])
    assert small.mean.mean == pytest.approx(3.0)
    # Means of the replications: (10 + 20) / 2, (12 + 22) / 2 and (14 + 27) / 2.
    reach = stats.t.ppf(0.975, 2) * np.std([15.0, 17.0, 20.5], ddof=1) / 3**0.5
    assert large.mean.high - large.mean.mean == pytest.approx(reach)
    assert large.mean.count == 3


def test_lines_go_over_the_first_factor_one_for_each_level_of_the_second() -> None:
    found = analyse("cells", table(), Options())
    drawing = found.plots["cells-y"]()
    (axes,) = drawing.axes
    lines = {str(one.get_label()): one for one in axes.containers}
    assert list(lines) == ["reno", "cubic"]
    assert np.asarray(lines["cubic"][0].get_ydata()).tolist() == [4.0, 23.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["small", "large"]


def test_shares_of_the_variance_are_bars() -> None:
    given = table()
    columns = {name: given.frame[name].to_list() for name in given.varying}
    sources = anova(columns, given.values("y"))
    (axes,) = variance_shares(sources, "y").axes
    widths = sorted(bar.get_width() for bar in axes.containers[0])
    assert widths == pytest.approx(sorted(100 * one.share for one in sources))


def test_cells_are_written_as_csv(cli: CommandLine, tmp_path: Path) -> None:
    table(numbered=False).frame.write_csv(tmp_path / "t.csv")
    words = ("analyze", "t.csv", "cells", "-f", "buffer", "-f", "algorithm", "--out", "cells.csv")
    assert cli(*words).returncode == 0
    with (tmp_path / "cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["buffer"], row["algorithm"]) for row in rows] == [
        ("large", "cubic"), ("large", "reno"), ("small", "cubic"), ("small", "reno")
    ]  # fmt: skip
    assert float(rows[0]["mean"]) == 23.0
    assert cli(*words).returncode == 2, "an existing file is kept"


def test_names_that_a_table_has_not_are_refused_with_the_nearest() -> None:
    with pytest.raises(TableError, match="yy"):
        cell_means(table(), "yy", ["buffer"])
    with pytest.raises(TableError, match="did you mean `buffer`"):
        cell_means(table(), "y", ["bufer"])
