"""Tables of a campaign's finished runs for a page, with factors and responses."""

from collections.abc import Sequence

import polars as pl

from longhaul.analysis.table import PROVENANCE
from longhaul.campaign.dataset import TABLES, Dataset
from longhaul.explore.kept import add_kept
from longhaul.explore.tables import Content, Roles, add_table
from longhaul.figures import words

# Words in names of factors whose levels compete.
COMPETITORS = ("algorithm", "congestion", "kind", "competitor", "variant", "queue")
SHOWN_RESPONSES = 6


def add(content: Content, name: str, dataset: Dataset) -> None:
    """Add the table of a campaign's finished runs to a page, with the time series it has stored."""
    factors = dataset.factors
    name_of_run = pl.format("run {}.{}", "run", "replication").alias("name")
    kept = dataset.frame.drop(*PROVENANCE, TABLES, strict=False)
    frame = kept.select(name_of_run, pl.exclude("name"))
    varied = [factor for factor in factors if frame[factor].n_unique() > 1]
    competitor = competitor_among(varied)
    known = [response for response in dataset.responses if response in frame.columns]
    shown = (*varied, *known[:SHOWN_RESPONSES])
    wanted = dataset.facts.get("wanted", frame.height)
    conditions = dataset.facts.get("conditions")
    of = f", of {frame['run'].n_unique()} of {conditions} conditions" if conditions else ""
    roles = Roles(
        label="name",
        colour=competitor,
        factors=factors,
        numbers=("run", "replication", "block"),
        shown=shown,
        about=meant(dataset),
        units={
            name: words.unit_at(place) for name, place in dataset.facts.get("places", {}).items()
        },
        competitor=named_competitor(varied),
        there=f"{frame.height} of {wanted} runs are finished{of}",
        is_partial=frame.height < wanted,
        samples='`keep = ["series"]` in the campaign file, and `measure.every` in its scenario',
    )
    add_table(content, name, frame, roles)
    if TABLES in dataset.frame.columns:
        add_kept(content, name, dataset.frame[TABLES].to_list())


def meant(dataset: Dataset) -> dict[str, str]:
    """Return the description of each column, from the metadata or else from the column's name."""
    named = {name: words.meaning(name) for name in dataset.responses}
    return named | dict(dataset.facts.get("about", {}))


def named_competitor(factors: Sequence[str]) -> str | None:
    """Return the factor whose name suggests that its levels compete, such as `algorithm`.

    Return None if there is no such factor.
    """
    named = (name for name in factors if any(word in name.lower() for word in COMPETITORS))
    return next(named, None)


def competitor_among(factors: Sequence[str]) -> str | None:
    """Return the factor whose name suggests that its levels compete, or else the first factor."""
    return named_competitor(factors) or (factors[0] if factors else None)
