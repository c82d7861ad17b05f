"""Runs that were made alone become runs of a study."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from longhaul._engine import results_version
from longhaul.campaign.execute import reduced
from longhaul.campaign.sweep import Run
from longhaul.results import Results
from longhaul.studies.study import Study, StudyError


def adopt(study: Study, runs: Sequence[Results], scale: str, store: Path) -> Iterator[Run]:
    """Keep runs in a study's store; gives the runs of the study that they are.

    A run is one of the study if its resolved scenario is, which the hash tells; it has to be whole,
    and of this results version. All are checked before the first is kept.
    """
    known = {run.key: run for run in study.runs(scale)}
    fit = [(known[key], run) for run in runs if (key := _checked(run, known, study, scale))]
    for run, results in fit:
        experiment = study.experiments[run.experiment]
        kept, tables = reduced(study.reduction(experiment).reducer, results)
        study.store(store, experiment).put(run.resolved, kept, tables)
        yield run


def _checked(run: Results, known: dict[str, Run], study: Study, scale: str) -> str:
    """The hash of a run, if it can be taken."""
    if run.stopped:
        raise StudyError(f"{run.path}: {run.stopped}")
    version = run.meta["results_version"]
    if version != results_version():
        raise StudyError(
            f"{run.path}: expected results version {results_version()}, found {version}"
        )
    key = str(run.meta["scenario_hash"])
    if key not in known:
        raise StudyError(
            f"{run.path}: {study.name} has no run of this scenario at scale {scale}; "
            f"`longhaul study scenario {study.name} EXPERIMENT AXIS=LEVEL` writes those that it has"
        )
    return key
