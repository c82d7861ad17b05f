"""Which runs a claim needs, and which of them are there, with what it measures of them.

A statement about all levels of an axis, such as all conditions of a design, says so in its `where`:
`whole=condition`. It is then measured at the levels at which all runs that it needs are there, and
`partial` says what these can show of all levels. With `whole=*` it is measured of all runs that it
needs or not at all. Other claims are measured of what is there, and say of how many runs that is.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from longhaul.studies import arithmetic, parts
from longhaul.studies.claims import Claim
from longhaul.studies.data import EXPERIMENT, Data
from longhaul.studies.declared import Declared
from longhaul.studies.declared.words import METRIC, SEVERAL, WHEN
from longhaul.studies.experiments import Experiment
from longhaul.studies.measures import WHOLE_DESIGN, Measure
from longhaul.studies.partial import Part
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


class There:
    """The cells of a study that were run, and what was measured of them."""

    def __init__(self, study: Study, data: Data) -> None:
        self._study = study
        self._data = data

    @cached_property
    def rows(self) -> Mapping[Cell, int]:
        """The row of each cell among those of its experiment."""
        return dict(self._rows())

    def _rows(self) -> Iterator[tuple[Cell, int]]:
        for name, lookup in self._data.cells_by_experiment.items():
            experiment = self._study.experiments.get(name)
            if experiment is None or not all(lookup.has(axis) for axis in experiment.axes):
                continue
            # The name as well: an experiment may have no axes, and one cell.
            columns = [lookup.column(axis) for axis in (EXPERIMENT, *experiment.axes)]
            for row, (_, *levels) in enumerate(zip(*columns, strict=True)):
                yield _cell(name, experiment, dict(zip(experiment.axes, levels, strict=True))), row

    def has(self, cell: Cell, metrics: Collection[str] = ()) -> bool:
        """Whether a cell was run, and all of these metrics were measured of it."""
        row = self.rows.get(cell)
        if row is None:
            return False
        lookup = self._data.cells_by_experiment[cell[0]]
        return all(
            lookup.has(metric) and lookup.column(metric)[row] is not None for metric in metrics
        )


def part_of(study: Study, there: There, claim: Claim) -> Part | None:
    """How much is there of what a claim is about; None if it is not about all levels of an axis.

    A level at which a metric of the claim was not measured is not there.
    """
    axis = claim.where.get(WHOLE)
    if axis in (None, REST):
        return None
    missing_by_level: dict[Any, bool] = {}
    for cell, metrics in _wanted(study, claim, FULL).items():
        level = dict(cell[1]).get(str(axis))
        missing_by_level[level] = missing_by_level.get(level, False) or not there.has(cell, metrics)
    # Cells of an experiment without this axis are needed at each level.
    lacks_common = missing_by_level.pop(None, False)
    complete = [level for level, lacks in missing_by_level.items() if not (lacks or lacks_common)]
    return Part(str(axis), tuple(sorted(complete)), len(missing_by_level))


def lacking(study: Study, there: There, claim: Claim) -> str:
    """How much is there of what a claim needs all of; empty if it is all, or some will do."""
    if claim.where.get(WHOLE) != REST:
        return ""
    cells = needed(study, claim)
    count = sum(map(there.has, cells))
    return f"{count} of {len(cells)} runs are there" if count < len(cells) else ""


def on_runs(study: Study, there: There, claim: Claim, scale: str) -> str:
    """On how many of the runs at a scale a claim rests, such as `on 180 of 270 runs`.

    Empty if all are there, if it says of how many levels it is, and if it does not say of which
    runs: what is printed of the set-up is not measured of any.
    """
    if WHOLE in claim.where or OF not in claim.where or claim.is_set_up:
        return ""
    cells = needed(study, claim, scale)
    count = sum(map(there.has, cells))
    return f"on {count} of {len(cells)} runs" if count < len(cells) else ""


def needed(study: Study, claim: Claim, scale: str = FULL) -> frozenset[Cell]:
    """The cells that a claim is about at a scale, of both sides where it compares two."""
    return frozenset(_wanted(study, claim, scale))


def _wanted(study: Study, claim: Claim, scale: str) -> Mapping[Cell, Collection[str]]:
    """The cells that a claim needs, each with the metrics that it measures of them."""
    measure = parts.measure(study, claim.id, claim.measure)
    if measure in WHOLE_DESIGN:
        return {
            _cell(name, study.experiments[name], levels): ()
            for name in claim.experiments
            for levels in _levels(study, name, scale)
        }
    wanted: dict[Cell, set[str]] = {}
    for words in _sides(claim.where):
        metrics = _metrics(words, measure)
        for name in _experiments(claim, words):
            for cell in _selected(study, name, words, scale):
                wanted.setdefault(cell, set()).update(metrics)
    return wanted


def in_words(
    study: Study, cells: Collection[Cell], there: Collection[Cell] | None = None
) -> Iterator[str]:
    """Runs of each experiment, such as `N7-MAIN: condition 8, all 8 algorithms (8 runs)`.

    Of these the ones that are there, if it is said which: `N7-MAIN: condition 8, algorithms BIC,
    CTCP (2 of 8 runs)`.
    """
    counts = Counter(name for name, _ in cells)
    by_experiment: dict[str, list[dict[str, Any]]] = {name: [] for name in counts}
    for name, levels in cells if there is None else there:
        by_experiment[name].append(dict(levels))
    for name, experiment in study.experiments.items():
        if name in counts:
            yield f"{name}: {_described(experiment, by_experiment[name], counts[name])}"


def _described(experiment: Experiment, cells: Sequence[Mapping[str, Any]], of: int) -> str:
    runs = "1 run" if of == 1 else f"{of} runs"
    if not cells:
        return f"none of {runs}"
    axes = [_levels_in_words(experiment, axis, cells) for axis in experiment.axes]
    return f"{', '.join(axes)} ({f'{len(cells)} of ' if len(cells) < of else ''}{runs})"


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


def _metrics(words: Words, measure: Measure) -> list[str]:
    """What has to have been measured of the cells that words select.

    Those that a claim chooses by another metric need that one; the others may lack what is taken.
    """
    if chosen_by := [word.removeprefix(WHEN) for word in words if word.startswith(WHEN)]:
        return chosen_by
    texts = str(words[METRIC]).split(SEVERAL) if METRIC in words else []
    if not isinstance(measure, Declared):
        return texts
    return [name for text in texts for name in arithmetic.metrics(text)]


def _selected(study: Study, name: str, words: Words, scale: str) -> Iterator[Cell]:
    """The cells of an experiment at the levels that words select."""
    experiment = study.experiments[name]
    chosen = {word: selects(level) for word, level in words.items() if level != "" and word != OF}
    for levels in _levels(study, name, scale):
        if all(word not in levels or is_one(levels[word]) for word, is_one in chosen.items()):
            yield _cell(name, experiment, levels)


@cache
def _levels(study: Study, name: str, scale: str) -> tuple[Mapping[str, Any], ...]:
    """The levels of axes and factors of an experiment's cells."""
    experiment = study.experiments[name]
    return () if experiment.template is None else tuple(experiment.sweep(scale, 1).cells())


def _cell(name: str, experiment: Experiment, levels: Mapping[str, Any]) -> Cell:
    return name, tuple((axis, _exact(levels[axis])) for axis in experiment.axes)


def _exact(level: Any) -> Any:  # noqa: ANN401
    """Levels are recorded with six digits."""
    return float(f"{level:.6g}") if isinstance(level, float) else level
