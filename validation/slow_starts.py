"""Slow starts side by side on paths that they know nothing of: `python -m validation.slow_starts`.

Writes docs/slow-starts.md: at which window each ends, what is lost by then, and how much it has
delivered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

import longhaul

HERE = Path(__file__).parent
TEXT = HERE / "slow_starts.md"
DOCUMENT = HERE.parent / "docs" / "slow-starts.md"
KINDS = ("standard", "limited", "hystart", "hystart++", "search", "rapid-start")
PACKET_BITS = 12_000
SEEDS = (1, 2, 3)
ROUND_TRIPS = 30
UNLIMITED_PKTS = 1_000_000


@dataclass(frozen=True)
class Start:
    """Conditions of one flow's slow start."""

    rate_mbps: float
    rtt_ms: float
    buffer_bdp: float
    jitter_ms: float
    """Mean of the extra delay of each packet, exponentially distributed."""

    @property
    def bdp_pkts(self) -> float:
        """Packets that fill the path."""
        return self.rate_mbps * 1e3 * self.rtt_ms / PACKET_BITS


PATHS = [
    Start(rate, rtt, buffer, jitter)
    for (rate, rtt), buffer, jitter in product(((100, 50), (50, 600)), (1, 4), (0, 5))
]


@dataclass(frozen=True)
class Figures:
    """Means over seeds, of the first round trips."""

    window_bdp: float
    """Window at the end of slow start, in bandwidth-delay products."""
    lost_pkts: float
    delivered: float
    """Delivered fraction of what the rate allows."""


def scenario(kind: str, path: Start, seed: int) -> dict[str, Any]:
    """Describe one CUBIC flow with this slow start."""
    queue = {"kind": "droptail", "limit": f"{path.buffer_bdp} BDP"}
    link: dict[str, Any] = {
        "rate": f"{path.rate_mbps} Mbit/s", "delay": f"{path.rtt_ms / 2} ms", "queue": queue,
    }  # fmt: skip
    if path.jitter_ms:
        link["jitter"] = {"kind": "exponential", "mean": f"{path.jitter_ms} ms"}
    start = {"initial_ssthresh": UNLIMITED_PKTS, "receive_window": UNLIMITED_PKTS}
    return {
        "duration": f"{ROUND_TRIPS * path.rtt_ms} ms",
        "seed": seed,
        "measure": {"every": f"{path.rtt_ms / 5} ms"},
        "topology": {"dumbbell": {"bottleneck": link}},
        "flows": [{"congestion": {"kind": "cubic"}, "slow_start": {"kind": kind}, "tcp": start}],
    }


# Windows of an earlier connection, as fractions of the bandwidth-delay product.
REMEMBERED = (1, 2, 6)
FIRST_ROUND_TRIPS = (5, 10, 15)


def first_round_trips(slow_start: Mapping[str, Any], path: Start) -> str:
    """Return the fractions of the rate that a paced flow delivers in its first round trips."""
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


def resumed_table() -> Iterator[str]:
    """Generate the lines of the table of Careful Resume."""
    paths = [path for path in PATHS if path.buffer_bdp == 1 and not path.jitter_ms]
    titles = ["`standard`", *(f"`careful-resume`, {part}" for part in REMEMBERED)]
    yield "| path | " + " | ".join(titles) + " |"
    yield "|---|" + "---|" * len(titles)
    for path in paths:
        saved = [part * path.bdp_pkts for part in REMEMBERED]
        starts: list[dict[str, Any]] = [
            {"kind": "standard"},
            *({"kind": "careful-resume", "saved_cwnd": window} for window in saved),
        ]
        cells = [first_round_trips(start, path) for start in starts]
        yield f"| {path.rate_mbps:g} Mbit/s, {path.rtt_ms:g} ms | " + " | ".join(cells) + " |"


def figures(kind: str, path: Start) -> Figures:
    """Simulate with every seed."""
    runs = [_run(kind, path, seed) for seed in SEEDS]
    return Figures(
        fmean(run.window_bdp for run in runs),
        fmean(run.lost_pkts for run in runs),
        fmean(run.delivered for run in runs),
    )


def _run(kind: str, path: Start, seed: int) -> Figures:
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


def table(measured: dict[tuple[str, Start], Figures]) -> Iterator[str]:
    """Generate the lines of the table."""
    yield "| path | " + " | ".join(f"`{kind}`" for kind in KINDS) + " |"
    yield "|---|" + "---|" * len(KINDS)
    for path in PATHS:
        jitter = f", jitter {path.jitter_ms:g} ms" if path.jitter_ms else ""
        cells = [
            f"{start.window_bdp:.1f}; {start.lost_pkts:,.0f}; {start.delivered:.0%}"
            for start in (measured[kind, path] for kind in KINDS)
        ]
        name = f"{path.rate_mbps:g} Mbit/s, {path.rtt_ms:g} ms, buffer {path.buffer_bdp:g}{jitter}"
        yield f"| {name} | " + " | ".join(cells) + " |"


def measured() -> str:
    """Simulate all and return the table."""
    with ProcessPoolExecutor(2) as pool:
        runs = {(kind, path): pool.submit(figures, kind, path) for kind in KINDS for path in PATHS}
        return "\n".join(table({key: run.result() for key, run in runs.items()}))


def page(table: str, resumed: str) -> str:
    """Return the page with its tables."""
    text = TEXT.read_text(encoding="utf-8")
    return text.replace("{table}", table).replace("{resumed}", resumed)


def main() -> None:
    """Write the page."""
    DOCUMENT.write_text(page(measured(), "\n".join(resumed_table())), encoding="utf-8")


if __name__ == "__main__":
    main()
