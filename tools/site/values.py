"""Formatting of values as TOML."""

import json
from collections.abc import Mapping


def toml(value: object) -> str:
    """Return `value` as one line of TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
