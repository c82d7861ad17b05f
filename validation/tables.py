"""Formatting of tables that compare the values of two simulators."""

from validation.rows import Row


def pair(row: Row) -> tuple[float, float]:
    """Return both values of a row: the other simulator's or source's, and ours."""
    assert row.expected is not None
    assert row.measured is not None
    return row.expected, row.measured


def value(mean: float | None, deviation: float | None) -> str:
    """Return `mean` as text, with `deviation`, its standard deviation over seeds, if known."""
    return f"{mean:.6g}" if deviation is None else f"{mean:.6g} ± {deviation:.3g}"


def distance(row: Row) -> float:
    """Return the absolute difference between the two values of a row."""
    there, here = pair(row)
    return abs(here - there)


def difference(row: Row) -> str:
    """Return the relative difference of Longhaul's value from ns-2's, as text."""
    there, here = pair(row)
    if there == 0:
        return "0" if here == 0 else f"{here:+.3g}"
    return f"{100 * (here / there - 1):+.2f} %"


def yes_or_no(within: bool | None) -> str:
    """Return `yes` if a value is within its bounds, else `**no**`."""
    return "yes" if within else "**no**"
