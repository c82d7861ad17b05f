"""Names of the metrics that the runs of a scenario will have, known before any run."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from longhaul._engine import Scenario
from longhaul.figures.registry import LABEL, LINK, PROXY, RUN, every
from longhaul.results.summary import Summary

# Tables of runs that are optional, with the key of `measure` that enables each.
_MEASURED = {"series": "every", "events": "events", "delays": "delays"}


def without_numbers(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return summaries of scenarios that have not been run: all names of metrics, no values."""
    resolved = [json.loads(scenario.resolved_json()) for scenario in scenarios]
    labels = [flow["label"] for scenario in resolved for flow in scenario["flows"]]
    links = [link for scenario in scenarios for link in scenario.links]
    lacking = {
        table
        for table, key in _MEASURED.items()
        if all(scenario["measure"].get(key) in (None, False, "never") for scenario in resolved)
    }
    proxies = [proxy["name"] for scenario in resolved for proxy in scenario.get("proxies", ())]
    if not proxies:
        lacking.add("proxies")
    summary = Summary.without_flows(delays="delays" not in lacking, proxies=bool(proxies))
    of_all = _row(summary.labels, "label", "")
    there = [figure for figure in every() if lacking.isdisjoint(figure.needs)]

    def with_figures(row: dict[str, Any], *of: str) -> dict[str, Any]:
        return row | {
            figure.name: None for figure in there if figure.of in of and figure.name not in row
        }

    total = {key: value for key, value in of_all.items() if key in summary.total}
    by_label = [_row(summary.labels, "label", label) for label in dict.fromkeys(labels)]
    by_link = [_row(summary.links, "link", link) for link in dict.fromkeys(links)]
    by_proxy = [_row(summary.proxies, PROXY, proxy) for proxy in dict.fromkeys(proxies)]
    return {
        "all": with_figures(total, LABEL, RUN),
        "labels": [with_figures(row, LABEL) for row in by_label],
        "links": [with_figures(row, LINK) for row in by_link],
        **({"proxies": [with_figures(row, PROXY) for row in by_proxy]} if by_proxy else {}),
    }


def _row(table: pl.DataFrame, key: str, name: str) -> dict[str, Any]:
    """Return a row with the columns of `table`, empty except for `name` in `key`."""
    texts = {column: "" for column, kind in table.schema.items() if kind == pl.String}
    return {**dict.fromkeys(table.columns), **texts, key: name}
