"""Adoption of separately simulated runs as runs of a study."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul._engine import results_version
from longhaul.campaign.execute import reduced
from longhaul.campaign.sweep import Run
from longhaul.results import Results
from longhaul.studies.errors import StudyError
from longhaul.studies.study import Study


def adopt(study: Study, runs: Sequence[Results], scale: str, store: Path) -> Iterator[Run]:
    """Store the results of separately simulated runs in a study's store; yield the matching runs.

    A run belongs to the study if one of the study's runs has the same resolved scenario. Several
    experiments may have such a run; each gets the values that it stores. The separate run must have
    reached its end. Its results version must be the current one, or an older one that computed the
    same results for this kind of simulation. The stored results keep their version. All runs are
    checked before the first one is stored.
    """
    # Scenarios are compared as text, since their hash depends on the results version.
    known: dict[str, list[Run]] = {}
    for run in study.runs(scale):
        known.setdefault(_text(json.loads(run.resolved.resolved_json())), []).append(run)
    fit = [
        (run, results) for results in runs for run in known[_checked(results, known, study, scale)]
    ]
    for run, results in fit:
        experiment = study.experiments[run.experiment]
        kept, tables = reduced(study.reduction(experiment).reducer, results)
        study.store(store, experiment).put(run.resolved, kept, tables)
        yield run


def _checked(run: Results, known: Collection[str], study: Study, scale: str) -> str:
    """Return the resolved scenario of a run as text; raise an error if the run cannot be adopted.

    `known` are the resolved scenarios of the study's runs.
    """
    if run.stopped:
        raise StudyError(f"{run.path}: {run.stopped}")
    version, this, oldest = run.meta["results_version"], results_version(), run.kind.same_since
    if not oldest <= version <= this:
        versions = f"{oldest} to {this}" if oldest < this else f"{this}"
        raise StudyError(f"{run.path}: expected results version {versions}, found {version}")
    key = _text(run.scenario)
    if key not in known:
        raise StudyError(
            f"{run.path}: {study.name} has no run of this scenario at scale {scale}; "
            f"`longhaul study scenario {study.name} EXPERIMENT AXIS=LEVEL` writes those that it has"
        )
    return key


def _text(scenario: Mapping[str, Any]) -> str:
    return json.dumps(scenario, sort_keys=True)
