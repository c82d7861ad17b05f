"""Workers of a cluster, against a scheduler of the tests' own: waiting, losses, results."""

import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from longhaul._engine import RunError
from longhaul.campaign.cluster import AHEAD, ClusterWorkers

distributed = pytest.importorskip("distributed")


@dataclass
class Future:
    """A run at the scheduler."""

    status: str = "pending"
    value: Any = None
    error: Exception | None = None

    def done(self) -> bool:
        """True once it has finished, failed or been lost."""
        return self.status != "pending"

    def exception(self) -> Exception | None:
        """The error that ended it."""
        return self.error

    def result(self) -> Any:  # noqa: ANN401
        """The result."""
        return self.value


@dataclass
class Scheduler:
    """A connection to a scheduler with two workers of two threads."""

    status: str = "running"
    futures: list[Future] = field(default_factory=list)

    def submit(self, *_: object, **__: object) -> Future:
        """Queue a run."""
        self.futures.append(Future())
        return self.futures[-1]

    def nthreads(self) -> dict[str, int]:
        """Threads by worker."""
        return {"first": 2, "second": 2}


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def workers(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> ClusterWorkers:
    """Workers at that scheduler, with one run submitted."""
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: scheduler)
    workers = ClusterWorkers("tcp://somewhere:8786")
    workers.submit("a", None, {}, None, None)
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
        workers.submit("b", None, {}, None, None)
    with pytest.raises(RunError, match="finished runs are kept"):
        workers.finished(0.0)
    assert len(scheduler.futures) == 1
