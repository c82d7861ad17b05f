"""Goodput per flow in chapter 4, under four interpretations (readings) of the number of flows.

NIST SP 500-282 does not say by how many flows the packets of a class are divided. `python -m
validation.mesonet.goodput_readings [LINE ...]` simulates 40 s of the named lines of table 4-28, and
measures the second half. All lines, the default, take 25 minutes of processor time. The results
replace those of the same lines in `measured/goodput_readings.csv`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from statistics import fmean

import polars as pl

import longhaul
from longhaul.mesonet import MesoNet, numbered_responses
from longhaul.studies.study import find
from validation.mesonet.tables import HERE, published, record, recorded

FILE = HERE / "measured" / "goodput_readings.csv"
HEAD = (
    "# Goodput of a flow, packets/s, by the flows that share it "
    "(python -m validation.mesonet.goodput_readings)\n"
)
LINES = [str(line) for line in range(1, 9)]
RUNS = 64
"""Number of runs in chapter 4; line n of table 4-28 has means over runs n, n + 8, n + 16, ..."""
FROM_S, UNTIL_S = 20, 40
# Printed responses by flow class.
RESPONSES = {"DD": "y17", "FF": "y20", "NN": "y22"}

_TRANSFER = pl.col("active_flows")
_COMPLETED = pl.col("completed_flows")
READINGS = {
    "half": _TRANSFER + _COMPLETED / 2,
    "all": _TRANSFER + _COMPLETED,
    "half_connecting": numbered_responses.FLOWS,
    "all_connecting": numbered_responses.FLOWS + _COMPLETED / 2,
}
"""Number of flows among which the packets of a flow class are divided, by interpretation."""
COLUMNS = ("line", "class", "published", *READINGS)
TITLES = (
    "transferring flows and half of the completed flows", "transferring and completed flows",
    "transferring and connecting flows and half of the completed flows",
    "transferring, connecting and completed flows",
)  # fmt: skip


def simulate(line: str) -> Iterator[dict[str, str]]:
    """Simulate the eight runs of line `line` of table 4-28; yield a row for each flow class.

    A row has the class's printed goodput, and its goodput by each interpretation in `READINGS`, as
    a mean over the runs.
    """
    runs = [_of_run(run) for run in range(int(line), RUNS + 1, len(LINES))]
    for name in RESPONSES:
        values = {reading: fmean(run[name, reading] for run in runs) for reading in READINGS}
        goodputs = {reading: f"{value:.5g}" for reading, value in values.items()}
        row = {"line": line, "class": name}
        yield {**row, "published": f"{_printed(row):g}", **goodputs}


def _of_run(number: int) -> dict[tuple[str, str], float]:
    run = find("nist-2010").cell("SA64", {"run": str(number), "algorithm": "TCP"})
    period = {"name": "late", "from": f"{FROM_S} s", "to": f"{UNTIL_S} s"}
    shortened = {**run.scenario["mesonet"], "MI": 5 * UNTIL_S, "periods": [period]}
    tables = MesoNet.of(longhaul.run({**run.scenario, "mesonet": shortened}))
    (late,) = tables.periods
    part = numbered_responses.Part(tables, late)
    return {
        (name, reading): part.of_class(name, numbered_responses.flow_pps(tables.interval_s, flows))
        for name in RESPONSES
        for reading, flows in READINGS.items()
    }


def beside_print() -> Iterator[tuple[int, str, float, list[float]]]:
    """Yield line, flow class, printed goodput and measured goodputs for each goodput of table 4-28.

    There is a measured goodput for each interpretation in `READINGS`.
    """
    for row in recorded(FILE):
        goodputs = [float(row[reading]) for reading in READINGS]
        yield int(row["line"]), row["class"], _printed(row), goodputs


def _printed(row: Mapping[str, str]) -> float:
    """Return the goodput that table 4-28 prints for the line and class of `row`."""
    (value,) = (
        float(said["value"])
        for said in published("table_4_28")
        if (said["line"], said["response"]) == (row["line"], RESPONSES[row["class"]])
    )
    return value


if __name__ == "__main__":
    record(FILE, HEAD, COLUMNS, simulate, sys.argv[1:] or LINES, LINES)
