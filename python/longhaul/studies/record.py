"""Recorded results of a study: tables, and the versions that computed them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from longhaul import _engine
from longhaul.campaign import Run, Store
from longhaul.campaign import execute as execute_runs
from longhaul.campaign.execute import Watch
from longhaul.files.writing import write_text
from longhaul.studies.addition import and_recorded
from longhaul.studies.collection import collected
from longhaul.studies.data import VERSION, Data
from longhaul.studies.errors import StudyError, unknown
from longhaul.studies.experiments import SCALES
from longhaul.studies.study import Study


@dataclass(frozen=True)
class Facts:
    """Facts about recorded results: their scale, numbers of runs and packets, and versions."""

    scale: str
    runs: int
    """Number of finished runs."""
    wanted: int
    """Number of runs that the study has at this scale."""
    data_packets: int
    """Data packets simulated in the finished runs; a run shared by two experiments counts twice."""
    version: str
    results_version: int

    @classmethod
    def of(cls, data: Data, scale: str, wanted: int) -> "Facts":
        """Return the facts of new results: `wanted` and finished runs, packets, and versions."""
        packets = 0 if data.values.is_empty() else int(data.values["data_packets"].sum())
        runs = data.values.height
        versions = (_engine.version(), _engine.results_version())
        return cls(scale, runs, wanted, packets, *versions)


@dataclass(frozen=True)
class Record:
    """Results of a study, with facts about how they were computed."""

    facts: Facts
    data: Data

    @property
    def versions(self) -> list[int]:
        """Results versions that computed the rows, in ascending order."""
        values = self.data.values
        if values.is_empty():
            return [self.facts.results_version]
        return sorted(int(version) for version in values[VERSION].unique())

    def write(self, folder: Path) -> None:
        """Write the tables of results, and the facts as `run.json`, to a directory."""
        self.data.write(folder)
        text = json.dumps(asdict(self.facts), indent=2) + "\n"
        write_text(folder / "run.json", text)


def execute(
    study: Study, runs: Sequence[Run], store: Path, *, workers: int | None, watch: Watch | None
) -> list[tuple[Run, str]]:
    """Execute the runs that a store lacks; return the runs that failed, with the reasons."""
    failed = []
    for reduction in dict.fromkeys(map(study.reduction, study.experiments.values())):
        chosen = [
            run for run in runs if study.reduction(study.experiments[run.experiment]) == reduction
        ]
        if chosen:
            place, reducer = Store(store, reduction.variant), reduction.reducer
            outcome = execute_runs(chosen, place, workers=workers, watch=watch, reducer=reducer)
            failed += outcome.failed
    return failed


def collect(study: Study, store: Path, scale: str, before: Record | None = None) -> Record:
    """Collect a study's results from a store; runs not in the store come from `before`."""
    runs = study.runs(scale)
    data = collected(study, runs, store)
    if before is not None:
        data = and_recorded(data, before.data, runs)
    return Record(Facts.of(data, scale, len(runs)), data)


def read(folder: Path, study: Study) -> Record:
    """Read a study's results from `folder`.

    If the rows have no column of results versions, all rows get the version in `run.json`.
    """
    facts = Facts(**json.loads((folder / "run.json").read_text(encoding="utf-8")))
    data = Data.read(folder, study.axes)
    if VERSION not in data.values.columns and not data.values.is_empty():
        values = data.values.with_columns(pl.lit(facts.results_version).alias(VERSION))
        data = replace(data, values=values)
    return Record(facts, data)


def recorded(study: Study) -> tuple[Path, Record]:
    """Return the directory and the results that a study ships with, at full scale if possible."""
    command = f"longhaul study run {study.name} --record"
    return _first(study, [study.recorded], tuple(reversed(SCALES)), command)


def check_scale(scale: str) -> None:
    """Raise StudyError for an unknown scale."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)


def latest(
    study: Study, out: Path, scale: str | None, *, shipped: bool = True
) -> tuple[Path, Record]:
    """Return the directory of the user's last results below `out`, and the results.

    If there are none and `shipped` is true, return the results that the study ships with. Without
    `scale`, full-scale results are preferred, even to later ones. Raise StudyError if there are no
    results.
    """
    scales: Sequence[str] = (scale,) if scale else tuple(reversed(SCALES))
    for scale_ in scales:
        check_scale(scale_)
    places = [out / "results", *([study.recorded] if shipped else [])]
    return _first(study, places, scales, f"longhaul study run {study.name}")


def _first(
    study: Study, places: Sequence[Path], scales: Sequence[str], command: str
) -> tuple[Path, Record]:
    """Return the first directory with results, and the results; `command` makes those missing."""
    for place in places:
        for name in scales:
            if (place / name / "run.json").is_file():
                return place / name, read(place / name, study)
    wanted = f" at scale {scales[0]}" if len(scales) == 1 else ""
    raise StudyError(f"{places[0]}: no results of {study.name}{wanted} yet: {command}")
