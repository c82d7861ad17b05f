"""Which runs a claim needs, which of them are there, and what a part of them can show.

A statement about all levels of an axis, such as all conditions of a design, says so in its `where`:
`whole=condition`. It is then measured at the levels at which all runs that it needs are there, and
what these can show of all levels is an interval: a count over eight of 32 conditions leaves open
what it is over the other 24, a smallest value can only become smaller, and a mean over some
conditions says nothing certain of the mean over all. With `whole=*` it is measured of all runs that
it needs or not at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

from longhaul.analysis.judging import Interval
from longhaul.studies import parts
from longhaul.studies.claims import Claim
from longhaul.studies.data import Data
from longhaul.studies.experiments import Experiment
from longhaul.studies.measures import WHOLE_DESIGN
from longhaul.studies.parts import WHOLE
from longhaul.studies.selection import AND, REST, Word, selects
from longhaul.studies.study import Study

OF = "of"
FULL = "full"
# Words of `where` that are of the other side of a comparison.
SIDES = ("less", "over", "with", "against")

# An experiment, and its level of each axis.
Cell = tuple[str, tuple[tuple[str, Any], ...]]
Words = Mapping[str, Word]


@dataclass(frozen=True)
class Part:
    """The levels of an axis at which all runs are there that a claim needs, out of all."""

    axis: str
    there: tuple[Any, ...]
    of: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return len(self.there) == self.of

    @property
    def text(self) -> str:
        """Such as `on 8 of 32 conditions`."""
        return f"on {len(self.there)} of {self.of} {self.axis}{'s' if self.of > 1 else ''}"

    @property
    def words(self) -> dict[str, Word]:
        """What selects these levels."""
        first, *others = self.there
        return {self.axis: AND.join(map(str, self.there)) if others else first}


def bounds(kind: str, measured: float, part: Part) -> Interval:
    """Where what is measured at some levels may be over all of them, by what kind of number it is.

    Nowhere certain if nothing is known of the kind.
    """
    missing = part.of - len(part.there)
    if kind == "count":
        return measured, measured + missing
    if kind == "share":
        held = measured * len(part.there)
        return held / part.of, (held + missing) / part.of
    if kind == "least":
        return -inf, measured
    if kind == "largest":
        return measured, inf
    return -inf, inf


def part_of(study: Study, data: Data, claim: Claim) -> Part | None:
    """How much is there of what a claim is about; None if it is not about all levels of an axis."""
    axis = claim.where.get(WHOLE)
    if axis in (None, REST):
        return None
    cells_by_level: dict[Any, set[Cell]] = {}
    for cell in needed(study, claim):
        cells_by_level.setdefault(dict(cell[1]).get(str(axis)), set()).add(cell)
    # Cells of an experiment without this axis are needed at each level.
    common = cells_by_level.pop(None, set())
    there = _cells_there(study, data)
    complete = [level for level, cells in cells_by_level.items() if cells | common <= there]
    return Part(str(axis), tuple(sorted(complete)), len(cells_by_level))


def missing(study: Study, data: Data, claim: Claim) -> str:
    """How much is there of what a claim needs all of; empty if it is all, or some will do."""
    if claim.where.get(WHOLE) != REST:
        return ""
    cells = needed(study, claim)
    there = len(cells & _cells_there(study, data))
    return f"{there} of {len(cells)} runs are there" if there < len(cells) else ""


def needed(study: Study, claim: Claim) -> frozenset[Cell]:
    """The cells that a claim is about at full scale, of both sides where it compares two."""
    if parts.measure(study, claim.id, claim.measure) in WHOLE_DESIGN:
        every = ((name, levels) for name in claim.experiments for levels in _levels(study, name))
        return frozenset(_cell(name, study.experiments[name], levels) for name, levels in every)
    return frozenset(
        cell
        for words in _sides(claim.where)
        for name in _experiments(claim, words)
        for cell in _selected(study, name, words)
    )


def in_words(study: Study, *claims: Claim) -> str:
    """What claims need together, such as `N7-MAIN: condition 8, all 8 algorithms (8 runs)`."""
    by_experiment: dict[str, list[dict[str, Any]]] = {}
    for name, levels in {cell for claim in claims for cell in needed(study, claim)}:
        by_experiment.setdefault(name, []).append(dict(levels))
    return "; ".join(
        f"{name}: {_described(experiment, by_experiment[name])}"
        for name, experiment in study.experiments.items()
        if name in by_experiment
    )


def _described(experiment: Experiment, cells: Sequence[Mapping[str, Any]]) -> str:
    axes = [_levels_in_words(experiment, axis, cells) for axis in experiment.axes]
    runs = "1 run" if len(cells) == 1 else f"{len(cells)} runs"
    return f"{', '.join(axes)} ({runs})"


def _levels_in_words(experiment: Experiment, axis: str, cells: Sequence[Mapping[str, Any]]) -> str:
    every = experiment.levels(axis, FULL)
    used = {cell[axis] for cell in cells}
    chosen = [level for level in every if level in used]
    if len(chosen) == len(every) > 1:
        return f"all {len(every)} {_plural(axis)}"
    if len(chosen) > 8:
        return f"{len(chosen)} of {len(every)} {_plural(axis)}"
    name = _plural(axis) if len(chosen) > 1 else axis
    return f"{name} {', '.join(str(level) for level in chosen)}"


def _plural(axis: str) -> str:
    """The name of an axis for several of its levels."""
    if re.search("[^aeiou]y$", axis):
        return f"{axis[:-1]}ies"
    return axis if axis.endswith("s") else f"{axis}s"


def _sides(where: Words) -> Iterator[Words]:
    """The words of a claim, and those of each side that it compares them with."""
    own = {word: level for word, level in where.items() if word.partition(".")[0] not in SIDES}
    yield own
    for side in SIDES:
        other = {
            word.removeprefix(f"{side}."): level
            for word, level in where.items()
            if word.startswith(f"{side}.")
        }
        if other:
            yield {**own, **other}


def _experiments(claim: Claim, words: Words) -> Sequence[str]:
    """The experiments of a side. Measures in Python may name others than `of` does."""
    if any(word.partition(".")[0] in SIDES for word in claim.where):
        return str(words[OF]).split(AND)
    return claim.experiments


def _selected(study: Study, name: str, words: Words) -> Iterator[Cell]:
    """The cells of an experiment at the levels that words select."""
    experiment = study.experiments[name]
    chosen = {word: selects(level) for word, level in words.items() if level != "" and word != OF}
    for levels in _levels(study, name):
        if all(word not in levels or is_one(levels[word]) for word, is_one in chosen.items()):
            yield _cell(name, experiment, levels)


@cache
def _levels(study: Study, name: str) -> tuple[Mapping[str, Any], ...]:
    """The levels of axes and factors of an experiment's cells at full scale."""
    experiment = study.experiments[name]
    return () if experiment.template is None else tuple(experiment.sweep(FULL, 1).cells())


def _cell(name: str, experiment: Experiment, levels: Mapping[str, Any]) -> Cell:
    return name, tuple((axis, _exact(levels[axis])) for axis in experiment.axes)


def _cells_there(study: Study, data: Data) -> set[Cell]:
    there: set[Cell] = set()
    for name, lookup in data.cells_by_experiment.items():
        experiment = study.experiments.get(name)
        if experiment is None or not all(lookup.has(axis) for axis in experiment.axes):
            continue
        columns = [lookup.column(axis) for axis in experiment.axes]
        for row in zip(*columns, strict=True):
            there.add(_cell(name, experiment, dict(zip(experiment.axes, row, strict=True))))
    return there


def _exact(level: Any) -> Any:  # noqa: ANN401
    """Levels are recorded with six digits."""
    return float(f"{level:.6g}") if isinstance(level, float) else level
