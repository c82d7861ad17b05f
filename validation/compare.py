"""Runs Longhaul on the cases and judges them, several runs at a time.

Finished runs are kept in a cache under the hash of their scenario and of the compiled engine, so
that an interrupted comparison resumes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache as cache_result
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from longhaul import _engine
from validation import losses, ours, recordings
from validation.cases import Case
from validation.figures import Run, Trace
from validation.judge import Verdict, judge, judge_exactly
from validation.scenario import scenario

MORE_SEEDS = 4
"""Runs of Longhaul for each of ns-2's: seeds are comparable only by their means, and ours should
add little to the noise."""


@dataclass(frozen=True)
class Comparison:
    """A case in both simulators."""

    case: Case
    peer: list[Run]
    ours: list[Run]
    verdicts: list[Verdict]


def compare(
    cases: list[Case], cache: Path, processes: int, recorded: Path | None = None
) -> Iterator[Comparison]:
    """Compare the cases one after the other; each one's runs go in parallel."""
    cache.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        for case in cases:
            peer = recordings.load(case, recorded) if recorded else recordings.load(case)
            runs = list(pool.map(partial(_run, case, cache=cache), _inputs(case, peer)))
            verdicts = judge(case, peer, runs)
            if case.number("loss") > 0:
                replays = list(pool.map(partial(_replay, case, cache=cache), peer))
                verdicts += _judge_replays(case, peer, replays)
                # The picture shows the run with the same losses.
                runs[0] = Run(runs[0].seed, runs[0].flows, runs[0].link, replays[0].trace)
            yield Comparison(case, peer, runs, verdicts)


def _inputs(case: Case, peer: list[Run]) -> list[tuple[int, list[float] | None]]:
    """Return seed and start times of each run of Longhaul."""
    if case.deterministic:
        return [(peer[0].seed, None)]
    seeds = range(1, MORE_SEEDS * len(peer) + 1)
    if any(group.jitter_s > 0 for group in case.flow_groups):
        starts_s = cycle([flow.start_s for flow in run.flows] for run in peer)
        return list(zip(seeds, starts_s, strict=False))
    return [(seed, None) for seed in seeds]


def _judge_replays(case: Case, peer: list[Run], replays: list[Run]) -> list[Verdict]:
    """Return the worst of all seeds of every figure of the runs with ns-2's own losses."""
    worst: dict[str, Verdict] = {}
    for there, here in zip(peer, replays, strict=True):
        for verdict in judge_exactly(case, there, here):
            named = Verdict(**{**asdict(verdict), "metric": f"same losses: {verdict.metric}"})
            if named.metric not in worst or _badness(named) > _badness(worst[named.metric]):
                worst[named.metric] = named
    return list(worst.values())


def _badness(verdict: Verdict) -> tuple[bool, float]:
    return not verdict.within, abs(verdict.longhaul - verdict.peer)


def _run(case: Case, inputs: tuple[int, list[float] | None], *, cache: Path) -> Run:
    seed, starts_s = inputs
    plain = scenario(case, seed, starts_s)
    return _cached(cache, plain, lambda: ours.run(case, seed, starts_s))


def _replay(case: Case, peer: Run, *, cache: Path) -> Run:
    # Twice what was sent: the list must not end before the run does.
    packets = 2 * sum(flow.sent_pkts for flow in peer.flows)
    lost = losses.lost_packets(peer.seed, case.number("loss"), packets)
    plain = scenario(case, peer.seed, lost_packets=lost)
    return _cached(cache, plain, lambda: ours.run(case, peer.seed, lost_packets=lost))


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
