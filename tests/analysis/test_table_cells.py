"""Tables of responses of six runs: selection of runs and responses, and error messages."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from longhaul.analysis.judging import CONTRADICTED, OUTSIDE, REPRODUCED, UNDECIDED, Expected
from longhaul.analysis.table import ResponseTable, TableError, equal_parts, some, write_table


def table(**columns: list[object]) -> ResponseTable:
    """Return a table of two algorithms at three rates; one algorithm lacks the last rate."""
    frame = pl.DataFrame(
        {
            "algorithm": ["reno", "cubic"] * 2 + ["reno"] * 2,
            "rate": [10, 10, 20, 20, 40, 40],
            "replication": [1, 1, 1, 1, 1, 2],
            "y": [1.0, 2.0, 10.0, 20.0, 100.0, 1000.0],
            "z": [0.0, 1.0, 2.0, 3.0, 4.0, None],
            **columns,
        }
    )
    factors: dict[str, list[str | int | float]] = {
        "algorithm": ["reno", "cubic"],
        "rate": [10, 20, 40],
    }
    return ResponseTable.of(frame, factors, ["y", "z", *columns])


def test_names_that_a_table_has_not_are_refused() -> None:
    given = table()
    assert given.require("rate") == "rate"
    with pytest.raises(TableError, match=r"unknown factor `rat` .*did you mean `rate`"):
        given.require("rat")
    with pytest.raises(TableError, match=r"unknown factor `y`; available: [^;]*$"):
        given.require("y")
    with pytest.raises(TableError, match=r"unknown response `x`"):
        given.values("x")
    with pytest.raises(TableError, match="unknown column `w`"):
        ResponseTable.of(given.frame, ["w"])
    with pytest.raises(TableError, match="no response is like `q\\*`"):
        given.matching(["q*"])
    assert given.matching(["z", "*"]) == ("z", "y")


def test_levels_of_two_are_coded() -> None:
    given = table()
    assert (given.varying, given.two_level) == (["algorithm", "rate"], ["algorithm"])
    assert given.coded().tolist() == [[-1], [1], [-1], [1], [-1], [-1]]
    for factors, message in (
        (["rate"], "rate: expected two levels, found 3"),
        ([], "expected a factor of two levels, found none"),
    ):
        with pytest.raises(TableError, match=message):
            given.coded(factors)


def test_runs_without_a_value_are_named_or_left_out() -> None:
    given = table()
    assert (given.complete(), given.incomplete(), given.without("z")) == (("y",), {"z": 1}, 1)
    with pytest.raises(TableError, match="z: 1 of 6 runs have no value: algorithm reno, rate 40;"):
        given.values("z")
    rest, left_out = given.with_all(["y", "z"])
    assert (len(rest.frame), left_out) == (5, ["algorithm reno, rate 40"])
    assert given.with_all([]) == (given, [])
    bare = table(a=[1.0, None, None, None, None, None], b=[None, 1.0, 2.0, None, None, None])
    with pytest.raises(TableError, match=r"of 6 runs these have a value: a \(1\); b \(2\)"):
        bare.with_all(["a", "b"])


def test_logarithms_are_of_what_is_above_zero() -> None:
    given = table()
    assert given.positive() == ("y",)
    logarithms = given.logarithms(["y"])
    assert logarithms.responses == ("y",)
    assert logarithms.values("y") == pytest.approx(np.log10([1, 2, 10, 20, 100, 1000]))
    assert logarithms.place("y") != "y"
    whole, _ = given.with_all(["z"])
    with pytest.raises(TableError, match="z: expected values above 0 for a logarithm, found 0"):
        whole.logarithms(["z"])


def test_responses_that_tell_something_are_neither_costs_nor_repeated() -> None:
    values: list[object] = [1.0, 2.0, 10.0, 20.0, 100.0, 1000.0]
    given = table(again=values, wall_s=[1.0] * 6, other=[5.0] * 6)
    assert given.telling() == ("y", "other")


def test_levels_keep_their_numbers_where_others_are_left_out() -> None:
    given = table()
    assert given.numbered("rate") == {1: "10", 2: "20", 3: "40"}
    fewer = given.where("rate", ["20"], keep=False)
    assert fewer.numbered("rate") == {1: "10", 3: "40"}
    # A level without remaining runs is not listed.
    chosen = given.where("algorithm", ["cubic"])
    assert (chosen.factors["rate"], chosen.numbered("rate")) == ([10, 20], {1: "10", 2: "20"})
    assert chosen.numbered("algorithm") == {2: "cubic"}
    with pytest.raises(TableError, match="rate: no run is left"):
        chosen.where("rate", ["10"], keep=False).where("rate", ["20"], keep=False)


def test_runs_without_a_level_are_refused() -> None:
    frame = pl.DataFrame({"a": ["x", None, None], "y": [1.0, 2.0, 3.0]})
    given = ResponseTable.of(frame, ["a"], ["y"])
    with pytest.raises(TableError, match="a: 2 of 3 runs have no level; --only FACTOR=LEVEL"):
        given.require_levels()
    given.where("a", ["x"]).require_levels()


def test_conditions_have_every_competitor_or_are_named() -> None:
    given, _ = table().with_all(["z"])
    kept, cells, lacking = given.conditions("algorithm")
    assert kept == [{"rate": 10}, {"rate": 20}]
    assert cells.tolist() == [[[1.0, 2.0], [0.0, 1.0]], [[10.0, 20.0], [2.0, 3.0]]]
    assert lacking == ["rate 40 lacks cubic"]
    both = ResponseTable.of(
        pl.DataFrame({"a": ["x", "y"], "n": [1, 2], "v": [1.0, 2.0]}), ["a", "n"], ["v"]
    )
    with pytest.raises(TableError, match="every level of a: n 1 lacks y; n 2 lacks x"):
        both.conditions("a")


def test_matched_values_are_by_replication() -> None:
    found = table().matched("algorithm", "y")
    assert found == {
        "rate 10": [{"reno": 1.0, "cubic": 2.0}, {}],
        "rate 20": [{"reno": 10.0, "cubic": 20.0}, {}],
        "rate 40": [{"reno": 100.0}, {"reno": 1000.0}],
    }
    assert table().averaged().values("y").tolist() == [1.0, 2.0, 10.0, 20.0, 550.0]


def test_a_parquet_file_names_its_factors_and_a_csv_file_does_not(tmp_path: Path) -> None:
    given = table()
    for name in ("t.parquet", "t.csv"):
        write_table(tmp_path / name, given.frame, given.factors)
    read = ResponseTable.read(tmp_path / "t.parquet")
    assert (read.factors, read.responses) == (dict(given.factors), ("y", "z"))
    with pytest.raises(TableError, match="expected --factor: the columns that are factors"):
        ResponseTable.read(tmp_path / "t.csv")
    assert ResponseTable.read(tmp_path / "t.csv", ["rate"]).factors == {"rate": [10, 20, 40]}
    with pytest.raises(TableError, match=r"none\.csv: no such file"):
        ResponseTable.read(tmp_path / "none.csv")


def test_lists_are_cut_and_pages_are_nearly_equal() -> None:
    assert some(["a", "b"]) == "a; b"
    many = [str(number) for number in range(30)]
    text = some(many)
    count = text.count(";")
    assert text.endswith(f"; and {30 - count} more")
    assert [len(part) for part in equal_parts(10, 4)] == [4, 4, 2]
    assert [len(part) for part in equal_parts(9, 5)] == [5, 4]
    assert [list(part) for part in equal_parts(3, 5)] == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((1.0, 2.0), REPRODUCED), ((0.9, 1.5), UNDECIDED), ((1.5, 2.1), UNDECIDED),
        ((0.5, 2.5), UNDECIDED), ((2.1, 2.4), OUTSIDE), ((0.6, 0.9), OUTSIDE),
        ((0.1, 0.5), CONTRADICTED), ((0.1, 0.6), OUTSIDE), ((1 - 1e-12, 2 + 1e-12), REPRODUCED),
    ],
)  # fmt: skip
def test_a_verdict_is_of_the_whole_interval(interval: tuple[float, float], verdict: str) -> None:
    """Check that a verdict depends on the whole confidence interval, not only on its middle.

    Values from 1 to 2 agree with the statement, and values up to 0.5 contradict it.
    """
    expected = Expected(1.0, 2.0, opposite=0.5)
    assert expected.judge(sum(interval) / 2, interval) == verdict
    mirrored = Expected(-2.0, -1.0, opposite=-0.5)
    assert mirrored.judge(-sum(interval) / 2, (-interval[1], -interval[0])) == verdict


def test_bands_around_a_printed_number() -> None:
    def ends(expected: Expected) -> tuple[float, float, float | None]:
        return expected.low, expected.high, expected.printed

    assert ends(Expected.exactly(3.0)) == (3.0, 3.0, 3.0)
    assert ends(Expected.within(3.0, 0.5)) == (2.5, 3.5, 3.0)
    assert ends(Expected.within_part(-4.0, 0.25)) == (-5.0, -3.0, -4.0)
    assert ends(Expected.within_part(4.0, 0.25, at_least=2.0)) == (2.0, 6.0, 4.0)
    assert ends(Expected.as_printed(0.25, 2)) == pytest.approx((0.245, 0.255, 0.25))
    assert ends(Expected.as_printed(0.25, 2, inputs=0.1)) == pytest.approx((0.145, 0.355, 0.25))
