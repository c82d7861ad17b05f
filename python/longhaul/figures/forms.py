"""Formats of numbers in tables."""

from collections.abc import Callable


def number(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Return a function that formats numbers with `digits` decimals.

    It shows two significant digits if the decimals would all be 0. `scale` multiplies the number.
    """

    def form(value: float) -> str:
        scaled = value * scale
        rounds_to_zero = scaled and not round(scaled, digits)
        return f"{scaled:.2g}" if rounds_to_zero and digits else f"{scaled:,.{digits}f}"

    return form


def percent(digits: int) -> Callable[[float], str]:
    """Return a function that formats fractions as percentages with `digits` decimals."""
    return lambda value: f"{value:.{digits}%}"
