"""Condition 8 of NIST SP 500-282, chapter 7, with users below the fastest routers (`direct`) only.

Jumbo files slow down long-lived flows at these routers. Users below all other routers send about
2 % of the packets at these routers, but would take most of the simulation's time. Users start 20 s
before the long-lived flows, jumbo files 300 s after the long-lived flows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import longhaul
from longhaul.mesonet import responses_of
from longhaul.results import Results
from validation.mesonet.long_lived import ENDS
from validation.mesonet.network import quiet
from validation.mesonet.tables import published
from validation.rows import Row, close

PART = "direct-routers"
CASE = "condition 8, users below direct access routers"

START_S, JUMBO_S, END_S = 20, 320, 620
# Printed goodputs of tables 7-11 to 7-13.
TP1 = {"L1": 25_151, "L2": 65_462, "L3": 76_185}


def rows(_: int = 1) -> Iterator[Row]:
    """Simulate the scenario in this process; yield rows for the goodput of the long-lived flows."""
    yield from judge(longhaul.run(scenario()))


def scenario() -> dict[str, Any]:
    """Return this module's scenario; its simulation takes a minute of processor time."""
    return quiet(
        5 * END_S,
        hosts={
            # As many sources below a direct access router as in the condition.
            "sources": 100,
            "scale": 2 / 3,
            "source_shares": {"normal": 0, "fast": 0, "direct": 1},
        },
        files={"jumbo": {"from": f"{JUMBO_S} s", "until": f"{END_S} s", "factor": 100}},
        periods=[
            {"name": "TP1", "from": f"{START_S} s", "to": f"{JUMBO_S} s"},
            {"name": "TP2", "from": f"{JUMBO_S} s", "to": f"{END_S} s"},
        ],
        long_lived=[
            {"label": flow, "from": source, "to": receiver, "start": f"{START_S} s"}
            for flow, (source, receiver) in ENDS.items()
        ],
        measure={"tables": ["network", "classes", "long_lived", "routers"]},
    )


def judge(run: Results) -> Iterator[Row]:
    """Yield rows for the goodput of the long-lived flows before and during the jumbo files."""
    table = {(row["response"], row["period"]): row["value"] for row in responses_of(run).to_dicts()}
    for number, flow in enumerate(ENDS, 33):
        metric = f"{flow}: goodput in TP1, packets/s"
        yield close(CASE, metric, TP1[flow], table[f"y{number}", "TP1"], 0.02)
    (in_print,) = (row for row in published("table_7_16") if row["algorithm"] == "TCP")
    for number, flow in enumerate(ENDS, 33):
        metric = f"{flow}: goodput in TP2, packets/s"
        yield close(CASE, metric, float(in_print[flow]), table[f"y{number}", "TP2"], 0.1)
