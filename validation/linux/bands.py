"""Figures beside the kernel's: how they are written, how far they may differ, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure of a flow."""

    title: str
    form: str
    band: str
    """Allowed difference in words."""
    part: float = 0.05
    """Allowed difference as a part of the kernel's figure."""
    at_least: float | None = 0.0
    """Difference that is always allowed; None: a round trip in seconds."""

    def allowed(self, kernel: float, rtt_s: float = 0.0) -> float:
        """Return the allowed difference from the kernel's figure."""
        return max(self.part * kernel, rtt_s if self.at_least is None else self.at_least)


FIGURES = {
    "goodput": Figure("goodput, Mbit/s", ".2f", "2 %", 0.02),
    "cwnd": Figure("mean window, segments", ".1f", "5 %"),
    "srtt_ms": Figure("mean srtt, ms", ".1f", "5 %"),
    "reductions": Figure("reductions", ".0f", "one of ten, or one", 0.1, 1.0),
    "completion": Figure("completion, s", ".3f", "5 % or a round trip", at_least=None),
    "exit_cwnd": Figure("window at the end of slow start", ".0f", "5 %"),
    "retrans": Figure("retransmissions", ".0f", "10 %, or two", 0.1, 2.0),
    "period": Figure("time between reductions, s", ".2f", "5 %"),
}
"""The first five are the ones that matter most."""

MAIN = tuple(FIGURES)[:5]


@dataclass(frozen=True)
class Verdict:
    """One figure of one flow, on both sides."""

    case: str
    flow: str
    """Its algorithm."""
    figure: str
    kernel: float
    ours: float
    within: bool

    def cells(self, figures: Mapping[str, Figure] = FIGURES) -> list[str]:
        """Return title, both values and their difference, as tables have them."""
        figure = figures[self.figure]
        values = [format(value, figure.form) for value in (self.kernel, self.ours)]
        change = f"{100 * (self.ours / self.kernel - 1):+.1f} %" if self.kernel else ""
        return [figure.title, *values, change]


def count(verdicts: Sequence[Verdict]) -> str:
    """Write how many figures are within their bands."""
    return f"{sum(verdict.within for verdict in verdicts)} of {len(verdicts)}"
