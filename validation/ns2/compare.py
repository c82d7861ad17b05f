"""Runs of Longhaul for the cases, in parallel, and their comparison with ns-2's runs.

Finished runs are cached under a hash of their scenario and of the compiled engine, so an
interrupted comparison resumes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache as cache_result
from functools import partial
from pathlib import Path
from typing import Any

from longhaul import _engine
from validation.ns2 import ours, recordings
from validation.ns2.cases import Case
from validation.ns2.judge import judge, judge_exactly
from validation.ns2.runs import Run, Trace
from validation.ns2.sawtooth import judge_sawtooth
from validation.ns2.scenario import scenario
from validation.rows import Row
from validation.tables import distance
from validation.workers import pool


@dataclass(frozen=True)
class Comparison:
    """A case with the runs of both simulators, and the verdicts on its figures."""

    case: Case
    peer: list[Run]
    ours: list[Run]
    verdicts: list[Row]


def compare(
    cases: list[Case], cache: Path, processes: int, recorded: Path | None = None
) -> Iterator[Comparison]:
    """Compare the cases one after the other; the runs of one case are made in parallel.

    `recorded` is the directory of ns-2's recordings, by default `GOLD` of `cases.py`.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with pool(processes) as workers:
        for case in cases:
            peer = recordings.load(case, recorded) if recorded else recordings.load(case)
            runs = list(workers.map(partial(_run, case, cache=cache), [run.seed for run in peer]))
            yield Comparison(case, peer, runs, _judge(case, peer, runs))


def _judge(case: Case, peer: list[Run], ours: list[Run]) -> list[Row]:
    if case.linux:
        return list(judge_sawtooth(case, peer[0], ours[0]))
    verdicts = judge(case, peer, ours)
    if case.number("loss") > 0:
        verdicts += _judge_run_by_run(case, peer, ours)
    return verdicts


def _judge_run_by_run(case: Case, peer: list[Run], ours: list[Run]) -> list[Row]:
    """Compare runs of equal seeds, and return each figure's worst verdict over all seeds.

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
    return not row.within, distance(row)


def _run(case: Case, seed: int, *, cache: Path) -> Run:
    return _cached(cache, scenario(case, seed), lambda: ours.run(case, seed))


def _cached(cache: Path, plain: dict[str, Any], run: Callable[[], Run]) -> Run:
    key = json.dumps([_engine_hash(), plain], sort_keys=True).encode()
    path = cache / f"{hashlib.sha256(key).hexdigest()[:24]}.json"
    if path.exists():
        stored = json.loads(path.read_text())
        return Run.from_json(stored["figures"], Trace(**stored["trace"]))
    result = run()
    assert result.trace is not None
    stored = {"figures": result.to_json(), "trace": asdict(result.trace)}
    unfinished = path.with_suffix(".partial")
    unfinished.write_text(json.dumps(stored))
    unfinished.rename(path)
    return result


@cache_result
def _engine_hash() -> str:
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()
