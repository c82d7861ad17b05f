"""Functions shared by comparisons: parts of scenarios, and parallel runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")
Figures = TypeVar("Figures", bound=NamedTuple)


def dumbbell(
    rate: str, delay: str, queue: str | dict[str, Any] | None = None, **more: object
) -> dict[str, Any]:
    """Return the topology of a dumbbell; a text as queue is the limit of drop-tail."""
    bottleneck: dict[str, Any] = {"rate": rate, "delay": delay, **more}
    if queue is not None:
        limited = isinstance(queue, str)
        bottleneck["queue"] = {"kind": "droptail", "limit": queue} if limited else queue
    return {"dumbbell": {"bottleneck": bottleneck}}


def mean(runs: Iterable[Figures]) -> Figures:
    """Return the mean of each field over runs; a run's figures are a named tuple."""
    first, *others = runs
    return first._make(map(fmean, zip(first, *others, strict=True)))


def in_parallel(run: Callable[..., Result], calls: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Return the results of `run` for several arguments, in their order, with two processes."""
    with ProcessPoolExecutor(2) as pool:
        return [call.result() for call in [pool.submit(run, *given) for given in calls]]
