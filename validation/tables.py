"""Tables with the values of both simulators."""

from validation.rows import Row


def pair(row: Row) -> tuple[float, float]:
    """Return the values of a row that has both: the other simulator's, and ours."""
    assert row.expected is not None
    assert row.measured is not None
    return row.expected, row.measured


def value(mean: float | None, deviation: float | None) -> str:
    """Write a value, with its standard deviation over seeds if there is one."""
    return f"{mean:.6g}" if deviation is None else f"{mean:.6g} ± {deviation:.3g}"


def distance(row: Row) -> float:
    """Return the absolute difference between Longhaul's value and the other one."""
    there, here = pair(row)
    return abs(here - there)


def difference(row: Row) -> str:
    """Write the distance of Longhaul's value from ns-2's."""
    there, here = pair(row)
    if there == 0:
        return "0" if here == 0 else f"{here:+.3g}"
    return f"{100 * (here / there - 1):+.2f} %"


def yes_or_no(within: bool | None) -> str:
    """Write yes if a value is in its bounds, else no."""
    return "yes" if within else "**no**"
