"""Does the runs that a store does not have yet, in worker processes of one engine thread each."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from time import monotonic

from longhaul._engine import LonghaulError, RunError
from longhaul.campaign.reduce import reduce
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run
from longhaul.campaign.template import Scenario
from longhaul.run import load, run_loaded


@dataclass
class Outcome:
    """How far the runs are."""

    total: int
    """Different runs that were asked for."""
    found: int
    """Those that the store had already."""
    finished: int = 0
    failed: list[tuple[Run, str]] = field(default_factory=list)
    """Runs that ended with an error, and its message."""
    data_packets: int = 0
    """Data packets simulated in those that were done now."""
    began: float = field(default_factory=monotonic)

    @property
    def done(self) -> int:
        """Runs that need no more work."""
        return self.found + self.finished + len(self.failed)

    @property
    def left_s(self) -> float | None:
        """Seconds until the end, if the rest takes as long as what was done now."""
        now = self.finished + len(self.failed)
        return (monotonic() - self.began) / now * (self.total - self.done) if now else None


Watch = Callable[[Outcome], object]

LOOK_EVERY_S = 0.5


def execute(
    runs: Iterable[Run], store: Store, *, workers: int | None = None, watch: Watch | None = None
) -> Outcome:
    """Do all runs that are not in the store, in order; each is kept as soon as it is finished.

    `workers` processes, by default one per core. `watch` is called at the beginning and whenever a
    run ends. A run that fails is reported and does not stop the others.
    """
    store.sweep_out()
    wanted = {run.resolved.hash: run for run in runs}
    missing = [run for run in wanted.values() if not store.has(run.resolved)]
    outcome = Outcome(total=len(wanted), found=len(wanted) - len(missing))
    if watch:
        watch(outcome)
    if missing:
        _share_out(missing, store, workers or os.cpu_count() or 1, outcome, watch)
    return outcome


def _share_out(
    missing: Sequence[Run], store: Store, workers: int, outcome: Outcome, watch: Watch | None
) -> None:
    pool = ProcessPoolExecutor(
        max_workers=min(workers, len(missing)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_become_worker,
    )
    waiting = deque(missing)
    tasks: dict[Future[int], Run] = {}
    try:
        while waiting or tasks:
            while waiting and len(tasks) < 2 * workers:
                run = waiting.popleft()
                tasks[pool.submit(work, run.scenario, store)] = run
            # A wait without end would keep Ctrl-C waiting too.
            done, _ = wait(tasks, timeout=LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            for task in done:
                _note(task, tasks.pop(task), outcome)
                if watch:
                    watch(outcome)
    except BrokenProcessPool:
        message = "a worker process was killed; what is finished is kept: run the same to go on"
        raise RunError(message) from None
    except KeyboardInterrupt:
        _end_workers()
        message = "interrupted; what is finished is kept: run the same to go on"
        raise RunError(message) from None
    except BaseException:
        _end_workers()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _note(task: Future[int], run: Run, outcome: Outcome) -> None:
    """Take down what came of a run."""
    try:
        outcome.data_packets += task.result()
        outcome.finished += 1
    except LonghaulError as error:
        outcome.failed.append((run, str(error)))


def _end_workers() -> None:
    """Runs under way are given up, not waited for."""
    for process in multiprocessing.active_children():
        process.terminate()


def _become_worker() -> None:
    """Leave Ctrl-C to the program that started this one, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def work(scenario: Scenario, store: Store) -> int:
    """Do one run and keep what is to be kept; returns its data packets."""
    resolved = load(scenario)
    with store.scratch() as scratch:
        kept = reduce(run_loaded(resolved, out=scratch / "run"))
    store.put(resolved, kept)
    return int(kept["run"]["data_packets"])
