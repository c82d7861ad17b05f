"""Comparison of queue disciplines on one dumbbell: `python -m validation.disciplines`.

Ten CUBIC flows and a stream of datagrams share 50 Mbit/s. Writes the table in docs/queues.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

import longhaul
from longhaul.analysis.fairness import jain
from validation.experiments import dumbbell, means
from validation.pages import DOCS, table

DOCUMENT = DOCS / "queues.md"
BEGIN = "<!-- python -m validation.disciplines writes this table -->\n"
END = "<!-- end of the table -->\n"

QUEUES = {
    "drop-tail": {"kind": "droptail", "limit": "200 ms"},
    "CoDel": {"kind": "codel", "limit": "200 ms"},
    "COBALT": {"kind": "cobalt", "limit": "200 ms", "ecn": False},
    "PIE": {"kind": "pie", "limit": "200 ms"},
    "FQ-CoDel": {"kind": "fq-codel", "ecn": False},
    "FQ-PIE": {"kind": "fq-pie"},
    "CAKE": {"kind": "cake", "ecn": False},
}
WARM_UP_S = 20
DURATION_S = 80


class Figures(NamedTuple):
    """Results with one queue discipline after the warm-up: of one run, or means over seeds."""

    goodput_bps: float
    """Total goodput of the ten CUBIC flows in bit/s."""
    jain: float
    """Jain's fairness index of the goodputs of the ten CUBIC flows."""
    mean_ms: float
    """Mean queueing delay of all packets, in ms."""
    p99_ms: float
    """99th percentile of queueing delays of all packets, in ms."""
    sparse_p99_ms: float
    """99th percentile of the datagrams' queueing delays, in ms."""
    sparse_lost: float
    """Fraction of the sent datagrams that were not delivered."""


def scenario(queue: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the scenario of ten downloads, with five different RTTs, and a call behind one queue.

    `queue` has the keys of the queue discipline. The call is the stream of datagrams.
    """
    downloads = [
        {
            "label": f"downloads over {rtt_ms} ms",
            "count": 2,
            "congestion": {"kind": "cubic"},
            "rtt": f"{rtt_ms} ms",
            "start": {"uniform": ["0 s", "5 s"]},
        }
        for rtt_ms in (40, 50, 60, 70, 80)
    ]
    call = {"label": "call", "protocol": "udp", "rate": "100 kbps", "packet": "200 B"}
    return {
        "title": "Ten downloads and a call",
        "duration": f"{DURATION_S} s",
        "seed": seed,
        "measure": {"from": f"{WARM_UP_S} s", "every": "1 s", "delays": True},
        "topology": dumbbell("50 Mbps", "20 ms", queue),
        "flows": [*downloads, call],
    }


def figures(queue: dict[str, Any], seed: int) -> Figures:
    """Simulate the flows behind the discipline `queue` with one seed, and return the results."""
    run = longhaul.run(scenario(queue, seed))
    downloads = [row for row in run.flows.to_dicts() if row["label"] != "call"]
    call = run.flows.row(by_predicate=pl.col("label") == "call", named=True)
    rates = [row["goodput_bps"] for row in downloads]
    waits = _delays(run, "link", run.bottleneck)
    return Figures(
        goodput_bps=sum(rates),
        jain=jain(rates) or 0.0,
        mean_ms=1e3 * waits["mean_s"],
        p99_ms=1e3 * waits["p99_s"],
        sparse_p99_ms=1e3 * _delays(run, "label", "call")["p99_s"] - 20,
        sparse_lost=1 - call["delivered_pkts"] / call["sent_pkts"],
    )


def _delays(run: longhaul.Results, kind: str, name: str) -> dict[str, float]:
    rows = run.delays.filter(pl.col("kind") == kind, pl.col("name") == name)
    return rows.row(0, named=True)


HEADS = (
    "discipline", "goodput, Mbit/s", "Jain's index", "mean queueing delay, ms",
    "99th percentile of the queueing delay, ms",
    "99th percentile of the datagrams' queueing delay, ms", "datagrams lost",
)  # fmt: skip


def _row(name: str, waits: Figures) -> list[str]:
    return [
        name, f"{waits.goodput_bps / 1e6:.1f}", f"{waits.jain:.3f}", f"{waits.mean_ms:.1f}",
        f"{waits.p99_ms:.1f}", f"{waits.sparse_p99_ms:.1f}", f"{100 * waits.sparse_lost:.1f} %",
    ]  # fmt: skip


def main() -> None:
    """Simulate all disciplines, and write the table into docs/queues.md."""
    found = means(figures, ((queue,) for queue in QUEUES.values()))
    lines = table(HEADS, map(_row, QUEUES, found))
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    text = "\n".join([before + BEGIN, *lines, "", END + after])
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
