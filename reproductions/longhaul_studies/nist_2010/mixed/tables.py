"""Arrays of simulated results, by condition and algorithm, and of the printed tables."""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from longhaul.files.rows import published_rows
from longhaul.mesonet import groups
from longhaul.studies.data import Data, NotRunError

ALGORITHMS = ("BIC", "CTCP", "FAST", "FAST-AT", "HSTCP", "HTCP", "Scalable")
CONDITIONS = 32
# Short names of table 8-6.
FILES = {"M": "movie", "SP": "service pack", "D": "document", "WO": "web"}
PATHS = {"VF": "very fast", "F": "fast", "T": "typical"}
INTERFACES = {"F": "fast", "N": "normal"}
# Printed tables of goodput by experiment.
PRINTED = {"N8H-MAIN": "8_high", "N8L-MAIN": "8_low", "N9-MAIN": "9"}
ROLES = {"alternate": "alternate", "TCP": "standard"}


def chosen(names: str = "") -> list[int]:
    """Return the indices of flow groups by name; without a name, of all groups.

    `M_VF-F`, for example, names movies on very fast paths with fast interfaces. The path and the
    interface may be left out (`M`, `M_VF`, `M_-F`), and names can be joined by `+`.
    """
    return [place for place, group in enumerate(groups.GROUPS) if _is_one_of(group, names)]


def _is_one_of(group: tuple[int, str, str, str], names: str) -> bool:
    return not names or any(_is(group, name) for name in names.split("+"))


def _is(group: tuple[int, str, str, str], name: str) -> bool:
    _, file, path, interface = group
    file_, _, rest = name.partition("_")
    path_, _, interface_ = rest.partition("-")
    return (
        file == FILES[file_]
        and (not path_ or path == PATHS[path_])
        and (not interface_ or interface == INTERFACES[interface_])
    )


def by_condition(data: Data, of: str, metric: str) -> np.ndarray:
    """Return `metric` of all runs of experiment `of` as an array (condition, algorithm)."""
    return _whole(data, of, [metric])[:, 0]


def goodput(data: Data, of: str, role: str) -> np.ndarray:
    """Return mean goodputs (packets/s) as an array (condition, group, algorithm).

    `role` selects the flows: `alternate`, or `TCP` for those that compete with the alternate.
    """
    return _whole(data, of, [f"mean_{ROLES[role]}_{number}" for number, *_ in groups.GROUPS])


def _whole(data: Data, of: str, metrics: list[str]) -> np.ndarray:
    """Return metrics as an array (condition, metric, algorithm).

    NotRunError is raised if a run or a value is missing.
    """
    cells = data.cells(of).filter(pl.col("algorithm").is_in(ALGORITHMS))
    count = CONDITIONS * len(ALGORITHMS)
    if len(cells) != count or not set(metrics) <= set(cells.columns):
        raise NotRunError(f"{of} has {len(cells)} of {count} cells")
    values = cells.sort("condition", "algorithm").select(metrics).cast(pl.Float64).to_numpy()
    if np.isnan(values).any():
        raise NotRunError(f"{of} has cells without {metrics[0]}")
    array: np.ndarray = values.reshape(CONDITIONS, len(ALGORITHMS), -1).transpose(0, 2, 1)
    return array


@cache
def printed(of: str, role: str) -> np.ndarray:
    """Return the printed mean goodputs of experiment `of` as an array (group, algorithm).

    They are in tables 8-26 to 8-29, 9-10 and 9-11. `role` is as in `goodput`.
    """
    file = Path(__file__).parent / "published" / f"goodput_{PRINTED[of]}.csv"
    rows = [row for row in published_rows(file) if row["role"] == ROLES[role]]
    return np.array([[float(row[name]) for name in ALGORITHMS] for row in rows])


@cache
def printed_ranks(algorithm: str) -> np.ndarray:
    """Return the ranks of HTCP (figure 8-68) or Scalable (8-69) as an array (condition, group)."""
    rows = {
        int(row["condition"]): [float(row[str(number)]) for number, *_ in groups.GROUPS]
        for row in published_rows(Path(__file__).parent / "published" / "ranks_8_low.csv")
        if row["algorithm"] == algorithm
    }
    return np.array([rows[condition] for condition in range(1, CONDITIONS + 1)])
