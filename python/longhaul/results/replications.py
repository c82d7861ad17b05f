"""Runs that are replications of each other: they differ in random numbers alone."""

import json
from collections.abc import Sequence
from typing import TypeVar

from longhaul.results.kinds import RunData

# Keys of scenarios that change random numbers and nothing else.
RANDOM = ("seed", "replication")

AnyRun = TypeVar("AnyRun", bound=RunData)


def replicated(runs: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """Return runs in groups of replications, in the order of the first of each."""
    alike: dict[str, list[AnyRun]] = {}
    for run in runs:
        rest = {key: value for key, value in run.scenario.items() if key not in RANDOM}
        # The flows of an emulation are those of its programs.
        programs = run.meta.get("emulation", {}).get("programs")
        alike.setdefault(json.dumps([rest, programs], sort_keys=True), []).append(run)
    return list(alike.values())


def named(group: Sequence[RunData]) -> str:
    """Return the name of a group: of its first run, and how many replications there are."""
    first, *others = group
    return f"{first.name}, {len(group)} replications" if others else first.name
