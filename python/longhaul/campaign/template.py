"""Scenarios that are merged from parts, and scenarios in which keys are set by path."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from longhaul._engine import LonghaulError, ScenarioError
from longhaul.files.names import suggestion, unknown

Scenario = dict[str, Any]


class TemplateError(LonghaulError):
    """Error: the scenario of a campaign or study cannot be read."""


# Wildcard for part of a label in a path; alone it matches all groups of flows.
EVERY = "*"

# Keys that select the algorithm or model of a table: a built-in kind, a Python class, a controller
# in another process, or a module of Linux. A table has at most one of them.
NAMES = ("kind", "python", "external", "module")


def merge_parts(parts: Sequence[Mapping[str, Any]]) -> Scenario:
    """Merge scenarios: tables are merged, lists are concatenated, other values are replaced."""
    whole: Scenario = {}
    for part in parts:
        _merge(whole, part)
    return whole


def _merge(lower: Scenario, upper: Mapping[str, Any]) -> None:
    for key, value in upper.items():
        below = lower.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            _merge(below, value)
        elif isinstance(below, list) and isinstance(value, Sequence):
            below.extend(deepcopy(list(value)))
        else:
            _replace(lower, key, value)


def _replace(table: Scenario, key: str, value: Any) -> None:  # noqa: ANN401
    """Set `key` in a table; a key of `NAMES` takes the place of the others.

    The `source` or `sha256` of a removed key is removed, too. All other keys stay.
    """
    if key in NAMES:
        for named, derived in (("python", "source"), ("external", "version"), ("module", "sha256")):
            if named in table:
                table.pop(derived, None)
        for name in NAMES:
            table.pop(name, None)
    # Copied, since later paths may change a part of the value, which other runs share.
    table[key] = deepcopy(value)


def read_template(file: Path, given: Any) -> Scenario:  # noqa: ANN401
    """Read a scenario from `given`: a table, or the name of a file such as a run's `run.json`."""
    if isinstance(given, Mapping):
        return _extending(dict(given), file)
    if not isinstance(given, str):
        raise TemplateError("scenario: expected a scenario file's name, or a table [scenario]")
    source = file.parent / given
    text = source.read_text(encoding="utf-8-sig")
    try:
        scenario = _of_run(json.loads(text)) if text.lstrip()[:1] == "{" else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise TemplateError(f"scenario: {source}: {error}") from None
    return _extending(scenario, source)


def place_of_template(file: Path, given: Any) -> Path:  # noqa: ANN401
    """Return the directory to which file names in a scenario are relative.

    `given` is the scenario as a table, or the name of its file relative to `file`.
    """
    return (file.parent / given).parent if isinstance(given, str) else file.parent


def _extending(scenario: Scenario, source: Path) -> Scenario:
    """Return a scenario from the file `source` with an absolute path in `extends`."""
    if isinstance(scenario.get("extends"), str):
        scenario["extends"] = str((source.parent / scenario["extends"]).resolve())
    return scenario


def _of_run(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario in a `run.json`; return any other document unchanged."""
    scenario = whole.get("scenario")
    return scenario if "results_version" in whole and isinstance(scenario, dict) else whole


def filled_in(template: Mapping[str, Any], values: Mapping[str, Any]) -> Scenario:
    """Return the scenario `template` with values set at paths such as `flows.LABEL.count`.

    `flows.*.recovery` sets a key in every group of flows, `flows.cross-*.recovery` in groups whose
    labels begin with `cross-`. Groups of 0 flows are left out.
    """
    scenario: Scenario = deepcopy(dict(template))
    for path, value in values.items():
        _put(scenario, path, value)
    if "flows" in scenario:
        scenario["flows"] = [flow for flow in scenario["flows"] if flow.get("count") != 0]
    return scenario


def _put(scenario: Scenario, path: str, value: Any) -> None:  # noqa: ANN401
    *way, last = path.split(".")
    for place in _places(scenario, way, path):
        if not isinstance(place, dict):
            raise ScenarioError(f"{path}: expected a table to set `{last}` in")
        _replace(place, last, value)


def _places(place: Any, way: Sequence[str], path: str) -> Iterator[Any]:  # noqa: ANN401
    """Follow the steps in `way` from the table or list `place`; yield the tables at the end.

    A step with `*` leads to all matching groups of flows. Missing tables are created. `path` is for
    messages.
    """
    if not way:
        yield place
        return
    step, *rest = way
    if isinstance(place, list) and not all(isinstance(each, dict) for each in place):
        raise ScenarioError(f"{path}: expected a list of tables to choose `{step}` from")
    if isinstance(place, list) and EVERY in step:
        for group in _groups(place, step, path):
            yield from _places(group, rest, path)
        return
    if not isinstance(place, list | dict):
        raise ScenarioError(f"{path}: expected a table to set `{step}` in")
    inner = _group(place, step, path) if isinstance(place, list) else place.setdefault(step, {})
    yield from _places(inner, rest, path)


def _groups(places: list[Any], pattern: str, path: str) -> list[Any]:
    """Return the groups of flows whose labels match a pattern; `*` matches all."""
    if pattern == EVERY:
        return places
    matching = [group for group in places if fnmatchcase(str(group.get("label", "")), pattern)]
    if not matching:
        labels = [str(group.get("label")) for group in places]
        raise ScenarioError(f"{path}: no label is like `{pattern}`{suggestion(pattern, labels)}")
    return matching


def _group(flows: list[Any], label: str, path: str) -> Any:  # noqa: ANN401
    """Return the group of flows with this label or, if there is none, with this index."""
    labels = [flow.get("label") for flow in flows]
    if label not in labels and label.isdecimal() and int(label) < len(flows):
        return flows[int(label)]
    if label not in labels:
        raise ScenarioError(f"{path}: {unknown('label', label, map(str, labels))}")
    return flows[labels.index(label)]
