"""Execution of runs on an existing cluster by Dask distributed (`pip install longhaul[cluster]`).

Longhaul must be installed on the cluster's workers, but they need not share a file system with this
machine. The workers return the values of a run to the program that executes the campaign, and only
this program writes to the store.
"""

import time
from typing import Any

from longhaul._engine import LonghaulError, RunError
from longhaul.campaign.execute import work_far
from longhaul.campaign.pool import RunOutcome, attempt

CONNECT_S = 10.0
# Number of runs submitted to the scheduler per thread; more than 1, so that no thread is ever idle.
AHEAD = 2
LOOK_S = 0.05


class ClusterWorkers:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            message = "--scheduler needs Dask distributed: pip install longhaul[cluster]"
            raise LonghaulError(message) from None
        try:
            self._client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise LonghaulError(f"no answer from the scheduler at {address} ({error})") from None
        self._address = address
        self._futures: dict[str, Any] = {}

    @property
    def capacity(self) -> int:
        """Number of runs that may be in progress at a time; it grows with the number of workers."""
        threads = sum(self._client.nthreads().values()) if self._is_connected else 0
        return max(1, AHEAD * threads)

    @property
    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def threads(self, runs: int) -> int:
        """Return 1, since the scheduler assumes one thread per run."""
        return 1

    def submit(self, key: str, work: Any, *arguments: Any) -> None:  # noqa: ANN401
        """Submit a run to the scheduler: a call of `work_far`, in place of `work`.

        Of the arguments, only scenario and reducer are passed on.
        """
        scenario, _, reducer, _ = arguments
        self._require()
        self._futures[key] = self._client.submit(
            attempt,
            work_far,
            (scenario, reducer),
            key=f"longhaul-{key}-{time.time_ns()}",
            pure=False,
        )

    def finished(self, timeout_s: float) -> list[RunOutcome]:
        """Wait at most `timeout_s` for a run to finish; return outcomes of finished runs.

        Raises RunError if the connection to the scheduler is lost.
        """
        until = time.monotonic() + timeout_s
        while not (ready := [k for k, future in self._futures.items() if future.done()]):
            self._require()
            if time.monotonic() >= until:
                return []
            time.sleep(LOOK_S)
        return [self._collect(key) for key in ready]

    def under_way(self) -> dict[str, float]:
        """Return an empty table: workers on other machines do not report progress."""
        return {}

    def _collect(self, key: str) -> RunOutcome:
        future = self._futures.pop(key)
        if future.status in ("lost", "cancelled"):
            self._require(False)
        error = future.exception()
        if error is not None:
            return RunOutcome(key, error=f"the cluster could not finish it: {error}", is_lost=True)
        return RunOutcome(key, *future.result())

    def _require(self, connected: bool | None = None) -> None:
        if not (self._is_connected if connected is None else connected):
            raise RunError(
                f"lost the connection to the scheduler at {self._address}; "
                "finished runs are kept; run the same command to resume"
            )

    def close(self) -> None:
        """Cancel all runs in progress; the cluster itself continues."""
        if self._is_connected:
            self._client.cancel(list(self._futures.values()), force=True)
        self._client.close(timeout=1)
