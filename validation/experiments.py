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

    If `queue` is a text, it is the limit of a drop-tail queue. `more` has further keys of the
    bottleneck.
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
        """Return the bottleneck link as a scenario's TOML table; `others` are further keys."""
        queue = {"kind": "droptail", "limit": f"{self.buffer_bdp} BDP"}
        rate, delay = f"{self.rate_mbps} Mbps", f"{self.rtt_ms / 2} ms"
        return {"rate": rate, "delay": delay, "queue": queue, **others}


def pool(processes: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes; forked ones would deadlock, since Polars has threads."""
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


def mean(runs: Iterable[Figures]) -> Figures:
    """Return the mean over `runs` of each field; the figures of a run are a named tuple."""
    first, *others = runs
    return first._make(map(fmean, zip(first, *others, strict=True)))


def means(run: Callable[..., Figures], calls: Iterable[tuple[Any, ...]]) -> list[Figures]:
    """Return the mean figures over `SEEDS` for each tuple of arguments in `calls`, in their order.

    `run` returns the figures of a run; its last argument is the seed. Two processes make the calls.
    """
    calls = list(calls)
    found = iter(in_parallel(run, ((*given, seed) for given in calls for seed in SEEDS)))
    return [mean([next(found) for _ in SEEDS]) for _ in calls]


def in_parallel(run: Callable[..., Result], calls: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Return the results of `run`, called with each tuple of arguments in `calls`, in their order.

    Two processes make the calls.
    """
    with pool(2) as workers:
        return [call.result() for call in [workers.submit(run, *given) for given in calls]]
