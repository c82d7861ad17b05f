"""Cells of an experiment (combinations of its factors' levels), and their selection by claims."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from longhaul.studies.selection import Word, selects

# A cell: the experiment, and a level of each axis.
Cell = tuple[str, tuple[tuple[str, Any], ...]]


class Cells:
    """All cells (combinations of levels) of an experiment at one scale.

    A claim selects cells by words such as `flows=5..`; the cells that match a word are computed
    once.
    """

    def __init__(
        self, experiment: str, axes: Sequence[str], levels: Sequence[Mapping[str, Any]]
    ) -> None:
        self.all = [cell_at(experiment, axes, each) for each in levels]
        # Levels of axes and of the factors that follow from conditions.
        self._levels = levels
        self._fitting: dict[tuple[str, Word], np.ndarray] = {}

    def selected(self, words: Mapping[str, Word]) -> Iterator[Cell]:
        """Return the cells whose levels match all `words` of a claim, such as `flows=5..`.

        A word for an axis that a cell lacks is ignored.
        """
        every = np.ones(len(self.all), bool)
        for word in words.items():
            every &= self._fits(*word)
        return compress(self.all, every.tolist())

    def _fits(self, axis: str, word: Word) -> np.ndarray:
        """Return a mask of the cells: true if the cell's level of `axis` matches `word`."""
        if (axis, word) not in self._fitting:
            fits = selects(word)
            self._fitting[axis, word] = np.array(
                [axis not in levels or fits(levels[axis]) for levels in self._levels], bool
            )
        return self._fitting[axis, word]


def cell_at(experiment: str, axes: Sequence[str], levels: Mapping[str, Any]) -> Cell:
    """Return the cell of an experiment with these levels, rounded as in recorded results."""
    return experiment, tuple((axis, as_recorded(levels[axis])) for axis in axes)


def as_recorded(level: Any) -> Any:  # noqa: ANN401
    """Return a level; a float is rounded to six digits, as in recorded results."""
    return float(f"{level:.6g}") if isinstance(level, float) else level
