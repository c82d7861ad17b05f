"""Processes that share the runs of a part."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def pool(processes: int) -> ProcessPoolExecutor:
    """New processes: copies of one in which Polars has threads would wait for these for ever."""
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
