"""Reduction of a run of the sensitivity analyses: the usual tables, but not of flow classes."""

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.results import Results


def reduce(run: Results) -> Kept:
    """Return the tables that are stored for every run, without the table of flow classes."""
    # The numbered responses, which are stored, have the values of flow classes.
    return reduce_run(run) | {"classes": []}
