"""Rows of comparisons: expected value, measured value, verdict, and their texts for tables."""

from __future__ import annotations

from dataclasses import dataclass

from longhaul.analysis.judging import Expected

VALUE = "value"
"""Kind of the expected values that the source states for exactly this case."""
CONDITIONS_MEAN = "mean of all conditions"
"""Kind of the expected values that the source prints as means over conditions.

The source also prints the range over conditions, in which the measured value has to lie.
"""
TREND = "trend"
"""Kind of the source's qualitative statements; the value is 1 for a true statement, else 0."""
KINDS = (VALUE, CONDITIONS_MEAN, TREND)


@dataclass(frozen=True)
class Row:
    """A value from a publication or another simulator, and the value measured with Longhaul."""

    case: str
    metric: str
    expected: float | None
    """Expected value; None for events that did not happen, such as reaching full speed."""
    measured: float | None
    """Measured value; None for events that did not happen."""
    rule: str
    """Text of the rule by which `within` was decided."""
    within: bool | None
    """True if the value is accepted; None if it is only reported."""
    kind: str = VALUE
    """Kind of the expected value, one of `KINDS`."""
    expected_sd: float | None = None
    """Standard deviation of `expected` over seeds; None if it is not computed."""
    measured_sd: float | None = None
    error: str = ""
    """Known error of the source in the expected value; empty if there is none."""

    @property
    def agrees(self) -> bool:
        """True if the value was judged and lies within the allowed range."""
        return self.within is True

    @property
    def pair(self) -> tuple[float, float]:
        """Expected and measured value; an error is raised if either is None."""
        assert self.expected is not None
        assert self.measured is not None
        return self.expected, self.measured

    @property
    def texts(self) -> list[str]:
        """Expected and measured value as text, each with its standard deviation, if known."""
        deviations = (self.expected_sd, self.measured_sd)
        return [
            f"{mean:.6g}" if deviation is None else f"{mean:.6g} ± {deviation:.3g}"
            for mean, deviation in zip(self.pair, deviations, strict=True)
        ]

    @property
    def distance(self) -> float:
        """Absolute difference between the expected and the measured value."""
        there, here = self.pair
        return abs(here - there)

    @property
    def difference(self) -> str:
        """Difference of the measured value from the expected value, as text.

        The difference is in percent of the expected value, or absolute if the expected value is 0.
        """
        there, here = self.pair
        if there == 0:
            return "0" if here == 0 else f"{here:+.3g}"
        return f"{100 * (here / there - 1):+.2f} %"

    @property
    def yes_or_no(self) -> str:
        """Text `yes` if the value is within its bounds, else `**no**`."""
        return "yes" if self.within else "**no**"


def judged(
    case: str,
    metric: str,
    expected: float,
    measured: float,
    band: Expected,
    rule: str,
    kind: str = VALUE,
) -> Row:
    """Return a row for a value that has to lie in `band`; `rule` describes the band."""
    return Row(case, metric, expected, measured, rule, band.holds(measured), kind)


def exactly(case: str, metric: str, expected: float, measured: float) -> Row:
    """Return a row for a value that has to equal the expected number."""
    return judged(case, metric, expected, measured, Expected.exactly(expected), "the same")


def near(
    case: str, metric: str, expected: float, measured: float, distance: float, unit: str = ""
) -> Row:
    """Return a row for a value that may differ by `distance` (in `unit`) from the expected one."""
    rule = f"± {distance:g} {unit}".rstrip()
    return judged(case, metric, expected, measured, Expected.within(expected, distance), rule)


def close(case: str, metric: str, expected: float, measured: float, part: float) -> Row:
    """Return a row for a value that may differ by the fraction `part` of the expected one."""
    band = Expected.within_part(expected, part)
    return judged(case, metric, expected, measured, band, f"± {100 * part:g} %")


def as_found(case: str, metric: str, expected: float | None, measured: float | None) -> Row:
    """Return a row for a value that is reported without a verdict."""
    return Row(case, metric, expected, measured, "as found", None)
