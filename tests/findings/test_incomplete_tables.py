"""Analyses of tables in which conditions, levels or values are missing."""

from pathlib import Path

import polars as pl
import pytest
from conftest import CommandLine

from longhaul.analysis.table import ResponseTable, TableError
from longhaul.campaign import Run
from longhaul.campaign.cost import expected_packets
from longhaul.findings import Options, analyse

WHO = ["reno", "cubic", "bic"]


def table(conditions: int, *, without: int = 0) -> ResponseTable:
    """Three competitors under some conditions, without the last few rows."""
    rows = [
        {"condition": k + 1, "algorithm": who, "rate": 0.01 * 4**k, "y1_TP1": 1.0 + k + at,
         "y2_TP1": 2.0 - at * k, "DD_TP1": 1.0 + k + at, "y1_TP2": at + 0.5, "events": 7 * k + at}
        for k in range(conditions)
        for at, who in enumerate(WHO)
    ]  # fmt: skip
    frame = pl.DataFrame(rows[: len(rows) - without])
    return ResponseTable.of(frame, ["condition", "algorithm"])


def test_there_are_no_more_classes_than_different_rates() -> None:
    for conditions, classes in ((1, 1), (2, 2), (6, 4)):
        options = Options(responses=("rate",), of="algorithm")
        (text,) = analyse("congestion", table(conditions), options).tables
        assert [row[2] for row in text.rows][-1] == classes
        assert len(text.rows) == conditions


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
    frame = given.frame.with_columns(pl.Series("y2_TP1", [None, *values[1:]]))
    lacking = ResponseTable(frame, given.factors, given.responses)
    options = Options(responses=("y1_TP1", "y2_TP1"), of="algorithm")
    left_out, means, *_ = analyse("users", lacking, options).tables
    assert left_out.rows == [("y2_TP1", 1)]
    assert [row[0] for row in means.rows] == ["y1_TP1"]
    with pytest.raises(TableError, match="1 of 9 runs have no value"):
        analyse("users", lacking, Options(responses=("y2_TP1",), of="algorithm"))


def test_responses_are_those_that_say_something_of_their_own() -> None:
    # DD_TP1 is y1_TP1 by another name, and events are no response.
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

    ours = expected_packets(of(300, 100))
    assert expected_packets(of(600, 100)) == pytest.approx(2 * ours)
    original = Run("E", {}, 0, {"mesonet": {"MI": 300, "baseSources": 100}})
    assert expected_packets(original) == pytest.approx(ours)
    assert ours > 100 * 300 * 0.2
