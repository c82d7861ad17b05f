"""Worker processes, among which the runs of a comparison are divided."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def pool(processes: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes; forked ones would deadlock, since Polars has threads."""
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
