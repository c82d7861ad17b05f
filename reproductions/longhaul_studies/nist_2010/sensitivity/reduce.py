"""Reduction of a run of the sensitivity analyses: all tables except those of flow classes."""

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.results import Results


def reduce(run: Results) -> Kept:
    """Return the tables that are stored of every run, except those of flow classes.

    The responses already include the classes.
    """
    return reduce_run(run) | {"classes": []}
