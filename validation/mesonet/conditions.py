"""Whole conditions of chapters 6 and 7 with standard TCP, beside what the study prints of them.

Measured figures are those recorded with the study `nist-2010` (`longhaul study run nist-2010
--record`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longhaul.studies import record
from longhaul.studies.study import find
from validation.mesonet.rows import Row, close, exactly, found, published

PART = "conditions"

Figures = dict[str, float]


def rows(processes: int = 1) -> Iterator[Row]:
    """Judge the figures that are recorded; nothing is run."""
    del processes
    for experiment, condition, figures in recorded():
        case = f"{experiment} condition {condition}"
        yield from totals(case, experiment, figures)
        for said in published("conditions"):
            if (said["experiment"], said["condition"]) == (experiment, str(condition)):
                yield from judged(case, said, figures)


def recorded() -> Iterator[tuple[str, int, Figures]]:
    """Experiment, condition and figures of each run with standard TCP."""
    study = find("nist-2010")
    _, results = record.latest(study, Path("nowhere"), None)
    for row in results.data.values.to_dicts():
        if row["algorithm"] == "TCP" and row.get("condition") is not None:
            yield row["experiment"], row["condition"], _numbers(row)


def totals(case: str, experiment: str, figures: Figures) -> Iterator[Row]:
    """What tables 6-28 and 7-9 bound: flows and packets of every condition and algorithm."""
    for said in published("flows_and_packets"):
        metric = said["figure"]
        if said["experiment"] == experiment and metric in figures:
            low, high = float(said["lowest"]), float(said["highest"])
            within = low <= figures[metric] <= high
            rule = f"{low:.4g} to {high:.4g}, all conditions"
            mean = float(said["mean"])
            yield Row(case, metric.replace("_", " "), mean, figures[metric], rule, within)


def judged(case: str, said: dict[str, str], figures: Figures) -> Iterator[Row]:
    """A figure that the study prints of this condition."""
    measured = figures.get(said["figure"])
    if measured is None:
        return
    there, tolerance = float(said["value"]), said["tolerance"]
    if not tolerance:
        yield found(case, said["title"], there, measured)
    elif tolerance == "0":
        yield exactly(case, said["title"], there, measured)
    elif tolerance.startswith("to "):
        high = float(tolerance.removeprefix("to "))
        rule = f"{there:g} to {high:g}"
        yield Row(case, said["title"], there, measured, rule, there <= measured <= high)
    else:
        yield close(case, said["title"], there, measured, float(tolerance))


def _numbers(row: dict[str, Any]) -> Figures:
    """The numbers of a row, and what follows from them."""
    figures = {key: float(value) for key, value in row.items() if isinstance(value, int | float)}
    for period in ("TP1", "TP2", "TP3"):
        active = figures.get(f"active_flows_{period}")
        if active:
            slow_start = figures[f"initial_slow_start_flows_{period}"]
            figures[f"slow_start_share_{period}"] = slow_start / active
        if (completed := figures.get(f"DD_completed_{period}")) is not None:
            figures[f"DD_completions_{period}"] = completed / 1500
    return figures
