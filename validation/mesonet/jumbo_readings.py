"""Simulations of possible causes of the low goodputs printed for long-lived flows (table 7-16).

Each possible cause (reading) is a change to the scenario of `direct_routers.py`: to its traffic,
buffers or seed. `python -m validation.mesonet.jumbo_readings [READING ...]` simulates the named or
all causes; all take half an hour of processor time. The table `measured/jumbo_readings.csv` keeps
the goodputs of the long-lived flows while jumbo files are sent (period TP2).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import longhaul
from longhaul.mesonet import responses_of
from validation.mesonet import direct_routers
from validation.mesonet.long_lived import CONGESTION, ENDS
from validation.mesonet.tables import HERE, record

FILE = HERE / "measured" / "jumbo_readings.csv"
HEAD = (
    "# Goodput in TP2, packets/s, of long-lived flows among jumbo files "
    "(python -m validation.mesonet.jumbo_readings)\n"
)
COLUMNS = ("reading", "algorithm", "seed", *ENDS)


@dataclass(frozen=True)
class Reading:
    """A possible cause of the low goodputs, with the changes and runs that test this cause."""

    changes: Sequence[str] = ()
    """Changes of the scenario, as `KEY=VALUE`."""
    runs: Sequence[tuple[str, int]] = (("TCP", 1),)
    """Algorithm and seed of each run."""


THREE = (("TCP", 1), ("BIC", 1), ("HSTCP", 1))
READINGS = {
    "condition 8": Reading(runs=(*THREE, *(("TCP", seed) for seed in range(2, 7)))),
    "jumbo files 1.3 times as large": Reading(("mesonet.files.jumbo.factor=130",)),
    "half of the buffers": Reading(("mesonet.network.buffer_factor=0.5",)),
    "a fifth of the buffers": Reading(("mesonet.network.buffer_factor=0.2",), THREE),
    # Condition 4 has 180 sources and 480 receivers below a direct access router. This scenario has
    # 180 sources but 144 receivers, so the rule would give buffers 1 / 0.7 times as large.
    "condition 4": Reading(
        (
            "mesonet.hosts.sources=90",
            "mesonet.network.buffer=rtt-capacity/sqrt-n",
            "mesonet.network.buffer_factor=0.7",
        ),
        (("TCP", 1), ("TCP", 2)),
    ),
}


def simulate(name: str) -> Iterator[dict[str, str]]:
    """Simulate the runs that test `name`, a possible cause of the low goodputs in table 7-16.

    Yield a row of goodputs for each run.
    """
    reading = READINGS[name]
    for algorithm, seed in reading.runs:
        scenario = direct_routers.scenario() | {"seed": seed}
        scenario["mesonet"]["algorithms"] = [{"congestion": CONGESTION[algorithm]}]
        run = longhaul.run(scenario, set=reading.changes)
        rows = responses_of(run).to_dicts()
        values = {row["response"]: row["value"] for row in rows if row["period"] == "TP2"}
        goodput = {flow: f"{values[f'y{number}']:.0f}" for number, flow in enumerate(ENDS, 33)}
        yield {"reading": name, "algorithm": algorithm, "seed": str(seed), **goodput}


if __name__ == "__main__":
    record(FILE, HEAD, COLUMNS, simulate, sys.argv[1:] or READINGS, list(READINGS))
