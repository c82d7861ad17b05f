"""Measures of claims about long transfers.

`one` and `other` are levels of the axis `protocol`, or of the one that `axis` names. `each` is a
metric that every flow has: `goodput` for `goodput_1` to `goodput_20`.
"""

import numpy as np

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

from .figures import FLOWS, printed_flows

TRANSFERS = Measures()
measure = TRANSFERS.register


@measure
def gain_of_best(data: Data, of: str, each: str, one: str, other: str, count: float) -> float:
    """The least gain of those flows of a run that gain most; the median over runs."""
    gains = [
        data.paired(f"{each}_{flow}", (of, {"protocol": one}), (of, {"protocol": other}), np.divide)
        for flow in FLOWS
    ]
    return float(sorted(gains)[-int(count)])


@measure
def rank_as_printed(data: Data, of: str, each: str, column: str, protocol: str) -> float:
    """Rank correlation of the flows' medians with what the source prints of them."""
    printed = printed_flows(of, column)[protocol]
    measured = [data.value(f"{each}_{flow}", of, protocol=protocol) for flow in printed]
    return rank_correlation(list(printed.values()), measured)


@measure
def off_printed(data: Data, of: str, each: str, column: str, protocol: str) -> float:
    """The median over flows of the relative difference from what the source prints."""
    printed = printed_flows(of, column)[protocol]
    off = [
        abs(data.value(f"{each}_{flow}", of, protocol=protocol) / value - 1)
        for flow, value in printed.items()
    ]
    return float(np.median(off))
