"""Whether a measured value is what is expected: the one judge of studies and validation.

What is expected is a band, and where it has one the printed number inside it. *Reproduced*: the
whole interval of the measured value is in the band. *Undecided*: it crosses a boundary of the band.
*Contradicted*: all of it is on the far side of `opposite`, the value beyond which the contrary is
seen. *Outside the band*: none of it is in the band, and the contrary is not seen either. Without an
interval the measured value alone decides.

A number that the source has from one run is another question: could that run have been one of
ours? Its interval is that of one more run of ours. Where that is neither wholly in the band nor
wholly beyond `opposite`, two things have to agree: the printed number with our interval, and our
median with the band. If both do, the number is *reproduced*, and *outside the band* if neither
does; where only one of them does, it is *undecided* if it is the median, and *outside the band* if
it is the printed number. An interval that holds half or twice the printed number, or `opposite`,
could miss little: what the printed number's place in it would decide is *undecided* then.
"""

from dataclasses import dataclass
from math import inf

REPRODUCED = "reproduced"
UNDECIDED = "undecided"
OUTSIDE = "outside the band"
CONTRADICTED = "contradicted"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, UNDECIDED, OUTSIDE, CONTRADICTED, NOT_RUN)

Interval = tuple[float, float]

# Verdicts do not depend on the last bits: of values computed in double precision, and of those that
# are kept in single precision.
DOUBLE, SINGLE = 1e-9, 1e-6
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class Expected:
    """The band in which a value has to lie; both ends belong to it."""

    low: float = -inf
    high: float = inf
    opposite: float | None = None
    """The value beyond which the contrary is seen."""
    printed: float | None = None
    """What the source prints, if it is a number."""
    rounding: float = 0.0
    """Half a unit of its last printed digit."""
    precision: float = DOUBLE
    """By what part of an end a value may lie beyond it."""

    @classmethod
    def exactly(cls, printed: float) -> "Expected":
        """The same number."""
        return cls(printed, printed, printed=printed)

    @classmethod
    def within(cls, printed: float, distance: float) -> "Expected":
        """A number at most so far from the printed one."""
        return cls(printed - distance, printed + distance, printed=printed)

    @classmethod
    def within_part(cls, printed: float, part: float, at_least: float = 0.0) -> "Expected":
        """A number that differs from the printed one by at most a part of it, or an amount."""
        return cls.within(printed, max(part * abs(printed), at_least))

    @classmethod
    def as_printed(cls, printed: float, decimals: int, inputs: float = 0.0) -> "Expected":
        """A number that is printed so, up to what the rounding of its inputs makes of it."""
        return cls.within(printed, half_a_unit(decimals) + inputs)

    def judge(self, measured: float | None, interval: Interval | None = None) -> str:
        """The verdict on a measured value."""
        if measured is None:
            return NOT_RUN
        low, high = interval or (measured, measured)
        if self._at_most(self.low, low) and self._at_most(high, self.high):
            return REPRODUCED
        if self._at_most(low, self.high) and self._at_most(self.low, high):
            return UNDECIDED
        return CONTRADICTED if self._is_contrary(low, high) else OUTSIDE

    def holds(self, measured: float) -> bool:
        """Whether a measured value is in the band."""
        return self.judge(measured) == REPRODUCED

    def judge_one_run(self, interval: Interval, median: float) -> tuple[str, str]:
        """Return the verdict by the interval of one more run of ours, and if undecided, why."""
        verdict = self.judge(median, interval)
        if verdict in (REPRODUCED, CONTRADICTED):
            return verdict, ""
        in_band = self.holds(median)
        if not self._holds_printed(interval):
            why = "the printed run is not like ours, whose median is in the band"
            return (UNDECIDED, why) if in_band else (OUTSIDE, "")
        if self._could_miss_little(interval):
            why = "single runs scatter too widely; the source's own one would decide"
            return UNDECIDED, why
        return (REPRODUCED if in_band else OUTSIDE), ""

    def _is_contrary(self, low: float, high: float) -> bool:
        """Whether all of an interval is beyond `opposite`."""
        if self.opposite is None:
            return False
        if self._at_most(self.opposite, self.low):
            return self._at_most(high, self.opposite)
        return self._at_most(self.opposite, low)

    def _holds_printed(self, interval: Interval) -> bool:
        """Whether the printed number, before it was rounded, may lie in an interval."""
        printed = self.printed or 0.0
        return self._at_most(interval[0], printed + self.rounding) and self._at_most(
            printed - self.rounding, interval[1]
        )

    def _could_miss_little(self, interval: Interval) -> bool:
        """Whether half or twice the printed number, or the contrary, lies in an interval."""
        printed = self.printed or 0.0
        others = (0.5 * printed, 2.0 * printed, self.opposite)
        low, high = interval
        return any(other is not None and low <= other <= high for other in others)

    def _at_most(self, low: float, high: float) -> bool:
        """Whether one number is another one at most, except for the last bits."""
        return low <= high or low - high <= self.precision * min(abs(low), abs(high)) + ABSOLUTE


def half_a_unit(decimals: int) -> float:
    """Half a unit of the last digit of a number with so many decimals."""
    return 0.5 * 10.0**-decimals


def decimals_of(written: str) -> int:
    """Digits after the point of a number as written; those of a power of ten count."""
    digits, _, power = written.lower().partition("e")
    return len(digits.partition(".")[2]) - int(power or 0)
