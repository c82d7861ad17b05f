"""Analyses of competitors: numbering, order of conditions, groups of flows, refused input."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine

from longhaul.analysis import outliers
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.findings import Options, analyse
from longhaul.findings.registry import MINUS, in_signs, short
from longhaul.mesonet import groups

WHO = ["BIC", "CTCP", "FAST", "FAST-AT", "TCP"]
# Some groups of each type of file.
NUMBERS = (1, 8, 13, 14, 24)


def frame() -> pl.DataFrame:
    """Return goodputs of flow groups in experiment A, and runs of algorithms in experiment B."""
    rng = np.random.default_rng(8)
    names = [f"mean_{role}_{k}" for k in NUMBERS for role in groups.ROLES]
    rows = [
        {
            "experiment": "A", "condition": condition, "algorithm": who,
            "loss": 1.0 / (condition + 1) + 0.001 * at, "rtt_mean_s": 0.1,
            **{name: float(rng.uniform(100, 200)) for name in names},
        }
        for condition, (at, who) in product(range(1, 5), enumerate(WHO))
    ]  # fmt: skip
    other = [
        {**row, "experiment": "B", "algorithm": who}
        for row, who in zip(rows, ("AIMD", "BBR", "CUBIC", "DCTCP", "ELIA"), strict=False)
    ]
    return pl.DataFrame([*other, *rows])


def table() -> ResponseTable:
    return ResponseTable.of(frame(), ["condition", "algorithm"])


def test_numbers_are_those_of_the_whole_table() -> None:
    whole = dict(enumerate(WHO, start=1))
    of_a = table().where("experiment", ["A"])
    assert of_a.numbered("algorithm") == whole
    fewer = of_a.where("algorithm", ["FAST"], keep=False).where("condition", ["4"], keep=False)
    del whole[3]
    assert fewer.numbered("algorithm") == whole
    assert fewer.averaged().numbered("algorithm") == whole
    two = of_a.where("algorithm", ["TCP", "CTCP"])
    assert two.numbered("algorithm") == {2: "CTCP", 5: "TCP"}
    # The order of the filters does not matter: levels of other experiments do not count.
    late = table().where("algorithm", ["TCP", "CTCP"]).where("experiment", ["A"])
    assert list(late.numbered("algorithm").values()) == ["CTCP", "TCP"]


def of_users(*responses: str, order_by: str | None = None) -> Options:
    return Options(responses=responses, of="algorithm", order_by=order_by)


def test_conditions_are_ordered_by_the_mean_of_a_response() -> None:
    given = table().where("experiment", ["A"])
    drawn = analyse("users", given, of_users("mean_alternate_1", order_by="loss")).plots
    labels = drawn["users-matrix-BIC"]().axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["4", "3", "2", "1"]
    drawn = analyse("users", given, of_users("mean_alternate_1")).plots
    labels = drawn["users-matrix-BIC"]().axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["1", "2", "3", "4"]
    with pytest.raises(TableError, match="unknown response `losses`"):
        analyse("users", given, of_users("mean_alternate_1", order_by="losses"))


def test_two_levels_are_signs_whose_meaning_is_said() -> None:
    rows = [{"speed": speed, "condition": k, "y": 1.0} for k, speed in enumerate((1200, 600, 600))]
    given = ResponseTable.of(pl.DataFrame(rows), ["speed", "condition"])
    signs, meaning = in_signs(
        given, rows_of := [{k: row[k] for k in given.factors} for row in rows]
    )
    assert signs == {"speed": ["+", MINUS, MINUS], "condition": ["0", "1", "2"]}
    assert meaning.endswith("speed 600, 1200.")
    assert short(given, rows_of)[0] == ["+ 0", f"{MINUS} 1", f"{MINUS} 2"]


ALL = tuple(f"mean_{role}_{k}" for k in NUMBERS for role in groups.ROLES)


def test_matrices_have_own_and_competing_flows_apart_and_the_ranks_of_the_table() -> None:
    given = table().where("experiment", ["A"])
    plots = analyse("users", given, of_users(*ALL)).plots
    for role in groups.ROLES:
        drawing = plots[f"users-matrix-FAST-{role}"]()
        (axes,) = drawing.axes
        names = [label.get_text() for label in axes.get_xticklabels()]
        assert names == [groups.short_name(f"mean_{role}_{k}") for k in NUMBERS]
        assert len(set(names)) == len(NUMBERS)
        (first, *_) = given.frame.filter(pl.col("condition") == 1).partition_by("condition")
        values = first.sort("algorithm")["mean_" + role + "_8"].to_list()
        rank = sorted(values).index(values[WHO.index("FAST")]) + 1
        (cell,) = [text for text in axes.texts if text.get_position() == (1, 0)]
        assert cell.get_text() == str(rank)


def test_deviation_of_ranks_is_over_roles_and_types_of_file() -> None:
    """Check the standard deviation of an algorithm's average ranks, of which there are eight.

    Each is an average over all flow groups with the same role (of two) and type of file (of four),
    as in NIST SP 500-282, tables 8-31, 8-32 and 9-13.
    """
    given = table().where("experiment", ["A"])
    *_, by_type = analyse("users", given, of_users(*ALL)).tables
    rows = {row[0]: np.array(row[1:]) for row in by_type.rows}
    deviation, average = rows.pop("deviation"), rows.pop("average")
    assert len(rows) == 8
    np.testing.assert_allclose(average, np.mean(list(rows.values()), axis=0))
    np.testing.assert_allclose(deviation, np.std(list(rows.values()), axis=0, ddof=1))
    # Documents have two flow groups, and their average rank is over both.
    conditions = given.frame.sort("condition", "algorithm").partition_by("condition")
    ranks = [c[f"mean_standard_{k}"].rank().to_numpy() for c in conditions for k in (13, 14)]
    np.testing.assert_allclose(rows["mean goodput, standard, document"], np.mean(ranks, axis=0))


def test_groups_that_runs_lack_are_named_in_the_picture() -> None:
    lacking = frame().with_columns(
        mean_alternate_8=pl.when(pl.col("condition") == 2).then(None).otherwise(1.0)
    )
    given = ResponseTable.of(lacking, ["condition", "algorithm"]).where("experiment", ["A"])
    plots = analyse("users", given, of_users(*ALL)).plots
    notes = {
        role: " ".join(
            " ".join(text.get_text().split()) for text in plots[f"users-matrix-FAST-{role}"]().texts
        )
        for role in groups.ROLES
    }
    assert "SP VF-N" in notes["alternate"]
    assert "SP VF-N" not in notes["standard"]


def test_two_responses_of_different_units_are_not_compared() -> None:
    given = table().where("experiment", ["A"])
    with pytest.raises(TableError, match=r"one unit, found mean_alternate_1 \(packets/s\) and rtt"):
        analyse("users", given, of_users("mean_alternate_1", "rtt_mean_s"))


def test_bars_of_each_type_of_file_have_all_its_groups() -> None:
    given = table().where("experiment", ["A"])
    plots = analyse("users", given, of_users(*ALL)).plots
    drawing = plots["users-bars-document"]()
    titles = [axes.get_title() for axes in drawing.axes if axes.get_visible()]
    assert titles == ["VF-F", "VF-N", "", ""]
    heights = [bar.get_height() for bar in drawing.axes[0].patches]  # type: ignore[attr-defined]
    means = given.frame.group_by("algorithm").agg(pl.col("^mean_.*_13$").mean()).sort("algorithm")
    wanted = [*means["mean_alternate_13"], *means["mean_standard_13"]]
    np.testing.assert_allclose(heights, wanted)


def test_own_flows_over_those_beside_them_are_in_percent_of_the_own_mean() -> None:
    frame = pl.DataFrame({"algorithm": WHO, "condition": 1, "own": 10.0, "beside": 20.0})
    given = ResponseTable.of(frame, ["condition", "algorithm"])
    differences = analyse("users", given, of_users("own", "beside")).tables[1]
    assert differences.rows == [("own", 0.0, 0.0, -100.0)]
    assert differences.title == "differences, in percent: own flows and those beside them"
    assert "own over those beside: in percent of the own mean" in differences.note


def test_statistics_of_a_group_are_pairs_of_their_own() -> None:
    more = frame().with_columns(
        (2 * pl.col(f"mean_{role}_13")).alias(f"p90_{role}_13") for role in groups.ROLES
    )
    given = ResponseTable.of(more, ["condition", "algorithm"]).where("experiment", ["A"])
    names = [f"{statistic}_{role}_13" for statistic in ("mean", "p90") for role in groups.ROLES]
    found = analyse("users", given, of_users(*names))
    (differences,) = [text for text in found.tables if text.heads[0] == "flows"][:1]
    assert len(differences.rows) == len({row[0] for row in differences.rows}) == 2
    assert {"users-bars-document-mean", "users-bars-document-p90"} < set(found.plots)
    assert {"users-matrix-BIC-alternate-mean", "users-matrix-BIC-standard-p90"} < set(found.plots)


def test_outliers_are_listed_by_condition_and_pages_have_equal_parts() -> None:
    rng = np.random.default_rng(3)
    names = [f"r{k}" for k in range(110)]
    rows = [
        {"condition": c, "algorithm": who,
         **{name: float(rng.normal(10, 1)) + 50 * (who == "FAST" and k < 2 and c == 1)
            for k, name in enumerate(names)}}
        for c, who in product((1, 2), WHO)
    ]  # fmt: skip
    given = ResponseTable.of(pl.DataFrame(rows), ["condition", "algorithm"])
    options = Options(of="algorithm", min_percent=50.0)
    found = analyse("standouts", given, options)
    (text,) = found.tables
    assert text.rows == [("condition 1", "FAST: r0 r1", ""), ("condition 2", "", "")]
    flat = ResponseTable.of(given.frame.with_columns(r0=0.1), ["condition", "algorithm"], ["r0"])
    assert analyse("residuals", flat, options).tables[0].rows[0][1:3] == (None, 0.0)
    limit = f"{outliers.grubbs_critical(5):.3f}"
    assert limit in text.title
    assert "more than 50 % from the mean" in text.title
    pages = [draw().axes[0] for draw in found.plots.values()]
    assert [len(axes.get_yticks()) for axes in pages] == [37, 37, 36]
    assert [len(axes.texts) for axes in pages] == [2, 0, 0]


@pytest.mark.parametrize("analysis", ["residuals", "standouts"])
def test_critical_values_that_nothing_could_miss_are_refused(analysis: str) -> None:
    given = table().where("experiment", ["A"])
    with pytest.raises(TableError, match="critical: expected a number above 0, found 0"):
        analyse(analysis, given, Options(responses=("loss",), of="algorithm", critical=0.0))
    found = analyse(analysis, given, Options(responses=("loss",), of="algorithm", critical=2.0))
    assert "which it never is: of 5 values it is at most 1.789" in found.tables[0].title


def test_what_cannot_be_written_is_refused_before_anything_is_printed(
    tmp_path: Path, cli: CommandLine
) -> None:
    frame().write_csv(tmp_path / "t.csv")
    words = ["analyze", "t.csv", "users", "-f", "condition", "-f", "algorithm", "--of",
             "algorithm", "--only", "experiment=A", "-r", "mean_*_1"]  # fmt: skip
    found = cli(*words, "--out", "nodir/x.png")
    assert (found.returncode, found.stdout) == (2, "")
    assert "expected a directory for" in found.stderr
    assert not (tmp_path / "nodir").exists()
    (tmp_path / "users-bars.png").touch()
    found = cli(*words, "--out", "users-bars.png")
    assert (found.returncode, found.stdout) == (2, "")
    assert "already exists" in found.stderr


def test_levels_of_other_experiments_are_not_offered(tmp_path: Path, cli: CommandLine) -> None:
    frame().write_csv(tmp_path / "t.csv")
    words = ["analyze", "t.csv", "-f", "condition", "-f", "algorithm"]
    found = cli(*words, "--without", "algorithm=Foo", "--only", "experiment=A")
    assert "available: BIC, CTCP, FAST, FAST-AT, TCP\n" in found.stderr


def test_dendrograms_have_the_class_of_congestion_of_what_they_are_ordered_by() -> None:
    given = table().where("experiment", ["A"])
    plain = analyse("clusters", given, Options(of="algorithm")).tables[0]
    assert "class" not in plain.heads
    ordered = analyse("clusters", given, Options(of="algorithm", order_by="loss")).tables[0]
    by_congestion = analyse("congestion", given, Options(of="algorithm", responses=("loss",)))
    classes = {row[0]: row[2] for row in by_congestion.tables[0].rows}
    at = ordered.heads.index("class")
    assert {row[0]: row[at] for row in ordered.rows} == classes
    assert len(set(classes.values())) == 4


def test_components_leave_out_runs_that_lack_a_response_and_say_which() -> None:
    given = frame().filter(pl.col("experiment") == "A")
    name = "mean_standard_8"
    lacks = (pl.col("condition") == 2) & (pl.col("algorithm") == "FAST")
    lacking = given.with_columns(pl.when(~lacks).then(pl.col(name)).alias(name))
    table_ = ResponseTable.of(lacking, ["condition", "algorithm"])
    options = Options(responses=(name, "mean_standard_1", "mean_standard_13"))
    found = analyse("components", table_, options)
    assert found.scores is not None
    assert len(found.scores) == len(given) - 1
    [left_out] = found.tables[0].left_out
    assert "FAST" in left_out
    empty = table_.frame.with_columns(mean_standard_1=pl.lit(None, pl.Float64))
    none = ResponseTable.of(empty, ["condition", "algorithm"], options.responses)
    with pytest.raises(TableError, match=r"no run has all .* mean_standard_1 \(0\)"):
        analyse("components", none, options)
