"""Simultaneous measurement of simulations, each in its own process.

Compared simulations share one core: the system switches between the processes every few
milliseconds, so other load slows all of them equally. The cost of a run is its processor time.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

from validation.experiments import pool
from validation.ns2 import simulator as ns2
from validation.speed import worker


@dataclass(frozen=True)
class Measurement:
    """Cost of one run, or the sum over several runs."""

    packets: int
    """Data packets sent by all flows."""
    cpu_s: float
    """Processor time in seconds.

    For Longhaul it is that of `longhaul.run` (checking the scenario, simulating and writing the
    tables), for ns-2 that of the whole process.
    """
    peak_mb: float
    """Peak memory in MiB: for Longhaul in excess of interpreter and libraries, for ns-2 in total.

    For several runs, it is the largest peak memory of a run.
    """

    @property
    def pkts_per_s(self) -> float:
        """Data packets per second of processor time."""
        return self.packets / self.cpu_s

    @property
    def ns_per_pkt(self) -> float:
        """Nanoseconds of processor time per data packet."""
        return 1e9 / self.pkts_per_s


Run = Callable[[], Measurement]


@contextmanager
def one_core() -> Iterator[None]:
    """Restrict this process and its children to one core while the context is open."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def side_by_side(runs: Sequence[Run], rounds: int) -> list[Measurement]:
    """Repeat all runs at the same time until each has been measured at least `rounds` times.

    A run that ends early starts again, so no measured run has the core to itself, and short runs
    are measured more often. Return for each run the sum of its measurements; the peak memory is the
    largest one. An error in one run ends all runs, and is raised.
    """
    contest = _Contest(len(runs), rounds)
    with ThreadPoolExecutor(len(runs)) as pool:
        measured = list(pool.map(contest.repeat, range(len(runs)), runs))
    return [_total(measurements) for measurements in measured]


def in_turn(runs: Sequence[Run], rounds: int) -> list[Measurement]:
    """Return the cheapest measurement of each run, by processor time, over several rounds.

    A round does all of `runs`, one after the other. Simultaneous runs would evict each other's
    state from the core's caches, which would slow runs with many flows most.
    """
    measured = [[run() for run in runs] for _ in range(rounds)]
    return [min(of_run, key=lambda run: run.cpu_s) for of_run in zip(*measured, strict=True)]


def on_one_core(
    scenarios: Iterable[dict[str, Any]],
    rounds: int,
    measure: Callable[[Sequence[Run], int], list[Measurement]],
) -> list[Measurement]:
    """Simulate scenarios on one core, each in its own process, and return their costs.

    `measure` is `in_turn` or `side_by_side`.
    """
    with one_core(), ExitStack() as stack:
        return measure(
            [stack.enter_context(in_process(scenario)) for scenario in scenarios], rounds
        )


def _total(measured: list[Measurement]) -> Measurement:
    return Measurement(
        sum(run.packets for run in measured),
        sum(run.cpu_s for run in measured),
        max(run.peak_mb for run in measured),
    )


class _Contest:
    """Simultaneous runs, which are repeated until each has been measured often enough."""

    def __init__(self, size: int, rounds: int) -> None:
        self._rounds = rounds
        self._done = [0] * size
        self._failed = False
        self._lock = Lock()
        self._begin = Barrier(size)

    def repeat(self, index: int, run: Run) -> list[Measurement]:
        measured: list[Measurement] = []
        self._begin.wait()
        while not self._is_over():
            try:
                measurement = run()
            except BaseException:
                self._failed = True
                raise
            if len(measured) < self._rounds or not self._is_over():
                measured.append(measurement)
            with self._lock:
                self._done[index] += 1
        return measured

    def _is_over(self) -> bool:
        with self._lock:
            return self._failed or min(self._done) >= self._rounds


@contextmanager
def in_process(scenario: dict[str, Any]) -> Iterator[Run]:
    """Yield a function that simulates a scenario in its own process, and returns the cost.

    The interpreter is started and libraries are loaded before any measurement, because both take
    longer than many simulations. A first simulation measures the peak memory. Each call of the
    function then simulates the scenario once more, and measures the processor time.
    """
    with pool(1) as process:
        peak_mb = process.submit(worker.peak_mb, scenario).result()

        def run() -> Measurement:
            return Measurement(*process.submit(worker.cost, scenario).result(), peak_mb)

        yield run


def run_ns2(script: Path, arguments: list[str]) -> Measurement:
    """Run an ns-2 script that takes `out=` and `key=value` arguments, and return its cost.

    Raise CalledProcessError if the script fails.
    """
    with tempfile.TemporaryDirectory(prefix="ns2-speed-") as scratch:
        command = ns2.command(script, [f"out={scratch}/run", *arguments])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=scratch)
        assert process.stdout is not None
        output = process.stdout.read()
        # wait4 reports the resources of this child alone.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        packets = _packets(output, Path(scratch) / "run.kv")
    return Measurement(packets, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _packets(output: str, records: Path) -> int:
    """Return the number of data packets sent, from the output or from gold.tcl's file `records`."""
    if records.exists():
        words = [line.split() for line in records.read_text().splitlines()]
        return sum(int(word[word.index("sent") + 1]) for word in words if word[0] == "flow")
    return int(output.split("sent")[1])
