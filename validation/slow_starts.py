"""Comparison of slow-start algorithms on paths with different rates, RTTs, buffers and jitter.

`python -m validation.slow_starts` writes docs/slow-starts.md: the slow-start threshold (`ssthresh`)
after slow start ends, the losses, and the delivered data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import longhaul
from validation.experiments import Bottleneck, dumbbell, means
from validation.pages import DOCS, filled, table

KINDS = ("standard", "limited", "hystart", "hystart++", "search", "rapid-start")
PACKET_BITS = 12_000
ROUND_TRIPS = 30
UNLIMITED_PKTS = 1_000_000


@dataclass(frozen=True)
class Start(Bottleneck):
    """A path on which the slow start of one flow is simulated."""

    jitter_ms: float = 0.0
    """Mean of the additional delay of each packet, which is exponentially distributed."""

    @property
    def bdp_pkts(self) -> float:
        """Bandwidth-delay product in packets."""
        return self.rate_mbps * 1e3 * self.rtt_ms / PACKET_BITS


PATHS = [
    Start(rate, rtt, buffer, jitter)
    for (rate, rtt), buffer, jitter in product(((100, 50), (50, 600)), (1, 4), (0, 5))
]


class Figures(NamedTuple):
    """Results of a slow start in the first round trips: of one run, or means over seeds."""

    window_bdp: float
    """Ssthresh after slow start in BDP; if slow start did not end, the last window in BDP."""
    lost_pkts: float
    """Packets lost in the first round trips, losses after slow start included."""
    delivered: float
    """Delivered data as a fraction of what the link could carry in the first round trips."""


def scenario(kind: str, path: Start, seed: int) -> dict[str, Any]:
    """Return the scenario of one CUBIC flow with the slow start `kind`."""
    jitter = {"jitter": {"kind": "exponential", "mean": f"{path.jitter_ms} ms"}}
    start = {"initial_ssthresh": UNLIMITED_PKTS, "receive_window": UNLIMITED_PKTS}
    return {
        "duration": f"{ROUND_TRIPS * path.rtt_ms} ms",
        "seed": seed,
        "measure": {"every": f"{path.rtt_ms / 5} ms"},
        "topology": dumbbell(**path.link(**(jitter if path.jitter_ms else {}))),
        "flows": [{"congestion": {"kind": "cubic"}, "slow_start": {"kind": kind}, "tcp": start}],
    }


# Saved windows of an earlier connection, as fractions of the BDP.
REMEMBERED = (1, 2, 6)
FIRST_ROUND_TRIPS = (5, 10, 15)


def first_round_trips(slow_start: Mapping[str, Any], path: Start) -> str:
    """Return the link's utilisation in a paced flow's first 5, 10 and 15 round trips, as text.

    The flow on `path` uses the slow start `slow_start`, a table of scenario keys.
    """
    described = scenario("standard", path, seed=1)
    flow = described["flows"][0]
    flow["slow_start"] = slow_start
    flow["tcp"]["pacing"] = True
    results = longhaul.run(described)
    samples = results.series.filter(pl.col("kind") == "flow")
    parts = []
    for trips in FIRST_ROUND_TRIPS:
        until_s = trips * path.rtt_ms / 1e3
        sent = samples.filter(pl.col("t_s") <= until_s + 1e-9)["delivered_bytes"][-1]
        parts.append(f"{8 * sent / (path.rate_mbps * 1e6 * until_s):.0%}")
    return ", ".join(parts)


def _resumed() -> Iterator[list[str]]:
    """Yield the rows of the table on Careful Resume."""
    for path in PATHS:
        if path.buffer_bdp == 1 and not path.jitter_ms:
            saved = [part * path.bdp_pkts for part in REMEMBERED]
            starts: list[dict[str, Any]] = [
                {"kind": "standard"},
                *({"kind": "careful-resume", "saved_cwnd": window} for window in saved),
            ]
            yield [path.name, *(first_round_trips(start, path) for start in starts)]


def figures(kind: str, path: Start, seed: int) -> Figures:
    """Simulate slow start `kind` on `path` with one seed, and return the results."""
    results = longhaul.run(scenario(kind, path, seed))
    flow = results.flows.row(0, named=True)
    samples = results.series.filter(pl.col("kind") == "flow")
    ended = samples.filter(pl.col("ssthresh_pkts") < UNLIMITED_PKTS)["ssthresh_pkts"]
    window = ended[0] if len(ended) else samples["cwnd_pkts"][-1]
    return Figures(
        window / path.bdp_pkts,
        flow["total_dropped_pkts"],
        flow["total_delivered_pkts"] / (path.bdp_pkts * ROUND_TRIPS),
    )


def _rows() -> Iterator[list[str]]:
    """Simulate all slow starts on all paths, and yield a table row for each path."""
    found = iter(means(figures, ((kind, path) for path in PATHS for kind in KINDS)))
    for path in PATHS:
        jitter = f", jitter {path.jitter_ms:g} ms" if path.jitter_ms else ""
        starts = [next(found) for _ in KINDS]
        yield [f"{path.name}, buffer {path.buffer_bdp:g}{jitter}", *(
            f"{start.window_bdp:.1f}; {start.lost_pkts:,.0f}; {start.delivered:.0%}"
            for start in starts
        )]  # fmt: skip


def page() -> str:
    """Return the text of `docs/slow-starts.md` with its tables."""
    kinds = [f"`{kind}`" for kind in KINDS]
    resumed = [f"`careful-resume`, {part}" for part in REMEMBERED]
    return filled(
        Path(__file__).with_suffix(".md"),
        table=table(["path", *kinds], _rows()),
        resumed=table(["path", "`standard`", *resumed], _resumed()),
    )


if __name__ == "__main__":
    (DOCS / "slow-starts.md").write_text(page(), encoding="utf-8")
