"""Figures of goodput without losses, compared with the values printed for very fast paths."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import PRINTED, Figure, Frame

from .measures import file_goodput, published

ALGORITHMS = ("FAST", "CTCP", "BIC", "HSTCP", "Scalable", "HTCP", "TCP")
FILES = {
    "movie": ("movies", "#999999"),
    "service_pack": ("service packs", "#0072b2"),
    "document": ("documents", "#e69f00"),
}
WIDTH = 0.25


def _bars(axes: Axes, data: Data, interface: str) -> None:
    at = np.arange(len(ALGORITHMS))
    for place, (file, (name, colour)) in enumerate(FILES.items()):
        values = [_measured(data, file, interface, algorithm) for algorithm in ALGORITHMS]
        if np.isnan(values).all():
            raise NotRunError("N8L-DET was not run")
        x = at + (place - 1) * WIDTH
        axes.bar(x, values, WIDTH, color=colour, label=f"{name}, without losses")
        printed = [_printed(file, interface, algorithm) for algorithm in ALGORITHMS]
        axes.plot(x, printed, linestyle="none", label="published" if place == 0 else None,
                  **{**PRINTED, "markerfacecolor": "#ffffff"})  # fmt: skip
    axes.set_title(f"{interface} interfaces")
    axes.set_xticks(at, ALGORITHMS, rotation=30)


def _measured(data: Data, file: str, interface: str, algorithm: str) -> float:
    try:
        return file_goodput(data, "N8L-DET", file, interface, algorithm=algorithm)
    except NotRunError:
        return float("nan")


def _printed(file: str, interface: str, algorithm: str) -> float:
    place = ("N8L-DET", algorithm, file, interface)
    return next(
        float(row["published"])
        for row in published()
        if (row["experiment"], row["model"], row["file"], row["interface"]) == place
    )


FIGURES: Sequence[Figure] = (
    Figure(
        number="8-38 to 8-40",
        title="Goodput on very fast paths, low initial slow-start threshold",
        experiments=("N8L-DET",),
        published="table 8-28: means over 32 conditions of the small network",
        frame=Frame("", "packets/s", log_y=True),
        panels=("fast", "normal"),
        draw=_bars,
    ),
)
