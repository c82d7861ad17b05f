"""Adaptation of max_p by Adaptive RED and by its gentle form, from samples of queue and max_p."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

# Target range (section 3.1): 0.4 to 0.6 of the distance from the lower to the upper threshold.
TARGET_PKTS = (4500.0, 5500.0)
# Time after which max_p has decreased from its initial value.
SETTLED_S = 60.0

Row = dict[str, float | None]


def adaptation(samples: Sequence[Mapping[str, Any]]) -> Row:
    """Return statistics of how max_p follows the average queue.

    `rises_while_falling` is the share of max_p's increases that happen while the average falls. For
    periods above the target range, `lag_s` is the time from the peak of the average to its return
    into the range (t4 - t2 in figure 3.2), and `overshoot` the growth factor of max_p in this time.
    For periods below the range that begin after `SETTLED_S`, `return_s` is the time from the
    minimum to the return, and `kept` is max_p at the end of the period over that at its start.
    """
    time, average, max_p = (
        np.array([sample[name] for sample in samples], float)
        for name in ("t_s", "queue_avg_pkts", "max_p")
    )
    # Gentle Adaptive RED: if each decision is sampled, max_p of sample k + 1 follows from the
    # averages of samples k and k - 1.
    rises = np.flatnonzero(np.diff(max_p[1:]) > 0) + 1
    low, high = TARGET_PKTS
    peaks = [
        (first + int(average[first:last].argmax()), last) for first, last in _times(average > high)
    ]
    dips = [
        (first, first + int(average[first:last].argmin()), last)
        for first, last in _times(average < low)
        if time[first] > SETTLED_S
    ]
    return {
        "rises": float(len(rises)),
        "rises_while_falling": _mean(average[rises] < average[rises - 1]),
        "overshoot": _mean([max_p[peak : last + 1].max() / max_p[peak] for peak, last in peaks]),
        "lag_s": _mean([time[last] - time[peak] for peak, last in peaks]),
        "return_s": _mean([time[last] - time[dip] for _, dip, last in dips]),
        "kept": _mean([max_p[last] / max_p[first] for first, _, last in dips]),
    }


def _times(inside: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield first index and end index (excluded) of each period in which `inside` is true.

    Periods that include index 0 or the last index are left out.
    """
    edges = np.flatnonzero(np.diff(inside.astype(int))) + 1
    begins = [edge for edge in edges if inside[edge]]
    for begin in begins:
        ends = edges[edges > begin]
        if len(ends):
            yield int(begin), int(ends[0])


def _mean(values: Sequence[float] | np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None
