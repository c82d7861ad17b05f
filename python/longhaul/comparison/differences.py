"""Differences between the scenarios of runs, and warnings if the runs are hard to compare."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from longhaul._engine import LonghaulError
from longhaul.results import Results, with_distinct_names
from longhaul.results.replications import replicated
from longhaul.running.loading import load

# A key's path, and its value in each run.
Row = tuple[str, list[str]]


def of_scenarios(runs: Sequence[Results]) -> list[Row]:
    """Return the values of resolved scenarios that differ between runs.

    A row has the path of a key and its value in each run, which is empty if the run lacks the key.
    """
    flat = [_flat(run.scenario) for run in runs]
    paths = dict.fromkeys(path for values in flat for path in values)
    rows = [(path, [values.get(path, "") for values in flat]) for path in paths]
    return [(path, values) for path, values in rows if len(set(values)) > 1]


def given_and_derived(runs: Sequence[Results]) -> tuple[list[Row], list[Row]]:
    """Divide the rows of `of_scenarios` into values that scenarios must give, and implied values.

    A value is implied if it stays when its key, or a table that contains the key, is removed from
    the scenario: other keys or defaults imply it. All implied values can be removed together,
    unless the scenario is then invalid.
    """
    rows = of_scenarios(runs)
    derived = []
    for index, run in enumerate(runs):
        alone = {path for path, values in rows if values[index] and _follows(run.scenario, path)}
        derived.append(_following_together(run.scenario, alone))
    follows = {
        path
        for path, values in rows
        if all(path in of_run for value, of_run in zip(values, derived, strict=True) if value)
    }
    return [row for row in rows if row[0] not in follows], [
        row for row in rows if row[0] in follows
    ]


def _follows(scenario: dict[str, Any], path: str) -> bool:
    steps = path.split(".")
    value = _at(scenario, steps)
    for length in range(len(steps), 0, -1):
        without = copy.deepcopy(scenario)
        if not _remove(without, steps[:length]):
            continue
        try:
            again: Any = json.loads(load(without).resolved_json())
        except LonghaulError:
            continue
        if _at(again, steps) == value:
            return True
    return False


def _following_together(scenario: dict[str, Any], paths: set[str]) -> set[str]:
    """Return those of `paths` whose values are implied by defaults and by keys outside `paths`.

    Return all of `paths` if the scenario without them is invalid.
    """
    # A single key of a table such as `pacing` may follow from the presence of the table.
    without = copy.deepcopy(scenario)
    for path in paths:
        steps = path.split(".")
        while _remove(without, steps) and len(steps) > 1 and _at(without, steps[:-1]) == {}:
            steps = steps[:-1]
    try:
        again: Any = json.loads(load(without).resolved_json())
    except LonghaulError:
        return paths
    return {path for path in paths if _at(again, path.split(".")) == _at(scenario, path.split("."))}


def _at(place: Any, steps: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the value at the path `steps` of a nested table; None if there is none."""
    for step in steps:
        if isinstance(place, list):
            place = place[int(step)] if int(step) < len(place) else None
        else:
            place = place.get(step) if isinstance(place, dict) else None
    return place


def _remove(scenario: Any, steps: Sequence[str]) -> bool:  # noqa: ANN401
    """Remove the value at the path `steps` of a scenario, if it is there.

    Return false if the path does not lead into a table. Entries of lists are not removed, because
    other entries would shift.
    """
    place = _at(scenario, steps[:-1])
    if not isinstance(place, dict):
        return False
    place.pop(steps[-1], None)
    return True


def _flat(value: Any, path: str = "") -> dict[str, str]:  # noqa: ANN401
    """Return all values of nested tables by dotted path; `path` is the path of `value` itself.

    A list without tables is one value. Empty tables are left out.
    """
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        entries = [(str(index), item) for index, item in enumerate(value)]
    else:
        return {path: value if isinstance(value, str) else repr(value)}
    below = [_flat(item, f"{path}.{key}" if path else str(key)) for key, item in entries]
    return {place: text for values in below for place, text in values.items()}


def warnings(runs: Sequence[Results]) -> list[str]:
    """Return warnings that users should read before they compare the metrics of the runs."""
    messages = []
    runs = with_distinct_names(runs)
    for what, values in (
        ("simulated times", [f"{run.meta['simulated_s']:g} s" for run in runs]),
        ("measurement windows", [f"{run.measured_s:g} s" for run in runs]),
        ("results versions", [str(run.meta["results_version"]) for run in runs]),
    ):
        if len(set(values)) > 1:
            each = ", ".join(f"{run.name}: {v}" for run, v in zip(runs, values, strict=True))
            messages.append(f"the runs differ in their {what} ({each})")
    messages += [f"{run.name}: {run.stopped}" for run in runs if run.stopped]
    return messages + [f"{names} have the same figures: {why}" for names, why in same_figures(runs)]


def same_figures(runs: Sequence[Results]) -> list[tuple[str, str]]:
    """Return groups of runs that draw no random number and differ only in seed or replication.

    An entry has the names of the runs, and the reason why they draw none.
    """
    equal = []
    for group in replicated(runs):
        if len({run.meta["scenario_hash"] for run in group}) < 2:
            continue
        try:
            why = load(group[0].scenario).nothing_drawn
        except LonghaulError:
            # The run is of another version, or its algorithm's file no longer exists.
            continue
        if why:
            equal.append((", ".join(run.name for run in group), why))
    return equal
