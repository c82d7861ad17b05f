"""The finished runs of a campaign, as a page shows them: a row a run, factors and responses."""

from collections.abc import Sequence

import polars as pl

from longhaul.analysis.table import PROVENANCE
from longhaul.campaign.dataset import TABLES, Dataset
from longhaul.explore.tables import Content, Roles, add_table

# What is a competitor, if a factor has one of these names.
COMPETITORS = ("algorithm", "congestion", "kind", "competitor", "variant", "queue")
SHOWN_RESPONSES = 6


def add(content: Content, name: str, dataset: Dataset) -> None:
    """Add the table of a campaign."""
    factors = dataset.factors
    leave = [column for column in (*PROVENANCE, TABLES) if column in dataset.frame.columns]
    frame = dataset.frame.drop(leave).with_columns(
        pl.format("run {}.{}", "run", "replication").alias("name")
    )
    frame = frame.select("name", *[column for column in frame.columns if column != "name"])
    varied = [factor for factor in factors if frame[factor].n_unique() > 1]
    competitor = competitor_among(varied)
    known = [one for one in dataset.responses if one in frame.columns]
    shown = (*varied, *known[:SHOWN_RESPONSES])
    wanted = dataset.facts.get("wanted", frame.height)
    note = "" if wanted == frame.height else f"{frame.height} of {wanted} runs are finished."
    roles = Roles(
        label="name",
        colour=competitor,
        factors=factors,
        numbers=("run", "replication", "block"),
        shown=shown,
        note=note,
    )
    add_table(content, name, frame, roles)


def competitor_among(factors: Sequence[str]) -> str | None:
    """The factor whose levels compete, or else the first one."""
    named = (name for name in factors if any(word in name.lower() for word in COMPETITORS))
    return next(named, factors[0] if factors else None)
