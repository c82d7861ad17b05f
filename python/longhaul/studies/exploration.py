"""A page to explore the runs of a study, beside its report."""

import base64
import json
from pathlib import Path

import polars as pl

from longhaul.analysis.table import COSTS, PROVENANCE
from longhaul.explore.campaigns import competitor_among
from longhaul.explore.page import write
from longhaul.explore.tables import Content, Roles, add_table
from longhaul.studies.data import EXPERIMENT, REPLICATION
from longhaul.studies.record import Record
from longhaul.studies.study import Study

# What each row has besides axes and metrics.
NO_METRICS = (EXPERIMENT, *PROVENANCE, *COSTS)
SHOWN_METRICS = 6


def write_explorer(study: Study, record: Record, report: Path) -> Path | None:
    """Write a page with a table for each experiment, a row a run; none without any run."""
    content = Content()
    values = record.data.values
    for experiment in study.chosen() if not values.is_empty() else ():
        rows = values.filter(pl.col(EXPERIMENT) == experiment.name)
        if rows.is_empty():
            continue
        # Metrics and axes of other experiments are empty here.
        known = [
            column.name
            for column in rows.get_columns()
            if column.null_count() < rows.height and column.name not in NO_METRICS
        ]
        # The levels of a condition are factors; its number names it.
        columns = [name for name in known if name in experiment.columns]
        axes = [axis for axis in record.data.axes if axis in known and axis not in columns]
        axes += columns
        numbers = [axis for axis in experiment.conditions if axis in axes and columns]
        varied = [axis for axis in axes if rows[axis].n_unique() > 1]
        metrics = [name for name in known if name not in (*axes, REPLICATION)]
        named = rows.select(
            pl.concat_str([pl.col(axis).cast(pl.String) for axis in varied], separator=", ").alias(
                "cell"
            )
            if varied
            else pl.format("replication {}", REPLICATION).alias("cell"),
            *known,
        )
        roles = Roles(
            label="cell",
            colour=competitor_among([axis for axis in varied if axis not in numbers]),
            factors={
                axis: rows[axis].unique(maintain_order=True).to_list()
                for axis in axes
                if axis not in numbers
            },
            numbers=(REPLICATION, *numbers),
            shown=(*varied, *metrics[:SHOWN_METRICS]),
            title=experiment.title,
        )
        add_table(content, experiment.name, named, roles)
    if not content.tables:
        return None
    # The page opens with the experiment of most runs.
    content.tables.sort(key=lambda table: -table["rows"])
    facts = record.facts
    sources = [f"{study.name}, {facts.scale}: {facts.runs} of {facts.wanted} runs"]
    target = report.with_name(f"{report.stem}-explorer.html")
    return write(target, content, study.head.title, sources)


def link_to(explorer: Path, title: str, table: str) -> str:
    """A link to a table of an explorer, as `explorer/src/link.ts` reads it."""
    state = json.dumps(
        {"page": title, "table": table, "filters": [], "logarithmic": [], "views": {}}
    ).encode()
    return f"{explorer.name}#{base64.urlsafe_b64encode(state).decode()}"
