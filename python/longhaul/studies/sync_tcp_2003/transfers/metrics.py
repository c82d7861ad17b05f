"""Metrics of one run with long transfers."""

import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """The metrics of one run: those of the congested links, and of the whole path."""
    links = {link["name"]: link for link in kept["links"]}
    last = links["hop-4"]
    row: Row = {
        "utilisation": 100.0
        * 8
        * last["departed_bytes"]
        / last["rate_bps"]
        / kept["run"]["simulated_s"]
    }
    for router in (0, 1, 3):
        link = links[f"hop-{router}"]
        row[f"loss_{router}"] = 100.0 * link["dropped_pkts"] / link["arrived_pkts"]
        row[f"queue_{router}"] = link["queue_mean_pkts"]
    return row


def drawn(run: Run) -> bool:
    """Whether samples of a run are drawn."""
    return False


def course(kept: Kept) -> pl.DataFrame:
    """Samples to draw."""
    return pl.DataFrame(kept["samples"])
