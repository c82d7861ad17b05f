"""Families of a study's claims: declarations, refusals, and effects on verdicts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ledgers import judgements_of

import longhaul
from longhaul.analysis.families import DIFFERENCE, LOGARITHM, Family
from longhaul.analysis.judging import REPRODUCED, UNDECIDED
from longhaul.studies import families
from longhaul.studies.claims import Claim, _claim
from longhaul.studies.data import NotRunError
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.judgement import Judgement
from longhaul.studies.measures import GENERAL
from longhaul.studies.record import recorded
from longhaul.studies.study import Study, find

SYNC_TCP = "sync-tcp-2003"


@pytest.fixture(scope="module")
def judgements() -> list[Judgement]:
    return judgements_of(SYNC_TCP)


def test_every_cell_is_in_one_family_at_most() -> None:
    study = find(SYNC_TCP)
    cells = [claim.id for family in families._declared(study) for claim in family.claims]
    assert len(cells) > 250
    assert len(cells) == len(set(cells))


def test_cells_of_a_family_that_is_unlike_print_are_not_reproduced(
    judgements: list[Judgement],
) -> None:
    (medians,) = {
        id(one.family): one.family
        for one in judgements
        if one.family and one.family.metric == "median" and "105 %" in one.family.title
    }.values()
    assert len(medians.claims) == 16
    assert (medians.verdict, medians.family.reaching) == (UNDECIDED, 0)
    of_it = [one for one in judgements if one.claim.id in medians.claims]
    assert REPRODUCED not in {one.verdict for one in of_it}
    changed = [one for one in judgements if one.reason.startswith("its family (")]
    assert len(changed) > 2
    assert all(one.verdict == UNDECIDED and "of 20 replications" in one.reason for one in changed)
    standing = [one for one in judgements if one.family and not one.family.verdict]
    assert REPRODUCED in {one.verdict for one in standing}


def test_json_has_the_family_of_a_claim(judgements: list[Judgement]) -> None:
    shown = json.loads(json.dumps([one.as_json() for one in judgements]))
    by_id = {claim["id"]: claim["family"] for claim in shown}
    assert by_id["E4.T-105-70-reno-loss-0"]["replications"] == 20
    assert by_id["E4.T-105-70-reno-loss-0"]["reaching_print"] == 0
    assert by_id["E3.4-reno"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("families = 3", "families.toml: "),
        ('[[families]]\ntitle = "a"\nexperiment = "H1"\nby_load = 1', "unknown key `by_load`"),
        ('[[families]]\ntitle = "a"', "'experiment'"),
        ("[[families]", "families.toml: "),
        (
            '[[families]]\ntitle = "a"\nexperiment = "HM-105"',
            "expected positive numbers; of zeros take differences",
        ),
    ],
)
def test_what_is_no_declaration_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = find(SYNC_TCP)
    _, record = recorded(study)
    (tmp_path / "families.toml").write_text(text)
    monkeypatch.setattr(families, "NAME", str(tmp_path / "families.toml"))
    with pytest.raises(longhaul.LonghaulError) as refused:
        families.judge(Study(study.name, study.path), record.data)
    assert message in str(refused.value)


def cell(
    name: str, where: str, value: str = "2", *, tolerance: str = "50 %", runs: str = "1",
    source: str = "Table 1", measure: str = "value", experiment: str = "E", **ends: str,
) -> Claim:  # fmt: skip
    """Return a claim about a printed number, which by default comes from a single run."""
    row = dict.fromkeys(("low", "high", "opposite"), "") | ends
    about = {"id": name, "experiment": experiment, "statement": "", "source": source}
    words = f"of={experiment.split()[0]} {where}"
    given = row | about | {"measure": measure, "where": words, "value": value, "runs": runs}
    return _claim(Path("claims.csv"), 2, given | {"tolerance": tolerance}, GENERAL)


@pytest.mark.parametrize(
    ("claim", "is_cell"),
    [
        (cell("A", "metric=loss n=1"), True), (cell("A", "metric=loss"), True),
        (cell("A", "metric=loss", runs="2"), False), (cell("A", "metric=loss", runs=""), False),
        (cell("A", "metric=loss", source="derived: a"), False),
        (cell("A", "metric=loss", source="set-up: a"), False),
        (cell("A", "metric=loss", measure="least"), False),
        (cell("A", "metric=loss", experiment="E F"), False),
        (cell("A", "metric=loss less.n=1"), False), (cell("A", "metric=loss when.n=1.."), False),
        (cell("A", "metric=loss", low="1"), False), (cell("A", "metric=loss", high="3"), False),
        (cell("A", "metric=loss", low="1", high="3"), True),
        # A number at an end of its band, or a printed 0, cannot belong to a family.
        (cell("A", "metric=loss", low="2", high="3"), False),
        (cell("A", "metric=loss", "0", low="-1", high="3"), False),
    ],
)  # fmt: skip
def test_cells_are_printed_numbers_of_one_run_in_a_closed_band(claim: Claim, is_cell: bool) -> None:
    assert families._is_cell(claim) == is_cell


CLAIMS = [
    cell("A", "metric=loss n=1 queue=red"), cell("B", "metric=rate n=1 queue=red"),
    cell("C", "metric=loss n=20 queue=red"), cell("D", "metric=loss n=2 queue=codel"),
    cell("E", "metric=loss n=1 queue=codel"), cell("F", "metric=rate n=1 queue=red"),
    cell("G", "metric=loss n=1", experiment="F"), cell("H", "metric=loss n=1 queue=red", runs="9"),
]  # fmt: skip


def declared(text: str, folder: Path, claims: Sequence[Claim] = CLAIMS) -> Any:  # noqa: ANN401
    (folder / "families.toml").write_text(text)
    study: Any = SimpleNamespace(path=folder, claims=claims)
    return families._declared(study)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # Each column is a family, unless it has a single cell.
        ("", {("T", "loss"): "ACDE", ("T", "rate"): "BF"}),
        ('cells = { queue = "red" }', {("T", "loss"): "AC", ("T", "rate"): "BF"}),
        ('cells = { queue = "c*" }', {("T", "loss"): "DE"}),
        ("cells = { n = 1 }", {("T", "loss"): "AE", ("T", "rate"): "BF"}),
        ("cells = { n = 1.0 }", {("T", "loss"): "AE", ("T", "rate"): "BF"}),
        ('cells = { n = "2*" }', {("T", "loss"): "CD"}), ('cells = { m = "1" }', {}),
        ('cells = { queue = "red", n = "2?" }', {}),
        ('by = "queue"', {("T of red", "loss"): "AC", ("T of red", "rate"): "BF",
                          ("T of codel", "loss"): "DE"}),
        ('by = "n"', {("T of 1", "loss"): "AE", ("T of 1", "rate"): "BF"}),
        ('by = "m"', {("T of ", "loss"): "ACDE", ("T of ", "rate"): "BF"}),
    ],
)  # fmt: skip
def test_cells_are_grouped_by_column_and_by_an_axis(
    keys: str, expected: Mapping[tuple[str, str], str], tmp_path: Path
) -> None:
    title = "T of {}" if "by" in keys else "T"
    text = f'[[families]]\ntitle = "{title}"\nexperiment = "E"\n{keys}\n'
    found = declared(text, tmp_path)
    assert {
        (one.title, one.metric): "".join(claim.id for claim in one.claims) for one in found
    } == expected
    assert {one.statistic for one in found} <= {LOGARITHM}


def test_large_levels_are_the_same_in_claims_and_in_cells(tmp_path: Path) -> None:
    text = '[[families]]\ntitle = "T"\nexperiment = "E"\ncells = { rate = 2000000 }\n'
    claims = [cell(name, "metric=loss rate=2000000") for name in "AB"]
    assert [one.claims for one in declared(text, tmp_path, claims)] == [tuple(claims)]


def test_columns_may_be_compared_by_their_difference(tmp_path: Path) -> None:
    text = '[[families]]\ntitle = "T"\nexperiment = "E"\ndifference = ["loss"]\n'
    found = declared(text, tmp_path)
    assert {one.metric: one.statistic for one in found} == {"loss": DIFFERENCE, "rate": LOGARITHM}


def test_a_study_without_a_file_has_no_families(tmp_path: Path) -> None:
    study: Any = SimpleNamespace(path=tmp_path, claims=CLAIMS)
    assert families._declared(study) == []
    data: Any = None
    assert families.judge(study, data) == {}


def test_refused_declarations_name_file_and_key(tmp_path: Path) -> None:
    head = f"{tmp_path / 'families.toml'}: "
    keys = "title, experiment, cells, by, difference"
    for text, message in (
        ("families = 3", "expected [[families]], found 3"), ("", "'families'"),
        ('[[families]]\nx = 1\na = 2', f"unknown key `a`: {keys}"),
    ):  # fmt: skip
        with pytest.raises(longhaul.ScenarioError) as refused:
            declared(text, tmp_path)
        assert str(refused.value) == head + message


# A number of a replication, or the error that its computation raises.
Number = float | type[Exception]


def rows(*numbers: Sequence[Number]) -> Any:  # noqa: ANN401
    """Return data whose replications have these numbers in the cells C and D."""
    return SimpleNamespace(each_replication=[dict(zip("CD", row, strict=True)) for row in numbers])


def asked(name: str) -> Any:  # noqa: ANN401
    """Return a claim that reads cell `name`, with a printed value of 2 and a band from 1 to 4."""

    def value(replication: Mapping[str, Number]) -> float:
        if isinstance(number := replication[name], type):
            raise number
        return number

    claim = cell(name, "metric=loss", low="1", high="4")
    question: Any = SimpleNamespace(value=value)
    return replace(claim, question=question)


def of_cells(data: Any, statistic: str = DIFFERENCE) -> Family | None:  # noqa: ANN401
    cells = families._FamilyCells("T", "loss", statistic, (asked("C"), asked("D")))
    return families._family(SimpleNamespace(path=Path("study")), data, cells)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "lacking", [(NotRunError, 4.0), (ZeroDivisionError, 4.0), (3.0, nan), (inf, 4.0)]
)
def test_replications_without_all_cells_do_not_count(
    lacking: Sequence[Number],
) -> None:
    """Check that a replication is ignored if one of a family's numbers is missing or not finite.

    Both printed numbers are 2. The relative deviations of 3 and 5 are 1/2 and 3/2: 1 on average.
    """
    whole = [(3.0, 5.0), (2.0, 2.0), (1.0, 2.0)]
    assert of_cells(rows(*whole, lacking)) == Family((1.0, 0.0, -0.25), (-0.5, 1.0), DIFFERENCE)
    assert of_cells(rows(*whole[:2], lacking)) is None


def test_numbers_that_have_no_logarithm_are_refused_with_the_family() -> None:
    with pytest.raises(longhaul.ScenarioError) as refused:
        of_cells(rows((0.0, 1.0), (1.0, 1.0), (1.0, 1.0)), LOGARITHM)
    assert str(refused.value) == (
        "study/families.toml: T, loss: expected positive numbers; of zeros take differences"
    )


def test_a_family_is_judged_for_all_of_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that all claims of a family get the family's verdict, here `outside the band`.

    All three replications are ten times as large as the printed values.
    """
    few = families._FamilyCells("few", "rate", DIFFERENCE, (asked("C"), asked("D")))
    cells = replace(few, title="T", metric="loss")
    monkeypatch.setattr(families, "_declared", lambda _: [few, cells])
    found = [None, Family((9.0, 9.1, 9.2), (-0.5, 1.0), DIFFERENCE)]
    monkeypatch.setattr(families, "_family", lambda *_: found.pop(0))
    none: Any = None
    judged = families.judge(none, none)
    assert list(judged) == ["C", "D"]
    assert judged["C"] is judged["D"]
    assert (judged["C"].title, judged["C"].metric) == ("T", "loss")
    assert (judged["C"].claims, judged["C"].verdict) == (("C", "D"), "outside the band")


@pytest.mark.parametrize("verdict", ["", UNDECIDED])
def test_a_family_is_described_by_its_distance_from_print(verdict: str) -> None:
    family = Family((0.5, 0.75, -0.5), (-0.5, 1.0), DIFFERENCE)
    judged = FamilyJudgement("loads", "loss", ("A", "B"), family, verdict)
    assert judged.text == (
        f"its family (loads) is {verdict or 'not unlike print'}: "
        "1 of 3 replications reach print, ours 25 % higher"
    )
    assert judged.as_json() == {
        "title": "loads", "metric": "loss", "cells": 2, "replications": 3, "reaching_print": 1,
        "difference": 0.25, "verdict": verdict or None,
    }  # fmt: skip
