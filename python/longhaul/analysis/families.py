"""Joint judgement of a family of printed numbers that each come from a single run.

One printed number says little, because single runs vary widely. Many printed numbers on the same
side of our medians say more. Each of our replications gives one value for the whole family: its
mean deviation from print. Thus, effects common to all values of a replication, such as its random
numbers, count once. The printed family is tested as if it were one more replication of ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from longhaul.analysis.judging import OUTSIDE, UNDECIDED, Interval
from longhaul.analysis.prediction import MIN_RUNS
from longhaul.libraries import special

LOGARITHM, DIFFERENCE = "logarithm", "difference"
# Probability of rejecting any family of a source although its values are distributed as ours.
LEVEL = 0.05
# A verdict is undecided if at most this number of replications reaches the printed values.
FEW = 1


@dataclass(frozen=True)
class Family:
    """Deviations of our replications from a family of printed numbers."""

    values: tuple[float, ...]
    """Mean deviation of each replication from the printed numbers."""
    band: Interval
    """Acceptable range of the mean deviation: the mean of the printed numbers' own bands.

    The lower end is -inf if deviations are logarithms and the band of a printed number includes 0.
    """
    statistic: str
    """Kind of `values`: mean of log(measured / printed), or relative difference of the means."""

    @property
    def mean(self) -> float:
        """Mean of the family's values over replications."""
        return float(np.mean(self.values))

    @property
    def is_outside(self) -> bool:
        """True if the mean over replications lies outside `band`."""
        return not self.band[0] <= self.mean <= self.band[1]

    @property
    def reaching(self) -> int:
        """Number of `values` that are zero, or opposite in sign to their mean."""
        sign = 1.0 if self.mean >= 0.0 else -1.0
        return sum(sign * value <= 0.0 for value in self.values)

    @property
    def difference(self) -> float:
        """Excess of the measured over the printed values, as a fraction of the printed values."""
        return exp(self.mean) - 1.0 if self.statistic == LOGARITHM else self.mean

    @property
    def p_value(self) -> float:
        """Two-sided p-value of the hypothesis that the source's value is one more replication.

        Source: Hahn and Meeker, Statistical Intervals, 1991, section 4.7.
        """
        count = len(self.values)
        spread = float(np.std(self.values, ddof=1))
        if spread == 0.0:
            return 1.0 if self.mean == 0.0 else 0.0
        distance = abs(self.mean) / (spread * sqrt(1.0 + 1.0 / count))
        return 2.0 * float(special.stdtr(count - 1, -distance))

    @property
    def text(self) -> str:
        """Number of replications that reach the printed values, and `difference`, as text."""
        side = "higher" if self.difference >= 0.0 else "lower"
        by = f"{100.0 * abs(self.difference):.0f} %"
        return f"{self.reaching} of {len(self.values)} replications reach print, ours {by} {side}"


def family(
    ours: np.ndarray, printed: Sequence[float], bands: Sequence[Interval], statistic: str
) -> Family:
    """Compare measured values of a family of numbers with the values that the source prints.

    `ours` has a row for each replication and a column for each number. `printed` and `bands` have
    an entry for each number. `statistic` is `logarithm` or `difference`. Raises ValueError for
    fewer than three replications, or for a logarithm of numbers that are not positive.
    """
    print_, ends = np.asarray(printed, float), np.asarray(bands, float)
    if len(ours) < MIN_RUNS:
        raise ValueError(f"expected {MIN_RUNS} replications or more, found {len(ours)}")
    if statistic == LOGARITHM:
        if min(ours.min(), print_.min()) <= 0.0:
            raise ValueError("expected positive numbers; of zeros take differences")
        values = np.log(ours / print_).mean(axis=1)
        with np.errstate(divide="ignore"):
            low, high = (np.log(np.maximum(end, 0.0) / print_).mean() for end in ends.T)
    else:
        values = (ours - print_).mean(axis=1) / print_.mean()
        low, high = ((end - print_).mean() / print_.mean() for end in ends.T)
    return Family(tuple(values.tolist()), (float(low), float(high)), statistic)


def judge(families: Sequence[Family]) -> list[str]:
    """Return a verdict on each family of one source, or "" for no joint verdict.

    The first rule that applies decides: "" if the family's mean lies in its band; *outside the
    band* if `p_value` is significant at 5 % after Holm's correction for several tests (Scandinavian
    Journal of Statistics 6, 1979); *undecided* if all replications, or all but one, deviate from
    the printed numbers to the same side; otherwise "".
    """
    rejected = holm([family.p_value for family in families])
    return [
        OUTSIDE
        if family.is_outside and is_rejected
        else UNDECIDED
        if family.is_outside and family.reaching <= FEW
        else ""
        for family, is_rejected in zip(families, rejected, strict=True)
    ]


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Return, for each p-value, true if Holm's procedure rejects the hypothesis at `level`."""
    rejected = [False] * len(p_values)
    for place, which in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[which] > level / (len(p_values) - place):
            break
        rejected[which] = True
    return rejected
