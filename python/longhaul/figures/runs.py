"""Metrics of a run after RFC 5166: delays, shares, convergence, starvation, smoothness.

Only flows whose sources are `COMPARABLE` are compared, except in `goodput_ratio`, which includes
all flows. Parallel streams count as flows in `goodput_ratio` and `synchronisation`; elsewhere, the
streams of a flow are added up. The fair share at a time is the total rate of the active flows
divided by their number, as on a path with one bottleneck.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis import fairness, merit
from longhaul.figures.labels import COMPARABLE, QUANTILES
from longhaul.figures.registry import RUN, PreparedRun, declare, figure

# Half-widths of the bands of convergence, as fractions of the fair share.
BANDS = (0.1, 0.2, 0.3)
# Windows over which rates are averaged: their lengths in seconds and in round trips; the larger
# applies.
SHARES_S, SHARES_ROUND_TRIPS = 1.0, 10
STARVATION_S, STARVATION_ROUND_TRIPS = 5.0, 50


def busiest(prepared: PreparedRun) -> dict[str, Any]:
    """Return the row of the busiest link in the table of links."""
    run = prepared.run
    row: dict[str, Any] = run.links.row(by_predicate=pl.col("name") == run.bottleneck, named=True)
    return row


def _per_arrival(column: str, link: dict[str, Any]) -> float | None:
    return link[column] / link["arrived_pkts"] if link["arrived_pkts"] else None


of_busiest = partial(declare, of=RUN, source=busiest)
of_busiest(
    "utilization", "utilisation", itemgetter("utilization"), "utilisation of the busiest link",
    better="more", most=1.0,
)  # fmt: skip
of_busiest(
    "drop_rate", "packets dropped", partial(_per_arrival, "dropped_pkts"),
    "packets dropped at the busiest link, as part of those that arrived there", better="less",
    most=1.0,
)  # fmt: skip
of_busiest(
    "mark_rate", "packets marked", partial(_per_arrival, "marked_pkts"),
    "packets marked at the busiest link, as part of those that arrived there",
)  # fmt: skip


def losses(prepared: PreparedRun) -> tuple[float | None, float | None] | None:
    """Return the mean time between losses in seconds, and the mean number of packets per loss.

    The losses are those at the busiest link in the measurement window. Return None for fewer than
    two samples of the link in the window. Either value is None for too few losses
    (`analysis.merit.losses`).
    """
    measured = pl.col("t_s") >= prepared.run.measured_from_s
    samples = prepared.run.bottleneck_series.filter(measured).sort("t_s")
    return merit.losses(samples["t_s"], samples["dropped_pkts"]) if len(samples) > 1 else None


of_losses = partial(declare, of=RUN, source=losses, needs=("series",))
of_losses(
    "loss_gap_s", "time between losses", itemgetter(0),
    "mean time between losses at the busiest link; drops in one sampling interval are one loss",
)  # fmt: skip
of_losses(
    "loss_burst_pkts", "packets lost at a time", itemgetter(1),
    "mean number of packets dropped at the busiest link in a sampling interval with drops",
)  # fmt: skip


def waits(prepared: PreparedRun) -> dict[str, Any]:
    """Return the quantiles of queueing delays at the busiest link.

    The dictionary is empty if they were not recorded.
    """
    name = prepared.run.bottleneck
    rows = prepared.run.delays.filter(pl.col("kind") == "link", pl.col("name") == name)
    row: dict[str, Any] = rows.row(0, named=True) if len(rows) else {}
    return row


for _part, _title in QUANTILES.items():
    declare(
        f"wait_{_part}_s", f"wait, {_title}", methodcaller("get", f"{_part}_s"),
        "quantile of the time that packets wait for the busiest link", of=RUN, source=waits,
        needs=("delays",), better="less",
    )  # fmt: skip


def comparable(prepared: PreparedRun) -> pl.DataFrame:
    """Return the flows whose shares of the bandwidth can be compared."""
    flows: pl.DataFrame = prepared.run.bundles.filter(pl.col("source").is_in(COMPARABLE))
    return flows


def goodputs(prepared: PreparedRun) -> list[float] | None:
    """Return the goodput of each flow from `comparable`; None if these are fewer than two."""
    found: list[float] = comparable(prepared)["goodput_bps"].fill_null(0.0).to_list()
    return found if len(found) > 1 else None


def _of_mean(choose: Callable[[list[float]], float], goodput: list[float]) -> float | None:
    mean = sum(goodput) / len(goodput)
    return choose(goodput) / mean if mean else None


of_goodputs = partial(declare, of=RUN, source=goodputs)
of_goodputs(
    "jain", "Jain's index", fairness.jain, "Jain's index of the flows' goodput", better="more",
    most=1.0,
)  # fmt: skip
of_goodputs(
    "least_share",
    "least share",
    partial(_of_mean, min),
    "smallest goodput of a flow divided by an equal share",
)
of_goodputs(
    "largest_share", "largest share", partial(_of_mean, max),
    "largest goodput of a flow divided by an equal share",
)  # fmt: skip


@dataclass(frozen=True)
class DeliveredBytes:
    """Bytes delivered by each flow, sampled over time; there are at least two flows."""

    times: np.ndarray
    counts: np.ndarray
    """Bytes delivered so far; shape: times x flows."""
    starts: np.ndarray
    ends: np.ndarray
    round_trip_s: float
    """Largest of the flows' mean RTTs, in seconds."""

    @property
    def shares_s(self) -> float:
        """Length in seconds of the windows over which the flows' shares are compared."""
        return max(SHARES_S, SHARES_ROUND_TRIPS * self.round_trip_s)

    @property
    def starvation_s(self) -> float:
        """Length in seconds of the windows over which rates are averaged to find starvation."""
        return max(STARVATION_S, STARVATION_ROUND_TRIPS * self.round_trip_s)

    @cached_property
    def shares(self) -> merit.Rates:
        """Rates of the flows, averaged over windows of `shares_s`."""
        return self.rates(self.shares_s)

    def rates(self, window_s: float) -> merit.Rates:
        """Return the rates of the flows, averaged over windows of `window_s` seconds."""
        return merit.rates(self.times, self.counts, self.starts, window_s, self.ends)


def lengths(prepared: PreparedRun) -> dict[str, str]:
    """Return the lengths of a run's averaging windows as texts, by name.

    The result is empty if the run has no series, or if `delivered` returns None.
    """
    found = prepared.of(delivered) if "series" in prepared.run.tables else None
    if found is None:
        return {}
    return {"shares": f"{found.shares_s:.3g} s", "starvation": f"{found.starvation_s:.3g} s"}


def delivered(prepared: PreparedRun) -> DeliveredBytes | None:
    """Return samples of the delivered bytes of comparable flows.

    Return None for fewer than two such flows or two samples, or if no flow has a mean RTT.
    """
    flows = comparable(prepared)
    round_trips = [value for value in flows["rtt_mean_s"].to_list() if value is not None]
    names = flows["name"].to_list()
    samples = prepared.run.flow_series.filter(pl.col("name").is_in(names))
    wide = samples.pivot(on="name", index="t_s", values="delivered_bytes").sort("t_s")
    there = [name for name in names if name in wide.columns]
    if len(wide) < 2 or len(there) < 2 or not round_trips:
        return None
    return DeliveredBytes(
        wide["t_s"].to_numpy(),
        wide.select(there).fill_null(0).to_numpy().astype(float),
        *_lives(flows.filter(pl.col("name").is_in(there))),
        max(round_trips),
    )


def _lives(flows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the start and the end time of each flow; the end is infinite for unfinished flows."""
    ends = flows["finish_s"].cast(pl.Float64).fill_null(np.inf)
    return flows["start_s"].to_numpy(), ends.to_numpy()


of_delivered = partial(figure, of=RUN, source=delivered, needs=("series",))


def _convergence(band: float, found: DeliveredBytes) -> float | None:
    joined_s = float(found.starts.max())
    return merit.convergence_time(found.shares, joined_s, found.shares_s, band)


for _band in BANDS:
    _percent = f"{100 * _band:g}"
    of_delivered(
        f"convergence_{_percent}_s", f"convergence to {_percent} %",
        f"time from the last start until all flows stay within {_percent} % of an equal share "
        "for ten windows of {shares}",
        unit="s", better="less", is_time_until=True,
    )(partial(_convergence, _band))  # fmt: skip


@of_delivered(
    "variation", "variation of the roughest flow",
    "largest coefficient of variation of a flow's rate over windows of {shares}", better="less",
)  # fmt: skip
def _variation(found: DeliveredBytes) -> float | None:
    rough = merit.smoothness(found.shares)
    known = rough[np.isfinite(rough)]
    return float(known.max()) if len(known) else None


def starvation(prepared: PreparedRun) -> merit.Starvation | None:
    """Return the inequality of flows' rates in the last half of a run; None without two flows."""
    found: DeliveredBytes | None = prepared.of(delivered)
    if found is None:
        return None
    every_s = float(found.times[1] - found.times[0])
    return merit.starvation(found.rates(found.starvation_s), every_s)


of_starvation = partial(declare, of=RUN, source=starvation, needs=("series",), better="less")
of_starvation(
    "starvation_ratio", "largest over least rate", attrgetter("ratio"),
    "worst ratio of largest to smallest rate in the last half of the run, windows of {starvation}",
)  # fmt: skip
of_starvation(
    "starves", "a flow starves", attrgetter("starves"),
    "1 if a flow has a tenth of another's rate throughout, or under 5 % of its share for 10 s",
    most=1.0,
)  # fmt: skip


def synchronisation(prepared: PreparedRun) -> np.ndarray | None:
    """Return the fraction of active flows that reduced their windows, for each congestion event.

    Return None for fewer than two comparable flows, without events, or without a mean RTT.
    """
    flows = prepared.run.flows.filter(pl.col("source").is_in(COMPARABLE))
    cuts = prepared.run.events.filter(
        pl.col("event").is_in(["cut", "timeout"]),
        pl.col("t_s") >= prepared.run.measured_from_s,
        pl.col("name").is_in(flows["name"].to_list()),
    ).sort("t_s")
    round_trip_s = prepared.run.bundles["rtt_mean_s"].max()
    if len(flows) < 2 or round_trip_s is None:
        return None
    parts = merit.synchronisation(
        cuts["t_s"], cuts["name"], *_lives(flows), float(str(round_trip_s))
    )
    return parts if len(parts) else None


of_events = partial(declare, of=RUN, source=synchronisation, needs=("events",))
of_events(
    "synchronisation", "flows that reduce together", np.mean,
    "mean part of the active flows that reduce their windows in a congestion event", better="less",
)  # fmt: skip
of_events(
    "congestion_events",
    "congestion events",
    len,
    "number of congestion events: window reductions within one round trip are one event",
)


def kinds(prepared: PreparedRun) -> pl.Series | None:
    """Return the mean goodput per flow, for each of a run's two kinds of flows.

    The kind of a flow is its label up to the first colon. Return None if the run does not have
    exactly two kinds.
    """
    sums = prepared.run.flows.group_by("label", maintain_order=True).agg(
        pl.col("goodput_bps").sum(), pl.len().alias("flows")
    )
    kind = pl.col("label").str.split(":").list.first()
    found = sums.group_by(kind, maintain_order=True).agg(pl.col("goodput_bps", "flows").sum())
    return found["goodput_bps"] / found["flows"] if len(found) == 2 else None


@figure(
    "goodput_ratio", "goodput of the second kind over the first",
    "goodput per flow of the second of two kinds of labels, divided by that of the first", of=RUN,
    source=kinds, listed=(),
)  # fmt: skip
def _goodput_ratio(found: pl.Series) -> float | None:
    return float(found[1] / found[0]) if found[0] else None
