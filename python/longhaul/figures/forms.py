"""Formats of numbers in tables."""

from collections.abc import Callable


def number(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Return a function that formats numbers with `digits` decimals.

    If `digits` > 0, numbers that round to 0 get two significant digits. `scale` is a factor.
    """

    def form(value: float) -> str:
        scaled = value * scale
        rounds_to_zero = scaled and not round(scaled, digits)
        return f"{scaled:.2g}" if rounds_to_zero and digits else f"{scaled:,.{digits}f}"

    return form


def percent(digits: int) -> Callable[[float], str]:
    """Return a function that formats fractions as percentages with `digits` decimals."""
    return lambda value: f"{value:.{digits}%}"
