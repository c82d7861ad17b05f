"""Delay- and model-based algorithms, alone and against `reno`: `python -m validation.coexistence`.

Writes docs/coexistence.md, with results of two flows of each algorithm on a path without random
losses: alone, and in competition with two flows of `reno`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import longhaul
from validation.experiments import dumbbell, means
from validation.pages import DOCS, filled, table

ALGORITHMS = {
    "reno": "losses",
    "vegas": "delay",
    "fast": "delay",
    "fast-at": "delay",
    "lp": "delay",
    "ledbat": "delay",
    "sync-pcwnd": "one-way delay",
    "sync-mixreact": "one-way delay",
    "veno": "losses and delay",
    "illinois": "losses and delay",
    "yeah": "losses and delay",
    "ctcp": "losses and delay",
    "westwood": "losses and the delivery rate",
    "bbr": "a model of the path",
    "bbr3": "a model of the path",
}
"""Congestion signal to which each algorithm reacts, by the algorithm's `kind`."""

TOPOLOGY = dumbbell("100 Mbps", "20 ms", "2 BDP")
"""Path with an RTT of 40 ms and a BDP of 333 packets."""

WARM_UP_S = 30
DURATION_S = 150


class Figures(NamedTuple):
    """Results of the flows of one algorithm after the warm-up: of one run, or means over seeds."""

    utilisation: float
    """Utilisation of the bottleneck link as a fraction."""
    queue_pkts: float
    """Mean length of the bottleneck's queue in packets."""
    share: float
    """Fraction of the total goodput that all flows of the algorithm have together."""
    reductions_per_minute: float
    """Number of window reductions after losses, per minute and per flow of the algorithm."""


def scenario(kind: str, flows: int, beside: int, seed: int) -> dict[str, Any]:
    """Return the scenario of `flows` flows of algorithm `kind` against `beside` Reno flows."""
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


def figures(kind: str, flows: int, beside: int, seed: int) -> Figures:
    """Simulate flows of algorithm `kind` with one seed, and return their results.

    `flows` is the number of these flows, `beside` the number of competing Reno flows.
    """
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


HEADS = (
    "algorithm", "congestion signal", "alone: utilisation", "alone: mean queue, packets",
    "alone: window reductions after losses, per flow and minute",
    "against reno: share of the goodput", "against reno: mean queue, packets",
)  # fmt: skip


def _row(kind: str, alone: Figures, beside: Figures) -> list[str]:
    return [
        f"`{kind}`", ALGORITHMS[kind], f"{100 * alone.utilisation:.1f} %",
        f"{alone.queue_pkts:.0f}", f"{alone.reductions_per_minute:.1f}",
        f"{100 * beside.share:.0f} %", f"{beside.queue_pkts:.0f}",
    ]  # fmt: skip


def page() -> str:
    """Simulate all algorithms, and return the text of the page."""
    calls = [(kind, 2, beside) for beside in (0, 2) for kind in ALGORITHMS]
    found = means(figures, calls)
    alone, beside = found[: len(ALGORITHMS)], found[len(ALGORITHMS) :]
    rows = map(_row, ALGORITHMS, alone, beside)
    return filled(Path(__file__).with_suffix(".md"), table=table(HEADS, rows))


if __name__ == "__main__":
    (DOCS / "coexistence.md").write_text(page(), encoding="utf-8")
