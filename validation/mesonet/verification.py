"""Verification runs of NIST SP 500-282, chapter 5: published values and congestion windows."""

from __future__ import annotations

from dataclasses import dataclass

from longhaul.analysis.fairness import jain
from validation.mesonet.tables import published

BOTTLENECK_PER_MS = 21
"""Packets that the slow router serves per ms."""
ALONE_UNTIL_S = 250.0
"""Time at which the second flow starts."""


@dataclass(frozen=True)
class Verification:
    """One of the 27 verification runs of chapter 5, with its published values."""

    run: str
    algorithm: str
    rtt_ms: int
    buffer_pkts: int
    link: float
    """Published utilisation of the link, as a fraction."""
    buffer: float
    """Published utilisation of the buffer, as a fraction."""
    jain: float
    """Published fairness index of Jain."""

    @property
    def case(self) -> str:
        """Name of the case in the comparison."""
        return f"{self.run} {self.algorithm} {self.rtt_ms} ms"


@dataclass(frozen=True)
class Windows:
    """Congestion windows of both flows of a run in packets, every 100 ms from the start."""

    time_s: list[float]
    first: list[float]
    second: list[float]

    def alone(self) -> float:
        """Return the mean window of the first flow until the second flow starts."""
        return _mean(self.first[: self._shared_from()])

    def shared(self) -> tuple[float, float]:
        """Return the mean windows of both flows from the start of the second flow on."""
        at = self._shared_from()
        return _mean(self.first[at:]), _mean(self.second[at:])

    def figures(self, case: Verification) -> tuple[float, float, float]:
        """Return link utilisation, buffer utilisation and Jain's index while both flows run."""
        both = self.shared()
        product = BOTTLENECK_PER_MS * case.rtt_ms
        link = min(1.0, sum(both) / product)
        buffer = max(0.0, (sum(both) - product) / case.buffer_pkts)
        return link, buffer, jain(both) or 0.0

    def most_apart(self) -> float:
        """Return the largest ratio between the mean windows of the two flows.

        Means are taken over successive periods of 20 s.
        """
        at, samples = self._shared_from(), 200
        starts = range(at, len(self.first) - samples + 1, samples)
        means = [
            (
                _mean(self.first[start : start + samples]),
                _mean(self.second[start : start + samples]),
            )
            for start in starts
        ]
        return max(max(pair) / max(min(pair), 1.0) for pair in means)

    def _shared_from(self) -> int:
        return sum(time <= ALONE_UNTIL_S for time in self.time_s)


def verifications() -> list[Verification]:
    """Return the 27 runs with their published values (tables 5-10 and 5-11)."""
    return [
        Verification(
            row["run"], row["algorithm"], int(row["rtt_ms"]), int(row["buffer_pkts"]),
            float(row["link"]), float(row["buffer"]), float(row["jain"]),
        )
        for row in published("tables_5_10_5_11")
    ]  # fmt: skip


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
