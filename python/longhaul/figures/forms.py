"""Formats of figures in tables."""

from collections.abc import Callable


def number(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Return a format with a number of decimals, or two significant digits if that gives 0."""

    def form(value: float) -> str:
        scaled = value * scale
        rounds_to_zero = scaled and not round(scaled, digits)
        return f"{scaled:.2g}" if rounds_to_zero and digits else f"{scaled:,.{digits}f}"

    return form


def percent(digits: int) -> Callable[[float], str]:
    """Return a format of percentages with a number of decimals."""
    return lambda value: f"{value:.{digits}%}"
