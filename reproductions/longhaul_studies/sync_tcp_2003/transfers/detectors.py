"""Metrics of a congestion detector that only reports, while standard TCP controls the window.

Such a detector (the source's chapter 3) changes no packets. Reports of different detectors on the
same falling queue (a drain) can thus be compared.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.campaign.store import Kept

Row = dict[str, float | None]

# Times shown in figures: the start, and five seconds of the steady state.
SPANS_S = ((0.0, 1.0), (260.0, 265.0))
# A drain of the queue in these five seconds: after a delay above 50 ms it becomes empty.
DRAIN_S = (262.0, 264.0)
# The traced flow.
NUMBER = 16
# A drain is a fall of the queue from above one fraction of its largest delay to below the other.
FULL, DRAINED = 0.7, 0.3
# Threshold of the average (section 3.2.4).
THRESHOLD_S = 0.03


def metrics(kept: Kept) -> Row:
    """Return the metrics of one run from its stored results."""
    acks = {name: np.asarray(column, float) for name, column in kept["acks"].items()}
    t, delay = acks["t_s"], acks["queueing_delay"]
    flow = next(flow for flow in kept["flows"] if flow["number"] == NUMBER)
    peak = float(t[np.argmax(np.where(t < 1.0, delay, -1.0))])
    row: Row = {
        "transit_min_ms": 1e3 * float(acks["smallest_transit_time"][-1]),
        "sample_peak_s": peak,
        "loss_first_s": flow["first_loss_s"],
    }
    dropped = _first_drop(kept["router"])
    if dropped is not None:
        row |= {"drop_first_s": dropped, "sample_lag_s": peak - dropped}
    after = acks["largest_queueing_delay"][t >= flow["first_loss_s"]]
    row["largest_growth"] = float(after[-1] / after[0])
    new = np.flatnonzero(np.diff(acks["verdicts"], prepend=0.0) > 0)
    if len(new):
        row["verdict_after_loss_s"] = float(t[new[0]]) - flow["first_loss_s"]
    drains = _drains(*_queue(kept["router"], t, delay))
    if "trend" in acks:
        falling = t[new][acks["trend"][new] < 0]
        row["drain_seen_s"] = _lag(drains, falling)
        row["rising_in_drains"] = _share_rising(drains, t[new], acks["trend"][new])
    else:
        congested = acks["congested"] == 1.0
        row["drain_seen_s"] = _lag(drains, t[1:][congested[:-1] & ~congested[1:]])
        row["single_sample_spells"] = _single(congested)
    if "average_queueing_delay" in acks:
        row["average_lag_s"] = _average_lag(t, delay, acks["average_queueing_delay"])
    return row


def _first_drop(router: Mapping[str, Sequence[Any]]) -> float | None:
    """Return the time of the first sample with a drop at the router; None if nothing is dropped."""
    dropped = np.asarray(router["dropped_pkts"])
    return float(router["t_s"][int(np.argmax(dropped > 0))]) if dropped.any() else None


def _queue(
    router: Mapping[str, Sequence[Any]], t: np.ndarray, delay: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return times and lengths of the congested queue.

    The queue is that of `router`. If `router` drops nothing because later routers are congested,
    the lengths are the total queueing delay of the path, `delay` at the times `t` (section 3.5).
    """
    if _first_drop(router) is None:
        return t, delay
    return np.asarray(router["t_s"], float), np.asarray(router["queue_bytes"], float)


def _drains(t: np.ndarray, queue: np.ndarray) -> list[tuple[float, float]]:
    """Return the beginning and end of each drain, in which the queue falls from high to low.

    High and low are the fractions `FULL` and `DRAINED` of its maximum.
    """
    high, low = FULL * queue.max(), DRAINED * queue.max()
    drains: list[tuple[float, float]] = []
    began: float | None = None
    for time, now in zip(t, queue, strict=True):
        if now > high:
            began = float(time)
        elif now < low and began is not None:
            drains.append((began, float(time)))
            began = None
    return drains


def _lag(drains: Sequence[tuple[float, float]], reports: np.ndarray) -> float | None:
    """Return the median time from when the queue begins to drain until a detector reports it.

    `reports` are the times of reports. Return None if no drain is reported.
    """
    ends = [*(began for began, _ in drains[1:]), np.inf]
    lags = []
    for (began, _), end in zip(drains, ends, strict=True):
        after = reports[(reports > began) & (reports < end)]
        if len(after):
            lags.append(float(after[0]) - began)
    return float(np.median(lags)) if lags else None


def _share_rising(
    drains: Sequence[tuple[float, float]], t: np.ndarray, trend: np.ndarray
) -> float | None:
    """Return the share of samples with positive `trend` while a queue drains; None without any."""
    inside = np.zeros(len(t), bool)
    for began, ended in drains:
        inside |= (t > began) & (t < ended)
    return float(np.mean(trend[inside] > 0)) if inside.any() else None


def _single(congested: np.ndarray) -> float | None:
    """Return the fraction of congestion periods that have only one sample; None without periods."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], congested.astype(int), [0]])))
    lengths = edges[1::2] - edges[::2]
    return float(np.mean(lengths == 1)) if len(lengths) else None


def _average_lag(t: np.ndarray, delay: np.ndarray, average: np.ndarray) -> float | None:
    """Return the median time from when the delay falls below `THRESHOLD_S` until the average does.

    Return None if the average delay never falls below the threshold.
    """
    below = np.flatnonzero((average[:-1] > THRESHOLD_S) & (average[1:] <= THRESHOLD_S)) + 1
    lags = []
    for end in below:
        above = np.flatnonzero(delay[:end] > THRESHOLD_S)
        if len(above):
            lags.append(float(t[end] - t[above[-1]]))
    return float(np.median(lags)) if lags else None
