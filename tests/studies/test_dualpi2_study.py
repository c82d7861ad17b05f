"""The study of DualPI2: its runs have the round trips that their names state."""

from statistics import median

import pytest

import longhaul
from longhaul.studies import ledger
from longhaul.studies.record import recorded
from longhaul.studies.study import find

STUDY = find("dualpi2-2022")


@pytest.mark.parametrize(("one", "other"), [(5, 100), (100, 20)])
def test_round_trips_are_those_of_the_cell(one: int, other: int) -> None:
    run = STUDY.cell("pie", {"rtt_one": str(one), "rtt_other": str(other)})
    results = longhaul.run(run.scenario | {"duration": "5 s", "measure": {}})
    least = dict(results.flows.select("label", "rtt_min_s").iter_rows())
    # A packet takes 0.3 ms over the link and 12 us over each access link.
    assert least == pytest.approx({"one": one / 1e3, "other": other / 1e3}, abs=5e-4)


def test_each_pair_of_flows_has_its_ratio() -> None:
    ratios = [claim for claim in STUDY.claims if "-ratio-" in claim.id]
    cells = {
        (claim.experiments, claim.question.levels.get("other"), *_round_trips(claim))
        for claim in ratios
    }
    assert len(cells) == len(ratios) == 40


def test_our_median_is_one_of_the_numbers_that_the_interval_is_of() -> None:
    _, record = recorded(STUDY)
    by_id = {each.claim.id: each for each in ledger.judge(STUDY, record.data, record.facts.scale)}
    shares = [each for each in by_id.values() if "/" in str(each.claim.question.words["metric"])]
    assert len(shares) > 50
    for judged in shares:
        question = judged.claim.question
        numbers = [question.value(replication) for replication in record.data.each_replication]
        assert judged.measured == pytest.approx(median(numbers), rel=1e-12)
    # Separate medians of marks, packets and shares would combine different runs.
    marked = by_id["dp2-mark-5-5"]
    assert marked.claim.question.value(record.data) != pytest.approx(marked.measured, rel=1e-3)


def _round_trips(claim: object) -> tuple[object, object]:
    where = claim.question.levels  # type: ignore[attr-defined]
    return where["rtt_one"], where["rtt_other"]
