"""Comparison of a measured value with the expected one, for studies and validation.

The expectation is a band and, if the source prints a number, also this number. *Reproduced*: the
whole interval of the measured value is in the band. *Undecided*: the interval crosses an end of the
band. *Contradicted*: the whole interval is beyond `opposite`, the value from which on the opposite
of the claim is true. *Outside the band*: no part of the interval is in the band, and the claim is
not contradicted either. Without an interval, the measured value alone decides.

If the printed number comes from a single run, it is compared with the prediction interval: the
range in which one more run of ours is expected. The first of these rules that applies decides:

- The interval is wholly in the band: *reproduced*; wholly beyond `opposite`: *contradicted*.
- The printed number is not in the interval: *undecided* if our median is in the band, else *outside
  the band*.
- The interval contains `opposite`, or half or twice the printed number: *undecided*, since such an
  interval is too wide for a test.
- Otherwise: *reproduced* if our median is in the band, else *outside the band*.
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

# Relative precision of verdicts, so that rounding decides none: for values computed in double
# precision, and for values stored in single precision.
DOUBLE, SINGLE = 1e-9, 1e-6
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class Expected:
    """The band in which a value must lie, ends included, and the number that the source prints."""

    low: float = -inf
    high: float = inf
    opposite: float | None = None
    """Value beyond which the opposite of the claim is true; None if there is no such value."""
    printed: float | None = None
    """The number that the source prints; None if it prints none."""
    rounding: float = 0.0
    """Half a unit of the last digit of `printed`."""
    precision: float = DOUBLE
    """Relative tolerance at the ends of the band, for rounding errors."""

    @classmethod
    def exactly(cls, printed: float) -> "Expected":
        """Return an expectation that accepts only the number that the source prints."""
        return cls(printed, printed, printed=printed)

    @classmethod
    def within(cls, printed: float, distance: float) -> "Expected":
        """Return an expectation with the band `printed` plus or minus `distance`.

        `printed` is the number that the source prints.
        """
        return cls(printed - distance, printed + distance, printed=printed)

    @classmethod
    def within_part(cls, printed: float, part: float, at_least: float = 0.0) -> "Expected":
        """Return an expectation whose band is `printed` plus or minus the fraction `part` of it.

        The half-width of the band is at least `at_least`.
        """
        return cls.within(printed, max(part * abs(printed), at_least))

    @classmethod
    def as_printed(cls, printed: float, decimals: int, inputs: float = 0.0) -> "Expected":
        """Return an expectation whose band allows for the rounding of `printed` and of its inputs.

        `printed` has `decimals` decimals. `inputs` is the largest error of `printed` that rounded
        inputs can cause.
        """
        return cls.within(printed, half_a_unit(decimals) + inputs)

    def judge(self, measured: float | None, interval: Interval | None = None) -> str:
        """Return the verdict on a measured value, which may have a confidence interval.

        `measured` is None if there is no value.
        """
        if measured is None:
            return NOT_RUN
        low, high = interval or (measured, measured)
        if self._at_most(self.low, low) and self._at_most(high, self.high):
            return REPRODUCED
        if self._at_most(low, self.high) and self._at_most(self.low, high):
            return UNDECIDED
        return CONTRADICTED if self._is_contrary(low, high) else OUTSIDE

    def holds(self, measured: float) -> bool:
        """Return true if the measured value is in the band."""
        return self.judge(measured) == REPRODUCED

    def judge_one_run(self, interval: Interval, median: float) -> tuple[str, str]:
        """Return the verdict on a number printed from a single run, and the reason if undecided.

        `interval` is the prediction interval of one more run, and `median` the median of our runs.
        """
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
        """Return true if the opposite of the claim holds in the whole interval `low` to `high`."""
        if self.opposite is None:
            return False
        if self._at_most(self.opposite, self.low):
            return self._at_most(high, self.opposite)
        return self._at_most(self.opposite, low)

    def _holds_printed(self, interval: Interval) -> bool:
        """Return true if the interval contains the printed number, allowing for its rounding."""
        printed = self.printed or 0.0
        return self._at_most(interval[0], printed + self.rounding) and self._at_most(
            printed - self.rounding, interval[1]
        )

    def _could_miss_little(self, interval: Interval) -> bool:
        """Return true if the interval is so wide that a large difference might be missed.

        Such an interval contains half or twice the printed number, or the value beyond which the
        opposite of the claim is true.
        """
        printed = self.printed or 0.0
        others = (0.5 * printed, 2.0 * printed, self.opposite)
        low, high = interval
        return any(other is not None and low <= other <= high for other in others)

    def _at_most(self, low: float, high: float) -> bool:
        """Return true if `low` is at most `high`, with a tolerance for rounding errors."""
        return low <= high or low - high <= self.precision * min(abs(low), abs(high)) + ABSOLUTE


def half_a_unit(decimals: int) -> float:
    """Return half a unit of the last digit of a number with `decimals` decimals."""
    return 0.5 * 10.0**-decimals


def decimals_of(written: str) -> int:
    """Return the number of decimals of a number as written: 2 for `0.25`, 5 for `2.5e-4`."""
    digits, _, power = written.lower().partition("e")
    return len(digits.partition(".")[2]) - int(power or 0)
