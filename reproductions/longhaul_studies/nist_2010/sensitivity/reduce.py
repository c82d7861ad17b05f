"""Reduction of a run of the sensitivity analyses: all tables except those of flow classes."""

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.results import Results


def reduce(run: Results) -> Kept:
    """Return the tables that any campaign stores of a run, but leave the one of flow classes empty.

    The responses of this study already include the throughputs of flow classes.
    """
    return reduce_run(run) | {"classes": []}
