"""Values of TOML that stand alone: on a command line."""

import tomllib
from typing import Any

from longhaul._engine import ScenarioError


def value(written: str) -> Any:  # noqa: ANN401
    """A value of TOML, or tomllib's error."""
    return tomllib.loads(f"value = {written}")["value"]


def assignment(written: str, option: str = "--set") -> tuple[str, Any]:
    """The key and the value of `KEY=VALUE`; a word without quotation marks is a text, too."""
    key, equals, text = written.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"{option} {written}: expected KEY=VALUE")
    try:
        return key.strip(), value(text)
    except tomllib.TOMLDecodeError:
        return key.strip(), text.strip()
