"""The figures of the source: none are drawn yet."""

from collections.abc import Sequence

from longhaul.studies.drawing import Figure

FIGURES: Sequence[Figure] = ()
