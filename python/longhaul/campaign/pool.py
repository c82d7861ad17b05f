"""Worker processes on this machine; each executes one run at a time.

Each worker has its own pipe. If a worker is killed, for example by the system for lack of memory,
only its run in progress is lost, and a new worker replaces it.
"""

import errno
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from longhaul._engine import LonghaulError, OutputError

# A function that executes one run in a worker and returns `RunOutcome.value`.
Work = Callable[..., Any]


@dataclass(frozen=True)
class RunOutcome:
    """Outcome of a run in a worker: its result or its error."""

    key: str
    value: Any = None
    error: str | None = None
    """Error message if the run failed, otherwise None."""
    is_storage: bool = False
    """True if the storage could not be written; other runs would then fail as well."""
    is_lost: bool = False
    """True if the worker process died before the run ended."""


class Workers(Protocol):
    """Interface of a pool of workers: local processes, or a cluster."""

    @property
    def capacity(self) -> int:
        """Number of runs that may be in progress at a time."""

    def threads(self, runs: int) -> int:
        """Return the number of threads for the next run, if `runs` runs remain."""

    def submit(self, key: str, work: Work, *arguments: Any) -> None:  # noqa: ANN401
        """Start a run: call `work` with these arguments in a worker; `key` identifies the run."""

    def finished(self, timeout_s: float) -> Sequence[RunOutcome]:
        """Wait at most `timeout_s` for a run to finish; return outcomes of finished runs."""

    def under_way(self) -> Mapping[str, float]:
        """Return the completed fraction of each run in progress that has reported its progress."""

    def close(self) -> None:
        """End all workers; runs in progress are lost."""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    key: str | None = None
    part: float = 0.0
    """Completed fraction, from 0 to 1, of the worker's run."""


class LocalWorkers:
    """Worker processes on this machine; `memory` limits the bytes that each may use."""

    def __init__(self, count: int, memory: int | None = None) -> None:
        self.capacity = count
        self._memory = memory
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []

    def threads(self, runs: int) -> int:
        """Return the number of threads for a run: more than 1 only if workers would be idle.

        Two threads make a run only 1.7 times as fast (docs/mesonet.md), so two runs in parallel
        gain more.
        """
        return max(1, self.capacity // runs)

    def submit(self, key: str, work: Work, *arguments: Any) -> None:  # noqa: ANN401
        """Start a run on an idle worker, or on a new worker if none is idle."""
        idle = next((worker for worker in self._workers if worker.key is None), None)
        worker = idle or self._started()
        worker.key, worker.part = key, 0.0
        try:
            worker.pipe.send((work, arguments))
        except (BrokenPipeError, ConnectionResetError):
            # The worker was killed while idle; `finished` notices the loss.
            return

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def finished(self, timeout_s: float) -> list[RunOutcome]:
        """Wait at most `timeout_s` for a worker's message; return outcomes of finished runs."""
        busy = [worker for worker in self._workers if worker.key is not None]
        ready = wait([worker.pipe for worker in busy], timeout_s)
        outcomes = [self._collect(worker) for worker in busy if worker.pipe in ready]
        return [outcome for outcome in outcomes if outcome is not None]

    def under_way(self) -> dict[str, float]:
        """Return the completed fraction of each run in progress that has reported its progress."""
        busy = [worker for worker in self._workers if worker.part > 0]
        return {worker.key: worker.part for worker in busy if worker.key is not None}

    def _collect(self, worker: _Worker) -> RunOutcome | None:
        """Receive a worker's message; return its run's outcome, or None for a progress report."""
        key = worker.key
        assert key is not None
        try:
            sent = worker.pipe.recv()
            if isinstance(sent, float):
                worker.part = sent
                return None
        except (EOFError, ConnectionResetError):
            self._workers.remove(worker)
            worker.pipe.close()
            worker.process.join()
            return RunOutcome(key, error=self._why(worker.process.exitcode), is_lost=True)
        worker.key = None
        return RunOutcome(key, *sent)

    def _why(self, code: int | None) -> str:
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        limit = (
            f" (its memory is limited to {self._memory / 2**20:.0f} MiB)" if self._memory else ""
        )
        return f"the worker process ended {how}{limit}"

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()


# Pipe on which a worker process reports the progress of its run.
_told: "Connection[Any, Any] | None" = None


def tell(part: float) -> None:
    """Report the completed fraction `part` of the run to the main process.

    Does nothing outside a worker.
    """
    if _told is not None:
        _told.send(float(part))


def _serve(pipe: "Connection[Any, Any]", memory: int | None) -> None:
    """Execute the runs that arrive on the pipe until it is closed.

    `memory` is the limit on the process's memory, in bytes.
    """
    global _told
    _told = pipe
    _become_worker(memory)
    while True:
        try:
            work, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(attempt(work, arguments))


def attempt(work: Work, arguments: Sequence[Any]) -> tuple[Any, str | None, bool]:
    """Call `work`, the function that executes a run.

    Return its value, its error message, and true if the storage could not be written.
    """
    try:
        return work(*arguments), None, False
    except LonghaulError as error:
        return None, str(error), isinstance(error, OutputError) or _is_of_storage(str(error))
    except MemoryError:
        return None, "there is not enough memory", False
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _STORAGE_ERRORS:
            return None, f"{error.filename or 'a file'}: {error.strerror}", True
        # A user's response function may raise any exception.
        return None, f"{type(error).__name__}: {error}", False


def _is_of_storage(message: str) -> bool:
    """Return true if an error message contains the error number of a storage failure."""
    code = _SYSTEM_ERROR.search(message)
    return code is not None and int(code[1]) in _STORAGE_ERRORS


_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")
_STORAGE_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE)


def _become_worker(memory: int | None) -> None:
    """Set up a worker process: limit its memory, ignore Ctrl-C, and end with the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The main process ends workers by SIGTERM, and prints the message itself.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if memory is not None:
        # Not every system has this module.
        import resource

        # RLIMIT_DATA limits memory that a process can write to, not reserved address space.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
