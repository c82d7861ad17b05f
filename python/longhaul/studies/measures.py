"""Measures: functions that compute the one number of a claim from the results of a study.

The arguments of a measure are the claim's `key=value` words; the word `of` names the experiment.
Claims may use the measures in `GENERAL`. If a study has a module `measures`, its `MEASURES` replace
them, and should contain them too.
"""

from collections.abc import Callable, Mapping, Sequence

from longhaul.studies.questions import DECLARED, DeclaredMeasure, PythonQuestion, Question
from longhaul.studies.questions.python import KINDS, WHOLE_DESIGN
from longhaul.studies.questions.words import Words
from longhaul.studies.registry import Registry

__all__ = ["GENERAL", "KINDS", "Measure", "Measures", "question"]

# Type of a measure: a function of results and words; declared measures can be called like one.
Measure = Callable[..., float]


class Measures(Registry[Measure]):
    """Measures by name; a new measure is added by a decorator."""

    def register_of_design(self, function: Measure) -> Measure:
        """Register a measure that needs all runs of its experiments, and return it.

        Used as a decorator.
        """
        WHOLE_DESIGN.add(function)
        return self.register(function)


GENERAL = Measures(DECLARED)


def question(
    measures: Mapping[str, Measure], name: str, words: Words, experiments: Sequence[str]
) -> Question:
    """Parse the `key=value` words of a claim for the measure called `name`.

    Raise ValueError for invalid words.
    """
    measure = measures[name]
    if isinstance(measure, DeclaredMeasure):
        return measure.question(words, experiments)
    return PythonQuestion.read(name, measure, words, experiments)
