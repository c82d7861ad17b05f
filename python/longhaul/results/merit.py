"""Figures of merit of a run (RFC 5166): delays, shares, convergence, starvation, smoothness.

Flows that ask for a share are compared: those that are one connection each. Their fair share at a
time is the equal part of what those that are active get together, as on a path with one bottleneck.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from longhaul.analysis import fairness, merit
from longhaul.results.summary import COMPARABLE

if TYPE_CHECKING:
    from longhaul.results.run import Results

# Bands around the fair share within which flows have converged.
BANDS = (0.1, 0.2, 0.3)
# Windows over which rates are taken: at least so long, and so many round trips.
SHARES_S, SHARES_ROUND_TRIPS = 1.0, 10
STARVATION_S, STARVATION_ROUND_TRIPS = 5.0, 50


@dataclass(frozen=True)
class Figure:
    """A figure of merit of a run; None where the run has nothing to tell it from."""

    name: str
    value: float | None
    help: str


def figures(run: "Results") -> list[Figure]:
    """All figures of merit of a run over links, in the order of a report."""
    return [
        Figure(name, None if value is None or not np.isfinite(value) else float(value), what)
        for part in (_of_bottleneck, _of_losses, _of_delays, _of_shares, _of_events)
        for name, value, what in part(run)
    ]


Told = Iterator[tuple[str, float | None, str]]


def _of_bottleneck(run: "Results") -> Told:
    link = run.links.row(by_predicate=pl.col("name") == run.bottleneck, named=True)
    yield "utilization", link["utilization"], "of the busiest link"
    arrived = link["arrived_pkts"]
    dropped = link["dropped_pkts"] / arrived if arrived else None
    yield "drop_rate", dropped, "packets that it dropped, for each that came to it"
    marked = link["marked_pkts"] / arrived if arrived else None
    yield "mark_rate", marked, "packets that it marked, for each that came to it"


def _of_losses(run: "Results") -> Told:
    """How losses lie in time: intervals without any, and how many come together."""
    if "series" not in run.tables:
        return
    samples = run.bottleneck_series.filter(pl.col("t_s") >= run.meta["measured_from_s"]).sort("t_s")
    if len(samples) < 2:
        return
    gaps, bursts = merit.losses(samples["t_s"], samples["dropped_pkts"])
    what = "mean time between losses at the busiest link; those of one interval of samples are one"
    yield "loss_gap_s", gaps, what
    yield "loss_burst_pkts", bursts, "packets that it drops at a time: in such an interval"


def _of_delays(run: "Results") -> Told:
    if "delays" not in run.tables:
        return
    waits = run.delays.filter(pl.col("kind") == "link", pl.col("name") == run.bottleneck)
    for part in ("p50", "p95", "p99"):
        value = waits[f"{part}_s"][0] if len(waits) else None
        yield f"wait_{part}_s", value, "that packets wait for the busiest link (quantile)"
    for row in run.delays.filter(pl.col("kind") == "label").iter_rows(named=True):
        for part in ("p50", "p95", "p99"):
            name = f"{row['name']}.delay_{part}_s"
            yield name, row[f"{part}_s"], "that its data packets take to arrive (quantile)"
        variation = None if row["p95_s"] is None else row["p95_s"] - row["min_s"]
        what = "of that above the least (RFC 5481, packet delay variation)"
        yield f"{row['name']}.pdv_p95_s", variation, what


def _of_shares(run: "Results") -> Told:
    flows = run.bundles.filter(pl.col("source").is_in(COMPARABLE))
    goodput = flows["goodput_bps"].fill_null(0.0).to_list()
    if len(goodput) < 2:
        return
    least, most, mean = min(goodput), max(goodput), sum(goodput) / len(goodput)
    yield "jain", fairness.jain(goodput), "Jain's index of the flows' goodput"
    yield "least_share", least / mean if mean else None, "the least goodput over the equal part"
    yield "largest_share", most / mean if mean else None, "the largest goodput over the equal part"
    series = _delivered(run, flows)
    if series is None:
        return
    times, delivered, starts, ends, round_trip_s = series
    window_s = max(SHARES_S, SHARES_ROUND_TRIPS * round_trip_s)
    shares = merit.rates(times, delivered, starts, window_s, ends)
    for band in BANDS:
        converged = merit.convergence_time(shares, float(starts.max()), window_s, band)
        what = (
            f"from the last start until all keep the equal part to {100 * band:g} % in windows of "
            f"{window_s:.3g} s, ten of them"
        )
        yield f"convergence_{100 * band:g}_s", converged, what
    rough = merit.smoothness(shares)
    known = rough[np.isfinite(rough)]
    variation = float(known.max()) if len(known) else None
    yield "variation", variation, f"coefficient of variation of the roughest flow, {window_s:.3g} s"
    window_s = max(STARVATION_S, STARVATION_ROUND_TRIPS * round_trip_s)
    every_s = float(times[1] - times[0])
    starved = merit.starvation(merit.rates(times, delivered, starts, window_s, ends), every_s)
    if starved is not None:
        what = f"largest over least rate at worst, last half, windows of {window_s:.3g} s"
        yield "starvation_ratio", starved.ratio, what
        what = "1 if one has a tenth of another throughout, or under 5 % of its share for 10 s"
        yield "starves", float(starved.starves), what


def _delivered(
    run: "Results", flows: pl.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Samples of what flows were delivered: times, bytes, starts and ends; the longest RTT."""
    if "series" not in run.tables:
        return None
    round_trips = [value for value in flows["rtt_mean_s"].to_list() if value is not None]
    names = flows["name"].to_list()
    samples = run.flow_series.filter(pl.col("name").is_in(names))
    wide = samples.pivot(on="name", index="t_s", values="delivered_bytes").sort("t_s")
    there = [name for name in names if name in wide.columns]
    if len(wide) < 2 or len(there) < 2 or not round_trips:
        return None
    starts, ends = _lives(flows.filter(pl.col("name").is_in(there)))
    return (
        wide["t_s"].to_numpy(),
        wide.select(there).fill_null(0).to_numpy().astype(float),
        starts,
        ends,
        max(round_trips),
    )


def _lives(flows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """When flows start and end; those that do not end, never."""
    ends = flows["finish_s"].cast(pl.Float64).fill_null(np.inf)
    return flows["start_s"].to_numpy(), ends.to_numpy()


def _of_events(run: "Results") -> Told:
    if "events" not in run.tables:
        return
    flows = run.flows.filter(pl.col("source").is_in(COMPARABLE))
    cuts = run.events.filter(
        pl.col("event").is_in(["cut", "timeout"]),
        pl.col("t_s") >= run.meta["measured_from_s"],
        pl.col("name").is_in(flows["name"].to_list()),
    ).sort("t_s")
    round_trip_s = run.bundles["rtt_mean_s"].max()
    if len(flows) < 2 or round_trip_s is None:
        return
    gap_s = float(str(round_trip_s))
    parts = merit.synchronisation(cuts["t_s"], cuts["name"], *_lives(flows), gap_s)
    if len(parts) == 0:
        return
    what = "part of the active flows that reduce their windows in an event"
    yield "synchronisation", float(parts.mean()), what
    yield "congestion_events", float(len(parts)), "events: reductions within a round trip"
