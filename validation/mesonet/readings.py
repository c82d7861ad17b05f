"""Shortened runs to choose between interpretations of the study's text (readings).

The interpretations differ in two points. The two queues of a router have separate buffers, or share
one buffer. The first timeout of a flow follows from the RTT of its handshake, or from the
propagation delay. `python -m validation.mesonet.readings [CASE ...]` simulates the named or all
cases under all four combinations, and replaces their rows in `measured/readings.csv`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

import longhaul
from longhaul.campaign import Run
from longhaul.mesonet import responses_of
from longhaul.studies.study import find
from validation.mesonet import goodput_readings
from validation.mesonet.tables import HERE, published, record, recorded

FILE = HERE / "measured" / "readings.csv"
HEAD = "# Routers' buffers and the first timeout (python -m validation.mesonet.readings)\n"


@dataclass(frozen=True)
class Reading:
    """One interpretation (reading) of the study's text on router buffers and the first timeout."""

    title: str
    shared_buffer: bool
    handshake_rtt: bool


READINGS = {
    "each": Reading("a buffer per queue", shared_buffer=False, handshake_rtt=False),
    "one": Reading("shared buffer", shared_buffer=True, handshake_rtt=False),
    "each_handshake": Reading(
        "a buffer per queue, handshake", shared_buffer=False, handshake_rtt=True
    ),
    "one_handshake": Reading("shared buffer, handshake", shared_buffer=True, handshake_rtt=True),
}
"""Interpretations by their column in `measured/readings.csv`; MesoNet's default is the last."""
COLUMNS = ("case", "response", "metric", "published", *READINGS)
PERIOD, JUMBO = "P", "TP2"


@dataclass(frozen=True)
class Figure:
    """A response variable of the study, and its printed value for one case."""

    response: str
    """Number of the response, such as `y1`."""
    title: str
    published: float
    period: str = PERIOD
    """Name of the period in which the response is measured: `PERIOD` or `JUMBO`."""


@dataclass(frozen=True)
class Case:
    """Shortened runs of an experiment; measured values are means over these runs."""

    experiment: str
    cells: tuple[Mapping[str, str], ...]
    """Levels of the experiment's factors, for each run."""
    from_s: float
    """Begin of the measured period without jumbo files, which ends at `until_s`."""
    until_s: float
    figures: tuple[Figure, ...]
    jumbo_s: float | None = None
    """Time at which jumbo files start, 15 s before their measured period; None without them."""

    @property
    def chapter(self) -> int:
        """Number of the chapter whose numbering of responses applies to this experiment."""
        return 4 if self.experiment == "SA64" else 6

    def scenarios(self, reading: Reading) -> Iterator[dict[str, Any]]:
        """Yield the scenario of each shortened run under the interpretation `reading`."""
        study = find("nist-2010")
        for cell in self.cells:
            yield self._shortened(study.cell(self.experiment, cell), reading)

    def _shortened(self, run: Run, reading: Reading) -> dict[str, Any]:
        mesonet = dict(run.scenario["mesonet"])
        end_s = self.until_s if self.jumbo_s is None else self.jumbo_s + 35
        mesonet["MI"] = round(5 * end_s)
        mesonet["periods"] = [_period(PERIOD, self.from_s, self.until_s)]
        if self.jumbo_s is not None:
            mesonet["periods"] += [_period(JUMBO, self.jumbo_s + 15, end_s)]
        if "Jon" in mesonet:
            jumbo = self.jumbo_s is not None
            mesonet["Jon"] = f"{self.jumbo_s} s" if jumbo else 1.0
            mesonet["Joff"] = f"{end_s} s" if jumbo else 1.0
            mesonet["LLon"] = [1.0] * 3
        buffers = {"shared_buffer": reading.shared_buffer}
        mesonet["network"] = mesonet.get("network", {}) | buffers
        first = {"handshake_rtt": reading.handshake_rtt}
        mesonet["transport"] = mesonet.get("transport", {}) | first
        return {**run.scenario, "mesonet": mesonet}


def _period(name: str, from_s: float, until_s: float) -> dict[str, str]:
    return {"name": name, "from": f"{from_s} s", "to": f"{until_s} s"}


def _eight(line: int, from_s: float, until_s: float) -> Case:
    """Return the case of `line` of table 4-28: its eight runs, and the printed means over them.

    Goodputs are left out, because they depend on the interpretations in `goodput_readings.py`.
    """
    cells = tuple({"run": str(run), "algorithm": "TCP"} for run in range(line, 65, 8))
    figures = tuple(
        Figure(said["response"], said["title"], float(said["value"]))
        for said in published("table_4_28")
        if said["line"] == str(line) and said["response"] not in goodput_readings.RESPONSES.values()
    )
    return Case("SA64", cells, from_s, until_s, figures)


def _one(experiment: str, cell: Mapping[str, str], until_s: float, *figures: Figure) -> Case:
    return Case(experiment, (cell,), until_s / 2, until_s, figures)


def _tcp(condition: int) -> dict[str, str]:
    return {"condition": str(condition), "algorithm": "TCP"}


CASES = {
    "chapter 4, run 64": _one(
        "SA64", {"run": "64", "algorithm": "TCP"}, 100, Figure("y1", "active flows", 21_467.6)
    ),
    "chapter 4, C8: long delay, low speed, large buffers": _eight(8, 40, 60),
    "chapter 4, C7: short delay, low speed, large buffers": _eight(7, 40, 60),
    "chapter 4, C4: long delay, low speed, small buffers": _eight(4, 25, 40),
    "chapter 4, C3: short delay, low speed, small buffers": _eight(3, 25, 40),
    "chapter 6, condition 2": _one(
        "N6-MAIN", _tcp(2), 16,
        Figure("y1", "active flows", 15_333.99),
        Figure("y2", "growth of an active flow's window in 200 ms, packets", 41.4579),
    ),
    "chapter 6, condition 4": Case(
        "N6-MAIN", (_tcp(4),), 15, 25,
        (
            Figure("y11", "DD flows completed in 200 ms, jumbo files", 7.53, JUMBO),
            Figure("y12", "DD flows together, packets/s, jumbo files", 1_900_000, JUMBO),
        ),
        jumbo_s=25,
    ),
    "chapter 7, condition 5": _one(
        "N7-MAIN", _tcp(5), 50,
        Figure("y1", "active flows", 8500),
        Figure("y43", "active flows in initial slow start", 3400),
    ),
    "chapter 7, condition 21": _one(
        "N7-MAIN", _tcp(21), 50, Figure("y6", "retransmission rate", 0.3)
    ),
    "chapter 8, condition 1, CTCP": _one(
        "N8H-MAIN", {"condition": "1", "algorithm": "CTCP"}, 40,
        Figure("y6", "retransmission rate", 0.018),
    ),
    **{
        f"chapter 8, condition {condition}, BIC": _one(
            "N8H-MAIN", {"condition": str(condition), "algorithm": "BIC"}, 40,
            Figure("y1", "active flows", active),
            Figure("y43", "active flows in initial slow start", starting),
        )
        for condition, active, starting in (
            (1, 2821.0, 1475.3), (2, 1049.3, 896.3), (31, 1863.7, 1522.1), (32, 2541.5, 2215.6),
        )
    },
}  # fmt: skip


def simulate(name: str) -> Iterator[dict[str, str]]:
    """Simulate case `name` under each interpretation in `READINGS`, and yield results as rows.

    A row has the case, the response with its title and printed value, and the measured value in
    each interpretation's column.
    """
    case = CASES[name]
    values = {
        column: [
            {(row["response"], row["period"]): row["value"] for row in _responses(case, scenario)}
            for scenario in case.scenarios(reading)
        ]
        for column, reading in READINGS.items()
    }
    for figure in case.figures:
        key = (figure.response, figure.period)
        means = {column: mean(run[key] for run in runs) for column, runs in values.items()}
        yield {
            "case": name,
            "response": figure.response,
            "metric": figure.title,
            "published": f"{figure.published:.10g}",
            **{column: f"{value:.6g}" for column, value in means.items()},
        }


def _responses(case: Case, scenario: dict[str, Any]) -> list[dict[str, Any]]:
    return responses_of(longhaul.run(scenario), case.chapter).to_dicts()


def beside_print() -> Iterator[tuple[str, Figure, list[float]]]:
    """Yield case, response variable, and the measured value under each of the `READINGS`.

    Responses without a recorded value are left out.
    """
    rows = {(row["case"], row["response"]): row for row in recorded(FILE)}
    for name, case in CASES.items():
        for figure in case.figures:
            if (row := rows.get((name, figure.response))) is not None:
                yield name, figure, [float(row[reading]) for reading in READINGS]


if __name__ == "__main__":
    record(FILE, HEAD, COLUMNS, simulate, sys.argv[1:] or CASES, list(CASES))
