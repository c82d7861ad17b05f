"""Writer of scenarios as TOML text."""

import json
from collections.abc import Mapping
from typing import Any

from longhaul.campaign.template import Scenario


def as_toml(scenario: Scenario) -> str:
    """Return a scenario as TOML: values first, then its tables with one line per key."""
    lines = [_line(key, value) for key, value in scenario.items() if not isinstance(value, Mapping)]
    for name, table in scenario.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]", *(_line(*entry) for entry in table.items())]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any) -> str:  # noqa: ANN401
    return f"{_key(key)} = {_inline(value)}"


def _inline(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_line(*entry) for entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    # Strings, numbers and truth values are written as in JSON.
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    bare = name.replace("-", "").replace("_", "")
    return name if bare.isascii() and bare.isalnum() else json.dumps(name, ensure_ascii=False)
