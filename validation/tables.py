"""How figures of verdicts are written in tables."""

from validation.judge import Verdict


def value(mean: float, deviation: float | None) -> str:
    """Write a figure, with its standard deviation over seeds if there is one."""
    return f"{mean:.6g}" if deviation is None else f"{mean:.6g} ± {deviation:.3g}"


def difference(verdict: Verdict) -> str:
    """Write how far Longhaul's figure is from ns-2's."""
    if verdict.peer == 0:
        return "0" if verdict.longhaul == 0 else f"{verdict.longhaul:+.3g}"
    return f"{100 * (verdict.longhaul / verdict.peer - 1):+.2f} %"


def yes_or_no(within: bool) -> str:
    """Say whether a figure is in its bounds."""
    return "yes" if within else "**no**"
