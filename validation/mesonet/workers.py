"""Processes that share the runs of a part."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def pool(processes: int) -> ProcessPoolExecutor:
    """Start new processes: forks of a process with Polars' threads would wait for them for ever."""
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
