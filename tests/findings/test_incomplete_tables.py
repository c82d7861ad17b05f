"""Analyses of tables in which conditions, levels or values are missing."""

import json
from itertools import product
from math import inf, nan
from pathlib import Path

import polars as pl
import pytest
from conftest import CommandLine

from longhaul.analysis.table import ResponseTable, TableError
from longhaul.campaign import Run
from longhaul.findings import Options, analyse

WHO = ["reno", "cubic", "bic"]


def table(conditions: int, *, without: int = 0) -> ResponseTable:
    """Return a table of three competitors under some conditions.

    The last `without` rows are missing.
    """
    rows = [
        {"condition": k + 1, "algorithm": who, "rate": 0.01 * 4**k, "y1_TP1": 1.0 + k + at,
         "y2_TP1": 2.0 - at * k, "DD_TP1": 1.0 + k + at, "y1_TP2": at + 0.5, "events": 7 * k + at}
        for k in range(conditions)
        for at, who in enumerate(WHO)
    ]  # fmt: skip
    frame = pl.DataFrame(rows[: len(rows) - without])
    return ResponseTable.of(frame, ["condition", "algorithm"])


def test_there_are_no_more_classes_than_different_rates() -> None:
    for conditions, last in ((1, "C1"), (2, "C2"), (6, "C")):
        options = Options(responses=("rate",), of="algorithm")
        (text,) = analyse("congestion", table(conditions), options).tables
        assert [row[2] for row in text.rows][-1] == last
        assert len(text.rows) == conditions
    # Without another factor, all runs are one condition.
    alone = ResponseTable.of(table(1).frame, ["algorithm"], ["rate"])
    found = analyse("congestion", alone, Options(responses=("rate",), of="algorithm"))
    assert found.tables[0].rows == [("all", 0.01, "C1")]
    found.plots["congestion"]()
    options = Options(responses=("rate",), of="algorithm", classes=50)
    with pytest.raises(TableError, match="classes: expected at most 6, as many as rate has"):
        analyse("congestion", table(6), options)
    options = Options(of="algorithm", order_by="rate", classes=50)
    with pytest.raises(TableError, match="classes: expected at most 6, as many as rate has"):
        analyse("clusters", table(6), options)


def test_incomplete_design_says_what_is_missing() -> None:
    frame = table(5).frame.filter(pl.col("algorithm") != "bic")
    with_bic = pl.concat([frame, table(1).frame.with_columns(condition=pl.lit(9, pl.Int64))])
    lacking = ResponseTable.of(
        with_bic.filter(~((pl.col("condition") == 9) & (pl.col("algorithm") != "bic"))),
        ["condition", "algorithm"],
    )
    with pytest.raises(TableError) as refused:
        analyse("clusters", lacking, Options(of="algorithm"))
    assert str(refused.value) == (
        "no condition has every level of algorithm: condition 1 lacks bic; condition 2 lacks bic; "
        "condition 3 lacks bic; and 3 more; --without algorithm=LEVEL leaves a level out"
    )


def test_group_of_users_without_flows_is_left_out_and_named() -> None:
    given = table(3)
    values = given.frame["y2_TP1"].to_list()
    frame = given.frame.with_columns(pl.Series("y2_TP1", [None, nan, inf, *values[3:]]))
    lacking = ResponseTable(frame, given.factors, given.responses)
    options = Options(responses=("y1_TP1", "y2_TP1"), of="algorithm")
    left_out, means, *_ = analyse("users", lacking, options).tables
    assert left_out.rows == [("y2_TP1", 3)]
    assert [row[0] for row in means.rows] == ["y1_TP1"]
    with pytest.raises(
        TableError, match="3 of 9 runs have no value: condition 1, algorithm reno; "
    ):
        analyse("users", lacking, Options(responses=("y2_TP1",), of="algorithm"))


def test_responses_are_those_that_say_something_of_their_own() -> None:
    # DD_TP1 equals y1_TP1, and numbers of events are not responses.
    assert table(3).telling() == ("rate", "y1_TP1", "y2_TP1", "y1_TP2")


def test_responses_by_pattern() -> None:
    assert table(2).matching(["y*_TP1", "rate"]) == ("y1_TP1", "y2_TP1", "rate")
    with pytest.raises(TableError, match=r"no response is like `z\*`; available: rate, y1_TP1"):
        table(2).matching(["z*"])


def test_patterns_and_png_on_the_command_line(cli: CommandLine, tmp_path: Path) -> None:
    table(4).frame.write_csv(tmp_path / "t.csv")
    words = ["t.csv", "clusters", "-f", "condition", "-f", "algorithm", "--of", "algorithm"]
    done = cli("analyze", *words, "-r", "y*_TP1", "--out", "plots", "--format", "png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "plots/clusters.png").read_bytes().startswith(b"\x89PNG")


def test_cost_of_mesonet_follows_from_intervals_and_sources_by_either_name() -> None:
    def of(intervals: int, sources: int) -> Run:
        mesonet = {"intervals": intervals, "hosts": {"sources": sources}}
        return Run("E", {}, 0, {"mesonet": mesonet})

    ours = of(300, 100).expected_packets
    assert of(600, 100).expected_packets == pytest.approx(2 * ours)
    original = Run("E", {}, 0, {"mesonet": {"MI": 300, "baseSources": 100}})
    assert original.expected_packets == pytest.approx(ours)
    assert ours > 100 * 300 * 0.2


def test_cost_of_mesonet_counts_the_sources_of_all_access_routers() -> None:
    def of(routers: int) -> float:
        backbone = [{"name": name, "direct": routers} for name in "XY"]
        links = [{"from": "X", "to": "Y", "delay": 5}]
        network = {"topology": {"backbone": backbone, "links": links}}
        scenario = {"mesonet": {"intervals": 10, "network": network}}
        return Run("E", {}, 0, scenario).expected_packets

    assert of(6) == pytest.approx(3 * of(2))


def test_what_does_not_vary_correlates_with_nothing() -> None:
    given = table(4)
    frame = given.frame.with_columns(flat=pl.lit(7.0))
    with_flat = ResponseTable.of(frame, given.factors)
    for analysis in ("components", "correlations"):
        found = analyse(analysis, with_flat, Options()).tables
        assert "flat" not in {cell for text in found for row in text.rows for cell in row}
        with pytest.raises(TableError, match="flat: expected a response that varies"):
            analyse(analysis, with_flat, Options(responses=("flat", "rate")))
    only_flat = ResponseTable.of(frame, given.factors, ["flat"])
    with pytest.raises(TableError, match="all responses are equal in all runs: flat"):
        analyse("components", only_flat, Options())


def test_values_that_are_not_finite_are_no_values() -> None:
    given = table(3)
    frame = given.frame.with_columns(
        y1_TP1=pl.lit(float("nan")), rate=pl.Series([1.0] * 8 + [float("inf")])
    )
    broken = ResponseTable(frame, given.factors, given.responses)
    assert not {"y1_TP1", "rate"} & set(broken.complete())
    assert broken.incomplete() == {"rate": 1}
    with pytest.raises(TableError, match="y1_TP1: 9 of 9 runs have no value"):
        broken.values("y1_TP1")


def test_responses_that_some_runs_lack_are_named(tmp_path: Path, cli: CommandLine) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("load,a,b,c\n1,,2,5\n2,3,4,1\n3,5,1,2\n4,1,7,2\n")
    result = cli("analyze", file, "components", "--factor", "load")
    assert "left out, since runs have no value: a (1 of 4 runs)" in result.stderr
    one = tmp_path / "components-biplot.svg"
    assert cli("analyze", file, "components", "-f", "load", "-o", one).returncode == 0
    assert one.is_file()
    other = cli("analyze", file, "components", "-f", "load", "-o", tmp_path / "mine.svg")
    assert "or the name of one of them, such as components-weights.svg" in other.stderr


def test_one_experiment_of_a_study_is_analysed(tmp_path: Path, cli: CommandLine) -> None:
    """Check that one experiment of a study's table can be analysed alone.

    Its factors are null in the other experiments' rows. Levels in single precision are read as
    short decimals, such as 0.01.
    """
    own = pl.DataFrame({
        "experiment": ["A"] * 4, "share": [0.01, 0.02, 0.01, 0.02], "rule": ["p", "p", "q", "q"],
        "sent": [1.0, 2.0, 3.0, 4.0],
    })  # fmt: skip
    other = pl.DataFrame({"experiment": ["B"] * 2, "speed": [1, 2], "sent": [5.0, 6.0]})
    whole = pl.concat([own, other], how="diagonal")
    whole.with_columns(pl.col("share").cast(pl.Float32)).write_parquet("v.parquet")
    words = ("analyze", "v.parquet", "effects", "-f", "share", "-f", "rule", "--json")
    refused = cli(*words)
    assert refused.returncode == 2
    assert "share: 2 of 6 runs have no level; --only FACTOR=LEVEL" in refused.stderr
    shown = cli(*words, "--only", "experiment=A")
    assert shown.returncode == 0, shown.stderr
    (table_,) = json.loads(shown.stdout)["effects"]
    assert {row["level"] for row in table_["rows"]} == {0.01, 0.02, "p", "q"}
    fewer = cli(*words, "--only", "experiment=A", "--without", "share=1e-2")
    assert {row["level"] for row in json.loads(fewer.stdout)["effects"][0]["rows"]} == {"p", "q"}
    # A run without an experiment is left out, too.
    pl.concat([whole, whole[:1].with_columns(experiment=None)]).write_parquet("w.parquet")
    not_b = cli(
        "analyze", "w.parquet", "cells", "-f", "share", "--without", "experiment=B", "--json"
    )
    assert [row["replications"] for row in json.loads(not_b.stdout)["cells"][0]["rows"]] == [3, 2]
    none = cli(*words, "--without", "experiment=A", "--without", "experiment=B")
    assert "no run is left" in none.stderr


def test_ten_steps_need_a_whole_design() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 1], "y": [1.0, 2.0, 4.0]})
    with pytest.raises(TableError, match="3 runs in which a and b go together"):
        analyse("ten-step", ResponseTable.of(frame, ["a", "b"]), Options(responses=("y",)))


def test_a_cube_needs_runs_at_all_corners() -> None:
    corners = list(product((1, 2), ("low", "high"), (1, 2)))[1:]
    frame = pl.DataFrame(corners, schema=["a", "b", "c"], orient="row").with_columns(y=1.0)
    options = Options(responses=("y",), factors=("a", "b", "c"))
    with pytest.raises(TableError, match="eight combinations, none has a 1, b low, c 1"):
        analyse("cube", ResponseTable.of(frame, options.factors), options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("effects -f condition -f who", "unknown column `who`"),
        ("effects -f condition --of who", "unknown column `who`"),
        ("effects -f condition --low-is-best z", "unknown response `z`"),
        ("regression -f condition -f algorithm", "without a unit, found algorithm"),
        (
            "residuals -f condition --of algorithm --without algorithm=bic",
            "expected 3 levels",
        ),
        (
            "clusters -f condition --of algorithm --only algorithm=bic",
            "expected 2 levels",
        ),
        (
            "compare -f condition --of algorithm --only algorithm=bic",
            "expected 2 levels",
        ),
        (
            "users -f condition --of algorithm -r y1_TP1 -r typo",
            "no response is like `typo`",
        ),
    ],
)
def test_words_that_would_change_nothing_are_refused(
    words: str, message: str, tmp_path: Path, cli: CommandLine
) -> None:
    table(4).frame.write_csv(tmp_path / "t.csv")
    found = cli("analyze", "t.csv", *words.split())
    assert (found.returncode, message in found.stderr) == (2, True), found.stderr


@pytest.mark.parametrize("analysis", ["clusters", "residuals", "standouts", "users", "compare"])
def test_conditions_that_lack_a_competitor_are_named(
    analysis: str, tmp_path: Path, cli: CommandLine
) -> None:
    table(3, without=1).frame.write_csv(tmp_path / "t.csv")
    words = ("-f", "condition", "--of", "algorithm", "-r", "y1_TP1", "--json")
    found = cli("analyze", "t.csv", analysis, *words)
    assert found.returncode == 0, found.stderr
    assert found.stderr == "left out: condition 3 lacks bic\n"


def test_factors_that_go_together_are_named(tmp_path: Path, cli: CommandLine) -> None:
    frame = table(3, without=1).frame.rename({"rate": "rate [/s]"})
    frame.write_csv(tmp_path / "t.csv")
    found = cli("analyze", "t.csv", "-f", "condition", "-f", "algorithm", "-r", "rate [/s]")
    assert found.returncode == 0, found.stderr
    assert "rate [/s]" in found.stdout
    assert "effect: condition and algorithm" in found.stderr
