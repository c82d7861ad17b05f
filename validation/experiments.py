"""Functions that several comparisons use: parts of scenarios, means, and parallel runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")
Figures = TypeVar("Figures", bound=NamedTuple)

SEEDS = (1, 2, 3)


def dumbbell(
    rate: str, delay: str, queue: str | dict[str, Any] | None = None, **more: object
) -> dict[str, Any]:
    """Return the topology of a dumbbell with the given bottleneck.

    A text `queue` is the limit of a drop-tail queue; a dictionary has the keys of the queue. `more`
    has further keys of the bottleneck.
    """
    bottleneck: dict[str, Any] = {"rate": rate, "delay": delay, **more}
    if queue is not None:
        limited = isinstance(queue, str)
        bottleneck["queue"] = {"kind": "droptail", "limit": queue} if limited else queue
    return {"dumbbell": {"bottleneck": bottleneck}}


@dataclass(frozen=True)
class Bottleneck:
    """A path: rate in Mbit/s, base RTT in ms, and buffer in bandwidth-delay products."""

    rate_mbps: float
    rtt_ms: float
    buffer_bdp: float = 1.0

    @property
    def name(self) -> str:
        """Name of the path in tables: rate and RTT."""
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms"

    def link(self, **others: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the bottleneck's keys for `dumbbell`; `others` has further or replaced keys."""
        queue = {"kind": "droptail", "limit": f"{self.buffer_bdp} BDP"}
        rate, delay = f"{self.rate_mbps} Mbps", f"{self.rtt_ms / 2} ms"
        return {"rate": rate, "delay": delay, "queue": queue, **others}


def pool(processes: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes; forked processes deadlock, as Polars has threads."""
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


def mean(runs: Iterable[Figures]) -> Figures:
    """Return the mean over `runs` of each field; each run is a named tuple of numbers."""
    first, *others = runs
    return first._make(map(fmean, zip(first, *others, strict=True)))


def means(run: Callable[..., Figures], calls: Iterable[tuple[Any, ...]]) -> list[Figures]:
    """Return the mean results over `SEEDS` for each tuple of arguments in `calls`, in their order.

    `run` simulates one run and returns its results as a named tuple. The last argument of `run` is
    the seed, which the tuples do not contain. Two processes make the calls.
    """
    calls = list(calls)
    results = iter(in_parallel(run, ((*arguments, seed) for arguments in calls for seed in SEEDS)))
    return [mean([next(results) for _ in SEEDS]) for _ in calls]


def in_parallel(run: Callable[..., Result], calls: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Return the results of `run`, called with each tuple of arguments in `calls`, in their order.

    Two processes make the calls.
    """
    with pool(2) as workers:
        return [call.result() for call in [workers.submit(run, *arguments) for arguments in calls]]
