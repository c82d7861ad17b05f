"""The network of NIST SP 500-282, chapters 6 to 9, without users.

Its speeds are by default those of condition 8 of the scaled-down network (chapter 7).
"""

from __future__ import annotations

from typing import Any

FULL_PKTS = 15_976
"""Packets per interval of 200 ms at full speed: 80,000 packets/s, less the engine's rounding."""


def quiet(intervals: int, interval: str = "200 ms", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a scenario of the study's network, whose only flows are the long-lived ones in `more`.

    `intervals` is the duration of the run in measuring intervals of length `interval`. `more` has
    keys of the table `mesonet`, which add to this function's keys or replace them; with
    `hosts.sources` there are users, too.
    """
    mesonet: dict[str, Any] = {
        "interval": interval,
        "intervals": intervals,
        "network": {"backbone_rate": 1200},
        "hosts": {"sources": 0},
        "measure": {"tables": ["long_lived"]},
    }
    for key, value in more.items():
        below = mesonet.get(key)
        mesonet[key] = {**below, **value} if isinstance(below, dict) else value
    return {"title": "Flows that have the network to themselves", "mesonet": mesonet}
