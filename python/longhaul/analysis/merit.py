"""Metrics of flows that share a path: harm, convergence, starvation.

`delivered[t, i]` has the bytes of flow i delivered up to `times[t]` in seconds, at equal intervals.
Rates are in bytes per second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# Flows starve if one of them has less than this fraction of its fair share for STARVED_S, or if the
# largest rate is more than STARVED_RATIO times the smallest in the whole last half of a run.
STARVED_PART = 0.05
STARVED_S = 10.0
STARVED_RATIO = 10.0
# Number of windows for which shares must stay within their band to have converged.
STAYS_WINDOWS = 10
ROUNDING = 1e-9


def harm(alone: float, beside: float, *, more_is_better: bool) -> float:
    """Return the harm that a competitor does: 0 for none, 1 if all is lost, below 0 if it helps.

    `alone` and `beside` are a metric of a flow without and with the competitor; `more_is_better` is
    true for metrics such as throughput, false for delays. The harm is the worsening divided
    by `alone` for the former and by `beside` for the latter; it is NaN if this divisor is zero.
    Source: Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's fairness index" (HotNets 2019),
    section 4.
    """
    worse, by = (alone - beside, alone) if more_is_better else (beside - alone, beside)
    return worse / by if by else float("nan")


@dataclass(frozen=True)
class Rates:
    """Rates of flows at `times`, each averaged over the window that ends at that time."""

    times: np.ndarray
    values: np.ndarray
    """Rates; shape: times x flows, NaN if the flow was not active during the whole window."""

    @property
    def fair(self) -> np.ndarray:
        """Fair share at each time: the total rate of the active flows divided by their number."""
        active = np.isfinite(self.values)
        total = np.where(active, self.values, 0.0).sum(axis=1)
        fair: np.ndarray = total / np.maximum(active.sum(axis=1), 1)
        return fair


def rates(
    times: ArrayLike,
    delivered: ArrayLike,
    starts: ArrayLike,
    window_s: float,
    ends: ArrayLike = np.inf,
) -> Rates:
    """Return the delivery rates of flows, averaged over windows of `window_s` seconds.

    The window is rounded up to whole sampling intervals. Each flow is active from its time in
    `starts` to its time in `ends`.
    """
    at, counts = np.asarray(times, float), np.asarray(delivered, float)
    every = float(at[1] - at[0]) if len(at) > 1 else window_s
    steps = max(1, round(window_s / every + 0.5 - ROUNDING))
    if len(at) <= steps:
        return Rates(np.empty(0), np.empty((0, counts.shape[1])))
    values = (counts[steps:] - counts[:-steps]) / (at[steps:] - at[:-steps])[:, None]
    begun = at[:-steps, None] >= np.asarray(starts, float) - ROUNDING
    active = begun & (at[steps:, None] <= np.asarray(ends, float) + ROUNDING)
    return Rates(at[steps:], np.where(active, values, np.nan))


def convergence_time(given: Rates, joined_s: float, window_s: float, band: float) -> float | None:
    """Return the seconds from `joined_s` until all active flows reach and keep their fair share.

    A rate may deviate from the fair share by the fraction `band`. The flows must keep their shares
    for ten windows of `window_s` seconds. Return None if the samples end earlier.
    """
    fair = given.fair[:, None]
    with np.errstate(invalid="ignore"):
        inside = (np.abs(given.values - fair) <= band * fair) | np.isnan(given.values)
    # A new flow has no rate until its first whole window has passed.
    complete = given.times >= joined_s + window_s - ROUNDING
    good = inside.all(axis=1) & complete
    begin = None
    for time, is_good in zip(given.times, good, strict=True):
        if not is_good:
            begin = None
        elif begin is None:
            begin = float(time)
        if begin is not None and time >= begin + STAYS_WINDOWS * window_s - ROUNDING:
            return max(0.0, begin - joined_s)
    return None


@dataclass(frozen=True)
class Starvation:
    """Inequality of the flows' rates in the last half of a run."""

    ratio: float
    """Largest rate divided by the smallest, at the time of the largest ratio.

    The value is infinite if a rate is 0.
    """
    starves: bool
    least_share: float
    """Smallest quotient, over all flows, of mean rate and mean fair share."""


def starvation(given: Rates, every_s: float) -> Starvation | None:
    """Return the inequality of the flows' rates in the last half of a run.

    Return None if fewer than two flows are active when the last half begins. `every_s` is the
    sampling interval in seconds. The measure follows s-fairness of Arun, Alizadeh and Balakrishnan
    (SIGCOMM 2022), who compare throughputs from a given time on.
    """
    late = given.times >= (given.times[0] + given.times[-1]) / 2 if len(given.times) else []
    values = given.values[late]
    # Only flows that are active when the last half begins count, each until it ends.
    values = values[:, np.isfinite(values[0])] if len(values) else values
    values = values[np.isfinite(values).sum(axis=1) > 1]
    if len(values) == 0:
        return None
    fair = np.nanmean(values, axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        most, least = np.nanmax(values, axis=1), np.nanmin(values, axis=1)
        ratios = np.where(most > 0, most / least, 1.0)
        starved = (values < STARVED_PART * fair) & (fair > 0)
    longest = max(_longest(flow) for flow in starved.T) * every_s
    parts = np.nansum(values, axis=0), np.where(np.isfinite(values), fair, 0.0).sum(axis=0)
    return Starvation(
        ratio=float(ratios.max()),
        starves=bool((ratios > STARVED_RATIO).all() or longest >= STARVED_S),
        least_share=float((parts[0] / np.maximum(parts[1], 1e-300)).min()),
    )


def _longest(flags: np.ndarray) -> int:
    """Return the length of the longest sequence of consecutive true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def smoothness(given: Rates) -> np.ndarray:
    """Return the coefficient of variation of each flow's rate (RFC 5166, section 2.2.2)."""
    variation = np.full(given.values.shape[1], np.nan)
    for flow, values in enumerate(given.values.T):
        known = values[np.isfinite(values)]
        if known.sum() > 0:
            variation[flow] = known.std() / known.mean()
    return variation


def losses(times: ArrayLike, dropped: ArrayLike) -> tuple[float | None, float | None]:
    """Return the mean time between losses, and the mean number of packets per loss.

    `dropped` is a counter of dropped packets, sampled at `times`. Packets lost between two samples
    count as one loss at the later sample. The mean time is None if there are fewer than two losses.
    The mean number is None if there are no losses. Source: RFC 7928, section 2.3.
    """
    lost = np.diff(np.asarray(dropped, dtype=float))
    at = np.asarray(times, dtype=float)[1:][lost > 0]
    gap = float(np.diff(at).mean()) if len(at) > 1 else None
    return gap, float(lost[lost > 0].mean()) if len(at) else None


def synchronisation(
    times: ArrayLike, flows: ArrayLike, starts: ArrayLike, ends: ArrayLike, gap_s: float
) -> np.ndarray:
    """Return, for each congestion event, the fraction of active flows that reduced their windows.

    `times` are the times of window reductions in ascending order, and `flows` the flows that made
    them. Successive reductions belong to one event if they are at most `gap_s`, a round trip,
    apart. `starts` and `ends` are the times between which each flow is active, also for flows that
    never reduce. Events are left out while only one flow is active.
    """
    at, who = np.asarray(times, float), np.asarray(flows)
    if len(at) == 0:
        return np.empty(0)
    begins = np.flatnonzero(np.concatenate([[True], np.diff(at) > gap_s]))
    begun = np.asarray(starts, float) <= at[begins, None]
    active = (begun & (np.asarray(ends, float) >= at[begins, None])).sum(axis=1)
    reduced = np.array([len(np.unique(part)) for part in np.split(who, begins[1:])])
    # A flow that starts during an event counts as active.
    parts: np.ndarray = (reduced / np.maximum(active, reduced))[active > 1]
    return parts


@dataclass(frozen=True)
class Ellipse:
    """Ellipse of one standard deviation around the mean of points, along their principal axes."""

    mean: tuple[float, float]
    half_axes: tuple[float, float]
    angle: float
    """Angle of the longer axis from the first coordinate, in radians."""

    def outline(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates x and y of points on the ellipse."""
        turn = np.linspace(0, 2 * np.pi, 73)
        long, short = self.half_axes[0] * np.cos(turn), self.half_axes[1] * np.sin(turn)
        cosine, sine = np.cos(self.angle), np.sin(self.angle)
        x, y = self.mean
        return x + long * cosine - short * sine, y + long * sine + short * cosine


def ellipse(points: Sequence[tuple[float, float]]) -> Ellipse:
    """Return the ellipse of one standard deviation around the mean of `points`.

    A point is, for example, (delay, goodput) of a replication. At least two points are needed.
    """
    given = np.asarray(points, float)
    values, vectors = np.linalg.eigh(np.cov(given.T))
    x, y = given.mean(axis=0)
    short, long = np.sqrt(np.maximum(values, 0.0))
    return Ellipse(
        (float(x), float(y)),
        (float(long), float(short)),
        float(np.arctan2(vectors[1, 1], vectors[0, 1])),
    )
