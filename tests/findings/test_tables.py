"""Input and output of `longhaul analyze`: studies given by name, and scores of components."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine

from longhaul.analysis.components import principal_components
from longhaul.analysis.table import ResponseTable
from longhaul.findings import Options, analyse

# Options for chapter 4: factors that all results of the study have.
SCREENING = [
    *("-f", "speed", "-f", "think", "-f", "delay"), "--only", "experiment=SA64",
    "-r", "y11_measured", "--json",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["nist-2010", "nist-2010/full", "studies/nist-2010/results/full/values.parquet"],
)
def test_results_that_come_with_a_study_are_a_table(name: str, cli: CommandLine) -> None:
    found = cli("analyze", name, "effects", *SCREENING)
    assert found.returncode == 0, found.stderr
    (table,) = json.loads(found.stdout)["effects"]
    assert [row["factor"] for row in table["rows"]].count("speed") == 2


def test_results_of_a_study_in_a_directory_are_a_table_and_no_run(
    tmp_path: Path, cli: CommandLine
) -> None:
    frame = pl.DataFrame({"speed": [1, 1, 2, 2], "y": [1.0, 2.0, 3.0, 5.0]})
    folder = tmp_path / "studies/nist-2010/results/quick"
    folder.mkdir(parents=True)
    frame.write_parquet(folder / "values.parquet")
    # A study's results have a `run.json`, but are not a run.
    (folder / "run.json").write_text("{}")
    for name in (folder, folder / "values.parquet"):
        found = cli("analyze", name, "effects", "-f", "speed", "--json")
        assert found.returncode == 0, found.stderr
        assert json.loads(found.stdout)["effects"][0]["title"] == "y"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nist-2011", "none of the studies c4-2026"),
        ("nist-2010/middling", "no scale is called `middling`"),
        ("nowhere.csv", "nowhere.csv: no such file"),
        (
            "nist-2010/full effects -f algorithm --only experiment=N7-CUT -r y1_TP",
            r"nearest of \d+: y1_TP",
        ),
        ("nist-2010/full residuals -f conditions", r"nearest of \d+: condition"),
    ],
)
def test_what_is_no_table_or_column_is_refused_in_a_line(
    words: str, message: str, cli: CommandLine
) -> None:
    found = cli("analyze", *words.split())
    assert found.returncode == 2
    assert re.search(message, found.stderr)
    assert len(found.stderr) < 400


def test_columns_that_may_be_factors_are_named_without_the_hundreds_of_others(
    cli: CommandLine,
) -> None:
    found = cli("analyze", "nist-2010/full")
    assert found.returncode == 2
    assert re.search(r"of \d+ columns", found.stderr)
    assert "algorithm" in found.stderr
    assert len(found.stderr) < 600


def test_the_factor_whose_levels_compete_need_not_be_named_twice(
    tmp_path: Path, cli: CommandLine
) -> None:
    rng = np.random.default_rng(1)
    cells = [(c, who) for c in range(4) for who in ("reno", "cubic", "bic", "htcp")]
    frame = pl.DataFrame(cells, schema=["condition", "algorithm"], orient="row")
    frame.with_columns(y=rng.normal(size=16)).write_csv(tmp_path / "t.csv")
    short = cli("analyze", "t.csv", "residuals", "-f", "condition", "--of", "algorithm", "--json")
    long = cli("analyze", "t.csv", "residuals", "-f", "condition", "-f", "algorithm",
               "--of", "algorithm", "--json")  # fmt: skip
    assert short.returncode == 0, short.stderr
    assert short.stdout == long.stdout


@pytest.fixture
def measured(tmp_path: Path) -> ResponseTable:
    """Return a table of two factors, and three responses of which two are correlated."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": [1, 2] * 8, "b": (["low"] * 2 + ["high"] * 2) * 4}).with_columns(
        x=pl.Series(rng.normal(size=16)) + 3 * pl.col("a"), z=pl.Series(rng.normal(size=16))
    )
    frame = frame.with_columns(y=2 * pl.col("x") + 0.1 * pl.col("z"))
    frame.write_csv(tmp_path / "t.csv")
    return ResponseTable.of(frame, {"a": [1, 2], "b": ["low", "high"]})


def test_scores_stand_beside_factors(measured: ResponseTable) -> None:
    scores = analyse("components", measured, Options()).scores
    assert scores is not None
    assert scores.columns == ["a", "b", "PC1", "PC2", "PC3"]
    values = np.stack([measured.values(name) for name in measured.telling()], axis=1)
    expected = principal_components(values).scores
    assert np.allclose(scores.select("PC1", "PC2", "PC3").to_numpy(), expected)


@pytest.mark.parametrize(("suffix", "named"), [("csv", ["-f", "a", "-f", "b"]), ("parquet", [])])
def test_effects_on_scores_are_analysed_as_of_any_response(
    suffix: str, named: list[str], measured: ResponseTable, tmp_path: Path, cli: CommandLine
) -> None:
    file = f"pc.{suffix}"
    done = cli("analyze", "t.csv", "components", "-f", "a", "-f", "b", "--scores", file)
    assert done.returncode == 0, done.stderr
    found = cli("analyze", file, "ten-step", *named, "-r", "PC1", "--json")
    assert found.returncode == 0, found.stderr
    (table,) = json.loads(found.stdout)["ten-step"]
    assert table["rows"][0]["effect"] == "a"
    # Scores have a mean of zero, so percentages of it do not exist.
    assert table["rows"][0]["% of mean"] is None
    again = cli("analyze", "t.csv", "components", "-f", "a", "-f", "b", "--scores", file)
    assert (again.returncode, "already exists" in again.stderr) == (2, True)


def test_scores_need_the_analysis_that_has_them(measured: ResponseTable, cli: CommandLine) -> None:
    found = cli("analyze", "t.csv", "effects", "-f", "a", "--scores", "pc.csv")
    assert (found.returncode, "expected the analysis `components`" in found.stderr) == (2, True)


def test_options_that_no_analysis_takes_are_refused(
    measured: ResponseTable, cli: CommandLine
) -> None:
    words = ("analyze", "t.csv", "effects", "cells", "-f", "a", "--min-percent", "2")
    found = cli(*words)
    assert found.returncode == 2
    assert "--min-percent: expected an analysis that takes it, found effects, cells" in found.stderr
    assert "available: standouts" in found.stderr


def test_a_single_factor_has_no_contours(measured: ResponseTable, cli: CommandLine) -> None:
    found = cli("analyze", "t.csv", "ten-step", "-f", "a", "-r", "x", "--out", "pictures")
    assert found.returncode == 0, found.stderr
    steps = {Path(line).name[:2] for line in found.stdout.splitlines() if line.endswith(".svg")}
    assert steps == {f"{step:02}" for step in range(1, 10)}


def test_logarithms_are_taken_of_both_tables_and_what_is_left_out_is_said(
    tmp_path: Path, cli: CommandLine
) -> None:
    file = tmp_path / "u.csv"
    file.write_text("algo,n,good,lost,part\na,1,1.5,3,1\nb,1,2.5,17,\na,2,10,1,2\nb,2,40,900,3\n")
    logs = ("-f", "algo", "-f", "n", "--log")
    found = cli("analyze", file, "correlations", *logs, "--against", file, "--json")
    assert found.returncode == 0, found.stderr
    assert "part (1 of 4 runs)" in found.stderr
    tables = {table["title"]: table["rows"] for table in json.loads(found.stdout)["correlations"]}
    assert tables["pairs"]
    assert not tables["against the other campaign"]
