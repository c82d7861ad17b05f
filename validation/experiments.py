"""Functions that several comparisons use: parts of scenarios, means, and parallel runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from validation.workers import pool

Result = TypeVar("Result")
Figures = TypeVar("Figures", bound=NamedTuple)


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


def mean(runs: Iterable[Figures]) -> Figures:
    """Return the mean over `runs` of each field; the figures of a run are a named tuple."""
    first, *others = runs
    return first._make(map(fmean, zip(first, *others, strict=True)))


def in_parallel(run: Callable[..., Result], calls: Iterable[tuple[Any, ...]]) -> list[Result]:
    """Return the results of `run`, called with each tuple of arguments in `calls`, in their order.

    Two processes make the calls.
    """
    with pool(2) as workers:
        return [call.result() for call in [workers.submit(run, *given) for given in calls]]
