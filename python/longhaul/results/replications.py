"""Groups of runs that are replications: their scenarios differ only in random numbers."""

import json
from collections.abc import Sequence
from typing import TypeVar

from longhaul.results.kinds import RunData

# Keys of scenarios that change only random numbers.
RANDOM = ("seed", "replication")

AnyRun = TypeVar("AnyRun", bound=RunData)


def replicated(runs: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """Return the runs in groups of replications, in the order of each group's first run.

    Replications have equal scenarios except for random numbers.
    """
    alike: dict[str, list[AnyRun]] = {}
    for run in runs:
        rest = {key: value for key, value in run.scenario.items() if key not in RANDOM}
        # Flows of an emulation depend on its programs.
        programs = run.meta.get("emulation", {}).get("programs")
        alike.setdefault(json.dumps([rest, programs], sort_keys=True), []).append(run)
    return list(alike.values())


def named(group: Sequence[RunData]) -> str:
    """Return the name of a group of replications: the first run's name, and the number of runs."""
    first, *others = group
    return f"{first.name}, {len(group)} replications" if others else first.name
