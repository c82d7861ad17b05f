"""Designed experiments: the combinations of levels to run, and the effects that they confound.

Resolution, word lengths and aliases are computed from the matrix of the design.
"""

from longhaul.designs.design import Design, Factor, Level
from longhaul.designs.factorial import roman, two_level
from longhaul.designs.properties import DesignError
from longhaul.designs.published import PUBLISHED, published
from longhaul.designs.spaces import full, latin_hypercube, one_at_a_time

__all__ = [
    "PUBLISHED",
    "Design",
    "DesignError",
    "Factor",
    "Level",
    "full",
    "latin_hypercube",
    "one_at_a_time",
    "published",
    "roman",
    "two_level",
]
