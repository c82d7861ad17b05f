"""Simultaneous measurement of simulations, each in its own process.

Compared simulations share one core: the system switches between the processes every few
milliseconds, so other load slows all of them equally. The cost of a run is its processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

from validation.ns2 import simulator as ns2

ROOT = Path(__file__).parent.parent.parent


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
    """Peak memory in MB: for Longhaul in excess of interpreter and libraries, for ns-2 in total."""

    @property
    def pkts_per_s(self) -> float:
        """Data packets per second of processor time."""
        return self.packets / self.cpu_s

    @property
    def ns_per_pkt(self) -> float:
        """Nanoseconds of processor time per data packet."""
        return 1e9 / self.pkts_per_s


@contextmanager
def one_core() -> Iterator[None]:
    """Restrict this process and its children to one core while the context is open."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def side_by_side(runs: Sequence[Callable[[], Measurement]], rounds: int) -> list[Measurement]:
    """Repeat all runs at the same time until each has been measured `rounds` times.

    A run that ends early starts again, so no measured run has the core to itself. Returns for each
    run the sum of its measurements; the peak memory is the largest one. An error in one run ends
    all of them.
    """
    contest = _Contest(len(runs), rounds)
    with ThreadPoolExecutor(len(runs)) as pool:
        measured = list(pool.map(contest.repeat, range(len(runs)), runs))
    return [_total(measurements) for measurements in measured]


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

    def repeat(self, index: int, run: Callable[[], Measurement]) -> list[Measurement]:
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


class Longhaul:
    """A process that simulates one scenario on request.

    The interpreter is started and libraries are loaded before any measurement, because both take
    longer than many simulations.
    """

    def __init__(self, scenario: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "validation.speed.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._reports = self._process.stdout
        self._request(json.dumps(scenario))
        self._peak_mb = float(self._next_report())

    def __enter__(self) -> Longhaul:
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.close()
        self._process.wait()
        self._reports.close()

    def run(self) -> Measurement:
        """Simulate the scenario once, and return its cost."""
        self._request("again")
        report = json.loads(self._next_report())
        return Measurement(report["packets"], report["cpu_s"], self._peak_mb)

    def _request(self, line: str) -> None:
        self._requests.write(f"{line}\n")
        self._requests.flush()

    def _next_report(self) -> str:
        line = self._reports.readline()
        if not line:
            raise subprocess.CalledProcessError(self._process.wait(), self._process.args)
        return line


def run_ns2(script: Path, arguments: list[str]) -> Measurement:
    """Run an ns-2 script that takes `out=` and `key=value` arguments, and return its cost."""
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
