"""Table of a campaign: factors, responses and provenance of each run."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import Any

import polars as pl

from longhaul._engine import LonghaulError, results_version, version
from longhaul.analysis.table import KEY, PROVENANCE, ResponseTable
from longhaul.campaign import columns as meant
from longhaul.campaign.file import Campaign
from longhaul.campaign.store import Store
from longhaul.files.writing import write_durably

# Directory of the runs' tables, in campaigns that keep tables.
TABLES = "tables"


@dataclass(frozen=True)
class Dataset:
    """Factors and responses of a campaign's finished runs, with their provenance."""

    frame: pl.DataFrame
    """A row per run, with the columns run, replication, block, factors, responses and provenance.

    Only blocked designs have a column `block`, and only campaigns that keep tables have a column
    `tables`.
    """
    facts: Mapping[str, Any]
    """Facts about the campaign: title, factors and their levels, responses, design, runs."""

    @property
    def factors(self) -> dict[str, list[Any]]:
        """Factors with their levels, in the order of the campaign file."""
        return dict(self.facts["factors"])

    @property
    def responses(self) -> list[str]:
        """Names of the responses: those by path in the order of the file, then users' functions."""
        return list(self.facts["responses"])

    def table(self) -> ResponseTable:
        """Return the data as a table for analyses, with the path of each response's value."""
        known = ResponseTable.of(self.frame, self.factors, self.responses)
        return replace(known, places=self.facts.get("places", {}))

    def write(self, file: Path) -> None:
        """Write the data set as a Parquet file, with `facts` in the metadata.

        Processes that share a campaign may write it at the same time.
        """
        content = io.BytesIO()
        self.frame.write_parquet(
            content, compression="zstd", metadata={KEY: json.dumps(self.facts)}
        )
        write_durably(file, content.getvalue())

    @classmethod
    def read(cls, file: Path) -> "Dataset":
        """Read a data set from a file that `write` has written."""
        facts = pl.read_parquet_metadata(file).get(KEY)
        if facts is None:
            raise LonghaulError(f"{file}: not a table of a campaign")
        return cls(pl.read_parquet(file), json.loads(facts))


def path_from(store: Store, campaign: Campaign) -> str:
    """Return the path of a campaign file relative to its store.

    The path stays valid if campaign file and store are moved together.
    """
    return relpath(campaign.path.resolve(), store.path.resolve())


def collect(campaign: Campaign, store: Store) -> Dataset:
    """Collect the table of all finished runs of a campaign from a store."""
    rows, design = [], campaign.design
    columns: dict[str, None] = {}
    runs = campaign.runs()
    for index, run in enumerate(runs):
        kept = store.get(run.key)
        if kept is None:
            continue
        number = index % design.runs
        block = {} if design.blocks is None else {"block": int(design.blocks[number])}
        responses = campaign.reducer.row(kept)
        columns |= dict.fromkeys(responses)
        rows.append(
            {"run": number + 1, "replication": run.replication + 1, **block, **run.cell}
            | responses
            | {name: kept["run"][name] for name in PROVENANCE}
            | ({TABLES: str(store.tables(run.key).resolve())} if campaign.keep else {})
        )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    facts = {
        "title": campaign.title,
        "file": campaign.path.name,
        "path": path_from(store, campaign),
        "factors": {factor.name: list(factor.levels) for factor in design.factors},
        "responses": list(columns) or [response.name for response in campaign.responses],
        "about": meant.of_table(campaign.sweep.settings, campaign.responses),
        "places": {
            response.name: response.place for response in campaign.responses if response.place
        },
        "conditions": design.runs,
        "design": design.kind,
        "generators": list(design.generators),
        "replications": campaign.sweep.replications,
        "runs": len(rows),
        "wanted": len(runs),
        "version": version(),
        "results_version": results_version(),
    }
    return Dataset(frame, facts)
