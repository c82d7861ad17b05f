"""Measures that claims of any study may name: one number each, from medians over replications.

`of` names the experiment, `beside` another one to compare with; other words name a cell, or the
common levels of a curve. Shares of points are from 0 to 1.
"""

from collections.abc import Callable, Mapping, Sequence

from longhaul.studies.questions import DECLARED, DeclaredMeasure, PythonQuestion, Question
from longhaul.studies.questions.python import KINDS, WHOLE_DESIGN
from longhaul.studies.questions.words import Words
from longhaul.studies.registry import Registry

__all__ = ["GENERAL", "KINDS", "Measure", "Measures", "question"]

# Declared measures are called with words, as functions are.
Measure = Callable[..., float]


class Measures(Registry[Measure]):
    """Measures by their names."""

    def register_of_design(self, function: Measure) -> Measure:
        """Add a measure that needs all runs of its experiments, and return it: a decorator."""
        WHOLE_DESIGN.add(function)
        return self.register(function)


GENERAL = Measures(DECLARED)


def question(
    measures: Mapping[str, Measure], name: str, words: Words, experiments: Sequence[str]
) -> Question:
    """Parse the words of a question for its measure; ValueError for words that it refuses."""
    measure = measures[name]
    if isinstance(measure, DeclaredMeasure):
        return measure.question(words, experiments)
    return PythonQuestion.read(name, measure, words, experiments)
