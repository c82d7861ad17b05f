"""Workers of a Dask cluster, tested with a simulated scheduler: waiting, losses, results."""

import sys
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from longhaul._engine import LonghaulError, RunError
from longhaul.campaign.cluster import AHEAD, CONNECT_S, ClusterWorkers
from longhaul.campaign.execute import work_far
from longhaul.campaign.pool import attempt

distributed = pytest.importorskip("distributed")


@dataclass
class Future:
    """Stand-in for a run that was submitted to the scheduler."""

    status: str = "pending"
    value: Any = None
    error: Exception | None = None

    def done(self) -> bool:
        """Return true once the run has finished, failed or been lost."""
        return self.status != "pending"

    def exception(self) -> Exception | None:
        """Return the error that ended the run, if any."""
        return self.error

    def result(self) -> Any:  # noqa: ANN401
        """Return the run's result."""
        return self.value


@dataclass
class Scheduler:
    """Stand-in for a scheduler with two workers of two threads each."""

    status: str = "running"
    futures: list[Future] = field(default_factory=list)
    submitted: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    cancelled: list[tuple[list[Future], bool]] = field(default_factory=list)
    is_closed: bool = False
    close_s: float = 0.0

    def submit(self, *work: Any, **options: Any) -> Future:  # noqa: ANN401
        """Record the arguments of a submission, and return a new future."""
        self.submitted.append((work, options))
        self.futures.append(Future())
        return self.futures[-1]

    def cancel(self, futures: list[Future], *, force: bool) -> None:
        """Record which runs are to be cancelled, without cancelling them."""
        self.cancelled.append((futures, force))

    def close(self, timeout: float) -> None:
        """Record that the connection was closed, and its timeout in seconds."""
        self.is_closed, self.close_s = True, timeout

    def nthreads(self) -> dict[str, int]:
        """Return the number of threads of each worker."""
        return {"first": 2, "second": 2}


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def workers(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> ClusterWorkers:
    """Return workers of the scheduler, with one run submitted."""
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: scheduler)
    workers = ClusterWorkers("tcp://somewhere:8786")
    workers.submit("a", None, {}, None, None, 1)
    return workers


def test_each_thread_has_runs_ahead(workers: ClusterWorkers, scheduler: Scheduler) -> None:
    assert workers.capacity == AHEAD * 4
    scheduler.status = "closed"
    assert workers.capacity == 1


def test_it_waits_for_a_run_as_long_as_it_is_asked_to(workers: ClusterWorkers) -> None:
    begin = time.monotonic()
    assert workers.finished(0.2) == []
    assert time.monotonic() - begin >= 0.2


def test_a_finished_run_comes_back_once(workers: ClusterWorkers, scheduler: Scheduler) -> None:
    scheduler.futures[0].status = "finished"
    scheduler.futures[0].value = ({"goodput": 1.0}, "", False)
    [finished] = workers.finished(10.0)
    assert (finished.key, finished.value, finished.is_lost) == ("a", {"goodput": 1.0}, False)
    assert workers.finished(0.0) == []


def test_a_run_that_a_worker_could_not_finish_is_lost_to_it_alone(
    workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    scheduler.futures[0].status = "error"
    scheduler.futures[0].error = MemoryError("worker killed")
    [finished] = workers.finished(10.0)
    assert finished.is_lost
    assert finished.error == "the cluster could not finish it: worker killed"


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_a_lost_run_is_a_lost_scheduler(
    status: str, workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    scheduler.futures[0].status = status
    with pytest.raises(RunError, match="lost the connection to the scheduler at tcp://somewhere"):
        workers.finished(10.0)


def test_nothing_is_submitted_to_a_scheduler_that_is_gone(
    workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    scheduler.status = "closed"
    with pytest.raises(RunError, match="run the same command to resume"):
        workers.submit("b", None, {}, None, None, 1)
    with pytest.raises(RunError, match="finished runs are kept"):
        workers.finished(0.0)
    assert len(scheduler.futures) == 1


def test_a_run_is_submitted_with_its_scenario_and_reducer_alone(
    workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    """Check that a run is sent to the scheduler without the store.

    Every submission has a new key, so that the scheduler executes equal runs again.
    """
    reducer, scenario = object(), {"seed": 3}
    workers.submit("b", None, scenario, "store", reducer, 4)
    (work, options) = scheduler.submitted[1]
    assert work == (attempt, work_far, (scenario, reducer))
    assert options["pure"] is False
    assert options["key"].startswith("longhaul-b-")
    assert options["key"] != scheduler.submitted[0][1]["key"]
    assert (workers.threads(5), workers.under_way()) == (1, {})


def test_runs_that_end_together_come_back_together(
    workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    """Check that all runs that have ended are returned at once, with their values or errors."""
    for key in "bc":
        workers.submit(key, None, {}, None, None, 1)
    for future, value in zip(
        scheduler.futures, [(1, None, False), (None, "disk full", True)], strict=False
    ):
        future.status, future.value = "finished", value
    one, other = workers.finished(10.0)
    assert (one.key, one.value, one.error, one.is_storage) == ("a", 1, None, False)
    assert (other.key, other.error, other.is_storage, other.is_lost) == (
        "b",
        "disk full",
        True,
        False,
    )


def test_the_runs_in_progress_are_cancelled_at_the_end(
    workers: ClusterWorkers, scheduler: Scheduler
) -> None:
    """Check that `close` cancels the runs in progress, and takes at most one second.

    If the scheduler is gone, nothing is cancelled.
    """
    workers.close()
    assert scheduler.close_s == 1.0
    assert (scheduler.cancelled, scheduler.is_closed) == ([(scheduler.futures, True)], True)
    scheduler.status, scheduler.is_closed = "closed", False
    workers.close()
    assert (len(scheduler.cancelled), scheduler.is_closed) == (1, True)


def test_a_client_of_the_user_stays_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: given.append((a, k)))
    ClusterWorkers("tcp://here:1")
    assert given == [(("tcp://here:1",), {"timeout": CONNECT_S, "set_as_default": False})]


@pytest.mark.parametrize("error", [OSError("refused"), TimeoutError("late"), ValueError("odd")])
def test_a_scheduler_that_cannot_be_reached_is_refused(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(distributed, "Client", fail)
    with pytest.raises(LonghaulError, match=rf"no answer from the scheduler at here \({error}\)"):
        ClusterWorkers("here")


def test_without_dask_its_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LonghaulError, match=r"pip install longhaul\[cluster\]"):
        ClusterWorkers("here")
