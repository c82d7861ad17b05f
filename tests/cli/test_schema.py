"""The JSON Schema for editors allows the same scenarios as the checker."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import CommandLine

import longhaul
from longhaul import _engine

Json = Any
SCHEMA: Json = json.loads(_engine.schema())
SCENARIOS = sorted((Path(longhaul.__file__).parent / "scenarios").glob("*.toml"))
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def faults(value: Json, schema: Json, path: str = "") -> list[str]:
    """Return the violations of a value, for the part of JSON Schema that our schema uses."""
    alternatives = [faults(value, one, path) for one in schema.get("anyOf", [])]
    found = min(alternatives, key=len, default=[])
    kind = schema.get("type")
    if kind and (
        not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")
    ):
        return [f"{path}: {value!r} is no {kind}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path}: {value!r} is not {schema['const']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{path}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        bounds = {
            "minimum": value >= schema.get("minimum", value),
            "maximum": value <= schema.get("maximum", value),
            "exclusiveMinimum": value > schema.get("exclusiveMinimum", value - 1),
            "exclusiveMaximum": value < schema.get("exclusiveMaximum", value + 1),
        }
        found += [f"{path}: {value} and {bound}" for bound, holds in bounds.items() if not holds]
    if isinstance(value, list):
        found += [
            fault
            for number, item in enumerate(value)
            for fault in faults(item, schema.get("items", {}), f"{path}.{number}")
        ]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{path}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, part in value.items():
            if key in properties:
                found += faults(part, properties[key], f"{path}.{key}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{path}: unknown key {key}")
    return found


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_example_is_valid(file: Path) -> None:
    assert faults(tomllib.loads(file.read_text()), SCHEMA) == []


BASE = """
duration = "10 s"
topology.dumbbell.bottleneck = { rate = "1 Gbps", delay = "50 ms" }
[[flows]]
"""


@pytest.mark.parametrize(
    "text",
    [
        BASE + "count = 0",
        BASE + "kount = 1",
        BASE + 'packet = "1500"',
        BASE + 'congestion = { kind = "hstcp", low_windo = 31 }',
        BASE + 'tcp = { rto = { min = "5 MB" } }',
        BASE.replace("50 ms", "50"),
        BASE.replace("delay", "dela"),
        "title = 5",
    ],
)
def test_what_the_checker_refuses_is_not_valid(text: str) -> None:
    assert faults(tomllib.loads(text), SCHEMA) != []
    with pytest.raises(longhaul.ScenarioError):
        _engine.Scenario.parse(text, "wrong.toml")


def test_defaults_are_allowed_and_explained() -> None:
    window = SCHEMA["properties"]["tcp"]["properties"]["initial_window"]
    assert window["default"] == 10
    assert "2 (ns2-2.35, ns2-2003)" in window["description"]
    assert "RFC 6928" in window["description"]

    def check(schema: Json) -> int:
        count = 0
        for part in schema.values() if isinstance(schema, dict) else ():
            if isinstance(part, dict) and isinstance(part.get("description"), str):
                count += "default" in part
                assert faults(part.get("default"), part) == [] or "default" not in part, part
            count += check(part)
        return count

    assert check(SCHEMA) > 60


def test_the_verb_writes_it(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "scenario.schema.json"
    assert cli("schema", "--out", file).returncode == 0
    assert json.loads(file.read_text()) == SCHEMA
    assert cli("schema", "--out", file).returncode == 2
