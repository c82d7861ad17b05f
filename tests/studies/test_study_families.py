"""Families of a study's cells: declarations, refusals, and the effect on verdicts."""

import json
from pathlib import Path

import pytest

import longhaul
from longhaul.analysis.judging import REPRODUCED, UNDECIDED
from longhaul.studies import families, ledger
from longhaul.studies.judgement import Judgement
from longhaul.studies.record import recorded
from longhaul.studies.study import Study, find

SYNC_TCP = "sync-tcp-2003"


@pytest.fixture(scope="module")
def judgements() -> list[Judgement]:
    study = find(SYNC_TCP)
    _, record = recorded(study)
    return ledger.judge(study, record.data, record.facts.scale)


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
