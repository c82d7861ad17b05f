"""Whole conditions of chapters 4, 6 and 7 with standard TCP, beside what the study prints of them.

Measured figures are those that `validation.mesonet.whole_runs` has recorded; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import fmean

from validation.mesonet import whole_runs
from validation.mesonet.rows import (
    CONDITIONS_MEAN,
    RUNS_MEAN,
    Row,
    between,
    close,
    exactly,
    found,
    near,
    published,
)

PART = "conditions"

Figures = dict[tuple[str, str], float]
"""By response and period."""
PERIODS = ("TP1", "TP2", "TP3")


def rows(processes: int = 1) -> Iterator[Row]:
    """Judge the figures that are recorded."""
    del processes
    runs = {}
    for experiment, condition, figures in recorded():
        if experiment == "SA64":
            runs[condition] = figures
        unit = "run" if experiment == "SA64" else "condition"
        case = f"{experiment} {unit} {condition}"
        yield from ranges(case, experiment, figures)
        for said in published("responses"):
            if (said["experiment"], said["condition"]) == (experiment, str(condition)):
                yield from judged(case, said, figures)
    yield from lines(runs)


def recorded() -> Iterator[tuple[str, int, Figures]]:
    """Experiment, condition and figures of each run."""
    runs = groupby(whole_runs.of_standard_tcp(), lambda one: (one.experiment, one.condition))
    for (experiment, condition), measured in runs:
        figures = {(one.response, one.period): one.value for one in measured}
        for period in PERIODS:
            if active := figures.get(("y1", period)):
                figures["y44/y1", period] = figures["y44", period] / active
        yield experiment, condition, figures


def ranges(case: str, experiment: str, figures: Figures) -> Iterator[Row]:
    """What tables bound for every condition: flows, packets and goodputs."""
    for said in published("ranges"):
        measured = figures.get((said["response"], said["period"]))
        if said["experiment"] == experiment and measured is not None:
            low, high, beyond = (float(said[name]) for name in ("lowest", "highest", "tolerance"))
            title, mean = said["title"], float(said["mean"])
            low, high = low * (1 - beyond), high * (1 + beyond)
            yield between(case, title, mean, measured, low, high, CONDITIONS_MEAN)


def lines(runs: Mapping[int, Figures]) -> Iterator[Row]:
    """Table 4-28: means over eight runs. A run of which others are not recorded is not judged."""
    for said in published("table_4_28"):
        line, key, there = int(said["line"]), (said["response"], "measured"), float(said["value"])
        values = {run: runs[run][key] for run in range(line, 65, 8) if key in runs.get(run, {})}
        if len(values) == 8:
            yield from judged(
                f"SA64 line C{line}", said | {"period": "measured"}, {key: fmean(values.values())}
            )
        else:
            for run, value in values.items():
                title = f"{said['title']} (mean of C{line}'s 8 runs)"
                yield found(f"SA64 run {run}", title, there, value, RUNS_MEAN)


def judged(case: str, said: dict[str, str], figures: Figures) -> Iterator[Row]:
    """A figure that the study prints of this condition."""
    there, tolerance, title = float(said["value"]), said["tolerance"], said["title"]
    chosen = [said["period"]] if said["period"] else PERIODS
    values = [figures[said["response"], period] for period in chosen
              if (said["response"], period) in figures]  # fmt: skip
    if not values:
        return
    # Where the study does not say which period it means, the one that is nearest.
    measured = min(values, key=lambda value: abs(value - there))
    if tolerance == "0":
        yield exactly(case, title, there, measured)
    elif " to " in tolerance:
        low, high = (float(end) for end in tolerance.split(" to "))
        yield between(case, title, there, measured, low, high)
    elif tolerance.startswith("+-"):
        yield near(case, title, there, measured, float(tolerance.removeprefix("+-")))
    else:
        yield close(case, title, there, measured, float(tolerance))
