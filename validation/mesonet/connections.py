"""Time to set up a connection, or to give it up (NIST SP 500-282, equations 1 to 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

import longhaul
from longhaul.mesonet import MesoNet
from longhaul.results import Results
from validation.rows import Row, exactly, near

ROUND_TRIP_MS = 20
# With this interval no SYN is due at the end of an interval.
INTERVAL_S = 0.4
ANSWERED = 100.0
UNANSWERED = 1e-5
"""Rate of the receivers' access router in packets per ms, so low that no SYN is answered.

With the rate `ANSWERED`, SYNs are answered.
"""


def unanswered() -> Iterator[Row]:
    """Yield rows for unanswered SYNs at 0, 3 and 9 s, and for the source's failure at 21 s."""
    case = "EX-SYN no answer"
    run = simulate(UNANSWERED)
    edge = MesoNet.of(run).edges.filter(pl.col("router") == "sources")
    sent = edge.filter(pl.col("syns") > 0)["interval"]
    for number, (wanted, interval) in enumerate(zip((0, 3, 9), sent, strict=False), 1):
        second = round((interval - 0.5) * INTERVAL_S)
        yield exactly(case, f"SYN {number}, s, to the second", wanted, second)
    flow = MesoNet.of(run).flows.row(0, named=True)
    yield exactly(case, "SYNs", 3, flow["syns"])
    yield exactly(case, "failure, s after the first SYN", 21, flow["end_s"] - flow["start_s"])
    yield exactly(case, "flows connected", 0, int(flow["connected_s"] is not None))


def answered() -> Iterator[Row]:
    """Yield rows for a SYN that is answered at once: the handshake takes a round trip."""
    flow = MesoNet.of(simulate(ANSWERED)).flows.row(0, named=True)
    took_ms = 1e3 * (flow["connected_s"] - flow["start_s"])
    yield near("EX-SYN answered", "handshake, ms", ROUND_TRIP_MS, took_ms, 0.5, "ms")
    yield exactly("EX-SYN answered", "SYNs", 1, flow["syns"])


def simulate(rate: float) -> Results:
    """Simulate one source, and receivers behind a router that serves `rate` packets per ms."""
    mesonet: dict[str, Any] = {
        "interval": f"{INTERVAL_S} s",
        "intervals": 75,
        "users": {"start": {"at_once": 1.0, "second": 0, "third": 0}},
        "measure": {"flow_log": True, "tables": ["edges"]},
        "network": {
            "topology": {
                "backbone": [
                    _domain("sources", ANSWERED, sources=1),
                    _domain("receivers", rate, sources=0),
                ],
                "links": [{"from": "Xsources", "to": "Xreceivers", "delay": ROUND_TRIP_MS // 2}],
            }
        },
    }
    return longhaul.run({"title": "One source", "mesonet": mesonet})


def _domain(name: str, rate: float, sources: int) -> dict[str, Any]:
    """Return backbone router `name` with one access router, which serves `sources` sources."""
    router = {"name": name, "rate": rate, "buffer": 100, "sources": sources, "receivers": 4}
    return {"name": f"X{name}", "rate": ANSWERED, "direct": [router]}
