"""Questions that a study's Python functions answer by a number computed from the results."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature

from longhaul.studies.cells import Cell
from longhaul.studies.data import Data
from longhaul.studies.questions.question import FULL, Experiments, Question
from longhaul.studies.questions.shape import whole
from longhaul.studies.questions.words import METRIC, Sides, Words, names

Function = Callable[..., float]

# Functions that need all runs of their experiments, for any words.
WHOLE_DESIGN: set[Function] = set()
# Kind of a function's number, as in `partial`, for functions whose value at some levels allows a
# conclusion on all levels.
KINDS: dict[Function, str] = {}


@dataclass(frozen=True)
class PythonQuestion(Question):
    """A question that a Python function of the study answers, given a claim's `key=value` words."""

    name: str
    function: Function

    @classmethod
    def read(
        cls, name: str, function: Function, words: Words, experiments: Sequence[str]
    ) -> "PythonQuestion":
        """Parse the `key=value` words of a claim about `experiments`."""
        arguments = {word: level for word, level in words.items() if word != "whole"}
        sides = Sides.read(arguments)
        return cls(arguments, tuple(experiments), sides, whole(words), name, function)

    def check(self, known: Experiments) -> None:
        """Raise ValueError if `key=value` words do not fit the function's parameters.

        They must fit with and without the axis `whole`, whose levels are only passed if some of
        them lack runs.
        """
        filled_in = {} if self.whole_axis is None else {self.whole_axis: ""}
        for words in (self.words, {**self.words, **filled_in}):
            try:
                signature(self.function).bind(None, **words)
            except TypeError as error:
                raise ValueError(f"{self.name}: {error}") from None

    def value(self, data: Data) -> float:
        """Return the number that the function computes from the results of the study."""
        return float(self.function(data, **self.words))

    def kind(self, axis: str) -> str:
        """Return the kind of number (see `partial`) that the function computes; may be empty."""
        return KINDS.get(self.function, "")

    def metrics_of(self, words: Words) -> list[str]:
        """Return the metrics that a claim names by `metric=`."""
        return names(words[METRIC])

    def cells(self, known: Experiments, scale: str = FULL) -> Mapping[Cell, Collection[str]]:
        """Return the cells that the claim needs and, for each cell, the metrics that are needed.

        Functions in `WHOLE_DESIGN` need all cells of their experiments.
        """
        if self.function not in WHOLE_DESIGN:
            return super().cells(known, scale)
        return {cell: () for name in self.experiments for cell in known[name].cells(scale).all}
