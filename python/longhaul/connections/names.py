"""Which figures runs of a scenario have, before one has been done."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from longhaul._engine import Scenario
from longhaul.results.summary import Summary


def without_numbers(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Tables of the figures that runs of scenarios have: the names without the numbers."""
    resolved = [json.loads(scenario.resolved_json()) for scenario in scenarios]
    labels = [flow["label"] for scenario in resolved for flow in scenario["flows"]]
    links = [link for scenario in scenarios for link in scenario.links]
    summary = Summary.without_flows(
        delays=any(scenario["measure"]["delays"] for scenario in resolved)
    )
    of_all = _row(summary.labels, "label", "")
    return {
        "all": {key: value for key, value in of_all.items() if key in summary.total},
        "labels": [_row(summary.labels, "label", label) for label in dict.fromkeys(labels)],
        "links": [_row(summary.links, "link", link) for link in dict.fromkeys(links)],
    }


def _row(table: pl.DataFrame, key: str, name: str) -> dict[str, Any]:
    """A row that has a name, and otherwise no values but empty texts."""
    texts = {column: "" for column, kind in table.schema.items() if kind == pl.String}
    return {**dict.fromkeys(table.columns), **texts, key: name}
