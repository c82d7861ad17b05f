"""MesoNet's networks by data packets per second: `python -m validation.speed.mesonet`.

All are run in turn, several times, up to a simulated time well after the start. In one thread what
counts is the processor time between two moments, since the machine may do other things meanwhile;
in two threads it is the time by the clock, of which only a machine without other work gives the
right ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

import longhaul
from longhaul.studies.study import find

ROUNDS = 3


class Enough(Exception):  # noqa: N818
    """Raised to end a run when its last moment has come."""


@dataclass(frozen=True)
class Timed:
    """A run of the study `nist-2010`, and between which simulated seconds it is timed."""

    name: str
    experiment: str
    levels: dict[str, str]
    from_s: float
    until_s: float

    def packets_per_s(self, threads: int) -> tuple[float, float]:
        """Return data packets per second of processor time, and per second of wall clock."""
        marks: list[tuple[float, float, int]] = []

        def look(simulated_s: float, packets: int) -> None:
            if simulated_s >= (self.until_s if marks else self.from_s):
                marks.append((process_time(), perf_counter(), packets))
            if len(marks) == 2:
                raise Enough

        run = find("nist-2010").cell(self.experiment, self.levels)
        try:
            longhaul.run(run.scenario, progress=look, threads=threads)
        except Enough:
            (cpu, clock, before), (cpu_after, clock_after, after) = marks
            packets = after - before
            return packets / (cpu_after - cpu), packets / (clock_after - clock)
        raise AssertionError("the run ended before its last moment")


NETWORKS = (
    Timed("scaled down", "N7-MAIN", {"condition": "8", "algorithm": "TCP"}, 20.0, 60.0),
    Timed("large", "N6-MAIN", {"condition": "4", "algorithm": "TCP"}, 6.0, 12.0),
    Timed("sensitivity", "SA64", {"run": "64", "algorithm": "TCP"}, 20.0, 60.0),
    Timed("mixed", "N8H-MAIN", {"condition": "1", "algorithm": "CTCP"}, 20.0, 60.0),
)


def main() -> None:
    """Print every round, and the medians."""
    measured: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for number in range(1, ROUNDS + 1):
        for network in NETWORKS:
            for threads in (1, 2):
                rates = network.packets_per_s(threads)
                measured.setdefault((network.name, threads), []).append(rates)
                print(
                    f"round {number}: {network.name}, {threads} threads: {rates[0]:,.0f} packets "
                    f"per second of processor time, {rates[1]:,.0f} by the clock",
                    flush=True,
                )
    for network in NETWORKS:
        single, two = ([*zip(*measured[network.name, threads], strict=True)] for threads in (1, 2))
        print(
            f"{network.name}: {median(single[0]):,.0f} packets per second of processor time; with "
            f"two threads {median(two[1]) / median(single[1]):.2f} times as many by the clock"
        )


if __name__ == "__main__":
    main()
