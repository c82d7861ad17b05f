"""The dissertation's figures, drawn again, in its order."""

from .transfers.figures import TRANSFERS

FIGURES = [*TRANSFERS]
