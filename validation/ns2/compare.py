"""Runs of Longhaul for all cases, in parallel, and their comparison with ns-2's runs.

Finished runs are cached under a hash of their scenario and of the compiled engine, so an
interrupted comparison can be resumed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path

from longhaul import _engine
from longhaul.files.writing import write_text
from validation.experiments import pool
from validation.ns2 import ours, recordings
from validation.ns2.cases import GOLD, Case
from validation.ns2.judge import judge, judge_exactly
from validation.ns2.runs import Run, Trace
from validation.ns2.sawtooth import judge_sawtooth
from validation.ns2.scenario import scenario
from validation.rows import Row


@dataclass(frozen=True)
class Comparison:
    """A case with the runs of both simulators, and the verdicts on its values."""

    case: Case
    peer: list[Run]
    """Runs of ns-2."""
    ours: list[Run]
    verdicts: list[Row]


def compare(
    cases: list[Case], store: Path, processes: int, recorded: Path = GOLD
) -> Iterator[Comparison]:
    """Compare the cases one after the other; yield the comparison of each case.

    Longhaul's runs of one case are made in parallel by `processes` processes. `store` is the
    directory of finished runs, `recorded` the directory of ns-2's recordings.
    """
    with pool(processes) as workers:
        for case in cases:
            peer = recordings.load(case, recorded)
            runs = list(workers.map(partial(_run, case, store), [run.seed for run in peer]))
            yield Comparison(case, peer, runs, _judge(case, peer, runs))


def _judge(case: Case, peer: list[Run], ours: list[Run]) -> list[Row]:
    if case.linux:
        return list(judge_sawtooth(case, peer[0], ours[0]))
    verdicts = judge(case, peer, ours)
    if case.number("loss") > 0:
        verdicts += _judge_run_by_run(case, peer, ours)
    return verdicts


def _judge_run_by_run(case: Case, peer: list[Run], ours: list[Run]) -> list[Row]:
    """Compare runs of equal seeds, and return the worst verdict over all seeds for each metric.

    Used for cases in which both simulators lose the same packets.
    """
    worst: dict[str, Row] = {}
    for there, here in zip(peer, ours, strict=True):
        for verdict in judge_exactly(case, there, here):
            named = replace(verdict, metric=f"run by run: {verdict.metric}")
            if named.metric not in worst or _badness(named) > _badness(worst[named.metric]):
                worst[named.metric] = named
    return list(worst.values())


def _badness(row: Row) -> tuple[bool, float]:
    return not row.within, row.distance


def _run(case: Case, store: Path, seed: int) -> Run:
    """Return Longhaul's run of a case with one seed, from the directory `store` if `store` has it.

    Otherwise simulate the case, and write the run to `store`.
    """
    key = json.dumps([_engine_hash(), scenario(case, seed)], sort_keys=True).encode()
    path = store / f"{hashlib.sha256(key).hexdigest()[:24]}.json"
    if path.exists():
        stored = json.loads(path.read_text())
        return Run.from_json(stored["figures"], Trace(**stored["trace"]))
    run = ours.run(case, seed)
    assert run.trace is not None
    write_text(path, json.dumps({"figures": run.to_json(), "trace": asdict(run.trace)}))
    return run


@cache
def _engine_hash() -> str:
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()
