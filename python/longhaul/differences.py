"""In what runs differ: their scenarios, and what makes their figures hard to compare."""

from collections.abc import Sequence
from typing import Any

from longhaul.results import Results


def of_scenarios(runs: Sequence[Results]) -> list[tuple[str, list[str]]]:
    """Values of the resolved scenarios that are not the same in all runs: path, and one per run.

    Empty where a run has no such value.
    """
    flat = [_flat(run.scenario) for run in runs]
    paths = dict.fromkeys(path for values in flat for path in values)
    rows = [(path, [values.get(path, "") for values in flat]) for path in paths]
    return [(path, values) for path, values in rows if len(set(values)) > 1]


def _flat(value: Any, path: str = "") -> dict[str, str]:  # noqa: ANN401
    """Plain values by dotted path."""
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        entries = [(str(index), item) for index, item in enumerate(value)]
    else:
        return {path: value if isinstance(value, str) else repr(value)}
    below = [_flat(item, f"{path}.{key}" if path else str(key)) for key, item in entries]
    return {place: text for values in below for place, text in values.items()}


def warnings(runs: Sequence[Results]) -> list[str]:
    """What to know before figures of the runs are compared."""
    found = []
    for what, values in (
        ("simulated times", [f"{run.meta['simulated_s']:g} s" for run in runs]),
        ("measurement windows", [_window(run) for run in runs]),
        ("results versions", [str(run.meta["results_version"]) for run in runs]),
    ):
        if len(set(values)) > 1:
            each = ", ".join(f"{run.name}: {v}" for run, v in zip(runs, values, strict=True))
            found.append(f"the runs differ in their {what} ({each})")
    found += [f"{run.name}: {run.stopped}" for run in runs if run.stopped]
    return found


def _window(run: Results) -> str:
    return f"{run.meta['simulated_s'] - run.meta['measured_from_s']:g} s"
