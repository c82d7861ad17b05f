"""Measures computed from samples over time of windows, round-trip times and queues."""

import numpy as np
import polars as pl

from longhaul.models.response import FORMS
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures

MEASURES = Measures()
measure = MEASURES.register

# Packets that the testbed's path holds (section 4.2).
BDP_PKTS = 770.0
# Factor of the window's growth if every second segment is acknowledged.
DELAYED = 0.5
BOTTLENECK = "bottleneck"
# Maximum queue (packets) that counts as empty: short bursts of senders.
EMPTY_PKTS = 10
# Time at which the initial slow starts have ended.
SETTLED_S = 20.0
# A window below this fraction of the previous sample's was reduced, since b(w) is at least 0.1.
LARGEST_KEPT = 0.95


@measure
def grows_fast(data: Data, of: str, low: float, high: float) -> float:
    """Return the fraction of the window's increases that are more than half as large as HSTCP's.

    HSTCP's increase is that with an acknowledgement for every second segment. Only windows from
    `low` to `high` times the BDP count.
    """
    window, rounds, growth = _growth(data, of)
    inside = (window >= low * BDP_PKTS) & (window <= high * BDP_PKTS) & (growth > 0)
    if inside.sum() < 5:
        raise NotRunError(f"{of}: the window is seldom there")
    expected = DELAYED * FORMS["rounded"].increase(window) * rounds
    return float(np.mean(growth[inside] > 0.5 * expected[inside]))


@measure
def rtt_rises_beyond(data: Data, of: str) -> float:
    """Return the mean RTT (s) of samples with windows above the BDP minus that of samples below.

    Windows above it exceed 1.05 times the BDP; those below are from 0.5 to 0.9 times the BDP.
    """
    samples = _window(data, of)
    window, rtt = samples["cwnd_pkts"].to_numpy(), samples["srtt_s"].to_numpy()
    above, below = window > 1.05 * BDP_PKTS, (window > 0.5 * BDP_PKTS) & (window < 0.9 * BDP_PKTS)
    if min(above.sum(), below.sum()) < 10:
        raise NotRunError(f"{of}: the window is seldom on one side")
    return float(rtt[above].mean() - rtt[below].mean())


@measure
def resets(data: Data, of: str, label: str) -> float:
    """Return the number of resets of the window, per flow with the label `label`.

    A reset is a fall by more than 95 % between two samples, from more than 200 packets. Only
    samples after `SETTLED_S` count.
    """
    resetting = data.trajectory(of).filter((pl.col("label") == label) & (pl.col("t_s") > SETTLED_S))
    count = 0
    for _, flow in resetting.group_by("name"):
        window = flow.sort("t_s")["cwnd_pkts"].to_numpy()
        count += int(np.count_nonzero((window[1:] < 0.05 * window[:-1]) & (window[:-1] > 200)))
    return count / resetting["name"].n_unique()


@measure
def empty(data: Data, of: str) -> float:
    """Return the fraction of the run's second half in which the bottleneck's queue is empty."""
    queue = _second_half(data, of)["queue_pkts"].to_numpy()
    return float(np.mean(queue <= EMPTY_PKTS))


@measure
def cut_together(data: Data, of: str, label: str) -> float:
    """Return the share of flows that reduce their windows in a loss event, as a mean over events.

    Flows have the label `label`. Reductions in the same or in adjacent samples belong to one loss
    event. Only samples after `SETTLED_S` count.
    """
    flows = data.trajectory(of).filter((pl.col("label") == label) & (pl.col("t_s") > SETTLED_S))
    each = [flow.sort("t_s")["cwnd_pkts"].to_numpy() for _, flow in flows.group_by("name")]
    cut = np.array([window[1:] < LARGEST_KEPT * window[:-1] for window in each])
    if not cut.any():
        raise NotRunError(f"{of}: no window of {label} is reduced")
    samples = np.flatnonzero(cut.any(axis=0))
    events = np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1)
    return float(np.mean([cut[:, event].any(axis=1).mean() for event in events]))


def _window(data: Data, of: str) -> pl.DataFrame:
    """Return the samples of the run's only flow after its slow start."""
    samples = data.trajectory(of).filter(pl.col("label") == "flow1").sort("t_s")
    return samples.filter((pl.col("t_s") > 5.0) & pl.col("cwnd_pkts").is_not_null())


def _growth(data: Data, of: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return window, elapsed round trips and growth of the window between successive samples."""
    samples = _window(data, of)
    window, rtt = samples["cwnd_pkts"].to_numpy(), samples["srtt_s"].to_numpy()
    rounds = np.diff(samples["t_s"].to_numpy()) / rtt[:-1]
    return window[:-1].astype(float), rounds, np.diff(window).astype(float)


def _second_half(data: Data, of: str) -> pl.DataFrame:
    link = data.trajectory(of).filter(pl.col("name") == BOTTLENECK)
    return link.filter(pl.col("t_s") > link["t_s"].max() / 2)  # type: ignore[operator]
