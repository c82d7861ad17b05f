"""BBR v3 with DualPI2, in competition with CUBIC and Prague: `python -m validation.bbr3_dualpi2`.

Simulates pairs of flows and writes docs/bbr3-dualpi2.md, with the goodput, the queueing delay and
the fraction of marked packets of each flow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import longhaul
from validation.experiments import SEEDS, dumbbell, in_parallel, mean
from validation.pages import DOCS, filled, table

FLOWS: dict[str, dict[str, Any]] = {
    "BBR v3 with L4S": {"kind": "bbr3", "l4s": 1},
    "BBR v3": {"kind": "bbr3"},
    "Prague": {"kind": "prague"},
    "CUBIC": {"kind": "cubic"},
}
ALONE = ""
PAIRS = [
    *((name, ALONE) for name in FLOWS),
    ("BBR v3 with L4S", "CUBIC"),
    ("BBR v3 with L4S", "Prague"),
    ("BBR v3 with L4S", "BBR v3 with L4S"),
    ("BBR v3", "CUBIC"),
    ("BBR v3", "Prague"),
    ("Prague", "CUBIC"),
]
ROUND_TRIPS_MS = (10, 20, 50)
RATE_MBPS = 40
PACKET_BITS = 12_000
WARM_UP_S, DURATION_S = 20, 80

HEADS = (
    "flow", "competing flow", "base round trip, ms:", "goodput, Mbit/s:",
    "median queueing delay, ms:", "99th percentile of the queueing delay, ms:",
    "marked packets, %:",
)  # fmt: skip


class Figures(NamedTuple):
    """Results of one flow after the warm-up: of one run, or means over seeds."""

    rate_mbps: float
    """Goodput in Mbit/s."""
    wait_p50_ms: float
    """Median of the queueing delay in ms."""
    wait_p99_ms: float
    """99th percentile of the queueing delay in ms."""
    marked: float
    """Fraction of sent packets that were marked."""


def scenario(pair: tuple[str, str], rtt_ms: int, seed: int) -> dict[str, Any]:
    """Return the scenario of a pair of flows; the second flow starts up to one second later.

    `pair` has two keys of `FLOWS`. If the second name is `ALONE`, there is one flow only.
    """
    first, second = pair
    flows = [{"label": "first", "congestion": FLOWS[first]}]
    if second:
        start = {"uniform": ["0 s", "1 s"]}
        flows.append({"label": "second", "congestion": FLOWS[second], "start": start})
    return {
        "duration": f"{DURATION_S} s",
        "seed": seed,
        "measure": {"from": f"{WARM_UP_S} s", "every": "1 s", "delays": True},
        "tcp": {"ecn": "accecn"},
        "topology": dumbbell(f"{RATE_MBPS} Mbps", f"{rtt_ms / 2} ms", {"kind": "dualpi2"}),
        "flows": flows,
    }


def figures(pair: tuple[str, str], rtt_ms: int) -> list[Figures]:
    """Simulate `pair` with all seeds, and return the mean results of each flow."""
    runs = [_run(scenario(pair, rtt_ms, seed)) for seed in SEEDS]
    return list(map(mean, zip(*runs, strict=True)))


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


def _rows(found: dict[tuple[tuple[str, str], int], list[Figures]]) -> Iterator[list[str]]:
    for pair in PAIRS:
        for place, name in enumerate(filter(None, pair)):
            other = pair[1 - place]
            if place == 0 or name != other:
                for rtt in ROUND_TRIPS_MS:
                    flow = found[pair, rtt][place]
                    yield [
                        name, other or "none", str(rtt), f"{flow.rate_mbps:.1f}",
                        f"{flow.wait_p50_ms:.1f}", f"{flow.wait_p99_ms:.0f}",
                        f"{100 * flow.marked:.1f}",
                    ]  # fmt: skip


def page() -> str:
    """Simulate all pairs at all RTTs, and return the text of the page."""
    keys = list(product(PAIRS, ROUND_TRIPS_MS))
    found = dict(zip(keys, in_parallel(figures, keys), strict=True))
    return filled(Path(__file__).with_suffix(".md"), table=table(HEADS, _rows(found)))


if __name__ == "__main__":
    (DOCS / "bbr3-dualpi2.md").write_text(page(), encoding="utf-8")
