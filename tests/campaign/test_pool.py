"""Outcomes of runs in worker processes: errors as text, and those of storage."""

import errno
from collections.abc import Callable
from typing import Any

import pytest

from longhaul._engine import LonghaulError, OutputError
from longhaul.campaign.pool import LocalWorkers, attempt, tell


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
        (MemoryError(), "there is not enough memory", False),
        (KeyError("x"), "KeyError: 'x'", False),
        (ValueError("odd"), "ValueError: odd", False),
    ],
)
def test_an_error_is_told_and_if_storage_failed(
    error: BaseException, message: str | None, is_storage: bool
) -> None:
    """A full disk, a quota or a read-only file system would fail other runs, too."""
    assert attempt(raising(error), ()) == (None, message or str(error), is_storage)


@pytest.mark.parametrize("name", ["ENOSPC", "EFBIG", "EDQUOT", "EROFS", "EIO", "ESTALE"])
def test_system_errors_of_storage(name: str) -> None:
    _, _, is_storage = attempt(raising(LonghaulError(f"(os error {getattr(errno, name)})")), ())
    assert is_storage


def test_a_run_that_ends_gives_its_value() -> None:
    assert attempt(lambda a, b: a + b, (1, 2)) == (3, None, False)
    # Outside a worker nobody is told of progress.
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
