"""Network of chapters 6 to 9 without users.

Its default speeds are those of condition 8 of the scaled-down network.
"""

from __future__ import annotations

from typing import Any

FULL_PKTS = 15_976
"""Packets in an interval of 200 ms at 80,000 packets/s, with the engine's rounding."""


def quiet(intervals: int, interval: str = "200 ms", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a scenario of the study's network with only the long-lived flows in `more`."""
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
