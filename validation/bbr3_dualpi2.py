"""BBR v3 behind DualPI2, beside CUBIC and Prague: `python -m validation.bbr3_dualpi2`.

Writes docs/bbr3-dualpi2.md: what each of two flows gets, how long its packets wait, and how many
are marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

import longhaul

HERE = Path(__file__).parent
TEXT = HERE / "bbr3_dualpi2.md"
DOCUMENT = HERE.parent / "docs" / "bbr3-dualpi2.md"
FLOWS: dict[str, dict[str, Any]] = {
    "BBR v3, L4S": {"kind": "bbr3", "l4s": 1},
    "BBR v3": {"kind": "bbr3"},
    "Prague": {"kind": "prague"},
    "CUBIC": {"kind": "cubic"},
}
ALONE = ""
PAIRS = [
    *((name, ALONE) for name in FLOWS),
    ("BBR v3, L4S", "CUBIC"),
    ("BBR v3, L4S", "Prague"),
    ("BBR v3, L4S", "BBR v3, L4S"),
    ("BBR v3", "CUBIC"),
    ("BBR v3", "Prague"),
    ("Prague", "CUBIC"),
]
ROUND_TRIPS_MS = (10, 20, 50)
RATE_MBPS = 40
PACKET_BITS = 12_000
SEEDS = (1, 2, 3)
WARM_UP_S, DURATION_S = 20, 80


@dataclass(frozen=True)
class Figures:
    """Figures of one flow after the warm-up; means over seeds."""

    rate_mbps: float
    wait_p50_ms: float
    wait_p99_ms: float
    """Wait beyond the delay of an empty path; the median likewise."""
    marked: float
    """Fraction of the sent packets."""


def scenario(pair: tuple[str, str], rtt_ms: int, seed: int) -> dict[str, Any]:
    """Describe one or two flows, the second a random part of a second later."""
    first, second = pair
    flows = [{"label": "first", "congestion": FLOWS[first]}]
    if second:
        start = {"uniform": ["0 s", "1 s"]}
        flows.append({"label": "second", "congestion": FLOWS[second], "start": start})
    link = {"rate": f"{RATE_MBPS} Mbps", "delay": f"{rtt_ms / 2} ms", "queue": {"kind": "dualpi2"}}
    return {
        "duration": f"{DURATION_S} s",
        "seed": seed,
        "measure": {"from": f"{WARM_UP_S} s", "every": "1 s", "delays": True},
        "tcp": {"ecn": "accecn"},
        "topology": {"dumbbell": {"bottleneck": link}},
        "flows": flows,
    }


def figures(pair: tuple[str, str], rtt_ms: int) -> list[Figures]:
    """Simulate with every seed; one entry for each flow."""
    runs = [_run(scenario(pair, rtt_ms, seed)) for seed in SEEDS]
    return [
        Figures(
            fmean(one.rate_mbps for one in flow),
            fmean(one.wait_p50_ms for one in flow),
            fmean(one.wait_p99_ms for one in flow),
            fmean(one.marked for one in flow),
        )
        for flow in zip(*runs, strict=True)
    ]


def _run(described: dict[str, Any]) -> list[Figures]:
    results = longhaul.run(described)
    link = results.links.row(by_predicate=pl.col("name") == "bottleneck", named=True)
    empty_ms = 1e3 * link["delay_s"] + PACKET_BITS / RATE_MBPS / 1e3
    found = []
    for flow in results.flows.to_dicts():
        of_flow = (pl.col("kind") == "flow") & (pl.col("name") == flow["name"])
        delays = results.delays.row(by_predicate=of_flow, named=True)
        median, late = (max(1e3 * delays[name] - empty_ms, 0.0) for name in ("p50_s", "p99_s"))
        marked = flow["marked_pkts"] / flow["sent_pkts"]
        found.append(Figures(flow["goodput_bps"] / 1e6, median, late, marked))
    return found


def table(found: dict[tuple[tuple[str, str], int], list[Figures]]) -> Iterator[str]:
    """Generate the lines of the table."""
    yield "| flows | " + " | ".join(f"{rtt} ms" for rtt in ROUND_TRIPS_MS) + " |"
    yield "|---|" + "---|" * len(ROUND_TRIPS_MS)
    for pair in PAIRS:
        for place, name in enumerate(filter(None, pair)):
            other = pair[1 - place]
            title = f"{name} beside {other}" if other else f"{name} alone"
            cells = [_cell(found[pair, rtt][place]) for rtt in ROUND_TRIPS_MS]
            if place == 0 or name != other:
                yield f"| {title} | " + " | ".join(cells) + " |"


def _cell(one: Figures) -> str:
    return (
        f"{one.rate_mbps:.1f}; {one.wait_p50_ms:.1f}, {one.wait_p99_ms:.0f}; {100 * one.marked:.1f}"
    )


def measured() -> str:
    """Simulate all and return the table."""
    with ProcessPoolExecutor(2) as pool:
        runs = {key: pool.submit(figures, *key) for key in product(PAIRS, ROUND_TRIPS_MS)}
        return "\n".join(table({key: run.result() for key, run in runs.items()}))


def page(table: str) -> str:
    """Return the page with its table."""
    return TEXT.read_text(encoding="utf-8").replace("{table}", table)


def main() -> None:
    """Write the page."""
    DOCUMENT.write_text(page(measured()), encoding="utf-8")


if __name__ == "__main__":
    main()
