"""Measures that claims of any study may use; each is one number, from medians over replications.

The argument `of` names the experiment, and `beside` an experiment to compare with; other arguments
select a cell, or the fixed levels of a curve. Shares of points are between 0 and 1.
"""

from collections.abc import Callable, Mapping, Sequence

from longhaul.studies.questions import DECLARED, DeclaredMeasure, PythonQuestion, Question
from longhaul.studies.questions.python import KINDS, WHOLE_DESIGN
from longhaul.studies.questions.words import Words
from longhaul.studies.registry import Registry

__all__ = ["GENERAL", "KINDS", "Measure", "Measures", "question"]

# Declared measures can be called with words as functions can.
Measure = Callable[..., float]


class Measures(Registry[Measure]):
    """Measures by name."""

    def register_of_design(self, function: Measure) -> Measure:
        """Add a measure that needs all runs of its experiments, and return it, as a decorator."""
        WHOLE_DESIGN.add(function)
        return self.register(function)


GENERAL = Measures(DECLARED)


def question(
    measures: Mapping[str, Measure], name: str, words: Words, experiments: Sequence[str]
) -> Question:
    """Parse the words of a question for its measure; raise ValueError for invalid words."""
    measure = measures[name]
    if isinstance(measure, DeclaredMeasure):
        return measure.question(words, experiments)
    return PythonQuestion.read(name, measure, words, experiments)
