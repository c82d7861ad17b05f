"""Descriptions of the columns in a campaign's table, taken from scenario keys and responses."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from longhaul import _engine
from longhaul.campaign.responses import Response
from longhaul.campaign.sweep import Setting
from longhaul.figures import words

# Descriptions of columns that are neither factors nor responses.
OTHERS = {
    "run": "number of the combination of levels",
    "replication": "number of the repetition: each has its own random numbers",
    "block": "block of the design",
    "tables": "directory of a run's kept tables",
}


@cache
def _keys() -> dict[str, str]:
    """Return the description of each scenario key, by path."""
    return {row["name"]: row["description"] for row in _engine.scenario_keys()}


def of_key(path: str) -> str:
    """Return the description of the scenario key at `path`; empty if there is no such key."""
    keys = _keys()
    steps = path.split(".")
    # The description of `kind` or `limit` may be that of its table, such as a queue.
    tries = [steps, steps[:-1]] if steps[-1] in ("kind", "limit") else [steps]
    for tried in tries:
        for name, description in keys.items():
            parts = name.split(".")
            if len(parts) == len(tried) and all(
                part in ("*", step) for part, step in zip(parts, tried, strict=True)
            ):
                return description
    # Descriptions end with the original MesoNet's parameter names in parentheses.
    named = re.compile(rf"\({re.escape(steps[-1])}\)")
    return next((text for text in keys.values() if named.search(text)), "")


def of_factors(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Return the description of each factor, which names the scenario keys that it sets."""
    paths: dict[str, list[str]] = {}
    for path, setting in settings.items():
        if setting.factor is not None:
            paths.setdefault(setting.factor, []).append(path)
    meanings = {}
    for factor, places in paths.items():
        first = of_key(places[0]).rstrip(".")
        meanings[factor] = f"sets {', '.join(places)}" + (f": {first}" if first else "")
    return meanings


def of_responses(responses: Sequence[Response]) -> dict[str, str]:
    """Return the description of each response; for a user's function, it names the function.

    Responses whose meaning is unknown are left out.
    """
    meanings = {}
    for response in responses:
        if response.function:
            meanings[response.name] = f"measured by {response.function}"
        elif text := words.meaning(response.place):
            renamed = f"{response.place}: " if response.place != response.name else ""
            meanings[response.name] = renamed + text
    return meanings


def of_table(settings: Mapping[str, Setting], responses: Sequence[Response]) -> dict[str, Any]:
    """Return descriptions of a campaign table's columns, except provenance, for its metadata."""
    return OTHERS | of_factors(settings) | of_responses(responses)
