"""Suites of evaluations: experiments, and criteria judged by quantities measured in them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from longhaul._engine import LonghaulError
from longhaul.campaign import Run
from longhaul.evaluation.contenders import Contender
from longhaul.figures.registry import with_unit
from longhaul.figures.words import of_suite
from longhaul.studies.experiments import Experiment, Head, read_experiments

# Axis of existing algorithms that compete with the contender.
OTHER = "other"
CLASSES = ("must", "should", "may", "consider")


class SuiteError(LonghaulError):
    """Error: a suite does not exist, or is invalid."""


@dataclass(frozen=True)
class Figure:
    """A quantity by which a criterion compares contenders."""

    name: str
    title: str
    better: str = ""
    """`more` or `less`: the direction that is better; empty for a quantity without a verdict."""
    slack: float = 0.0
    """Absolute difference up to which values count as equal, in the quantity's unit."""
    at_most: float | None = None
    """Upper bound for the evaluated algorithm, whatever the values of other contenders.

    It is None if there is no bound.
    """
    starves: bool = False
    """True if a positive value means that a flow starves."""
    experiments: tuple[str, ...] = ()
    """Experiments in which the quantity is used; empty for all experiments of the criterion."""
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Levels, by axis of the experiment, to which the quantity is restricted.

    All levels of other axes are used.
    """


@dataclass(frozen=True)
class Criterion:
    """A criterion of the evaluation, taken from one section of the suite's document."""

    section: str
    title: str
    strength: str
    """Level of requirement in the document: must, should, may, or consider for none of these."""
    about: str = ""
    why: str = ""
    """Reason why a criterion is not evaluated; empty if it is evaluated."""
    experiments: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()

    def without(self, reasons: Mapping[str, str]) -> "Criterion":
        """Return the criterion without the experiments in `reasons`; its text gives the reasons.

        `reasons` maps the name of an experiment to the reason why it is left out.
        """
        lost = [name for name in self.experiments if name in reasons]
        if not lost:
            return self
        why = "; ".join(f"{name}: {reasons[name]}" for name in lost)
        left = tuple(name for name in self.experiments if name not in reasons)
        if not left:
            return replace(self, experiments=(), figures=(), why=why)
        figures = (
            replace(figure, experiments=tuple(name for name in figure.experiments if name in left))
            for figure in self.figures
            if not figure.experiments or set(figure.experiments) & set(left)
        )
        about = f"{self.about} Not evaluated: {why}."
        return replace(self, experiments=left, figures=tuple(figures), about=about)


@dataclass(frozen=True)
class Terms:
    """Subject of a suite, and rules for its verdicts."""

    document: str
    """Document with the criteria, such as `RFC 9743`."""
    subject: str
    """`algorithm` or `discipline`: the kind of contenders, which is also the name of their axis."""
    standards: tuple[str, ...]
    """Contenders in common use, with which verdicts compare the subject."""
    against: tuple[str, ...]
    """Further contenders that are evaluated if the user names none."""
    note: str
    """Note about the rules of the verdicts, shown on the page."""
    trades: bool = False
    """True if a subject with worse and better quantities gets `trade-off` instead of `worse`."""


@dataclass(frozen=True)
class Suite:
    """A suite: experiments and the criteria that use them."""

    name: str
    head: Head
    terms: Terms
    experiments: Mapping[str, Experiment]
    criteria: tuple[Criterion, ...]

    def only(self, sections: Sequence[str]) -> "Suite":
        """Return the suite with these sections' criteria only, and the experiments they need.

        Raises:
            SuiteError: a section has no criterion, or none of the criteria is evaluated.

        """
        known = [criterion.section for criterion in self.criteria]
        for section in sections:
            if section not in known:
                raise SuiteError(f"no criterion `{section}`; there are: {', '.join(known)}")
        criteria = tuple(criterion for criterion in self.criteria if criterion.section in sections)
        needed = {name for criterion in criteria for name in criterion.experiments}
        if not needed:
            raise SuiteError(f"{', '.join(sections)}: not evaluated: {criteria[0].why}")
        experiments = {
            name: experiment for name, experiment in self.experiments.items() if name in needed
        }
        return replace(self, experiments=experiments, criteria=criteria)

    def without(self, reasons: Mapping[str, str]) -> "Suite":
        """Return the suite without the experiments in `reasons`, a mapping from name to reason.

        A criterion that has no experiment left is not evaluated.
        """
        criteria = tuple(criterion.without(reasons) for criterion in self.criteria)
        experiments = {
            name: experiment for name, experiment in self.experiments.items() if name not in reasons
        }
        return replace(self, experiments=experiments, criteria=criteria)

    def runs(self, field_: Sequence[Contender], scale: str) -> list[Run]:
        """Return all runs of the contenders `field_` at a scale, one replication after the other.

        The scale, such as `quick`, selects levels and replications.
        """
        runs = [
            run
            for experiment in self.experiments.values()
            for run in self._with(experiment, field_).sweep(scale).runs()
        ]
        return sorted(runs, key=lambda run: run.replication)

    def _with(self, experiment: Experiment, field_: Sequence[Contender]) -> Experiment:
        """Return an experiment with the contenders `field_` as levels of its axis of contenders.

        The axis `other` keeps its levels: existing algorithms that compete with the new algorithm.
        """
        tables = {self.terms.subject: {contender.name: contender.table for contender in field_}}
        if OTHER in experiment.factors:
            tables[OTHER] = {name: {"kind": name} for name in experiment.factors[OTHER]}
        levels = {name: {"levels": table} for name, table in tables.items()}
        return replace(experiment, factors={**experiment.factors, **levels})


def suites() -> dict[str, Path]:
    """Return the directories of all suites, by name."""
    folder = Path(str(files("longhaul.evaluation")))
    return {file.parent.name: file.parent for file in sorted(folder.glob("*/criteria.toml"))}


def find(name: str) -> Suite:
    """Return the suite with this name."""
    folders = suites()
    if name not in folders:
        raise SuiteError(f"no suite is called `{name}`; there are: {', '.join(folders)}")
    folder = folders[name]
    head, experiments = read_experiments(folder / "experiments.toml")
    file = folder / "criteria.toml"
    whole = tomllib.loads(file.read_text(encoding="utf-8"))
    criteria = tuple(_criterion(file, given, experiments) for given in whole.pop("criteria"))
    lists = {key: tuple(whole[key]) for key in ("standards", "against")}
    return Suite(name, head, Terms(**{**whole, **lists}), experiments, criteria)


def _figure(where: str, given: Mapping[str, Any]) -> Figure:
    """Return the quantity that a table of `criteria.toml` declares.

    `where` is the place of the table for error messages.
    """
    known = of_suite(given["name"])
    if known is None:
        raise SuiteError(
            f"{where}: unknown figure `{given['name']}`; `longhaul list figures` has all"
        )
    title = with_unit(known.title, known.unit)
    return Figure(**{"title": title, **given, "experiments": tuple(given.get("experiments", ()))})


def _criterion(
    file: Path, given: Mapping[str, Any], experiments: Mapping[str, Experiment]
) -> Criterion:
    where = f"{file}: {given.get('section')}"
    names = tuple(given.get("experiments", ()))
    for name in names:
        if name not in experiments:
            raise SuiteError(f"{where}: unknown experiment `{name}`")
    if given["class"] not in CLASSES:
        raise SuiteError(f"{where}: class: expected one of {', '.join(CLASSES)}")
    figures = tuple(_figure(where, figure) for figure in given.get("figures", ()))
    if bool(figures) == bool(given.get("why")):
        raise SuiteError(f"{where}: expected either figures, or why it is not evaluated")
    return Criterion(
        section=given["section"],
        title=given["title"],
        strength=given["class"],
        about=given.get("about", ""),
        why=given.get("why", ""),
        experiments=names,
        figures=figures,
    )
