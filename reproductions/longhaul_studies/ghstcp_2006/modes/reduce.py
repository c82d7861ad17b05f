"""Reduction of a run with a traced gHSTCP flow: usual tables, and the flow's changes of mode."""

import polars as pl

from longhaul.campaign import reduce as campaign
from longhaul.campaign.store import Kept
from longhaul.results import Results


def reduce(run: Results) -> Kept:
    """Return the tables that are stored for every run, and `modes`, a table of changes of mode.

    Column `gentle` is 1 for a change to standard TCP's window growth, 0 for a change to HSTCP's.
    Each flow's first row is its mode at its first acknowledgement.
    """
    modes = run.acks.filter(pl.col("quantity") == "gentle").join(
        run.flows.select("name", "label"), on="name"
    )
    changed = (pl.col("value") != pl.col("value").shift()).fill_null(value=True)
    changes = modes.filter(changed.over("name")).select(
        "t_s", "name", "label", pl.col("value").alias("gentle")
    )
    return {**campaign.reduce(run), "modes": changes.to_dicts()}
