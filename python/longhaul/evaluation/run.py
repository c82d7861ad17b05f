"""Execution of an evaluation's runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError
from longhaul.campaign import Outcome as Progress
from longhaul.campaign import Store, execute
from longhaul.campaign.execute import Watch
from longhaul.campaign.sweep import Run
from longhaul.campaign.template import filled_in
from longhaul.evaluation import measure, stacks
from longhaul.evaluation.contenders import Contender
from longhaul.evaluation.suite import Suite
from longhaul.evaluation.verdicts import RunFigures


def evaluate(
    suite: Suite,
    contenders: Sequence[Contender],
    store: Path,
    *,
    scale: str = "quick",
    settings: Mapping[str, Any] | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
) -> tuple[list[RunFigures], Progress]:
    """Execute the runs that `store` lacks; return the values of all runs, and the progress.

    `store` is the directory of finished runs. `settings`, such as `{"profile": "linux"}`, are set
    in every scenario. Failed runs have no values; the progress lists these runs.
    """
    runs = [
        stacks.placed(replace(run, scenario=filled_in(run.scenario, settings or {})))
        for run in suite.runs(contenders, scale)
    ]
    if settings:
        _check(runs, settings, suite.terms.subject)
    kept = Store(store, measure.variant())
    progress = execute(runs, kept, workers=workers, watch=watch, reducer=measure.measure)
    measured = []
    for run in runs:
        of_run = kept.get(run.key)
        if of_run is not None:
            figures = of_run["figures"]
            measured.append(RunFigures(run.experiment, run.cell, run.replication, figures))
    return measured, progress


def evaluable(suite: Suite, contenders: Sequence[Contender], scale: str) -> Suite:
    """Return the suite, reduced to the experiments that all contenders' QUIC stacks support."""
    runs = [stacks.placed(run) for run in suite.runs(contenders, scale)]
    return suite.without(stacks.refused(runs))


def _check(runs: Sequence[Run], settings: Mapping[str, Any], axis: str) -> None:
    """Raise an error for invalid settings, before any run.

    One run of each experiment with each contender is checked; `axis` is the axis of contenders.
    """
    for run in {(run.experiment, run.cell[axis]): run for run in runs}.values():
        try:
            run.resolved  # noqa: B018
        except ScenarioError as error:
            first = str(error).splitlines()[0]
            key, _, problem = re.sub(r"^[^:]*:\d+:\d+: ", "", first).partition(": ")
            # The error may be in a part of the value, or in a table that contains the key.
            given = next((s for s in settings if key.startswith(s) or s.startswith(key)), None)
            if given is None:
                raise
            raise ScenarioError(f"--set {given}: {problem} (experiment {run.experiment})") from None
