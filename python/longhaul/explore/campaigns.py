"""The finished runs of a campaign, as a page shows them: a row a run, factors and responses."""

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
    competitor = next((factor for factor in varied if _competes(factor)), None)
    known = [one for one in dataset.responses if one in frame.columns]
    shown = (*varied, *known[:SHOWN_RESPONSES])
    wanted = dataset.facts.get("wanted", frame.height)
    note = "" if wanted == frame.height else f"{frame.height} of {wanted} runs are finished."
    roles = Roles(
        label="name",
        colour=competitor or (varied[0] if varied else None),
        factors=factors,
        numbers=("run", "replication", "block"),
        shown=shown,
        note=note,
    )
    add_table(content, name, frame, roles)


def _competes(factor: str) -> bool:
    return any(word in factor.lower() for word in COMPETITORS)
