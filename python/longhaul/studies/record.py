"""Results of a study as they are kept beside it: small tables, and what they were made with."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from longhaul import _engine
from longhaul.campaign import Store
from longhaul.studies.data import Data
from longhaul.studies.experiments import SCALES
from longhaul.studies.study import Study, StudyError, unknown
from longhaul.writing import write_text


@dataclass(frozen=True)
class Facts:
    """What made the results."""

    scale: str
    runs: int
    """Runs that are done,"""
    wanted: int
    """of so many."""
    data_packets: int
    """Simulated in them; a run that two experiments share counts twice."""
    version: str
    results_version: int

    @classmethod
    def of(cls, data: Data, scale: str, wanted: int) -> "Facts":
        """Of results that have just been collected."""
        packets = 0 if data.values.is_empty() else int(data.values["data_packets"].sum())
        runs = data.values.height
        versions = (_engine.version(), _engine.results_version())
        return cls(scale, runs, wanted, packets, *versions)


@dataclass(frozen=True)
class Record:
    """Results and what made them."""

    facts: Facts
    data: Data

    def write(self, folder: Path) -> None:
        """Write everything to a folder."""
        self.data.write(folder)
        text = json.dumps(asdict(self.facts), indent=2) + "\n"
        write_text(folder / "run.json", text)


def collect(study: Study, store: Store, scale: str) -> Record:
    """What a store has of a study."""
    runs = study.runs(scale)
    data = Data.collect(study, runs, store)
    return Record(Facts.of(data, scale, len(runs)), data)


def read(folder: Path, study: Study) -> Record:
    """Read what was written."""
    facts = Facts(**json.loads((folder / "run.json").read_text(encoding="utf-8")))
    return Record(facts, Data.read(folder, study))


def check_scale(scale: str) -> None:
    """Refuse a scale that does not exist."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)


def latest(study: Study, out: Path, scale: str | None) -> tuple[Path, Record]:
    """The last results of one's own, or else those that come with the study; the fuller first."""
    scales: Sequence[str] = (scale,) if scale else tuple(reversed(SCALES))
    for scale_ in scales:
        check_scale(scale_)
    for place in (out / "results", study.recorded):
        for name in scales:
            if (place / name / "run.json").is_file():
                return place / name, read(place / name, study)
    wanted = f" at scale {scale}" if scale else ""
    raise StudyError(
        f"{study.name} has no results{wanted} yet; longhaul study run {study.name} makes them"
    )
