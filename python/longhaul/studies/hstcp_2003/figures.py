"""The source's figures, drawn again (chapters 3, 6 and 7)."""

from longhaul.studies.drawing import Figure

from . import figures_of_bulk, figures_of_sharing, figures_of_theory


def _place(figure: Figure) -> tuple[int, int]:
    chapter, number = figure.number.split(".")
    return int(chapter), int(number)


FIGURES: list[Figure] = sorted(
    [*figures_of_theory.FIGURES, *figures_of_sharing.FIGURES, *figures_of_bulk.FIGURES], key=_place
)
