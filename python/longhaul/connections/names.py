"""Names of the metrics that the runs of a scenario will have, known before any run."""

import json
from collections.abc import Sequence
from typing import Any

from longhaul._engine import Scenario
from longhaul.figures.registry import LABEL, LINK, PROXY, ROWS, RUN, every

# Tables of runs that are optional, with the key of `measure` that enables each.
_MEASURED = {"series": "every", "events": "events", "delays": "delays"}
# Figures whose values are texts, which cannot be responses.
_TEXTS = ("limited_by",)


def without_numbers(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return summaries of scenarios that have not been run: all names of metrics, no values."""
    resolved = [json.loads(scenario.resolved_json()) for scenario in scenarios]
    labels = [flow["label"] for scenario in resolved for flow in scenario["flows"]]
    links = [link for scenario in scenarios for link in scenario.links]
    proxies = [proxy["name"] for scenario in resolved for proxy in scenario.get("proxies", ())]
    lacking = {
        table
        for table, key in _MEASURED.items()
        if all(scenario["measure"].get(key) in (None, False, "never") for scenario in resolved)
    }
    if not proxies:
        lacking.add("proxies")
    there = [figure for figure in every() if lacking.isdisjoint(figure.needs)]

    def figures(*of: str) -> dict[str, Any]:
        names = [figure.name for figure in there if figure.of in of]
        return {name: "" if name in _TEXTS else None for name in names}

    owners = {LABEL: labels, LINK: links, **({PROXY: proxies} if proxies else {})}
    return {"all": figures(LABEL, RUN)} | {
        ROWS[of]: [{of: name} | figures(of) for name in dict.fromkeys(names)]
        for of, names in owners.items()
    }
