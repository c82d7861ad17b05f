"""Coverage of claims: the runs that a claim needs, and the needed runs that exist.

If needed runs are missing, the word `whole` in a claim's `where` decides if the claim is measured.
With `whole=AXIS`, the claim is about all levels of an axis, such as all conditions of a design. It
is measured at the levels without missing runs, and `partial` derives the verdict on all levels.
With `whole=*`, the claim is not measured. Both need the runs of the full scale, even if a smaller
scale is judged. Without `whole`, the claim is measured from the existing runs, and its judgement
states how many cells of the judged scale were run.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from longhaul.studies.cells import Cell, as_recorded, cell_at
from longhaul.studies.claims import Claim
from longhaul.studies.data import EXPERIMENT, Data
from longhaul.studies.experiments import SCALES, Experiment
from longhaul.studies.partial import CoveredLevels
from longhaul.studies.questions.question import FULL
from longhaul.studies.selection import is_level
from longhaul.studies.study import Study


class RecordedCells:
    """The cells (combinations of levels) of a study that were run, and their measured metrics."""

    def __init__(self, study: Study, data: Data) -> None:
        self._study = study
        self._data = data

    @cached_property
    def rows(self) -> Mapping[Cell, int]:
        """Row number of each cell in its experiment's table of cells."""
        return dict(self._rows())

    def _rows(self) -> Iterator[tuple[Cell, int]]:
        for name, lookup in self._data.cells_by_experiment.items():
            experiment = self._study.experiments.get(name)
            if experiment is None or not all(lookup.has(axis) for axis in experiment.axes):
                continue
            # Includes the name, since an experiment without axes has one cell.
            axes = (EXPERIMENT, *experiment.axes)
            columns = [
                lookup.column(EXPERIMENT),
                *(_as_declared(lookup.column(axis), experiment, axis) for axis in experiment.axes),
            ]
            for row, levels in enumerate(zip(*columns, strict=True)):
                at = dict(zip(axes, levels, strict=True))
                yield cell_at(name, experiment.axes, at), row

    def has(self, cell: Cell, metrics: Collection[str] = ()) -> bool:
        """Return true if a cell was run and has a value of each of these metrics."""
        row = self.rows.get(cell)
        if row is None:
            return False
        lookup = self._data.cells_by_experiment[cell[0]]
        return all(
            lookup.has(metric) and lookup.column(metric)[row] is not None for metric in metrics
        )


def _as_declared(recorded: Sequence[Any], experiment: Experiment, axis: str) -> list[Any]:
    """Return recorded levels of an axis; numbers that were recorded as text are numbers again.

    Results have text in place of numbers if an axis has both.
    """
    declared = [level for scale in SCALES for level in experiment.levels(axis, scale)]
    numbers = [level for level in declared if not isinstance(level, str)]
    texts = {own for own in recorded if isinstance(own, str)}
    read = {own: next((n for n in numbers if is_level(own, n)), own) for own in texts}
    return [read.get(own, own) for own in recorded]


def part_of(study: Study, recorded: RecordedCells, claim: Claim) -> CoveredLevels | None:
    """Return the levels at which all needed runs exist, for a claim about all levels of an axis.

    A level is left out if a metric of the claim was not measured in one of the level's cells.
    Return None for other claims.
    """
    axis = claim.question.whole_axis
    if axis is None:
        return None
    missing_by_level: dict[Any, bool] = {}
    for cell, metrics in claim.question.cells(study.experiments).items():
        level = dict(cell[1]).get(axis)
        lacks = missing_by_level.get(level, False)
        missing_by_level[level] = lacks or not recorded.has(cell, metrics)
    # Cells of experiments without this axis are needed at each level.
    lacks_common = missing_by_level.pop(None, False)
    complete = [level for level, lacks in missing_by_level.items() if not (lacks or lacks_common)]
    in_order = sorted(complete, key=lambda level: (isinstance(level, str), level))
    return CoveredLevels(axis, tuple(in_order), len(missing_by_level))


def lacking(study: Study, recorded: RecordedCells, claim: Claim) -> str:
    """Return text such as `6 of 8 runs are there` if a claim needs all runs but some are missing.

    The runs are those of the full scale. With replications, the text counts cells instead. It is
    empty if the claim does not need all runs, or if all exist.
    """
    if not claim.question.needs_all_runs:
        return ""
    return _counted(study, recorded, claim, FULL, "{} of {} {}s are there")


def on_runs(study: Study, recorded: RecordedCells, claim: Claim, scale: str) -> str:
    """Return a text such as `on 180 of 270 runs` if runs of a claim are missing at a scale.

    With replications, the text counts cells instead. It is empty if all cells were run. It is also
    empty if the claim has the word `whole` or is about the set-up, or if it does not say which runs
    it uses.
    """
    question = claim.question
    if question.whole or not question.names_runs or claim.is_set_up:
        return ""
    return _counted(study, recorded, claim, scale, "on {} of {} {}s")


def _counted(study: Study, recorded: RecordedCells, claim: Claim, scale: str, text: str) -> str:
    """Fill the counts of a claim's existing and needed cells, and their unit, into `text`.

    A cell (a combination of levels) exists if at least one of its replications was run. The text is
    empty if all exist.
    """
    cells = claim.question.cells(study.experiments, scale)
    count = sum(map(recorded.has, cells))
    if count == len(cells):
        return ""
    experiments = [study.experiments[name] for name in {name for name, _ in cells}]
    return text.format(count, len(cells), _unit(experiments, scale))


def in_words(
    study: Study, cells: Collection[Cell], there: Collection[Cell] | None = None
) -> Iterator[str]:
    """Describe the cells of each experiment: `N7-MAIN: condition 8, all 8 algorithms (8 runs)`.

    A cell is a combination of levels. The number in brackets is of runs, or of cells if the
    experiment has replications. If `there` is given, describe only the cells in it, which were run:
    `N7-MAIN: condition 8, algorithms BIC, CTCP (2 of 8 runs)`.
    """
    counts = Counter(name for name, _ in cells)
    by_experiment: dict[str, list[dict[str, Any]]] = {name: [] for name in counts}
    for name, levels in cells if there is None else there:
        by_experiment[name].append(dict(levels))
    for name, experiment in study.experiments.items():
        if name in counts:
            yield f"{name}: {_described(experiment, by_experiment[name], counts[name])}"


def _described(experiment: Experiment, cells: Sequence[Mapping[str, Any]], of: int) -> str:
    unit = _unit([experiment], FULL)
    runs = f"{of} {unit}{'' if of == 1 else 's'}"
    if not cells:
        return f"none of {runs}"
    axes = [_levels_in_words(experiment, axis, cells) for axis in experiment.axes]
    return f"{', '.join(axes)} ({f'{len(cells)} of ' if len(cells) < of else ''}{runs})"


def _unit(experiments: Sequence[Experiment], scale: str) -> str:
    """Return the word for a cell: `run`, or `cell` if replications give some cells several runs."""
    several = any(experiment.replications.get(scale, 1) > 1 for experiment in experiments)
    return "cell" if several else "run"


def _levels_in_words(experiment: Experiment, axis: str, cells: Sequence[Mapping[str, Any]]) -> str:
    every = experiment.levels(axis, FULL)
    used = {cell[axis] for cell in cells}
    chosen = [level for level in every if as_recorded(level) in used]
    if len(chosen) == len(every) > 1:
        return f"all {len(every)} {_plural(axis)}"
    if len(chosen) > 8:
        return f"{len(chosen)} of {len(every)} {_plural(axis)}"
    name = _plural(axis) if len(chosen) > 1 else axis
    return f"{name} {', '.join(str(level) for level in chosen)}"


def _plural(axis: str) -> str:
    """Return the plural of an axis name; names of one letter have no plural."""
    if len(axis) == 1:
        return axis
    if re.search("[^aeiou]y$", axis):
        return f"{axis[:-1]}ies"
    return axis if axis.endswith("s") else f"{axis}s"
