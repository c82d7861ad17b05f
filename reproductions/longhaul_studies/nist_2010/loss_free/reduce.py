"""Reduction of a run with a single flow: the mean goodput that files have without losses."""

from longhaul.campaign.reduce import reduce as reduce_run
from longhaul.campaign.store import Kept
from longhaul.mesonet import MesoNet
from longhaul.results import Results

from .acknowledgements import mean_goodputs


def reduce(run: Results) -> Kept:
    """Return the tables stored of every run, and the goodput of files that lose no packets."""
    return reduce_run(run) | {"loss_free": mean_goodputs(MesoNet.of(run))}
