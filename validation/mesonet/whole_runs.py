"""What whole runs of conditions gave.

`python -m validation.mesonet.whole_runs N7-MAIN 8 RUN` records the responses of a run of a
condition of the study `nist-2010` (of a run of `SA64`) in `measured/whole_runs.csv`, in place of an
earlier one's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

import polars as pl

from longhaul.mesonet import MesoNet, responses_of
from longhaul.results import Results
from validation.mesonet.network import FULL_PKTS
from validation.mesonet.rows import HERE, table, write_table

FILE = HERE / "measured" / "whole_runs.csv"
HEAD = "# Responses of runs with standard TCP (python -m validation.mesonet.whole_runs)\n"
CHAPTERS = {"SA64": 4, "N6-MAIN": 6, "N7-MAIN": 6}


@dataclass(frozen=True)
class Measured:
    """A response of a run."""

    experiment: str
    condition: int
    response: str
    period: str
    value: float


def read() -> list[Measured]:
    """What was recorded."""
    return [
        Measured(row["experiment"], int(row["condition"]), row["response"], row["period"],
                 float(row["value"]))
        for row in table(FILE)
    ]  # fmt: skip


def of_run(run: Results, experiment: str, condition: int) -> Iterator[Measured]:
    """The responses of a run, and how long its long-lived flows took to full speed."""
    for row in responses_of(run, CHAPTERS[experiment]).to_dicts():
        if row["value"] is not None:
            yield Measured(experiment, condition, row["response"], row["period"], row["value"])
    tables = MesoNet.of(run)
    if not tables.has("long_lived"):
        return
    for period in tables.periods:
        part = period.of(tables.long_lived).filter(pl.col("out_pkts") >= FULL_PKTS)
        first = part.group_by("flow", maintain_order=True).agg(pl.col("t_s").first())
        for flow, t_s in first.iter_rows():
            lag_s = t_s - period.from_s
            yield Measured(experiment, condition, f"{flow}: s to full speed", period.name, lag_s)


def record(run: Results, experiment: str, condition: int) -> None:
    """Add the responses of a run to the file."""
    new = list(of_run(run, experiment, condition))
    kept = [one for one in read() if (one.experiment, one.condition) != (experiment, condition)]
    rows = sorted(kept + new, key=lambda one: (one.experiment, one.condition))
    columns = [field.name for field in fields(Measured)]
    plain = ({**asdict(one), "value": f"{one.value:.7g}"} for one in rows)
    write_table(FILE, HEAD, columns, plain)


if __name__ == "__main__":
    record(Results(sys.argv[3]), sys.argv[1], int(sys.argv[2]))
