"""Rows of comparisons: expected and measured value, and verdict."""

from __future__ import annotations

from dataclasses import dataclass

from longhaul.analysis.judging import Expected

VALUE = "value"
"""Kind of a value that is printed for exactly this case."""
CONDITIONS_MEAN = "mean of all conditions"
"""Kind of a mean that is printed with a range over conditions, which must contain the value."""
TREND = "trend"
"""Kind of a statement, whose value is 1 if it is true."""
KINDS = (VALUE, CONDITIONS_MEAN, TREND)


@dataclass(frozen=True)
class Row:
    """A value of a source or another simulator, and ours."""

    case: str
    metric: str
    expected: float | None
    """Expected value; None for events that did not happen, such as reaching full speed."""
    measured: float | None
    rule: str
    """Rule that determines `within`."""
    within: bool | None
    """True if the value is accepted; None if it is only reported."""
    kind: str = VALUE
    """Kind of the expected value, one of `KINDS`."""
    expected_sd: float | None = None
    """Standard deviation over seeds; None if nothing is random."""
    measured_sd: float | None = None
    error: str = ""
    """Error of the source in the expected value."""

    @property
    def agrees(self) -> bool:
        """True if the value was judged and is within the expected range."""
        return self.within is True


def judged(
    case: str,
    metric: str,
    expected: float,
    measured: float,
    band: Expected,
    rule: str,
    kind: str = VALUE,
) -> Row:
    """Judge a value that has to lie in a band; `rule` describes the band."""
    return Row(case, metric, expected, measured, rule, band.holds(measured), kind)


def exactly(case: str, metric: str, expected: float, measured: float) -> Row:
    """Judge a value that has to equal the expected number."""
    return judged(case, metric, expected, measured, Expected.exactly(expected), "the same")


def near(
    case: str, metric: str, expected: float, measured: float, distance: float, unit: str = ""
) -> Row:
    """Judge a value by its distance from the expected one."""
    rule = f"± {distance:g} {unit}".rstrip()
    return judged(case, metric, expected, measured, Expected.within(expected, distance), rule)


def close(case: str, metric: str, expected: float, measured: float, part: float) -> Row:
    """Judge a value by its relative distance from the expected one."""
    band = Expected.within_part(expected, part)
    return judged(case, metric, expected, measured, band, f"± {100 * part:g} %")


def between(
    case: str,
    metric: str,
    expected: float,
    measured: float,
    low: float,
    high: float,
    kind: str = VALUE,
) -> Row:
    """Judge a value that has to lie in a range."""
    rule = f"{low:g} to {high:g}"
    return judged(case, metric, expected, measured, Expected(low, high), rule, kind)


def as_found(
    case: str, metric: str, expected: float | None, measured: float | None, kind: str = VALUE
) -> Row:
    """Report a value without judging it."""
    return Row(case, metric, expected, measured, "as found", None, kind)
