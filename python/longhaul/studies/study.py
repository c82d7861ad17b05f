"""A study, read from its directory."""

import hashlib
import importlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from longhaul.campaign import Run, Store
from longhaul.campaign.reduce import reduce, reduce_keeping_samples
from longhaul.campaign.responses import Responses
from longhaul.campaign.store import Kept
from longhaul.campaign.sweep import Level
from longhaul.files.code import code_digest
from longhaul.results import Results
from longhaul.studies.claims import Claim, read_claims
from longhaul.studies.errors import StudyError, unknown
from longhaul.studies.experiments import SCALES, Experiment, Head, read_experiments
from longhaul.studies.measures import GENERAL, Measure
from longhaul.studies.selection import is_written_as

EXPERIMENTS = "experiments.toml"
# Possible names of the file of claims in a directory with experiments: a table, or TOML. If both
# exist, the first is read.
CLAIMS = ("claims.csv", "claims.toml")
README = "README.md"
# Group of entry points of distributions that contain studies.
DISTRIBUTED = "longhaul.studies"
NONE_INSTALLED = (
    "no studies are installed; those of publications are the distribution longhaul-studies: "
    "pip install ./reproductions, in a checkout of Longhaul"
)
# Names that the optional modules of a study define, as pairs of module and name. In addition,
# `metrics.trajectory` is defined by studies that sample runs over time.
DEFINED = (("metrics", "metrics"), ("measures", "MEASURES"), ("figures", "FIGURES"))

Metrics = Callable[[Kept, Run], Mapping[str, Any]]


def existing(file: Path) -> Path:
    """Return the path of a required file; raise StudyError if it is missing."""
    if not file.is_file():
        raise StudyError(f"{file}: expected a file of the study, found none")
    return file


@dataclass(frozen=True)
class Study:
    """A study, read from its directory; each file is read when it is first needed."""

    name: str
    path: Path

    @cached_property
    def _read(self) -> tuple[Head, dict[str, Experiment]]:
        return read_experiments(self.path / EXPERIMENTS)

    @property
    def head(self) -> Head:
        """Title, source and declared responses of the study."""
        return self._read[0]

    @property
    def experiments(self) -> dict[str, Experiment]:
        """Experiments by name, in the order of the files."""
        return self._read[1]

    @property
    def axes(self) -> list[str]:
        """Axes of all experiments, and text columns of their tables of conditions."""
        every = self.experiments.values()
        return list(
            dict.fromkeys(
                axis for experiment in every for axis in (*experiment.axes, *experiment.words)
            )
        )

    @cached_property
    def claims(self) -> list[Claim]:
        """Claims of the study, in order."""
        return read_claims(*map(_claims_of, self.folders), measures=self.measures)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """Measures that claims may use: `MEASURES` of the study, or else the general ones."""
        own: Mapping[str, Measure] = GENERAL
        return self.required("measures", "MEASURES") if self.has("measures") else own

    @property
    def folders(self) -> list[Path]:
        """Directories with experiments: the study's own, and the included ones."""
        return list(dict.fromkeys(experiment.folder for experiment in self.experiments.values()))

    @property
    def readme(self) -> str:
        """Text of the study's README, in Markdown; empty if there is none."""
        file = self.path / README
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    @property
    def recorded(self) -> Path:
        """Directory of the results that the study ships with."""
        return self.path / "results"

    def required(self, module: str, name: str) -> Any:  # noqa: ANN401
        """Return a definition in one of the study's modules; raise StudyError if it is missing."""
        definition = getattr(self.module(module), name, None)
        if definition is None:
            file = self._file(module)
            raise StudyError(f"{file}: expected a definition of `{name}`, found none")
        return definition

    def has(self, module: str) -> bool:
        """Return true if the study has a Python module of that name."""
        return self._file(module).is_file()

    @cached_property
    def metrics(self) -> Metrics:
        """Function that computes a run's metrics: from `metrics.py`, or from declared responses."""
        if self.head.responses and not self.has("metrics"):
            declared = Responses(self.head.responses)
            return lambda kept, run: declared.row(kept)
        metrics: Metrics = self.required("metrics", "metrics")
        return metrics

    def check(self) -> None:
        """Raise an error if a module of the study, a name in it, or a file of claims is missing."""
        for module, name in DEFINED:
            if self.has(module):
                self.required(module, name)
        if not self.head.responses:
            existing(self._file("metrics"))
        for folder in self.folders:
            if (folder / "reduce.py").is_file():
                self.required(_reducer(self.path, folder), "reduce")
            _claims_of(folder)

    def module(self, name: str) -> ModuleType:
        """Return a module of the study, such as `metrics`; dots separate directories."""
        # The name contains a hash of the path, since studies in two directories may have the same
        # name.
        place = hashlib.sha256(str(self.path).encode()).hexdigest()[:8]
        package = f"longhaul_study_{self.path.name}_{place}"
        if package not in sys.modules:
            # A package of the study's modules, which needs no `__init__.py`.
            folder = ModuleType(package)
            folder.__path__ = [str(self.path)]
            sys.modules[package] = folder
        existing(self._file(name))
        return importlib.import_module(f"{package}.{name}")

    def _file(self, module: str) -> Path:
        """Return the path of the file of one of the study's modules."""
        return self.path.joinpath(*module.split(".")).with_suffix(".py")

    def reduction(self, experiment: Experiment) -> "Reduction":
        """Return the reduction that selects the values to store for a run of an experiment.

        It is `reduce.py` in the experiment's directory; else, for a study with declared responses
        and no module `metrics`, the reducer of these responses; else the general reducer.
        """
        own = experiment.folder / "reduce.py"
        if own.is_file():
            module = _reducer(self.path, experiment.folder)
            return Reduction(code_digest([own])[:8], OwnReducer(self.name, self.path, module))
        if self.head.responses and not self.has("metrics"):
            responses = Responses(self.head.responses)
            return Reduction(f"responses{responses.variant}", responses)
        if experiment.all_samples:
            return Reduction("all-samples", reduce_keeping_samples)
        return Reduction("", reduce)

    def store(self, path: Path, experiment: Experiment) -> Store:
        """Return the store in the directory `path` that has the values of an experiment's runs."""
        return Store(path, self.reduction(experiment).variant)

    def chosen(self, names: Sequence[str] = ()) -> list[Experiment]:
        """Return the experiments with these names, or all experiments if `names` is empty."""
        for name in names:
            if name not in self.experiments:
                raise unknown("experiment", name, list(self.experiments))
        return [
            experiment
            for experiment in self.experiments.values()
            if not names or experiment.name in names
        ]

    def by_default(self, scale: str) -> list[str]:
        """Return the names of the experiments that run at a scale if the user names none."""
        every = self.experiments.values()
        return [
            experiment.name for experiment in every if scale == "full" or not experiment.on_request
        ]

    def cell(self, experiment: str, levels: Mapping[str, str]) -> Run:
        """Return the first replication of the only cell of an experiment at `levels`.

        `levels` maps axes to levels as text. The scale is full. Raise StudyError if there is no
        such cell, or several.
        """
        (chosen,) = self.chosen([experiment])
        for axis in levels:
            if axis not in chosen.axes:
                raise unknown("axis", axis, list(chosen.axes))
        fit = [
            run
            for run in chosen.sweep("full", replications=1).runs()
            if all(is_written_as(run.cell[axis], level) for axis, level in levels.items())
        ]
        if len(fit) == 1:
            return fit[0]
        open_ = {
            axis: chosen.levels(axis, "full")
            for axis in chosen.axes
            if not fit or axis not in levels
        }
        choices = "; ".join(f"{axis} of {_some(points)}" for axis, points in open_.items())
        raise StudyError(f"{experiment}: expected one run, found {len(fit)}; give {choices}")

    def runs(
        self,
        scale: str,
        experiments: Sequence[str] = (),
        replications: int | None = None,
        where: Mapping[str, Collection[str]] | None = None,
    ) -> list[Run]:
        """Return all runs of some experiments, ordered by replication.

        `where` maps axes to levels, given as text. Only runs with one of these levels on each of
        these axes are returned, so experiments without such an axis are left out.
        """
        chosen = self.chosen(experiments)
        for axis in where or {}:
            having = [
                experiment for experiment in self.experiments.values() if axis in experiment.axes
            ]
            if having and not any(experiment in chosen for experiment in having):
                names = " or ".join(experiment.name for experiment in having)
                raise StudyError(f"no chosen experiment has the axis `{axis}`: name {names}")
        runs = [
            run for experiment in chosen for run in experiment.sweep(scale, replications).runs()
        ]
        for axis, levels in (where or {}).items():
            others = {
                other: [level for each in chosen if axis in each.axes
                        for level in each.levels(axis, other)]
                for other in SCALES if other != scale
            }  # fmt: skip
            runs = _at(runs, axis, levels, others)
        return sorted(runs, key=lambda run: run.replication)


@dataclass(frozen=True)
class Reduction:
    """Function `reducer` that selects a run's values to store; `variant` is part of their key."""

    variant: str
    reducer: Callable[[Results], Kept]


@dataclass(frozen=True)
class OwnReducer:
    """A study's own module that reduces runs; worker processes load it from its directory."""

    name: str
    path: Path
    module: str

    def __call__(self, run: Results) -> Kept:
        """Return the values to store for a run."""
        kept: Kept = Study(self.name, self.path).required(self.module, "reduce")(run)
        return kept


def _reducer(study: Path, folder: Path) -> str:
    """Return the dotted name, within `study`, of the Python module `reduce.py` in `folder`."""
    return ".".join([*folder.relative_to(study).parts, "reduce"])


def _at(
    runs: Sequence[Run], axis: str, levels: Collection[str], others: Mapping[str, Sequence[Level]]
) -> list[Run]:
    """Return the runs with one of these levels on an axis; raise StudyError if a level has no run.

    `others` has the axis' levels at the other scales (quick or full), for the error message.
    """
    there = list(dict.fromkeys(str(run.cell[axis]) for run in runs if axis in run.cell))
    if not there:
        raise unknown("axis", axis, list(dict.fromkeys(name for run in runs for name in run.cell)))
    chosen: list[Any] = []
    for level in levels:
        named = {
            run.cell[axis]
            for run in runs
            if axis in run.cell and is_written_as(run.cell[axis], level)
        }
        if not named:
            having = [scale for scale, known in others.items()
                      if any(is_written_as(one, level) for one in known)]  # fmt: skip
            if having:
                raise StudyError(
                    f"{axis}={level}: only --scale {having[0]} has this level; "
                    f"available: {', '.join(there)}"
                )
            raise unknown(f"level of {axis}", level, there)
        chosen += named
    return [run for run in runs if axis in run.cell and run.cell[axis] in chosen]


def _some(levels: Sequence[Level]) -> str:
    """Return levels as text; if there are more than ten, only the first three and the last."""
    words = [str(level) for level in levels]
    return ", ".join(words if len(words) <= 10 else [*words[:3], "...", words[-1]])


def _claims_of(folder: Path) -> Path:
    return next((folder / name for name in CLAIMS if (folder / name).is_file()), None) or existing(
        folder / CLAIMS[0]
    )


def _installed() -> dict[str, Path]:
    """Return the directories of the studies of all installed distributions, by name.

    Entry points in the group `longhaul.studies` name packages whose subdirectories are studies;
    Longhaul's own studies are in the distribution `longhaul-studies`.
    """
    packages = [Path(str(files(point.value))) for point in entry_points(group=DISTRIBUTED)]
    folders = sorted(
        file.parent for package in packages for file in package.glob(f"*/{EXPERIMENTS}")
    )
    return {path.name.replace("_", "-"): path for path in folders}


def studies() -> list[Study]:
    """Return every installed study."""
    return [Study(name, path) for name, path in _installed().items()]


def find(name: str) -> Study:
    """Return the study that is installed under a name, or the study in a directory.

    Raise StudyError if there is none.
    """
    installed = _installed()
    if name in installed:
        return Study(name, installed[name])
    folder = Path(name)
    if (folder / EXPERIMENTS).is_file():
        folder = folder.resolve()
        return Study(folder.name, folder)
    if folder.is_dir():
        raise StudyError(f"{name}: expected a study's folder with {EXPERIMENTS}, found none there")
    if not installed:
        raise StudyError(f"unknown study `{name}`: {NONE_INSTALLED}")
    raise unknown("study", name, list(installed))
