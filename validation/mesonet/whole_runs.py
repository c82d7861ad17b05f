"""What whole runs of conditions gave.

`python -m validation.mesonet.whole_runs N7-MAIN 8 RUN` records the responses of a run of a
condition of the study `nist-2010` (of a run of `SA64`) in `measured/whole_runs.csv`, in place of an
earlier one's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import partial

import polars as pl

from longhaul.files.rows import write_rows
from longhaul.mesonet import MesoNet, responses_of
from longhaul.results import Results
from validation.mesonet.network import FULL_PKTS
from validation.mesonet.tables import HERE, recorded

FILE = HERE / "measured" / "whole_runs.csv"
HEAD = "# Responses of whole runs (python -m validation.mesonet.whole_runs)\n"
TCP = "reno"
CHAPTERS = {"SA64": 4, "N6-MAIN": 6, "N7-MAIN": 6}


@dataclass(frozen=True)
class Measured:
    """A response of a run."""

    experiment: str
    condition: int
    algorithm: str
    """As scenarios call it; standard TCP is `reno`."""
    results_version: int
    """Of the simulator that made the run."""
    response: str
    period: str
    value: float


def read() -> list[Measured]:
    """What was recorded."""
    return [
        Measured(row["experiment"], int(row["condition"]), row["algorithm"],
                 int(row["results_version"]), row["response"], row["period"], float(row["value"]))
        for row in recorded(FILE)
    ]  # fmt: skip


def of_standard_tcp() -> list[Measured]:
    """What was recorded of runs with standard TCP alone."""
    return [one for one in read() if one.algorithm == TCP]


def of_run(run: Results, experiment: str, condition: int) -> Iterator[Measured]:
    """The responses of a run, and how long its long-lived flows took to full speed."""
    of_this = partial(Measured, experiment, condition, algorithm_of(run), results_version_of(run))
    for row in responses_of(run, CHAPTERS[experiment]).to_dicts():
        if row["value"] is not None:
            yield of_this(row["response"], row["period"], row["value"])
    tables = MesoNet.of(run)
    if not tables.has("long_lived"):
        return
    for period in tables.periods:
        part = period.of(tables.long_lived).filter(pl.col("out_pkts") >= FULL_PKTS)
        first = part.group_by("flow", maintain_order=True).agg(pl.col("t_s").first())
        for flow, t_s in first.iter_rows():
            lag_s = t_s - period.from_s
            yield of_this(f"{flow}: s to full speed", period.name, lag_s)


def algorithm_of(run: Results) -> str:
    """The algorithms of a run's users, usually one."""
    algorithms = run.scenario["mesonet"]["algorithms"]
    return "+".join(one["congestion"]["kind"] for one in algorithms)


def results_version_of(run: Results) -> int:
    """Which simulator made a run."""
    return int(run.meta["results_version"])


def record(run: Results, experiment: str, condition: int) -> None:
    """Add the responses of a run to the file."""
    new = list(of_run(run, experiment, condition))
    replaced = (experiment, condition, algorithm_of(run))
    kept = [one for one in read() if (one.experiment, one.condition, one.algorithm) != replaced]
    rows = sorted(kept + new, key=lambda one: (one.experiment, one.condition, one.algorithm))
    columns = [field.name for field in fields(Measured)]
    plain = ({**asdict(one), "value": f"{one.value:.7g}"} for one in rows)
    write_rows(FILE, plain, columns, HEAD)


if __name__ == "__main__":
    record(Results(sys.argv[3]), sys.argv[1], int(sys.argv[2]))
