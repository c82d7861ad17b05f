"""Comparison of a simulation's figures with the recorded figures of the kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from validation.linux import bands
from validation.linux.cases import PATHS, Case
from validation.linux.catalogue import cases, first_cases
from validation.linux.figures import Simulated
from validation.linux.gold import rows

FIRST = frozenset(case.name for case in first_cases())

LATER = {
    "reordering": ("_reorder",),
    "receive buffers": ("_autotuned", "_rmem"),
    "ten flows": ("_ten",),
    "paths l and f": ("_1", "_1000k"),
    "applications": ("_idle", "_limited"),
}
"""Subjects of the cases that are not in `FIRST`, with the suffixes of the cases' names."""


@dataclass(frozen=True)
class Verdict(bands.Verdict):
    """Verdict on one simulated figure of one flow of a recorded case."""

    repeats: bool
    """True if the difference exceeds the band, but is no larger than between two kernel runs."""

    @property
    def first(self) -> bool:
        """True if the case is one of the 56 that were recorded first (`FIRST`)."""
        return self.case in FIRST

    @property
    def kind(self) -> str:
        """Subject of the case, such as `reordering`."""
        if not self.first:
            return next(kind for kind, ends in LATER.items() if self.case.endswith(ends))
        if "cubic_reno" in self.case or "cubic_bbr" in self.case:
            return "two flows"
        return "ECN" if "ecn" in self.case else self.flow


def recorded() -> dict[str, dict[tuple[str, str], float]]:
    """Return the kernel's values by case, and then by flow and name of the figure."""
    by_case: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows("figures.csv"):
        of_case = by_case.setdefault(row["case"], {})
        of_case[row["flow"], row["figure"]] = float(row["kernel"])
    return by_case


def recorded_cases() -> list[Case]:
    """Return the cases that can be compared: those with a recording in time."""
    known = recorded()
    return [case for case in cases() if case.name in known]


LATEST = 0.25
"""Lateness of a packet, as a fraction of the RTT, above which a repeated recording is left out.

It equals RACK's reordering window.
"""


def repeated() -> dict[tuple[str, str, str], float]:
    """Return the largest difference between kernel runs, by case, flow and figure.

    Runs with late packets (`LATEST`) are left out, because lateness may be the cause of a
    difference.
    """
    first = recorded()
    apart: dict[tuple[str, str, str], float] = {}
    for row in rows("repeats.csv"):
        key = (row["case"], row["flow"], row["figure"])
        recorded_first = first[key[0]].get(key[1:])
        latest_us = LATEST * 1e6 * PATHS[key[0][0]].rtt_s
        if recorded_first is not None and float(row["late_max_us"]) <= latest_us:
            difference = abs(float(row["kernel"]) - recorded_first)
            apart[key] = max(apart.get(key, 0.0), difference)
    return apart


def compare(chosen: Sequence[Case], simulated: Sequence[Simulated]) -> list[Verdict]:
    """Compare each simulated case with its recording; return a verdict per figure and flow."""
    kernel, apart = recorded(), repeated()
    return [
        verdict
        for case, ours in zip(chosen, simulated, strict=True)
        for verdict in judge(case, kernel[case.name], ours.figures, apart)
    ]


def judge(
    case: Case,
    kernel: Mapping[tuple[str, str], float],
    ours: Mapping[tuple[str, str], float],
    apart: Mapping[tuple[str, str, str], float],
) -> list[Verdict]:
    """Return a verdict on each recorded figure in `kernel`, compared with the simulated `ours`.

    A figure is accepted if its difference is within its band, or at most the difference between
    repeated runs of the kernel (`apart`).
    """
    verdicts = []
    for (flow, figure), theirs in kernel.items():
        value = ours.get((flow, figure), math.nan)
        # The recorded value is between the last sample and the exact value.
        nearest = min(max(theirs, ours.get((flow, f"sampled_{figure}"), value)), value)
        difference = abs(nearest - theirs)
        # `min` and `max` ignore NaN, but a missing figure is not within its band.
        if math.isnan(value):
            difference = math.inf
        in_band = difference <= bands.FIGURES[figure].allowed(theirs, case.path.rtt_s)
        as_repeats = difference <= apart.get((case.name, flow, figure), 0.0)
        within, repeats = in_band or as_repeats, as_repeats and not in_band
        verdicts.append(Verdict(case.name, flow, figure, theirs, value, within, repeats))
    return verdicts
