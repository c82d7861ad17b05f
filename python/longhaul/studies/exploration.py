"""Page to explore the runs of a study, linked from its report."""

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from longhaul.analysis.table import COSTS, PROVENANCE
from longhaul.campaign import columns as meant
from longhaul.campaign.sweep import Level
from longhaul.explore.campaigns import competitor_among, named_competitor
from longhaul.explore.page import write
from longhaul.explore.tables import Content, Roles, add_table
from longhaul.figures import words
from longhaul.studies.data import EXPERIMENT, REPLICATION
from longhaul.studies.experiments import Experiment
from longhaul.studies.record import Record
from longhaul.studies.study import Study

# Columns of result tables that are not metrics, other than the axes and the replication.
NO_METRICS = (EXPERIMENT, *PROVENANCE, *COSTS)
SHOWN_METRICS = 6


def write_explorer(study: Study, record: Record, target: Path) -> Path | None:
    """Write a page with a table of runs for each experiment; return None if there are no runs."""
    content = Content()
    values = record.data.values
    for experiment in study.chosen() if not values.is_empty() else ():
        rows = values.filter(pl.col(EXPERIMENT) == experiment.name)
        if rows.is_empty():
            continue
        # Metrics and axes of other experiments have no values here.
        known = [
            column.name
            for column in rows.get_columns()
            if column.null_count() < rows.height and column.name not in NO_METRICS
        ]
        # Columns with the factors of conditions are shown as factors, since a condition's number is
        # only a name.
        columns = [name for name in known if name in experiment.columns]
        axes = [axis for axis in record.data.axes if axis in known and axis not in columns]
        axes += columns
        numbers = [axis for axis in experiment.conditions if axis in axes and columns]
        varied = [axis for axis in axes if rows[axis].n_unique() > 1]
        metrics = [name for name in known if name not in (*axes, REPLICATION)]
        # Metrics with the most claims come first.
        claimed = Counter(
            claim.question.metric for claim in study.claims if experiment.name in claim.experiments
        )
        metrics.sort(key=lambda name: -claimed[name])
        levels = [axis for axis in varied if axis not in numbers]
        text, units, groups = _meanings(study, experiment, known)
        wanted = [cell for _, cell in experiment.sweep(record.facts.scale).every_cell()]
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
            colour=competitor_among(levels),
            competitor=named_competitor(levels),
            factors={
                axis: rows[axis].unique(maintain_order=True).to_list()
                for axis in axes
                if axis not in numbers
            },
            numbers=(REPLICATION, *numbers),
            shown=(*varied, *metrics[:SHOWN_METRICS]),
            about=text,
            units=units,
            groups=groups,
            title=experiment.title,
            there=_there(experiment, rows, wanted),
            is_partial=rows.height < len(wanted),
        )
        add_table(content, experiment.name, named, roles)
    if not content.tables:
        return None
    # The table shown first belongs to the experiment with most claims; if equal, to that with most
    # runs.
    claims = Counter(name for claim in study.claims for name in claim.experiments)
    content.tables.sort(key=lambda table: (-claims[table["name"]], -table["rows"]))
    facts = record.facts
    sources = [f"{study.name}, {facts.scale}: {facts.runs} of {facts.wanted} runs"]
    return write(target, content, study.head.title, sources)


def _there(
    experiment: Experiment, rows: pl.DataFrame, wanted: Sequence[Mapping[str, Level]]
) -> str:
    """Return text on how many runs of an experiment exist, and at which levels of conditions.

    `rows` are the existing runs, and `wanted` has the levels of every run of the experiment.
    """
    text = f"{rows.height} of {len(wanted)} runs are there"
    for axis in experiment.conditions:
        there = rows[axis].unique().sort().to_list() if axis in rows.columns else []
        all_ = {cell[axis] for cell in wanted}
        if len(there) < len(all_):
            named = ", ".join(str(level) for level in there[:8])
            more = ", ..." if len(there) > 8 else ""
            text += f": of {len(there)} of {len(all_)} levels of {axis} ({named}{more})"
    return text


def _meanings(
    study: Study, experiment: Experiment, names: Sequence[str]
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return three dictionaries by column: the meanings, the units and the headings.

    A study's module `metrics` may define `about(name, experiment)`, which returns the meaning, the
    unit and the heading of a column, or None; `about` is called for axes, too.
    """
    text = meant.OTHERS | {"cell": "the levels of all that varies"}
    for axis, table in experiment.conditions.items():
        columns = dict.fromkeys(column for levels in table.values() for column in levels)
        text[axis] = f"names a combination of levels of {', '.join(columns)}"
    if experiment.template is not None:
        text |= meant.of_factors(experiment.varied("full").settings)
    text |= meant.of_responses(study.head.responses)
    units = {response.name: words.unit_at(response.place) for response in study.head.responses}
    groups: dict[str, str] = {}
    own = getattr(study.module("metrics"), "about", None) if study.has("metrics") else None
    for name in names:
        said = own(name, experiment.name) if own is not None else None
        if said is not None:
            text[name], units[name], groups[name] = said
        elif not text.get(name):
            text[name] = words.meaning(name)
    return text, {name: unit for name, unit in units.items() if unit}, groups


def link_to(explorer: Path, title: str, table: str) -> str:
    """Return a link to a table of an explorer page, encoded as `explorer/src/link.ts` reads it."""
    state = json.dumps(
        {"page": title, "table": table, "filters": [], "logarithmic": [], "views": {}}
    ).encode()
    return f"{explorer.name}#{base64.urlsafe_b64encode(state).decode()}"
