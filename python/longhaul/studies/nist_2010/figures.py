"""Figures of the source, drawn again: of chapters 8 and 9."""

from collections.abc import Sequence

from longhaul.studies.figures import Figure

from .loss_free import figures as loss_free
from .mixed import figures as mixed

FIGURES: Sequence[Figure] = (*mixed.FIGURES, *loss_free.FIGURES)
