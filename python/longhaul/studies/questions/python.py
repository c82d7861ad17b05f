"""Questions to measures that a study defines in Python: functions of results and words."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature

from longhaul.studies.data import Data
from longhaul.studies.questions.question import FULL, Cell, Experiments, Question, cell_at
from longhaul.studies.questions.shape import whole
from longhaul.studies.questions.words import METRIC, Sides, Words, names

Function = Callable[..., float]

# Functions that need all runs of their experiments, whatever words they are given.
WHOLE_DESIGN: set[Function] = set()
# Kind of number of a function where some levels show something of all: see `partial`.
KINDS: dict[Function, str] = {}


@dataclass(frozen=True)
class PythonQuestion(Question):
    """A call of a study's own function with the words of a claim."""

    name: str
    function: Function

    @classmethod
    def read(
        cls, name: str, function: Function, words: Words, experiments: Sequence[str]
    ) -> "PythonQuestion":
        """Parse the words of a claim about some experiments."""
        arguments = {word: level for word, level in words.items() if word != "whole"}
        sides = Sides.read(arguments)
        return cls(arguments, tuple(experiments), sides, whole(words), name, function)

    def check(self, known: Experiments) -> None:
        """Refuse words that the function does not take, and those that it lacks."""
        words = dict(self.words)
        if self.whole_axis is not None:
            words.setdefault(self.whole_axis, "")  # filled in with the levels that were run
        try:
            signature(self.function).bind(None, **words)
        except TypeError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def value(self, data: Data) -> float:
        """Return the number that the function computes from the data of the study."""
        return float(self.function(data, **self.words))

    def kind(self, axis: str) -> str:
        """Return the kind that the function was registered with; empty without one."""
        return KINDS.get(self.function, "")

    def metrics_of(self, words: Words) -> list[str]:
        """Return the metrics that the word `metric` lists."""
        return names(words[METRIC])

    def cells(self, known: Experiments, scale: str = FULL) -> Mapping[Cell, Collection[str]]:
        """Return the cells that are needed: all of the experiments' for functions of a design."""
        if self.function not in WHOLE_DESIGN:
            return super().cells(known, scale)
        return {
            cell_at(known[name], levels): ()
            for name in self.experiments
            for levels in known[name].cells(scale)
        }
