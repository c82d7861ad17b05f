"""Values as TOML writes them."""

import json
from collections.abc import Mapping


def toml(value: object) -> str:
    """Return a value in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
