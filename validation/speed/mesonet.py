"""MesoNet's large network beside the scaled-down one: `python -m validation.speed.mesonet`.

Both are run in turn, several times, up to a simulated time well after the start; what counts is the
processor time between two moments. The machine may do other things meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import process_time

import longhaul
from longhaul.studies.study import find

ROUNDS = 3


class Enough(Exception):  # noqa: N818
    """Raised to end a run when its last moment has come."""


@dataclass(frozen=True)
class Timed:
    """A condition, and between which simulated seconds it is timed."""

    experiment: str
    condition: str
    from_s: float
    until_s: float

    def packets_per_s(self) -> float:
        """Data packets per second of processor time."""
        marks: list[tuple[float, int]] = []

        def look(simulated_s: float, packets: int) -> None:
            if simulated_s >= (self.until_s if marks else self.from_s):
                marks.append((process_time(), packets))
            if len(marks) == 2:
                raise Enough

        where = {"condition": self.condition, "algorithm": "TCP"}
        run = find("nist-2010").cell(self.experiment, where)
        try:
            longhaul.run(run.scenario, progress=look)
        except Enough:
            (began, before), (ended, after) = marks
            return (after - before) / (ended - began)
        raise AssertionError("the run ended before its last moment")


SCALED_DOWN = Timed("N7-MAIN", "8", 20.0, 60.0)
LARGE = Timed("N6-MAIN", "4", 6.0, 12.0)


def main() -> None:
    """Print every round, and the ratio of the medians."""
    small, large = [], []
    for number in range(1, ROUNDS + 1):
        small.append(SCALED_DOWN.packets_per_s())
        large.append(LARGE.packets_per_s())
        print(
            f"round {number}: scaled down {small[-1]:,.0f}, large {large[-1]:,.0f} packets/s, "
            f"ratio {large[-1] / small[-1]:.2f}",
            flush=True,
        )
    print(f"ratio of the medians: {median(large) / median(small):.2f}")


if __name__ == "__main__":
    main()
