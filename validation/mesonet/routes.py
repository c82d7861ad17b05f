"""Routes between backbone routers and their delays (table 3-2)."""

from __future__ import annotations

from functools import cache

from validation.mesonet.tables import published


@cache
def routes() -> dict[tuple[str, str], tuple[str, int]]:
    """Return the published routes by the backbone routers at their two ends.

    A route is the names of its routers, joined with dashes, and its delay in time steps.
    """
    return {
        (row["from"], row["to"]): (row["route"], int(row["delay"]))
        for row in published("routes_3_2")
    }
