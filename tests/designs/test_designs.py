"""Designs of experiments: matrices row by row as printed, and their published properties."""

import csv
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import CommandLine

from longhaul.designs import (
    PUBLISHED,
    Design,
    DesignError,
    Factor,
    full,
    latin_hypercube,
    one_at_a_time,
    published,
    two_level,
)
from longhaul.designs import properties as of
from validation.nist_2010.tables import numbers, rows

PRINTED = {
    "nist-2to11m5": "b_fig4-1_off_design_2to11m5",
    "nist-2to6m1": "c_table6-13_off_template",
    "nist-2to9m4": "d_table8-13_off_template",
}


@pytest.mark.parametrize(("name", "table"), PRINTED.items())
def test_published_designs_are_the_printed_matrices_row_by_row(name: str, table: str) -> None:
    design = published(name)
    printed = [numbers(row) for row in rows(table)]
    assert design.runs == len(printed) > 0
    for run, row in enumerate(printed):
        assert design.coded[run].tolist() == row, f"run {run + 1}"


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_designs_are_balanced_and_orthogonal(name: str) -> None:
    matrix = published(name).coded
    assert of.unbalanced(matrix) == []
    assert of.correlated(matrix) == []


def test_published_resolutions_are_those_of_the_report() -> None:
    # Resolutions are IV, VI and IV in chapters 4, 6 and 8, and IV for 2^(20-12) in chapter 3.
    found = {name: of.resolution(of.word_lengths(published(name).coded)) for name in PUBLISHED}
    assert found == {"nist-2to11m5": 4, "nist-2to6m1": 6, "nist-2to9m4": 4, "nist-2to20m12": 4}


def test_aliases_of_the_sensitivity_analysis() -> None:
    design = published("nist-2to11m5")
    groups = of.alias_groups(design.coded, 3)
    for row in rows("b_fig4-1_alias_structure"):
        effect = design.effect(row["effect"])
        [group] = [g for g in groups if effect in [member for _, member in g]]
        found = {design.word(member) for _, member in group if member != effect}
        printed = {
            word
            for column in ("aliased_2fi", "aliased_3fi")
            for word in re.findall(r"x[\dx*]+", row[column])
        }
        assert {w for w in found if "*" in w} == printed, row["effect"]
    assert sum(len(g[0][1]) == 2 for g in of.alias_groups(design.coded, 2)) == 44


def test_aliases_of_chapter_8() -> None:
    design = published("nist-2to9m4")
    printed = {
        frozenset(tuple(int(x) - 1 for x in re.findall(r"\d", word)) for word in groups.split("="))
        for groups in (
            row["aliased_two_factor_interactions"] for row in rows("d_derived_2fi_alias_structure")
        )
    }
    found = {
        frozenset(effect for _, effect in group)
        for group in of.alias_groups(design.coded)
        if len(group[0][1]) == 2
    }
    assert found == printed


# Chen, Sun and Wu 1993 (International Statistical Review 61, pp. 131-145) for 16, 32 and 64 runs;
# Xu 2009 (Technometrics 51, pp. 440-451) for 128. Rows: factors, runs, words of length 3, 4, 5.
MINIMUM = [
    (5, 16, (0, 0, 1)), (6, 16, (0, 3, 0)), (7, 16, (0, 7, 0)), (8, 16, (0, 14, 0)),
    (9, 16, (4, 14, 8)), (10, 16, (8, 18, 16)),
    (7, 32, (0, 1, 2)), (8, 32, (0, 3, 4)), (9, 32, (0, 6, 8)), (10, 32, (0, 10, 16)),
    (11, 32, (0, 25, 0)), (12, 32, (0, 38, 0)),
    (8, 64, (0, 0, 2)), (9, 64, (0, 1, 4)), (10, 64, (0, 2, 8)), (11, 64, (0, 4, 14)),
    (12, 64, (0, 6, 24)), (13, 64, (0, 14, 28)), (14, 64, (0, 22, 40)), (15, 64, (0, 30, 60)),
    (16, 64, (0, 43, 81)),
    (11, 128, (0, 0, 6)), (12, 128, (0, 1, 8)), (13, 128, (0, 2, 16)), (14, 128, (0, 3, 24)),
]  # fmt: skip


@pytest.mark.parametrize(("factors", "runs", "words"), MINIMUM)
def test_fractions_have_minimum_aberration(factors: int, runs: int, words: tuple[int, ...]) -> None:
    design = two_level(factors, runs=runs)
    assert design.runs == runs
    assert tuple(of.word_lengths(design.coded)[2:5]) == words
    assert of.correlated(design.coded) == []


@pytest.mark.parametrize(
    ("factors", "wanted", "runs"),
    # Largest numbers of factors of resolution V: Draper and Lin 1990 (Journal of
    # Statistical Planning and Inference 24, pp. 25-35).
    [(20, 4, 64), (16, 4, 32), (17, 4, 64), (8, 5, 64), (11, 5, 128), (17, 5, 256), (6, 6, 32)],
)
def test_a_wanted_resolution_takes_the_fewest_runs(factors: int, wanted: int, runs: int) -> None:
    design = two_level(factors, resolution=wanted)
    assert design.runs == runs
    found = of.resolution(of.word_lengths(design.coded))
    assert found is not None
    assert found >= wanted


def test_what_cannot_be_had_is_refused_with_what_can() -> None:
    with pytest.raises(DesignError, match="resolution III, not IV; that takes 64 runs"):
        two_level(20, runs=32, resolution=4)
    with pytest.raises(DesignError, match="32 or 64"):
        two_level(8, runs=40)
    with pytest.raises(DesignError, match="available: x1, x2"):
        two_level(3, generators=["x3 = x1*x9"])
    with pytest.raises(DesignError, match="a generator a factor, found x4 = "):
        two_level(4, generators=["x4 = x1*x2", "x4 = x1*x3"])
    with pytest.raises(DesignError, match=r"`x4 = x1\*x1`: expected different factors"):
        two_level(4, generators=["x4 = x1*x1"])


def test_word_lengths_count_the_products_that_are_constant() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.choice([-1, 1], size=(12, 6))
    for j, words in enumerate(of.word_lengths(matrix), start=1):
        products = [
            matrix[:, list(c)].prod(axis=1).mean() for c in itertools.combinations(range(6), j)
        ]
        assert float(words) == pytest.approx(sum(mean**2 for mean in products))


def test_a_design_that_is_no_regular_fraction_has_partial_aliases() -> None:
    # Plackett and Burman 1946, 12 runs: main effects are clear of each other, but each is partly
    # aliased, by a third, with every interaction of two other factors.
    row = [1, 1, -1, 1, 1, 1, -1, -1, -1, 1, -1]
    matrix = np.array([np.roll(row, i) for i in range(11)] + [[-1] * 11])
    assert of.correlated(matrix) == []
    partial = of.partial_aliases(matrix)
    with_first = [abs(r) for a, _, r in partial if a == (0,)]
    assert len(with_first) == 45
    assert with_first == pytest.approx([1 / 3] * 45)
    assert of.resolution(of.word_lengths(matrix)) == 3


def test_what_is_partly_aliased_is_not_clear() -> None:
    facts = one_at_a_time([Factor("a"), Factor("b"), Factor("c")]).describe()
    assert not facts["balanced"]
    assert not facts["orthogonal"]
    assert facts["clear"] == []


def test_a_fold_over_frees_main_effects() -> None:
    design = two_level(7, runs=8)
    assert of.resolution(of.word_lengths(design.coded)) == 3
    folded = design.folded()
    assert folded.runs == 16
    assert of.resolution(of.word_lengths(folded.coded)) == 4
    one = design.folded(["x1"])
    clear = one.describe()["clear"]
    assert {"x1", *(f"x1*x{j}" for j in range(2, 8))} <= set(clear)


def test_blocks_divide_those_of_a_fold_over() -> None:
    folded = two_level(3, runs=4).folded()
    divided = folded.in_blocks(["x1*x2"])
    assert folded.blocks is not None
    assert divided.blocks is not None
    assert sorted(np.bincount(divided.blocks)[1:].tolist()) == [2, 2, 2, 2]
    assert len(set(zip(folded.blocks.tolist(), divided.blocks.tolist(), strict=True))) == 4


def test_blocks_cost_the_products_that_make_them() -> None:
    design = two_level(4).in_blocks(["x1*x2*x3*x4", "x1*x2"])
    assert design.blocks is not None
    assert sorted(np.bincount(design.blocks)[1:].tolist()) == [4, 4, 4, 4]
    assert design.confounded_with_blocks() == ["x1*x2", "x3*x4"]


def test_levels_between_and_beyond() -> None:
    rtt = Factor("rtt", ("20 ms", "100 ms"))
    cube = latin_hypercube([rtt, Factor("loss", (0.0, 1.0))], 10, seed=3)
    assert (
        cube.coded.tolist()
        == latin_hypercube([rtt, Factor("loss", (0.0, 1.0))], 10, seed=3).coded.tolist()
    )
    for column in cube.coded.T:
        assert sorted(np.floor((column + 1) * 5).tolist()) == list(range(10))
    delays = [str(row["rtt"]) for row in cube.natural()]
    assert all(20 <= float(d.removesuffix(" ms")) <= 100 for d in delays)
    grid = full([rtt, Factor("queue", ("red", "codel", "pie"))])
    assert [tuple(row.values()) for row in grid.natural()][:3] == [
        ("20 ms", "red"), ("100 ms", "red"), ("20 ms", "codel"),
    ]  # fmt: skip
    assert grid.runs == 6
    alone = list(one_at_a_time([rtt, Factor("queue", ("red", "codel", "pie"))]).natural())
    assert [tuple(row.values()) for row in alone] == [
        ("20 ms", "red"), ("100 ms", "red"), ("20 ms", "codel"), ("20 ms", "pie"),
    ]  # fmt: skip


def test_units_that_differ_have_nothing_between() -> None:
    with pytest.raises(DesignError, match="expected one unit"):
        list(latin_hypercube([Factor("rtt", ("20 ms", "1 s"))], 4).natural())
    for levels in (("reno", "cubic"), ("1.2.3 ms", "2 ms")):
        with pytest.raises(DesignError, match=f"between {levels[0]} and {levels[1]}"):
            list(latin_hypercube([Factor("k", levels)], 4).natural())


def test_the_verb_prints_what_the_matrix_proves(cli: CommandLine, tmp_path: Path) -> None:
    done = cli(
        "design",
        "loss=1e-4,1e-3",
        "rtt=20 ms,100 ms",
        "buffer",
        "--runs",
        "4",
        "-o",
        "d.csv",
        "--natural",
    )
    assert done.returncode == 0, done.stderr
    assert "resolution: III" in done.stdout
    assert "loss = rtt*buffer" in done.stdout
    table = list(csv.DictReader((tmp_path / "d.csv").read_text().splitlines()))
    assert [row["rtt"] for row in table] == ["20 ms", "20 ms", "100 ms", "100 ms"]
    facts = json.loads(cli("design", "--published", "nist-2to9m4", "--json").stdout)
    assert (facts["resolution"], facts["runs"], facts["word_lengths"]["4"]) == (4, 32, 6.0)
    assert "choose one of" in cli("design", "4", "--full", "--runs", "8").stderr
    assert "has its own factors" in cli("design", "a", "--published", "nist-2to6m1").stderr
    assert "same name: a, a" in cli("design", "a", "a", "--full").stderr
    assert "found -1" in cli("design", "3", "--latin-hypercube", "4", "--seed", "-1").stderr
    refused = cli("design", "20", "--runs", "32", "--resolution", "4")
    assert refused.returncode == 2
    assert "64 runs" in refused.stderr


def test_replications_repeat_the_whole_design() -> None:
    table = two_level(2).replicated(2).csv().splitlines()
    assert table[0] == "run,replication,x1,x2"
    assert [line.split(",")[:2] for line in table[1:]] == [
        [str(r), str(n)] for n in (1, 2) for r in (1, 2, 3, 4)
    ]
    assert isinstance(two_level(2), Design)
