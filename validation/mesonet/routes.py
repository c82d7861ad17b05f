"""Routes between backbone routers and their delays (table 3-2)."""

from __future__ import annotations

from functools import cache

from validation.mesonet.tables import published


@cache
def routes() -> dict[tuple[str, str], tuple[str, int]]:
    """Return route (names with dashes) and delay (time steps) by the routers at the ends."""
    return {
        (row["from"], row["to"]): (row["route"], int(row["delay"]))
        for row in published("routes_3_2")
    }
