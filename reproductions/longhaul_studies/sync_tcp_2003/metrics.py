"""Metrics of one run, from the module for its kind of traffic, such as `web.metrics`."""

from types import ModuleType

import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

from .largest_flow import metrics as largest_flow
from .pairs import metrics as pairs
from .traffic import metrics as traffic
from .transfers import metrics as transfers
from .web import metrics as web

Row = dict[str, float | None]

# Modules by the value of `traffic` that the `reduce` of each kind of traffic stores.
KINDS: dict[str, ModuleType] = {
    "transfers": transfers,
    "web": web,
    "offered": traffic,
    "trace": largest_flow,
    "pairs": pairs,
}


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    values: Row = KINDS[kept["traffic"]].metrics(kept, run)
    return values


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of this run."""
    return any(kind.drawn(run) for kind in KINDS.values())


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return the samples over time that figures plot."""
    samples: pl.DataFrame = KINDS[kept["traffic"]].trajectory(kept)
    return samples
