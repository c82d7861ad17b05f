"""Quantities of a comparison with the kernel: formats, allowed differences, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan


@dataclass(frozen=True)
class Figure:
    """A measured quantity of a flow, with its format and tolerance."""

    title: str
    form: str
    band: str
    """Allowed difference from the kernel's value, as text for the page."""
    part: float = 0.05
    """Allowed difference as a fraction of the kernel's value."""
    at_least: float | None = 0.0
    """Minimum of the allowed difference, in the quantity's unit; if None, one round-trip time."""

    def allowed(self, kernel: float, rtt_s: float = 0.0) -> float:
        """Return the allowed difference from the kernel's value `kernel`.

        If `at_least` is None, the minimum is `rtt_s`, the round-trip time of the path.
        """
        return max(self.part * kernel, rtt_s if self.at_least is None else self.at_least)


FIGURES = {
    "goodput": Figure("goodput, Mbit/s", ".2f", "2 %", 0.02),
    "cwnd": Figure("mean window, segments", ".1f", "5 %"),
    "srtt_ms": Figure("mean srtt, ms", ".1f", "5 %"),
    "reductions": Figure("reductions", ".0f", "10 %, or one", 0.1, 1.0),
    "completion": Figure("completion, s", ".3f", "5 % or a round trip", at_least=None),
    "exit_cwnd": Figure("window at the end of slow start", ".0f", "5 %"),
    "retrans": Figure("retransmissions", ".0f", "10 %, or two", 0.1, 2.0),
    "period": Figure("time between reductions, s", ".2f", "5 %"),
}
"""Compared quantities by name; the first five are the main quantities (`MAIN`)."""

MAIN = tuple(FIGURES)[:5]


@dataclass(frozen=True)
class Verdict:
    """One quantity of one flow: the kernel's value, the simulated value, and their agreement."""

    case: str
    flow: str
    """The flow's algorithm, or the module that computes its window."""
    figure: str
    """Name of the quantity."""
    kernel: float
    ours: float
    within: bool

    def cells(self, figures: Mapping[str, Figure] = FIGURES) -> list[str]:
        """Return a table row: title of the quantity, kernel's value, our value, difference in %.

        `figures` has titles and formats of the quantities. A value that is not a number, such as
        the window at the end of a slow start that did not end, is written as `none`.
        """
        figure = figures[self.figure]
        pair = (self.kernel, self.ours)
        values = ["none" if isnan(value) else format(value, figure.form) for value in pair]
        change = 100 * (self.ours / self.kernel - 1) if self.kernel else nan
        return [figure.title, *values, "" if isnan(change) else f"{change:+.1f} %"]


def count(verdicts: Sequence[Verdict]) -> str:
    """Return the number of values within their bands, and of all values, such as `3 of 4`."""
    return f"{sum(verdict.within for verdict in verdicts)} of {len(verdicts)}"
