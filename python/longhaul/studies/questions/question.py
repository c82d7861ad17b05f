"""Base class of the numbers that claims ask for, computed from cells of experiments."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from longhaul.studies.cells import Cell
from longhaul.studies.data import Data
from longhaul.studies.experiments import Experiment
from longhaul.studies.questions.shape import is_axis
from longhaul.studies.questions.words import METRIC, OF, WHEN, Sides, Words, is_when, names
from longhaul.studies.selection import REST, Word

FULL = "full"
Experiments = Mapping[str, Experiment]


@dataclass(frozen=True)
class Question(ABC):
    """The number that a claim asks for, defined by the claim's `key=value` words."""

    words: Words
    """The claim's `key=value` words, with levels that `narrowed` added.

    The word `whole` is left out if a Python function answers the question.
    """
    experiments: tuple[str, ...]
    """Names of the experiments of the claim."""
    sides: Sides
    whole: str
    """Value of `whole=` among the claim's words; empty if there is none.

    It is an axis if the claim is about all levels of this axis, `*` if the claim needs all runs.
    """

    @abstractmethod
    def check(self, known: Experiments) -> None:
        """Raise ValueError if the claim's `key=value` words do not fit the experiments."""

    @abstractmethod
    def value(self, data: Data) -> float:
        """Return the number that answers the question.

        Raise NotRunError if a value is missing. A division by 0 may raise ZeroDivisionError.
        """

    def in_samples(self, samples: Data) -> np.ndarray | None:
        """Return the question's number in each bootstrap sample.

        Return None if the numbers cannot be computed together. Then `value` computes the number of
        one sample at a time.
        """
        return None

    @abstractmethod
    def kind(self, axis: str) -> str:
        """Return the kind of the question's number, such as `count`; may be empty.

        The kind decides what can be concluded if only some levels of `axis` were run.
        """

    @property
    def is_extreme(self) -> bool:
        """True if the number is the minimum or maximum over single runs.

        Bootstrap samples contain no more extreme run, so such a number has no interval.
        """
        return False

    @abstractmethod
    def metrics_of(self, words: Words) -> list[str]:
        """Return the metrics in `words`, the `key=value` words of one side of a comparison."""

    @property
    def metric(self) -> str:
        """Metric of the question, or an expression of metrics; empty if there is none."""
        return str(self.sides.own.get(METRIC, ""))

    @property
    def of(self) -> str:
        """Names of the experiments in `of=`; without `of=`, the claim's first experiment."""
        return str(self.sides.own.get(OF, self.experiments[0]))

    @property
    def names_runs(self) -> bool:
        """True if the claim names its experiments by `of=`; otherwise, its runs are unknown."""
        return OF in self.sides.own

    @property
    def levels(self) -> Words:
        """Words of the first side that select points: all except `of` and `metric`."""
        return {word: level for word, level in self.sides.own.items() if word not in (OF, METRIC)}

    @property
    def is_plain(self) -> bool:
        """True for a metric without a comparison and without the words `when.METRIC` and `by`."""
        conditions = self.sides.compared or any(map(is_when, self.sides.own))
        return bool(self.metric) and not conditions and "by" not in self.words

    @property
    def needs_all_runs(self) -> bool:
        """True if the claim can be judged only when all of its runs exist."""
        return self.whole == REST

    @property
    def whole_axis(self) -> str | None:
        """The axis if the claim is about all levels of an axis; otherwise None."""
        return self.whole if is_axis(self.whole) else None

    def narrowed(self, levels: Words) -> Self:
        """Return the question restricted to the given levels of axes."""
        words = {**self.words, **levels}
        return replace(self, words=words, sides=self.sides.narrowed(levels))

    def level_in(self, cell: Words, axis: str) -> Word | None:
        """Return the question's level of `axis`.

        Return None if it has none, or if another of its words differs from the one in `cell`.
        """
        words = {OF: self.experiments[0], **self.words}
        level = words.pop(axis, None)
        return level if all(cell.get(word) == value for word, value in words.items()) else None

    def cells(self, known: Experiments, scale: str = FULL) -> Mapping[Cell, Collection[str]]:
        """Return the cells (combinations of levels) and, for each, the metrics that are needed."""
        needed: dict[Cell, set[str]] = {}
        for words in self.sides.all:
            metrics = self._required_metrics(words)
            levels = {word: level for word, level in words.items() if level != "" and word != OF}
            for name in self._experiments_of(words):
                for cell in known[name].cells(scale).selected(levels):
                    needed.setdefault(cell, set()).update(metrics)
        return needed

    def _experiments_of(self, words: Words) -> Collection[str]:
        """Return the experiments named in `words`; without a comparison, all of the claim."""
        return names(words[OF]) if self.sides.compared else self.experiments

    def _required_metrics(self, words: Words) -> list[str]:
        """Return the metrics that every cell (combination of levels) selected by `words` must have.

        They are the metrics of the words `when.METRIC`, which select cells by a metric's range.
        Without such words, they are the metrics of the word `metric`.
        """
        if chosen_by := [word.removeprefix(WHEN) for word in words if is_when(word)]:
            return chosen_by
        return self.metrics_of(words) if METRIC in words else []
