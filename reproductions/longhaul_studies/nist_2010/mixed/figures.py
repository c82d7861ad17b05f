"""Figure of goodput by flow group under one condition, with printed means over conditions."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from longhaul.mesonet import groups
from longhaul.studies.data import Data
from longhaul.studies.figures import PRINTED, Figure, Frame

from . import tables

COLOURS = {"alternate": "#0072b2", "TCP": "#e69f00"}
CONDITION, ALGORITHM = 1, "CTCP"


def _groups(axes: Axes, data: Data, role: str) -> None:
    at = np.arange(1, len(groups.GROUPS) + 1)
    row = data.cells("N8H-MAIN", condition=CONDITION, algorithm=ALGORITHM).to_dicts()[0]
    name = tables.ROLES[role]
    values = [row.get(f"mean_{name}_{number}") or np.nan for number in at]
    axes.bar(at, values, 0.7, color=COLOURS[role], label=f"{role}, condition {CONDITION}")
    printed = tables.printed("N8H-MAIN", role)[:, tables.ALGORITHMS.index(ALGORITHM)]
    axes.plot(at, printed, linestyle="none", label="published, mean over conditions",
              **{**PRINTED, "markerfacecolor": "#ffffff"})  # fmt: skip
    axes.set_title({"alternate": ALGORITHM, "TCP": f"TCP beside {ALGORITHM}"}[role])


FIGURES: Sequence[Figure] = (
    Figure(
        number="8-29 to 8-32",
        title="Goodput of the 24 flow groups, high initial slow-start threshold",
        experiments=("N8H-MAIN",),
        published="tables 8-26 and 8-27: means over 32 conditions; condition 1 is the third most "
        "congested of them",
        frame=Frame("flow group (table 8-6)", "packets/s", log_y=True),
        panels=("alternate", "TCP"),
        draw=_groups,
    ),
)
