"""Verdicts on statements about all levels of an axis, from runs at some of them.

Their certain conclusion is an interval, which depends on the kind of number: a count over eight of
32 conditions leaves open what it is over the other 24, a smallest value can only become smaller,
and a mean over some conditions says nothing certain of the mean over all.

How it looks so far is less. A count is compared in proportion, a share as it is, and an extreme
shows that it is in the band as long as it is. Of another number only the order is compared, which
of two sides is the larger: how much it is differs between levels, so that a mean over two
conditions is neither like a printed one over 32 nor unlike it.
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

# Judges an interval: the verdict, and if it is undecided, why.
Decide = Callable[[Interval], tuple[str, str]]

COUNT, SHARE, LEAST, LARGEST = "count", "share", "least", "largest"
# Numbers that say which of two sides is the larger, and what they are where both are equal.
RATIO, SIGN = "ratio", "sign"
EQUAL = {RATIO: 1.0, SIGN: 0.0}
# Names of verdicts that hold for some levels and may not hold for all.
SO_FAR = {
    REPRODUCED: "in the band", OUTSIDE: "outside the band", CONTRADICTED: "the contrary",
    UNDECIDED: "undecided",
}  # fmt: skip


@dataclass(frozen=True)
class CoveredLevels:
    """The levels of an axis with all runs that a claim needs, and the number of all levels."""

    axis: str
    there: tuple[Any, ...]
    of: int

    @property
    def is_whole(self) -> bool:
        """True if nothing is missing."""
        return len(self.there) == self.of

    @property
    def text(self) -> str:
        """The part as text, such as `on 8 of 32 conditions`."""
        return f"on {len(self.there)} of {self.of} {self.axis}{'s' if self.of > 1 else ''}"

    @property
    def words(self) -> dict[str, Word]:
        """Words that select these levels."""
        first, *others = self.there
        return {self.axis: AND.join(map(str, self.there)) if others else first}


def bounds(kind: str, interval: Interval, part: CoveredLevels) -> Interval:
    """Return the bounds of a number over all levels, from its interval over some of them.

    The bounds are infinite if the kind of number allows no conclusion.
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
    """Return the verdict on all levels; if it is undecided, also the one on the known levels.

    For a number without bounds, agreement of one more run decides nothing.
    """
    whole = bounds(kind, interval, part)
    verdict = expected.judge(whole[0], whole)
    if verdict != UNDECIDED and verdict == decide(whole)[0]:
        return verdict, ""
    return UNDECIDED, _so_far(kind, interval, part, expected, decide)


def reason(kind: str, part: CoveredLevels, verdict: str, so_far: str) -> str:
    """Return the levels on which a verdict rests as text; if undecided, with the verdict so far."""
    if verdict != UNDECIDED:
        return part.text
    if not so_far:
        return f"{part.text}, which cannot be compared with all"
    return f"{part.text}, and {SO_FAR[so_far]} {'in proportion' if kind == COUNT else 'there'}"


def _so_far(
    kind: str, interval: Interval, part: CoveredLevels, expected: Expected, decide: Decide
) -> str:
    """Return the verdict on the existing levels; empty if they cannot be compared with all."""
    if kind == COUNT:
        times = part.of / len(part.there)
        # So few levels may not come to any count in the band.
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
    """Return true if a verdict is one on an order: in the band, or the other side is the larger.

    Not that a side is larger as it should be, by less than over all levels. A band without a
    contrary is of a number, and not of an order.
    """
    if expected.opposite is None:
        return False
    is_larger = expected.opposite <= expected.low
    as_said = interval[0] > equal if is_larger else interval[1] < equal
    return verdict == REPRODUCED or not as_said
