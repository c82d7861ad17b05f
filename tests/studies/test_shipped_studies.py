"""The studies of this repository: their claims, scenarios and recorded results."""

from pathlib import Path

import pytest

from longhaul.studies import arithmetic, parts, record
from longhaul.studies.study import Study, find, studies

JUDGED = [study for study in studies() if study.claims]


def test_all_studies_have_claims() -> None:
    assert studies() == JUDGED


@pytest.mark.parametrize("study", JUDGED, ids=lambda study: study.name)
def test_claims_name_what_there_is(study: Study) -> None:
    parts.check(study)
    for one in study.claims:
        assert set(one.experiments) <= set(study.experiments), one.id
        named = [
            one.question.words[key]
            for key in ("of", "beside", "alone")
            if key in one.question.words
        ]
        for name in ",".join(str(name) for name in named).split(",") if named else []:
            assert name in study.experiments, (one.id, name)
            axes = study.experiments[name].axes
            if "axis" in one.question.words:
                assert one.question.words["axis"] in axes, (one.id, name)
    assert {one.name for one in study.experiments.values()} >= {
        name for figure in parts.figures(study) for name in figure.experiments
    }


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_scenario_is_valid_and_quick_is_smaller(study: Study) -> None:
    quick, full = (study.runs(scale, replications=1) for scale in ("quick", "full"))
    assert 0 < len(quick) < len(full)
    for run in quick:
        assert run.resolved.warnings is not None


@pytest.mark.parametrize("study", JUDGED, ids=lambda study: study.name)
def test_recorded_results_have_the_metrics_of_all_claims(study: Study) -> None:
    size = sum(path.stat().st_size for path in study.recorded.rglob("*") if path.is_file())
    assert 0 < size < 2_000_000
    _, results = record.latest(study, Path("nowhere"), None)
    recorded = set(results.data.values["experiment"])
    for one in study.claims:
        if not recorded.issuperset(one.experiments):
            continue
        for key in ("metric", "over"):
            for text in (
                str(one.question.words[key]).split(",") if key in one.question.words else ()
            ):
                metrics = arithmetic.metrics(text)
                assert set(metrics) <= set(results.data.values.columns), (one.id, metrics)


def test_the_number_of_full_runs_is_the_sources() -> None:
    """Check that the HSTCP study has the source's number of runs, 5449 (LBNL-52549, 6.1 to 6.11).

    Experiments and replications that the study adds are not counted.
    """
    runs = find("hstcp-2003").runs("full")
    ours = ("EXP-7.2", "EXP-7.2b", "-LENGTH", "-WEB")
    of_source = [run for run in runs if run.replication < 10]
    assert len([run for run in of_source if not run.experiment.endswith(ours)]) == 5449
