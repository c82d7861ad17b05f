"""Execution of the runs that are not in the store, by simulated workers that answer at once."""

import os
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, WorkersHere

import longhaul
from longhaul._engine import RunError
from longhaul.campaign import Run, Store, execute
from longhaul.campaign.execute import Outcome, _Progress, reduced
from longhaul.campaign.leases import Leases
from longhaul.campaign.pool import LocalWorkers, RunOutcome

MODULE = sys.modules[Outcome.__module__]
TEMPLATE = tomllib.loads(SMALL)
KEPT = {"run": {"data_packets": 100}}


def run(duration_s: int, seed: int = 1) -> Run:
    """Return a run of the small scenario at 20 Mbit/s, with a cost proportional to its duration."""
    scenario = {**TEMPLATE, "duration": f"{duration_s} s", "seed": seed}
    return Run("e", {"duration": duration_s}, 0, scenario)


@dataclass
class Answers:
    """Simulated workers, which end each run at once.

    A run ends with the next outcome that `errors` has for its key, or succeeds if there is none.
    """

    errors: dict[str, list[RunOutcome]] = field(default_factory=dict)
    capacity: int = 1
    parts: dict[str, float] = field(default_factory=dict)
    submitted: list[str] = field(default_factory=list)
    is_closed: bool = False
    _waiting: list[str] = field(default_factory=list)

    def threads(self, runs: int) -> int:
        """Give each run one thread."""
        return 1

    def submit(self, key: str, work: Any, *arguments: Any) -> None:  # noqa: ANN401
        """Record the key of a submitted run."""
        self.submitted.append(key)
        self._waiting.append(key)

    def finished(self, timeout_s: float) -> list[RunOutcome]:
        """End the runs that were submitted, and return their outcomes."""
        ended, self._waiting = self._waiting, []
        return [
            self.errors[key].pop(0) if self.errors.get(key) else RunOutcome(key, (100, KEPT, {}))
            for key in ended
        ]

    def under_way(self) -> dict[str, float]:
        """Return `parts`, the finished fraction of each run in progress."""
        return self.parts

    def close(self) -> None:
        """Record in `is_closed` that the workers were closed."""
        self.is_closed = True


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll other programs without pauses, in every test."""
    monkeypatch.setattr(MODULE, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(MODULE, "OTHERS_EVERY_S", 0.0)


def test_the_cost_of_a_run_is_its_duration_times_the_slowest_rate() -> None:
    """Check a run's cost in packets of 1500 bytes: duration times the slowest link's rate."""
    assert run(6).expected_packets == pytest.approx(6 * 20e6 / 12e3)
    assert run(12).expected_packets == pytest.approx(2 * run(6).expected_packets)


def test_runs_that_are_asked_for_first_precede_the_longest(tmp_path: Path) -> None:
    """Check the order of runs: those that are asked for first, then the longest.

    Runs of equal length keep their order.
    """
    given = [run(4, 1), run(8, 1), run(4, 2), run(8, 2), run(3)]
    keys = [one.key for one in given]
    workers = Answers()
    execute(given, Store(tmp_path), workers=workers, first={keys[4]})
    assert workers.submitted == [keys[at] for at in (4, 1, 3, 0, 2)]
    assert workers.is_closed


def test_runs_are_counted_once_and_the_work_that_is_left_falls_to_zero(tmp_path: Path) -> None:
    """Check the counts of runs, and that the remaining work falls to zero.

    A run that is asked for twice, or that is in the store, is not executed again.
    """
    store, workers = Store(tmp_path), Answers()
    first, second, third = run(4), run(6), run(8)
    store.put(first.key, KEPT)
    left: list[float] = []
    outcome = execute(
        [first, second, third, second], store, workers=workers,
        watch=lambda seen: left.append(seen.expected_left),
    )  # fmt: skip
    assert (outcome.total, outcome.found, outcome.finished, outcome.failed) == (3, 1, 2, [])
    assert (outcome.done, outcome.data_packets) == (3, 200)
    costs = [one.expected_packets for one in (second, third)]
    assert outcome.expected_done == pytest.approx(sum(costs))
    assert [left[0], left[1], left[-1]] == pytest.approx([sum(costs), costs[0], 0.0], abs=1e-6)
    assert store.get(second.key) == KEPT
    assert list((tmp_path / "claims").iterdir()) == []


def test_nothing_is_executed_if_all_runs_are_stored(tmp_path: Path) -> None:
    """Check that nothing is executed if all runs are stored.

    Progress is reported once, and the pool of workers is closed.
    """
    store, workers, told = Store(tmp_path), Answers(), []
    store.put(run(4).key, KEPT)
    outcome = execute([run(4)], store, workers=workers, watch=lambda seen: told.append(seen.done))
    assert (outcome.found, told, workers.submitted, workers.is_closed) == (1, [1], [], True)
    assert not (tmp_path / "claims").exists()


@pytest.mark.parametrize(
    ("is_lost", "retries", "attempts"),
    [(False, 0, 1), (False, 1, 2), (False, 3, 4), (True, 0, 2), (True, 1, 2), (True, 2, 3)],
)
def test_a_run_is_repeated_as_often_as_asked_and_once_if_its_worker_was_lost(
    is_lost: bool, retries: int, attempts: int, tmp_path: Path
) -> None:
    """Check that a failing run is repeated `retries` times, at least once if a worker was lost.

    The failure is then recorded, and the run's lease is released for other programs.
    """
    key, store = run(4).key, Store(tmp_path)
    workers = Answers({key: [RunOutcome(key, error="no luck", is_lost=is_lost)] * 9})
    outcome = execute([run(4)], store, workers=workers, retries=retries)
    assert workers.submitted == [key] * attempts
    [(failed, message)] = outcome.failed
    assert (failed.key, message, outcome.done, outcome.finished) == (key, "no luck", 1, 0)
    assert outcome.expected_left == 0.0
    assert (store.failure(key) or (0.0, ""))[1] == "no luck"
    assert list((tmp_path / "claims").iterdir()) == []


def test_a_success_clears_the_failures_before_it(tmp_path: Path) -> None:
    """Check that a run's success removes the record of its earlier failures.

    The run failed once in an earlier program, and once in its first attempt here.
    """
    key, store = run(4).key, Store(tmp_path)
    store.record_failure(key, "long ago")
    for file in tmp_path.glob("failed-*/*"):
        os.utime(file, (1.0, 1.0))
    workers = Answers({key: [RunOutcome(key, error="no luck")]})
    outcome = execute([run(4)], store, workers=workers, retries=1)
    assert (outcome.finished, outcome.failed, len(workers.submitted)) == (1, [], 2)
    assert store.failure(key) is None


def test_a_failure_of_storage_stops_all_runs(tmp_path: Path) -> None:
    """Check that a full disk stops all runs.

    No run is recorded as failed, because the same command can finish all runs later.
    """
    long, short, store = run(8), run(4), Store(tmp_path)
    workers = Answers({long.key: [RunOutcome(long.key, error="disk full", is_storage=True)]})
    with pytest.raises(RunError, match=r"^disk full; finished runs are kept; run the same command"):
        execute([short, long], store, workers=workers, retries=3)
    assert (workers.submitted, workers.is_closed) == ([long.key], True)
    assert store.failure(long.key) is None
    assert list((tmp_path / "claims").iterdir()) == []


def test_the_values_of_the_first_run_that_ends_are_checked(tmp_path: Path) -> None:
    """Check that the values of the first run to end are passed to `check`.

    If the check raises an error, the campaign stops after this run, whose values are kept.
    """
    seen: list[Any] = []
    execute([run(4), run(6)], Store(tmp_path / "a"), workers=Answers(), check=seen.append)
    assert seen == [KEPT]

    def refuse(kept: object) -> None:
        raise RunError("no such column")

    store, workers = Store(tmp_path / "b"), Answers()
    with pytest.raises(RunError, match="no such column"):
        execute([run(4), run(6)], store, workers=workers, check=refuse)
    assert (workers.submitted, store.has(run(6).key)) == ([run(6).key], True)


def test_the_fraction_of_runs_in_progress_is_their_mean(tmp_path: Path) -> None:
    """Check the reported progress: the mean completed fraction of the runs in progress.

    A run in progress that has not reported its fraction counts as 0.
    """
    long, short = run(8), run(4)
    told: list[tuple[int, float]] = []
    workers = Answers(capacity=2, parts={long.key: 0.5})
    execute(
        [long, short], Store(tmp_path), workers=workers,
        watch=lambda seen: told.append((seen.running, seen.running_part)),
    )  # fmt: skip
    # No run is in progress at first; later one of the two has ended.
    assert told[0][0] == 0
    assert (1, 0.5) in told


def test_at_most_as_many_runs_are_in_progress_as_workers_have_room_for(tmp_path: Path) -> None:
    """Check that only as many runs are in progress as the workers have room for.

    With room for two, the first two runs are submitted together.
    """
    together: list[int] = []

    class Counting(Answers):
        def finished(self, timeout_s: float) -> list[RunOutcome]:
            together.append(len(self._waiting))
            return super().finished(timeout_s)

    execute([run(n) for n in (4, 5, 6)], Store(tmp_path), workers=Counting(capacity=2))
    assert together == [2, 1]


def another(tmp_path: Path, act: Callable[[Store], None]) -> tuple[Outcome, Answers]:
    """Execute two runs; return the outcome, and the simulated workers that executed the runs.

    `act` is what another program does to the store before the first of the two runs ends.
    """
    acted: list[bool] = []

    def watch(seen: Outcome) -> None:
        if not acted:
            acted.append(True)
            act(Store(tmp_path))

    workers = Answers()
    outcome = execute([run(8), run(4)], Store(tmp_path), workers=workers, watch=watch)
    return outcome, workers


def test_a_run_that_another_program_finished_is_found(tmp_path: Path) -> None:
    """Check that a run is not executed if another program has stored its values meanwhile."""
    outcome, workers = another(tmp_path, lambda store: store.put(run(4).key, KEPT))
    assert (outcome.found, outcome.finished, workers.submitted) == (1, 1, [run(8).key])
    assert outcome.done == outcome.total
    assert outcome.expected_left == pytest.approx(0.0, abs=1e-6)


def test_a_run_that_failed_in_another_program_meanwhile_has_failed(tmp_path: Path) -> None:
    """Check that a run counts as failed if it failed in another program meanwhile.

    Programs that share a store do not repeat each other's failed runs.
    """

    def fail(store: Store) -> None:
        store.record_failure(run(4).key, "no luck there")
        for file in tmp_path.glob("failed-*/*"):
            os.utime(file, (time.time() + 10,) * 2)

    outcome, workers = another(tmp_path, fail)
    assert [message for _, message in outcome.failed] == ["no luck there"]
    assert workers.submitted == [run(8).key]
    assert outcome.expected_left == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("is_kept", "found"), [(True, 1), (False, 0)])
def test_a_run_in_progress_elsewhere_is_awaited_or_taken_over(
    is_kept: bool, found: int, tmp_path: Path
) -> None:
    """Check that a run in progress in another program is awaited.

    If the other program stores the values, they are used; if it ends without values, this program
    executes the run.
    """
    store, workers, key = Store(tmp_path), Answers(), run(8).key
    elsewhere: list[int] = []
    with Leases(tmp_path) as other:
        assert other.acquire(key)

        def watch(seen: Outcome) -> None:
            elsewhere.append(seen.elsewhere)
            if elsewhere.count(1) == 3 and key in other._held:
                if is_kept:
                    store.put(key, KEPT)
                other.release(key)

        outcome = execute([run(8), run(4)], store, workers=workers, watch=watch)
    assert (outcome.found, outcome.finished, outcome.failed) == (found, 2 - found, [])
    assert workers.submitted == [run(4).key, *([] if is_kept else [key])]
    assert (elsewhere[0], elsewhere[-1], max(elsewhere)) == (0, 0, 1)
    assert outcome.expected_left == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyboardInterrupt(), "^interrupted; finished runs are kept"),
        (OSError(28, "No space left", "x.json"), "^x.json: No space left; finished runs are kept"),
    ],
)
def test_an_interruption_says_that_finished_runs_are_kept(
    error: BaseException, message: str, tmp_path: Path
) -> None:
    class Interrupted(Answers):
        def finished(self, timeout_s: float) -> list[RunOutcome]:
            raise error

    workers = Interrupted()
    with pytest.raises(RunError, match=message):
        execute([run(4)], Store(tmp_path), workers=workers)
    assert workers.is_closed


def test_an_error_of_no_file_names_the_store(tmp_path: Path) -> None:
    class Failing(Answers):
        def finished(self, timeout_s: float) -> list[RunOutcome]:
            raise OSError(5, "Input/output error")

    with pytest.raises(RunError, match=f"^{tmp_path}: Input/output error; "):
        execute([run(4)], Store(tmp_path), workers=Failing())


def test_a_run_reports_its_progress_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that at least an interval passes between two reports of a run's progress.

    The progress is a fraction of the simulated time.
    """
    clock = iter([0.0, 0.4, 0.5, 0.5, 0.9, 1.0, 1.0])
    told: list[float] = []
    monkeypatch.setattr(MODULE, "LOOK_EVERY_S", 0.5)
    monkeypatch.setattr(MODULE, "monotonic", lambda: next(clock))
    monkeypatch.setattr(MODULE, "tell", told.append)
    progress = _Progress(8.0)
    for simulated_s in (1.0, 2.0, 3.0, 4.0):
        progress(simulated_s, 0)
    assert told == [0.25, 0.5]


def test_a_reducer_may_keep_tables_as_they_are(finished: longhaul.Results) -> None:
    """Check that a reducer's `keep` names tables that are stored unchanged.

    A reducer that is a plain function keeps values, but no tables.
    """

    class Reducer:
        keep = ("flows",)

        def __call__(self, run: longhaul.Results) -> dict[str, Any]:
            return {"labels": run.meta["scenario_hash"]}

    kept, tables = reduced(Reducer(), finished)
    assert kept == {"labels": finished.meta["scenario_hash"]}
    assert tables == {"flows": (Path(finished.path) / "flows.parquet").read_bytes()}
    assert reduced(lambda run: {}, finished) == ({}, {})


def test_a_failed_run_is_tried_as_often_as_asked(tmp_path: Path) -> None:
    runs = [run(4), run(6)]
    errors = {one.key: [RunOutcome(one.key, error="no luck")] * 3 for one in runs}
    workers = Answers(errors)
    outcome = execute(runs, Store(tmp_path / "s"), workers=workers, retries=2)
    assert [message for _, message in outcome.failed] == ["no luck"] * 2
    assert len(workers.submitted) == 6
    assert outcome.done == outcome.total == 2


@pytest.mark.parametrize(("count", "threads"), [(1, 4), (2, 2), (3, 1), (5, 1)])
def test_runs_get_the_threads_of_workers_that_would_be_idle(count: int, threads: int) -> None:
    assert LocalWorkers(4).threads(count) == threads


def test_a_single_run_of_mesonet_takes_all_workers(tmp_path: Path) -> None:
    """Check that a single run of MesoNet gets all threads, and any other run one.

    Results do not depend on the number of threads.
    """
    given: list[int] = []

    class Recorder(WorkersHere):
        def submit(self, key: str, work: Any, *arguments: Any) -> None:  # noqa: ANN401
            given.append(arguments[-1])
            super().submit(key, work, *arguments)

    topology = {
        "backbone": [{"name": name, "direct": 1} for name in "XY"],
        "links": [{"from": "X", "to": "Y", "delay": 5}],
    }
    mesonet = {
        "intervals": 20,
        "hosts": {"sources": 1, "scale": 1},
        "network": {"topology": topology, "backbone_rate": 100},
        "algorithms": [{"congestion": {"kind": "reno"}}],
    }
    kept = []
    for one in (Run("one", {}, 1, {"mesonet": mesonet}), run(4)):
        for workers in (2, 1):
            store = Store(tmp_path / f"{workers}")
            assert execute([one], store, workers=Recorder(workers)).finished == 1
            kept.append({**(store.get(one.key) or {}), "run": None})
    assert given == [2, 1, 2, 1]
    assert kept[0] == kept[1]
    assert kept[2] == kept[3]
