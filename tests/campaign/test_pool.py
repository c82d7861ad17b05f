"""Outcomes of runs in worker processes: errors as text, and failures of storage."""

import errno
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from longhaul._engine import LonghaulError, OutputError
from longhaul.campaign.pool import LocalWorkers, RunOutcome, _Worker, attempt, tell


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> None:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "message", "is_storage"),
    [
        (LonghaulError("no such column"), "no such column", False),
        (LonghaulError("flows.parquet: No space left (os error 28)"), None, True),
        (LonghaulError("a.toml: not found (os error 2)"), None, False),
        (LonghaulError("28: no number of an error"), None, False),
        (OutputError("cannot write"), "cannot write", True),
        (OSError(errno.ENOSPC, "No space left", "x.json"), "x.json: No space left", True),
        (OSError(errno.EIO, "Input/output error"), "a file: Input/output error", True),
        (
            FileNotFoundError(errno.ENOENT, "No such file", "mine.csv"),
            "FileNotFoundError: [Errno 2] No such file: 'mine.csv'",
            False,
        ),
        (OSError("odd"), "OSError: odd", False),
        (MemoryError(), "there is not enough memory", False),
        (KeyError("x"), "KeyError: 'x'", False),
        (ValueError("odd"), "ValueError: odd", False),
    ],
)
def test_an_error_is_told_and_if_storage_failed(
    error: BaseException, message: str | None, is_storage: bool
) -> None:
    """Check the message of an error, and that failures of storage are recognised.

    Failures of storage (full disk, quota, read-only file system) would affect all other runs, too.
    """
    assert attempt(raising(error), ()) == (None, message or str(error), is_storage)


@pytest.mark.parametrize("name", ["ENOSPC", "EFBIG", "EDQUOT", "EROFS", "EIO", "ESTALE"])
def test_system_errors_of_storage(name: str) -> None:
    _, _, is_storage = attempt(raising(LonghaulError(f"(os error {getattr(errno, name)})")), ())
    assert is_storage


def test_a_run_that_ends_gives_its_value() -> None:
    assert attempt(lambda a, b: a + b, (1, 2)) == (3, None, False)
    # Outside a worker, a report of progress is ignored.
    tell(0.5)


def test_a_lost_worker_says_how_it_ended() -> None:
    limited = LocalWorkers(1, memory=64 * 2**20)
    assert limited._why(-9) == (
        "the worker process ended by signal 9 (its memory is limited to 64 MiB)"
    )
    free = LocalWorkers(3)
    assert free._why(1) == "the worker process ended with code 1"
    assert free._why(0) == "the worker process ended with code 0"
    assert free._why(None) == "the worker process ended with code None"
    assert (free.capacity, free.finished(0), free.under_way()) == (3, [], {})
    free.close()


def test_a_worker_that_has_not_reported_is_not_listed() -> None:
    """Check that runs in progress are listed once their workers have reported progress.

    When a worker starts another run, the progress of the last one is forgotten.
    """
    pool = LocalWorkers(4)
    pipe: Any = SimpleNamespace(send=lambda sent: None)
    process: Any = None
    for key, part in (("a", 0.5), ("b", 0.0), (None, 0.75), ("c", 1e-6)):
        pool._workers.append(_Worker(process, pipe, key, part))
    assert pool.under_way() == {"a": 0.5, "c": 1e-6}
    pool.submit("d", print)
    assert pool.under_way() == {"a": 0.5, "c": 1e-6}
    assert [worker.key for worker in pool._workers] == ["a", "b", "d", "c"]


class Pipe:
    """The driver's end of a worker's pipe, with scripted messages."""

    def __init__(self, *messages: object) -> None:
        self.messages = list(messages)
        self.is_closed = False

    def recv(self) -> object:
        """Return the next scripted message; after the last, raise the error of a killed worker."""
        if not self.messages:
            raise EOFError
        return self.messages.pop(0)

    def close(self) -> None:
        """Record in `is_closed` that the pipe was closed."""
        self.is_closed = True


def test_a_worker_reports_progress_and_then_its_value_and_is_free() -> None:
    pool, pipe = LocalWorkers(1), Pipe(0.25, ("value", "message", True))
    process: Any = SimpleNamespace(join=lambda: None, exitcode=-9)
    worker = _Worker(process, cast("Any", pipe), "a")
    pool._workers.append(worker)
    assert (pool._collect(worker), worker.part, worker.key) == (None, 0.25, "a")
    assert pool._collect(worker) == RunOutcome("a", "value", "message", True)
    assert (worker.key, pool._workers) == (None, [worker])


def test_a_worker_that_was_killed_leaves_the_pool() -> None:
    pool, pipe = LocalWorkers(1), Pipe()
    process: Any = SimpleNamespace(join=lambda: None, exitcode=-9)
    worker = _Worker(process, cast("Any", pipe), "a")
    pool._workers.append(worker)
    assert pool._collect(worker) == RunOutcome(
        "a", error="the worker process ended by signal 9", is_lost=True
    )
    assert (pool._workers, pipe.is_closed) == ([], True)


@pytest.mark.parametrize(("runs", "threads"), [(1, 5), (2, 2), (4, 1), (5, 1), (9, 1)])
def test_threads_are_shared_by_the_runs_that_are_left(runs: int, threads: int) -> None:
    """Check the number of threads that each of the remaining runs gets.

    Threads of workers without a run are divided among the others; each run has at least one.
    """
    assert LocalWorkers(5).threads(runs) == threads
