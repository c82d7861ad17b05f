"""Verdicts on claims about all levels of an axis, from runs at some of the levels.

A final verdict needs bounds of the claim's number over all levels. A count over eight of 32
conditions can still grow by up to 24. A minimum can only decrease. A mean gives no bounds.

If there is no final verdict, a provisional verdict judges the number over the levels that were run.
A count is scaled up in proportion, a share is judged unchanged. A minimum or maximum outside the
claim's band has no provisional verdict, because the other levels could bring it into the band. In a
comparison of two sides, only the sign (which side is larger) is judged, because sizes of
differences vary between levels. Other numbers, such as means, have no provisional verdict.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from longhaul.analysis.judging import (
    CONTRADICTED,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    Expected,
    Interval,
)
from longhaul.studies.selection import AND, Word

# Function that judges an interval: the verdict, and the reason if it is undecided.
Decide = Callable[[Interval], tuple[str, str]]

COUNT, SHARE, LEAST, LARGEST = "count", "share", "least", "largest"
# Kinds of numbers that compare two sides, and the number for equal sides.
RATIO, SIGN = "ratio", "sign"
EQUAL = {RATIO: 1.0, SIGN: 0.0}
# Texts for verdicts on some of the levels.
SO_FAR = {
    REPRODUCED: "in the band", OUTSIDE: "outside the band", CONTRADICTED: "the contrary",
    UNDECIDED: "undecided",
}  # fmt: skip


@dataclass(frozen=True)
class CoveredLevels:
    """The levels of an axis at which all needed runs exist, and the number of all levels."""

    axis: str
    there: tuple[Any, ...]
    of: int

    @property
    def is_whole(self) -> bool:
        """True if the needed runs exist at all levels of the axis."""
        return len(self.there) == self.of

    @property
    def text(self) -> str:
        """Text with the numbers of covered and of all levels, such as `on 8 of 32 conditions`."""
        return f"on {len(self.there)} of {self.of} {self.axis}{'s' if self.of > 1 else ''}"

    @property
    def words(self) -> dict[str, Word]:
        """Word `axis=levels` that selects these levels in a claim, as a dictionary of one entry."""
        first, *others = self.there
        return {self.axis: AND.join(map(str, self.there)) if others else first}


def bounds(kind: str, interval: Interval, part: CoveredLevels) -> Interval:
    """Return bounds of a number over all levels of an axis, of which only some were run.

    `interval` is the number's interval over the levels in `part`, and `kind` its kind, such as a
    count. A bound is infinite if missing levels may move the number without limit.
    """
    low, high = interval
    there = len(part.there)
    missing = part.of - there
    if kind == COUNT:
        return low, high + missing
    if kind == SHARE:
        return low * there / part.of, (high * there + missing) / part.of
    return (low if kind == LARGEST else -inf), (high if kind == LEAST else inf)


def judge(
    kind: str, interval: Interval, part: CoveredLevels, expected: Expected, decide: Decide
) -> tuple[str, str]:
    """Return a final verdict and an empty text, or `UNDECIDED` and a provisional verdict.

    `interval` is that of the claim's number over the levels that were run (`part`). It gives bounds
    of the number over all levels. `expected` and the function `decide` each judge these bounds; the
    verdict is final if both reach the same one. The provisional verdict may be empty.
    """
    whole = bounds(kind, interval, part)
    verdict = expected.judge(whole[0], whole)
    if verdict != UNDECIDED and verdict == decide(whole)[0]:
        return verdict, ""
    return UNDECIDED, _so_far(kind, interval, part, expected, decide)


def reason(kind: str, part: CoveredLevels, verdict: str, so_far: str) -> str:
    """Return the reason for a verdict: the levels that were run and, if undecided, their result."""
    if verdict != UNDECIDED:
        return part.text
    if not so_far:
        return f"{part.text}, which cannot be compared with all"
    return f"{part.text}, and {SO_FAR[so_far]} {'in proportion' if kind == COUNT else 'there'}"


def _so_far(
    kind: str, interval: Interval, part: CoveredLevels, expected: Expected, decide: Decide
) -> str:
    """Return a provisional verdict on all levels, derived from the levels that were run (`part`).

    The verdict is empty if these levels allow no conclusion. `kind` is the kind of number.
    """
    if kind == COUNT:
        times = part.of / len(part.there)
        # With few levels, no possible count may be in the band after scaling.
        if not any(expected.holds(count * times) for count in range(len(part.there) + 1)):
            return ""
        return decide((interval[0] * times, interval[1] * times))[0]
    verdict, _ = decide(interval)
    if kind in EQUAL:
        comparable = _tells(EQUAL[kind], interval, expected, verdict)
    elif kind in (LEAST, LARGEST):
        comparable = verdict in (REPRODUCED, UNDECIDED)
    else:
        comparable = kind == SHARE
    return verdict if comparable else ""


def _tells(equal: float, interval: Interval, expected: Expected, verdict: str) -> bool:
    """Return true if the `verdict` at some levels may stand provisionally for all levels.

    The claim must state on which side of `equal` (0 for a difference, 1 for a ratio) the number
    lies. A verdict other than `reproduced` counts only if the interval is not all on that side.
    """
    # The claim is about the size of the number, not about its sign.
    if expected.opposite is None:
        return False
    is_larger = expected.opposite <= expected.low
    as_said = interval[0] > equal if is_larger else interval[1] < equal
    # If only the size of the number differs from the claim, other levels may differ less.
    return verdict == REPRODUCED or not as_said
