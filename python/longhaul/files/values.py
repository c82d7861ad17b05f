"""Parsing of single values on command lines and in files without a schema."""

import tomllib
from typing import Any

from longhaul._engine import ScenarioError


def value(written: str) -> Any:  # noqa: ANN401
    """Parse a single TOML value; raise `tomllib.TOMLDecodeError` if it is invalid."""
    return tomllib.loads(f"value = {written}")["value"]


def assignment(written: str) -> tuple[str, Any]:
    """Parse a `KEY=VALUE` of the option `--set`; texts need no quotation marks."""
    key, equals, text = written.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"--set {written}: expected KEY=VALUE")
    try:
        return key.strip(), value(text)
    except tomllib.TOMLDecodeError:
        return key.strip(), text.strip()


def memory_bytes(written: str) -> int:
    """Return the number of bytes of a memory limit such as `2 GB`."""
    units = {"MB": 10**6, "GB": 10**9, "MiB": 2**20, "GiB": 2**30}
    number, _, unit = written.partition(" ")
    try:
        count = int(float(number) * units[unit.strip()])
    except (KeyError, OverflowError, ValueError):
        count = 0
    if count < 1:
        raise ScenarioError(f'memory = {written!r}: expected for example "2 GB"')
    return count
