"""What is kept of a run with long transfers: counters of links and of the flows measured.

All over the whole run, which has no warm-up (section 4.2).
"""

import polars as pl

from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results

# Where packets meet congestion on the forward path, and where they leave it.
CONGESTED, LAST = ("hop-0", "hop-1", "hop-3"), "hop-4"
# A flow of the measured direction is called so and by its number.
MEASURED = "forward-"


def reduce(run: Results) -> Kept:
    """The tables to keep."""
    flows = run.flows.filter(pl.col("label").str.starts_with(MEASURED))
    links = run.links.filter(pl.col("name").is_in([*CONGESTED, LAST]))
    return {
        "traffic": "transfers",
        "run": {**facts(run.meta), "simulated_s": run.meta["simulated_s"]},
        "links": links.to_dicts(),
        "flows": flows.to_dicts(),
    }
