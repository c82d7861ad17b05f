"""Delay- and model-based algorithms, alone and against `reno`: `python -m validation.coexistence`.

Writes docs/coexistence.md: what each does on a clean path, and what two of its flows leave to two
standard ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import longhaul

HERE = Path(__file__).parent
TEXT = HERE / "coexistence.md"
DOCUMENT = HERE.parent / "docs" / "coexistence.md"
ALGORITHMS = {
    "reno": "losses",
    "vegas": "delay",
    "fast": "delay",
    "fast-at": "delay",
    "lp": "delay",
    "ledbat": "delay",
    "sync-pcwnd": "delay, one way",
    "sync-mixreact": "delay, one way",
    "veno": "losses and delay",
    "illinois": "losses and delay",
    "yeah": "losses and delay",
    "ctcp": "losses and delay",
    "westwood": "losses and a rate",
    "bbr": "a model of the path",
    "bbr3": "a model of the path",
}
"""The congestion signal of each."""

TOPOLOGY = {
    "dumbbell": {
        "bottleneck": {
            "rate": "100 Mbps",
            "delay": "20 ms",
            "queue": {"kind": "droptail", "limit": "2 BDP"},
        }
    }
}
"""A round trip of 40 ms, which holds 333 packets."""

SEEDS = (1, 2, 3)
WARM_UP_S = 30
DURATION_S = 150


@dataclass(frozen=True)
class Figures:
    """Figures of an algorithm: means over seeds, after the warm-up."""

    utilisation: float
    queue_pkts: float
    share: float
    """Fraction of the throughput that the algorithm's flows have."""
    reductions_per_minute: float
    """Reductions for losses, of one flow of the algorithm."""


def scenario(kind: str, flows: int, beside: int, seed: int) -> dict[str, Any]:
    """Describe flows of a kind, and standard ones beside them, on 100 Mbit/s and 40 ms."""
    start = {"uniform": ["0 s", "5 s"]}
    groups: list[dict[str, Any]] = [
        {"label": "studied", "count": flows, "congestion": {"kind": kind}, "start": start}
    ]
    if beside:
        groups.append(
            {"label": "standard", "count": beside, "congestion": {"kind": "reno"}, "start": start}
        )
    return {
        "title": f"{flows} flows of {kind} beside {beside} of reno",
        "profile": "linux",
        "duration": f"{DURATION_S} s",
        "seed": seed,
        "measure": {"from": f"{WARM_UP_S} s", "every": "1 s"},
        "topology": TOPOLOGY,
        "flows": groups,
    }


def figures(kind: str, flows: int, beside: int) -> Figures:
    """Simulate with every seed."""
    return _mean([_run(kind, flows, beside, seed) for seed in SEEDS])


def _run(kind: str, flows: int, beside: int, seed: int) -> Figures:
    results = longhaul.run(scenario(kind, flows, beside, seed))
    link = results.links.row(0, named=True)
    rows = list(results.flows.iter_rows(named=True))
    studied = [row for row in rows if row["label"] == "studied"]
    minutes = (DURATION_S - WARM_UP_S) / 60
    return Figures(
        utilisation=link["utilization"],
        queue_pkts=link["queue_mean_pkts"],
        share=sum(row["goodput_bps"] for row in studied) / sum(row["goodput_bps"] for row in rows),
        reductions_per_minute=sum(row["cuts_loss"] for row in studied) / flows / minutes,
    )


def _mean(runs: list[Figures]) -> Figures:
    return Figures(
        utilisation=fmean(run.utilisation for run in runs),
        queue_pkts=fmean(run.queue_pkts for run in runs),
        share=fmean(run.share for run in runs),
        reductions_per_minute=fmean(run.reductions_per_minute for run in runs),
    )


def table(alone: dict[str, Figures], beside: dict[str, Figures]) -> Iterator[str]:
    """Generate the lines of the table."""
    yield (
        "| | signal | alone: utilisation | queue, packets | reductions per minute "
        "| against reno: share | queue |"
    )
    yield "|---|---|---|---|---|---|---|"
    for kind, follows in ALGORITHMS.items():
        single, pair = alone[kind], beside[kind]
        yield (
            f"| `{kind}` | {follows} | {100 * single.utilisation:.1f} % | {single.queue_pkts:.0f} "
            f"| {single.reductions_per_minute:.1f} | {100 * pair.share:.0f} % "
            f"| {pair.queue_pkts:.0f} |"
        )


def measured() -> str:
    """Simulate all and return the table."""
    with ProcessPoolExecutor(2) as pool:
        alone = [pool.submit(figures, kind, 2, 0) for kind in ALGORITHMS]
        beside = [pool.submit(figures, kind, 2, 2) for kind in ALGORITHMS]
        lines = table(
            {kind: run.result() for kind, run in zip(ALGORITHMS, alone, strict=True)},
            {kind: run.result() for kind, run in zip(ALGORITHMS, beside, strict=True)},
        )
        return "\n".join(lines)


def page(table: str) -> str:
    """Return the page with its table."""
    return TEXT.read_text(encoding="utf-8").replace("{table}", table)


def main() -> None:
    """Write the page."""
    text = measured()
    print(text)
    DOCUMENT.write_text(page(text), encoding="utf-8")


if __name__ == "__main__":
    main()
