"""Bootstrap samples of a study's results: as if other replications had been run.

An experiment's replications are drawn with replacement, the same ones for all of its cells, since
they share random numbers; experiments with the same replications share what is drawn. Each has a
number of its own in a sample, and equal numbers are still of the same run: the second time that a
replication is drawn it has the numbers after all of the first time, and so on.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from longhaul.analysis.statistics import bootstrap_samples
from longhaul.studies.data import EXPERIMENT, REPLICATION, Data


def resampled(data: Data, count: int) -> Iterator[Data]:
    """So many bootstrap samples, one at a time; none if no experiment has several replications."""
    if data.values.is_empty():
        return
    names = data.values[EXPERIMENT].to_list()
    numbers = data.values[REPLICATION].to_list()
    rows: dict[str, dict[int, list[int]]] = {}
    for row, (name, number) in enumerate(zip(names, numbers, strict=True)):
        rows.setdefault(name, {}).setdefault(number, []).append(row)
    if all(len(of_one) < 2 for of_one in rows.values()):
        return
    drawn = {name: _drawn(sorted(of_one), count) for name, of_one in rows.items()}
    past_all = max(numbers) + 1
    for sample in range(count):
        yield _sample(
            data, rows, {name: of_one[sample] for name, of_one in drawn.items()}, past_all
        )


def _drawn(replications: Sequence[int], count: int) -> list[list[int]]:
    return bootstrap_samples(replications, count) or [list(replications)] * count


def _sample(
    data: Data,
    rows: dict[str, dict[int, list[int]]],
    drawn: dict[str, list[int]],
    past_all: int,
) -> Data:
    """The rows of what was drawn of each experiment; trajectories are those of its first draw."""
    places: list[int] = []
    numbers: list[int] = []
    for name, replications in drawn.items():
        times: Counter[int] = Counter()
        for replication in replications:
            of_run = rows[name][replication]
            places += of_run
            numbers += [times[replication] * past_all + replication] * len(of_run)
            times[replication] += 1
    values = data.values[np.array(places)].with_columns(pl.Series(REPLICATION, numbers))
    return data.sample(values, {name: replications[0] for name, replications in drawn.items()})
