"""Tests of `ResponseTable`: a table of runs with the levels of factors, and with responses.

Expected values are computed by hand.
"""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from longhaul.analysis import table as tables
from longhaul.analysis.table import Level, ResponseTable, TableError, is_meant, write_table


def of(
    columns: dict[str, list[object]], factors: list[str], responses: list[str] | None = None
) -> ResponseTable:
    return ResponseTable.of(pl.DataFrame(columns, strict=False), factors, responses or ())


@pytest.mark.parametrize(
    ("level", "text", "is_it"),
    [
        (1, "1.0", True), (1.0, "1", True), (0.001, "1e-3", True), (1, "2", False),
        ("a", "a", True), ("a", "A", False), ("1", "1.0", True), ("a", "1", False),
        (True, "true", True), (False, "false", True), (True, "false", False), (True, "True", False),
        ("5 ms", "5 ms", True), ("5 ms", "5", False),
    ],
)  # fmt: skip
def test_a_text_is_a_level_by_its_value(level: Level, text: str, is_it: bool) -> None:
    """Check that a text denotes the level of equal value; truth values are `true` and `false`."""
    assert is_meant(level, text) == is_it


@pytest.mark.parametrize(
    ("levels", "ascending"),
    [
        ([10, 9, 2], [2, 9, 10]), ([0.5, -1.0], [-1.0, 0.5]), (["10", "9"], ["9", "10"]),
        (["1 s", "2 ms", "30 s"], ["2 ms", "1 s", "30 s"]),
        (["2 Gbps", "3 Mbps"], ["3 Mbps", "2 Gbps"]),
        (["10 packets", "1 BDP"], ["1 BDP", "10 packets"]),
        (["b 1", "a 2"], ["a 2", "b 1"]), (["1e3", "20"], ["20", "1e3"]),
        (["inf", "20", "3"], ["20", "3", "inf"]), ([], []),
    ],
)  # fmt: skip
def test_levels_ascend_by_size_or_else_by_alphabet(
    levels: list[Level], ascending: list[Level]
) -> None:
    """Check the order of levels: times and rates by size in any unit, other texts by alphabet."""
    assert tables._ascending(levels) == ascending


def test_responses_are_all_other_numbers_unless_named() -> None:
    """Check that responses are by default all columns of numbers that are not factors.

    Texts, identifiers of runs, costs and versions are no responses.
    """
    columns: dict[str, list[object]] = {
        "a": [1, 2], "y": [0.5, 1.5], "text": ["p", "q"], "run": [1, 2], "block": [1, 1],
        "replication": [1, 1], "n": [3, 4], "wall_s": [1.0, 2.0], "data_packets": [5, 6],
        "results_version": [20, 20],
    }  # fmt: skip
    assert of(columns, ["a"]).responses == ("y", "n")
    assert of(columns, ["a"], ["wall_s"]).responses == ("wall_s",)
    with pytest.raises(TableError, match="unknown column `z`"):
        of(columns, ["a"], ["z"])


def test_levels_that_no_run_has_are_none() -> None:
    """Check that levels without runs are dropped, and that given levels keep their order."""
    frame = pl.DataFrame({"a": ["x", "y", None], "v": [1.0, 2.0, 3.0]})
    given = ResponseTable.of(frame, {"a": ["z", "y", "x"]}, ["v"])
    assert given.factors == {"a": ["y", "x"]}
    assert ResponseTable.of(frame, ["a"], ["v"]).factors == {"a": ["x", "y"]}


def test_likely_factors_have_few_values_texts_first() -> None:
    """Check the columns that a message suggests as factors, texts first.

    Suggested columns have 2 to 40 different values.
    """
    few = tables.MOST_LEVELS
    columns: dict[str, list[object]] = {f"same{n}": [1] * (few + 1) for n in range(19)}
    columns |= {
        "forty": [n % few for n in range(few + 1)],
        "many": [*range(few + 1)],
        "two": [n % 2 for n in range(few + 1)],
        "kind": [("a", "b", "c")[n % 3] for n in range(few + 1)],
    }
    with pytest.raises(TableError) as refused:
        of(columns, [])
    assert str(refused.value) == (
        "expected --factor: the columns that are factors; of 23 columns those with 2 to 40 "
        "different values are kind, two, forty"
    )
    columns |= {f"pair{n}": [n % 2 for n in range(few + 1)] for n in range(20)}
    with pytest.raises(TableError, match=r"are kind, .* and 3 more$"):
        of(columns, [])


def test_a_value_is_missing_if_it_is_null_or_no_finite_number() -> None:
    given = of({"a": [1, 1, 2, 2], "y": [1.0, None, math.nan, math.inf], "n": [1, 2, 3, 4]}, ["a"])
    assert [given.without(name) for name in ("y", "n")] == [3, 0]
    assert given.incomplete() == {"y": 3}
    assert given.values("n").tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(TableError, match="y: 3 of 4 runs have no value: a 1; a 2; a 2; --without"):
        given.values("y")
    # A response without any value is not listed as incomplete.
    assert of({"a": [1, 2], "y": [None, math.nan]}, ["a"], ["y"]).incomplete() == {}


def test_runs_are_named_by_the_factors_that_vary() -> None:
    given = of({"a": [1, 2], "same": ["s", "s"], "y": [None, 1.0]}, ["same", "a"], ["y"])
    with pytest.raises(TableError, match="have no value: a 1;"):
        given.values("y")
    alone = of({"same": ["s"], "y": [None]}, ["same"], ["y"])
    with pytest.raises(TableError, match="have no value: same s;"):
        alone.values("y")


def test_runs_without_any_of_several_responses_are_left_out() -> None:
    """Check that only runs with values of all given responses remain.

    An unknown response is ignored here; it is refused later, with its name in the message.
    """
    given = of({"a": [1, 2, 3, 4], "y": [1.0, None, 3.0, 4.0], "z": [1.0, 2.0, None, 4.0]}, ["a"])
    rest, left_out = given.with_all(["y", "z"])
    assert (rest.frame["a"].to_list(), left_out) == ([1, 4], ["a 2", "a 3"])
    assert given.with_all(["y", "unknown"]) == (given, [])
    assert given.complete() == ()
    assert rest.complete() == ("y", "z")


def test_costs_of_groups_tell_nothing_either() -> None:
    """Check that neither costs of runs (such as memory) nor copies of responses are analysed."""
    given = of(
        {"a": [1, 2], "y": [1, 2], "same": [1.0, 2.0], "group.wall_s": [3.0, 4.0], "z": [2.0, 1.0],
         "peak_memory_bytes": [5, 6], "gap": [None, 1.0]},
        ["a"],
    )  # fmt: skip
    assert given.telling() == ("y", "z")


def test_patterns_choose_responses_in_their_order_and_once() -> None:
    """Check that patterns select responses in the order of the patterns, each once.

    If a pattern is the name of a response, it means this response alone.
    """
    given = of({"a": [1], "y1": [1.0], "y2": [1.0], "y[1]": [1.0], "z": [1.0]}, ["a"])
    assert given.matching(["z", "y?"]) == ("z", "y1", "y2")
    assert given.matching(["y*", "y1"]) == ("y1", "y2", "y[1]")
    assert given.matching(["y[1]"]) == ("y[1]",)
    assert given.matching([]) == ()


def test_coded_levels_are_of_the_named_factors_in_their_order() -> None:
    given = of(
        {"a": [1, 2, 1], "b": ["y", "x", "x"], "c": [1, 1, 1], "y": [1.0] * 3}, ["a", "b", "c"]
    )
    assert given.coded(["b", "a"]).tolist() == [[1, -1], [-1, 1], [-1, -1]]
    with pytest.raises(TableError, match="c: expected two levels, found 1"):
        given.coded(["c"])
    with pytest.raises(TableError, match="unknown factor `d`"):
        given.coded(["d"])


def test_zero_and_negative_values_have_no_logarithm() -> None:
    given = of({"a": [1, 2], "y": [1, 10], "zero": [0.0, 1.0], "low": [-1.0, 1.0]}, ["a"])
    assert given.positive() == ("y",)
    for name, least in (("zero", "0"), ("low", "-1")):
        with pytest.raises(TableError, match=f"{name}: .* found {least}$"):
            given.logarithms([name])
    found = given.logarithms(["y"])
    assert (found.place("y"), found.place("zero")) == ("log10(y)", "zero")
    assert found.frame["y"].to_list() == [0.0, 1.0]


def test_runs_are_chosen_by_any_column() -> None:
    """Check that `where` selects, or removes, the runs with given levels of any column.

    A run without a level is dropped by a selection, but not by a removal.
    """
    given = of({"a": [1, 2, 2], "block": [1, 2, None], "y": [1.0, 2.0, 3.0]}, ["a"], ["y"])
    assert given.where("block", ["2"]).values("y").tolist() == [2.0]
    without = given.where("block", ["2"], keep=False)
    assert without.values("y").tolist() == [1.0, 3.0]
    assert without.factors == {"a": [1, 2]}
    assert given.where("a", ["1", "2"]).values("y").tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(TableError, match="block has no level 3"):
        given.where("block", ["3"])
    with pytest.raises(TableError, match="unknown factor `blok`"):
        given.where("blok", ["1"])
    with pytest.raises(TableError, match="a: no run is left"):
        given.where("a", ["1", "2"], keep=False)


def test_factors_are_entangled_if_levels_do_not_occur_in_proportion() -> None:
    """Check that two factors are entangled if their levels do not occur in proportion.

    Doubling the runs of one level keeps the proportions; one missing run breaks them.
    """
    uneven = [(a, b) for a in "pqq" for b in "xyy"]
    columns: dict[str, list[object]] = {"a": [a for a, _ in uneven], "b": [b for _, b in uneven]}
    given = of({**columns, "y": [1.0] * 9}, ["a", "b"])
    assert given.entangled() == []
    less = ResponseTable.of(given.frame[1:], ["a", "b"], ["y"])
    assert less.entangled() == [("a", "b")]
    numbers = of({"a": [1, 2, 10], "b": [1, 2, 2], "c": [5, 5, 5], "y": [1.0] * 3}, ["a", "b", "c"])
    assert numbers.entangled() == [("a", "b")]


def test_conditions_are_means_over_replications_of_complete_responses() -> None:
    given = of(
        {"kind": ["p", "q", "p", "q"], "y": [1.0, 2.0, 3.0, 6.0], "gap": [None, 1.0, 1.0, 1.0]},
        ["kind"], ["gap", "y"],
    )  # fmt: skip
    kept, cells, lacking = given.conditions("kind")
    assert (kept, lacking) == ([{}], [])
    assert cells.tolist() == [[[2.0, 4.0]]]
    with pytest.raises(TableError, match="unknown factor `other`"):
        given.conditions("other")


def test_the_only_condition_is_named_so() -> None:
    """Check that a table with a single factor has one condition, named `the only one`."""
    given = of(
        {"kind": ["p", "q", "p", "p"], "replication": [2, 1, 1, 2], "y": [1.0, 2.0, 3.0, 5.0]},
        ["kind"], ["y"],
    )  # fmt: skip
    # A dictionary of levels per replication; runs with equal level and replication are averaged.
    assert given.matched("kind", "y") == {"the only one": [{"q": 2.0, "p": 3.0}, {"p": 3.0}]}
    with pytest.raises(TableError, match="unknown factor `other`"):
        given.matched("other", "y")
    with pytest.raises(TableError, match="unknown response `z`"):
        given.matched("kind", "z")


def test_a_table_that_is_read_has_what_was_written(tmp_path: Path) -> None:
    """Check that a table of a CSV or Parquet file has the values that were written.

    In CSV files, lines with # are comments and NA is a missing value. Levels of single precision
    are read as short decimals, such as 0.1.
    """
    (tmp_path / "t.csv").write_text("# by R\na,y,z\n1,NA,2\n2,0.5,3\n")
    read = ResponseTable.read(tmp_path / "t.csv", ["a"], ["y"])
    assert (read.responses, read.frame["y"].to_list()) == (("y",), [None, 0.5])
    narrow = pl.DataFrame({"loss": np.array([0.1, 0.001], np.float32), "y": [1.0, 2.0]})
    write_table(tmp_path / "t.parquet", narrow, {"loss": (0.1, 0.001)})
    read = ResponseTable.read(tmp_path / "t.parquet", ["y"])
    assert read.factors == {"loss": [0.1, 0.001]}
    assert read.places == {}
    write_table(tmp_path / "none.parquet", narrow, {})
    assert ResponseTable.read(tmp_path / "none.parquet", ["loss"]).factors == {"loss": [0.001, 0.1]}


def test_three_texts_are_named_and_the_others_counted() -> None:
    assert [tables.some("abcd"[:count]) for count in range(5)] == [
        "", "a", "a; b", "a; b; c", "a; b; c; and 1 more"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "most", "sizes"),
    [(1, 1, [1]), (4, 4, [4]), (5, 4, [3, 2]), (8, 4, [4, 4]), (9, 4, [3, 3, 3]), (3, 1, [1] * 3)],
)
def test_parts_are_as_few_as_possible_and_nearly_equal(
    count: int, most: int, sizes: list[int]
) -> None:
    parts = tables.equal_parts(count, most)
    assert [len(part) for part in parts] == sizes
    assert [place for part in parts for place in part] == list(range(count))
