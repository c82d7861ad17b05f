"""Measures of algorithms on cut networks (fewer routers, short runs): ranks by goodput, outliers.

By default movies are left out, because a run on a cut network completes only a few. If one of a
condition's runs has no flows of a flow group, algorithms are not ranked for this group under this
condition.
"""

import numpy as np
import polars as pl

from longhaul.analysis import outliers
from longhaul.analysis.ranks import value_ranks
from longhaul.mesonet import groups
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures
from longhaul.studies.selection import Word, selects

from .contrasts import MACROSCOPIC
from .tables import ALGORITHMS, ROLES, chosen

MEASURES = Measures()
measure = MEASURES.register

SIX = tuple(name for name in ALGORITHMS if name != "FAST-AT")
ALTERNATES = {"N8L-CUT": SIX, "N8H-CUT": ALGORITHMS, "N9-CUT": SIX}
FILES = "SP+D+WO"


def _values(data: Data, of: str, metrics: list[str], condition: Word = "") -> np.ndarray:
    """Return `metrics` as an array (condition, metric, alternate), NaN where there is no value.

    Only conditions that were run with all alternates are included. An alternate is one of the
    study's algorithms in competition with standard TCP.
    """
    alternates = ALTERNATES[of]
    cells = data.cells(of).filter(pl.col("algorithm").is_in(alternates))
    cells = cells.filter(pl.len().over("condition") == len(alternates)).sort(
        "condition", "algorithm"
    )
    if condition != "":
        chosen = [level for level in data.levels("condition", of) if selects(condition)(level)]
        cells = cells.filter(pl.col("condition").is_in(chosen))
    if cells.is_empty():
        raise NotRunError(f"{of}: no condition with all alternates")
    known = [
        pl.col(name) if name in cells.columns else pl.lit(None).alias(name) for name in metrics
    ]
    values = cells.select(known).cast(pl.Float64).to_numpy()
    array: np.ndarray = values.reshape(-1, len(alternates), len(metrics)).transpose(0, 2, 1)
    return array


def mean_ranks(
    data: Data, of: str, role: str = "", files: str = FILES, condition: Word = ""
) -> dict[str, float]:
    """Return the mean rank of goodput of each alternate algorithm; the highest rank is best.

    The mean is over conditions and flow groups. `role` selects the alternate algorithm's flows, or
    the competing TCP flows (`TCP`); if empty, both count.
    """
    numbers = [groups.GROUPS[place][0] for place in chosen(files)]
    roles = [role] if role else list(ROLES)
    metrics = [f"mean_{ROLES[role_]}_{number}" for role_ in roles for number in numbers]
    rows = _values(data, of, metrics, condition).reshape(-1, len(ALTERNATES[of]))
    complete = rows[~np.isnan(rows).any(axis=1)]
    return dict(zip(ALTERNATES[of], value_ranks(complete).mean(axis=0).tolist(), strict=True))


@measure
def cut_place(
    data: Data, of: str, algorithm: str, role: str = "", files: str = FILES, condition: Word = ""
) -> float:
    """Return the place of `algorithm` by mean rank of goodput on a cut network; 1 is best."""
    means = mean_ranks(data, of, role, files, condition)
    return 1.0 + sum(mean > means[algorithm] for mean in means.values())


@measure
def cut_outliers(data: Data, of: str, condition: Word = "") -> float:
    """Return the fraction of pairs (response, condition) with a significant outlier.

    Responses are those of table 8-19, without the share of movies.
    """
    names = [name for name in MACROSCOPIC if name != "movie_share"]
    rows = _values(data, of, names, condition).reshape(-1, len(ALTERNATES[of]))
    critical = outliers.nist_critical(len(ALTERNATES[of]))
    return float(np.mean([outliers.residuals(row, critical).is_outlier for row in rows]))
