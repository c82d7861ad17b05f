"""Comparison of simulated values with the recorded values of the kernel."""

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
    """Verdict on one simulated quantity of one algorithm's flows in a recorded case."""

    repeats: bool
    """True if the value is outside its band, but a repeated recording differs at least as much."""

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
    """Return the kernel's values by case, and then by algorithm and name of the quantity."""
    by_case: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows("figures.csv"):
        of_case = by_case.setdefault(row["case"], {})
        of_case[row["flow"], row["figure"]] = float(row["kernel"])
    return by_case


def recorded_cases() -> list[Case]:
    """Return the cases that can be compared: those with recorded values in `gold`."""
    known = recorded()
    return [case for case in cases() if case.name in known]


LATEST = 0.25
"""Lateness of a packet, as a fraction of the RTT, above which a repeated recording is left out.

RACK's reordering window is the same fraction of the minimum RTT.
"""


def repeated() -> dict[tuple[str, str, str], float]:
    """Return the largest difference of a repeated recording from the compared recording.

    The differences are by case, algorithm and name of the quantity. Repeats with late packets
    (`LATEST`) are left out, because lateness may be the cause of a difference.
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
    """Compare each simulated case with its recording; return a verdict for each recorded value."""
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
    """Return a verdict on each recorded value in `kernel`, compared with the simulated `ours`.

    Values are by algorithm and name of the quantity. A simulated value is accepted if it is within
    its band, or if its difference is at most that of repeated recordings (`apart`).
    """
    verdicts = []
    for (flow, figure), theirs in kernel.items():
        value = ours.get((flow, figure), math.nan)
        # The recorded value may lie between the simulation's last sample and its exact value.
        nearest = min(max(theirs, ours.get((flow, f"sampled_{figure}"), value)), value)
        difference = abs(nearest - theirs)
        # `min` and `max` ignore this NaN, but a missing value is not within its band.
        if math.isnan(value):
            difference = math.inf
        in_band = difference <= bands.FIGURES[figure].allowed(theirs, case.path.rtt_s)
        as_repeats = difference <= apart.get((case.name, flow, figure), 0.0)
        within, repeats = in_band or as_repeats, as_repeats and not in_band
        verdicts.append(Verdict(case.name, flow, figure, theirs, value, within, repeats))
    return verdicts
