"""Reduction of a run of the sensitivity analyses: responses, and means of the network."""

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.results import Results


def reduce(run: Results) -> Kept:
    """Return the standard reduction of a run without flow classes, which its responses include."""
    return reduce_run(run) | {"classes": []}
