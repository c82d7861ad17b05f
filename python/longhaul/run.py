"""From a scenario to a run directory."""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul._engine import Scenario
from longhaul.results import Results

# A path, the text of a scenario file (it has more than one line), or the same as nested mappings.
ScenarioSource = str | Path | Mapping[str, Any]

# Called with the simulated seconds and the data packets so far, about ten times a second.
Progress = Callable[[float, int], object]


def load(scenario: ScenarioSource, set: Sequence[str] = ()) -> Scenario:
    """Check a scenario and fill in its defaults; `set` holds `key=value` overrides."""
    if isinstance(scenario, Mapping):
        return Scenario.parse(json.dumps(scenario), "scenario", list(set))
    if isinstance(scenario, str) and "\n" in scenario:
        return Scenario.parse(scenario, "scenario", list(set))
    return Scenario.load(str(scenario), list(set))


def run(
    scenario: ScenarioSource,
    *,
    out: str | Path | None = None,
    set: Sequence[str] = (),
    progress: bool | Progress = False,
    overwrite: bool = False,
) -> Results:
    """Simulate a scenario and return its results.

    The run directory goes to `out`, or to a temporary directory that lives as long as the results.
    `progress` shows a bar on the terminal, or calls a function of yours.
    """
    return run_loaded(load(scenario, set), out=out, progress=progress, overwrite=overwrite)


def run_loaded(
    scenario: Scenario,
    *,
    out: str | Path | None,
    progress: bool | Progress = False,
    overwrite: bool = False,
) -> Results:
    """`run` for a scenario that is already checked."""
    if out is not None:
        _simulate(scenario, Path(out), progress=progress, overwrite=overwrite)
        return Results(out)
    scratch = Path(tempfile.mkdtemp(prefix="longhaul-"))
    try:
        _simulate(scenario, scratch / "run", progress=progress, overwrite=False)
    except BaseException:
        shutil.rmtree(scratch)
        raise
    return Results(scratch / "run", scratch=scratch)


def _simulate(scenario: Scenario, out: Path, *, progress: bool | Progress, overwrite: bool) -> None:
    if progress is True:
        from longhaul.progress import bar

        with bar(scenario.title, scenario.duration_s) as advance:
            scenario.run(str(out), progress=advance, overwrite=overwrite)
    else:
        scenario.run(str(out), progress=progress or None, overwrite=overwrite)
