"""Execution of the runs whose results a store lacks; several processes may share the store."""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from longhaul._engine import RunError
from longhaul.campaign.leases import Leases
from longhaul.campaign.pool import LocalWorkers, RunOutcome, Workers, tell
from longhaul.campaign.reduce import reduce
from longhaul.campaign.store import Kept, Store
from longhaul.campaign.sweep import Run
from longhaul.campaign.template import Scenario
from longhaul.results import Results, kinds
from longhaul.running.execution import run_loaded
from longhaul.running.loading import load

# A reducer returns the values of a run that the store keeps. `Tables` are Parquet files by name,
# which the store keeps too.
Reducer = Callable[[Results], Kept]
Tables = Mapping[str, bytes]

LOOK_EVERY_S = 0.5
# Interval in seconds at which runs of other processes are polled.
OTHERS_EVERY_S = 1.0
# Interval between checkpoints of runs that can be resumed.
CHECKPOINT_EVERY = "60 s"


@dataclass
class Outcome:
    """Progress or result of an execution of runs: numbers of finished, failed and other runs."""

    total: int
    """Number of different runs that the caller requested."""
    found: int
    """Number of runs that were in the store already or that another process finished."""
    finished: int = 0
    failed: list[tuple[Run, str]] = field(default_factory=list)
    """Runs that failed, each with its error message."""
    running: int = 0
    """Number of runs in progress in this process."""
    running_part: float = 0.0
    """Mean completed fraction, from 0 to 1, of the runs in progress."""
    elsewhere: int = 0
    """Number of runs in progress in other processes."""
    data_packets: int = 0
    """Number of data packets simulated in the runs that this process finished."""
    began: float = field(default_factory=monotonic)
    expected_done: float = 0.0
    """Estimated number of data packets of the runs that this process finished."""
    expected_left: float = 0.0
    """Estimated number of data packets of the remaining runs."""

    @property
    def done(self) -> int:
        """Number of runs that have finished or failed."""
        return self.found + self.finished + len(self.failed)

    @property
    def packets_per_s(self) -> float:
        """Data packets per second of wall-clock time, over all workers."""
        return self.data_packets / max(monotonic() - self.began, 1e-9)

    @property
    def left_s(self) -> float | None:
        """Estimated seconds until all runs are done; None before the first run has finished.

        The estimate assumes the packet rate so far. Estimated packets of the remaining runs are
        corrected by the ratio of simulated to estimated packets of finished runs.
        """
        if self.data_packets == 0 or self.expected_done == 0.0:
            return None
        left = self.expected_left * self.data_packets / self.expected_done
        return left / self.packets_per_s


Watch = Callable[[Outcome], object]


def execute(
    runs: Iterable[Run],
    store: Store,
    *,
    workers: int | Workers | None = None,
    watch: Watch | None = None,
    reducer: Reducer = reduce,
    retries: int = 0,
    first: Collection[str] = (),
    check: Callable[[Kept], object] | None = None,
) -> Outcome:
    """Execute all runs that are not in the store, the longest first; store each when it ends.

    `workers` is a number of processes, by default one per core, or another executor, which is
    closed at the end. `watch` is called at the beginning, whenever a run ends or reports progress,
    and after each poll of other programs' runs. A failed run is repeated up to `retries` times, but
    at least once if its worker died. If it still fails, it is reported, and the other runs
    continue. A storage failure is not repeated: it raises RunError. Runs whose keys are in `first`
    come before all others. `check` is called with the stored values of the first run that succeeds
    here, and may raise an error. `reducer` selects the values to store.

    Other programs may use the same store at the same time. This program waits for their runs in
    progress, and takes over the runs of programs that have ended.
    """
    try:
        return _Execution(list(runs), store, workers, watch, reducer, retries, first, check).run()
    except KeyboardInterrupt:
        raise RunError(f"interrupted; {_KEPT}") from None
    except OSError as error:
        raise RunError(f"{error.filename or store.path}: {error.strerror}; {_KEPT}") from None


_KEPT = "finished runs are kept; run the same command to resume"


class _Execution:
    """State of one call of `execute`."""

    def __init__(
        self,
        runs: list[Run],
        store: Store,
        workers: int | Workers | None,
        watch: Watch | None,
        reducer: Reducer,
        retries: int,
        first: Collection[str],
        check: Callable[[Kept], object] | None,
    ) -> None:
        self.store, self.watch, self.reducer, self.retries = store, watch, reducer, retries
        self.check = check
        store.sweep_out()
        self.began = time.time()
        self.wanted = {run.key: run for run in runs}
        self.expected = {key: run.expected_packets for key, run in self.wanted.items()}
        missing = [key for key in self.wanted if not store.has(key)]
        # Sorting is stable: runs of equal length keep their order.
        missing.sort(key=lambda key: (key not in first, -self.expected[key]))
        self.waiting = deque(missing)
        self.elsewhere: set[str] = set()
        self.running: set[str] = set()
        self.attempts: Counter[str] = Counter()
        self.looked = monotonic()
        self.told: Mapping[str, float] = {}
        self.outcome = Outcome(len(self.wanted), len(self.wanted) - len(missing))
        self.outcome.expected_left = sum(self.expected[key] for key in missing)
        if workers is None or isinstance(workers, int):
            count = workers or os.cpu_count() or 1
            self.workers: Workers = LocalWorkers(count)
        else:
            self.workers = workers

    def run(self) -> Outcome:
        """Execute all runs, and return the number of runs in each state."""
        self._tell()
        try:
            if self.waiting:
                with Leases(self.store.path) as leases:
                    self._work(leases)
        finally:
            self.workers.close()
        return self.outcome

    def _work(self, leases: Leases) -> None:
        while self.waiting or self.running or self.elsewhere:
            self._submit(leases)
            if self.running:
                for done in self.workers.finished(LOOK_EVERY_S):
                    self._note(done, leases)
                    self._tell()
                if self.workers.under_way() != self.told:
                    self._tell()
            elif self.elsewhere:
                time.sleep(LOOK_EVERY_S)
            if self.elsewhere and monotonic() - self.looked >= OTHERS_EVERY_S:
                self._look_elsewhere(leases)
                self._tell()

    def _submit(self, leases: Leases) -> None:
        while self.waiting and len(self.running) < self.workers.capacity:
            key = self.waiting.popleft()
            if self.store.has(key):
                self._found(key)
            elif (message := self._failed_elsewhere(key)) is not None:
                self._failed(key, message)
            elif not leases.acquire(key):
                self.elsewhere.add(key)
            elif self.store.has(key):
                # Another process finished the run and released its lease between the two calls of
                # `has`.
                leases.release(key)
                self._found(key)
            else:
                self._start(key)

    def _start(self, key: str) -> None:
        self.running.add(key)
        threads = self.workers.threads(len(self.running) + len(self.waiting))
        scenario = self.wanted[key].complete
        self.workers.submit(key, work, scenario, self.store, self.reducer, threads)

    def _note(self, done: RunOutcome, leases: Leases) -> None:
        """Process the outcome of a run: store its values, repeat it, or record its failure."""
        key = done.key
        self.running.discard(key)
        if done.error is None:
            packets, kept, tables = done.value
            if kept is not None:  # the worker has no access to the store
                self.store.put(key, kept, tables)
            self.store.clear_failure(key)
            self.outcome.finished += 1
            self.outcome.data_packets += int(packets)
            self.outcome.expected_done += self.expected[key]
            self.outcome.expected_left -= self.expected[key]
            leases.release(key)
            if self.check and self.outcome.finished == 1:
                self.check(self.store.get(key) or {})
            return
        if done.is_storage:
            leases.release(key)
            raise RunError(f"{done.error}; {_KEPT}")
        self.attempts[key] += 1
        # An exception would probably recur, but the run of a killed worker is repeated once.
        allowed = max(self.retries, 1) if done.is_lost else self.retries
        if self.attempts[key] <= allowed:
            self._start(key)
            return
        self.store.record_failure(key, done.error)
        leases.release(key)
        self._failed(key, done.error)

    def _look_elsewhere(self, leases: Leases) -> None:
        self.looked = monotonic()
        for key in list(self.elsewhere):
            if self.store.has(key):
                self._found(key)
            elif not leases.is_held(key):
                self.waiting.appendleft(key)
            else:
                continue
            self.elsewhere.discard(key)

    def _failed_elsewhere(self, key: str) -> str | None:
        """Return a run's error if the run failed in another process after this one began.

        Return None otherwise.
        """
        failure = self.store.failure(key)
        return failure[1] if failure is not None and failure[0] >= self.began else None

    def _found(self, key: str) -> None:
        self.outcome.found += 1
        self.outcome.expected_left -= self.expected[key]

    def _failed(self, key: str, message: str) -> None:
        self.outcome.failed.append((self.wanted[key], message))
        self.outcome.expected_left -= self.expected[key]

    def _tell(self) -> None:
        self.outcome.running, self.outcome.elsewhere = len(self.running), len(self.elsewhere)
        self.told = self.workers.under_way()
        self.outcome.running_part = sum(self.told.values()) / max(len(self.running), 1)
        if self.watch:
            self.watch(self.outcome)


def work(
    scenario: Scenario, store: Store, reducer: Reducer, threads: int = 1
) -> tuple[int, None, Tables]:
    """Execute one run, and store its values and tables.

    Return the number of data packets; the other items are empty, because values and tables are
    stored already. `reducer` selects the values to store. A run of MesoNet uses `threads` threads,
    all other runs use one.
    """
    resolved = load(scenario)
    progress = _Progress(resolved.duration_s)
    with store.scratch() as scratch:
        if kinds.of(scenario).is_resumable:
            # Checkpoints are kept, so that the next process that executes this run resumes it.
            out = store.resumable(resolved) / "run"
            run = run_loaded(
                resolved, out=out, progress=progress, checkpoint_every=CHECKPOINT_EVERY,
                overwrite=True, threads=threads,
            )  # fmt: skip
        else:
            run = run_loaded(resolved, out=scratch / "run", progress=progress)
        kept, tables = reduced(reducer, run)
        store.put(resolved, kept, tables)
    store.clear_resumable(resolved)
    return int(kept["run"]["data_packets"]), None, {}


class _Progress:
    """Callback that reports the progress of a run to the main process at intervals."""

    def __init__(self, duration_s: float) -> None:
        self.duration_s = duration_s
        self.told = monotonic()

    def __call__(self, simulated_s: float, packets: int) -> None:
        if monotonic() - self.told >= LOOK_EVERY_S:
            self.told = monotonic()
            tell(simulated_s / self.duration_s)


def reduced(reducer: Reducer, run: Results) -> tuple[Kept, dict[str, bytes]]:
    """Return the values and the tables of a run that `reducer` selects for the store.

    Tables are contents of Parquet files, by name.
    """
    kept = reducer(run)  # raises an error for tables that the run lacks
    wanted = getattr(reducer, "keep", ())
    return kept, {name: (run.path / f"{name}.parquet").read_bytes() for name in wanted}


def work_far(scenario: Scenario, reducer: Reducer) -> tuple[int, Kept, Tables]:
    """Execute one run on a machine that may have no access to the store.

    Return the number of data packets, and the values and tables to store.
    """
    run = run_loaded(load(scenario), out=None)
    kept, tables = reduced(reducer, run)
    return int(kept["run"]["data_packets"]), kept, tables
