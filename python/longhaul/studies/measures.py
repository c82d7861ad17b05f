"""Measures that claims of any study may name: one number each, from medians over replications.

`of` names the experiment, `beside` another one to compare with; what is left names a cell, or what
a curve has in common. Shares of points are from 0 to 1.
"""

from collections.abc import Callable

from longhaul.studies.declared import DECLARED
from longhaul.studies.registry import Registry

Measure = Callable[..., float]

# Measures in Python that need all runs of their experiments, whatever words they are given.
WHOLE_DESIGN: set[Measure] = set()
# What kind of number a measure in Python is, where some levels show something of all: see partial.
KINDS: dict[Measure, str] = {}


class Measures(Registry[Measure]):
    """Measures by their names."""

    def register_of_design(self, function: Measure) -> Measure:
        """Add a measure that needs all runs of its experiments; a decorator."""
        WHOLE_DESIGN.add(function)
        return self.register(function)


GENERAL = Measures(DECLARED)
