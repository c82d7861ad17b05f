"""Timed simulations in a process of their own (`measure.in_process`).

A scenario is simulated once, which loads all libraries, to measure the memory in excess of
interpreter and libraries. For each further simulation, the number of data packets and the processor
time are measured. The time includes checking the scenario and writing the tables, as for a user.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

# Instead of `longhaul.run`, which loads its libraries in the first call.
from longhaul.running.execution import run


def peak_mb(scenario: dict[str, Any]) -> float:
    """Simulate a scenario; return the peak memory in excess of the memory before, in MiB."""
    # Reset the system's record of peak memory.
    Path("/proc/self/clear_refs").write_text("5")
    at_rest_b = _status("VmRSS")
    _run(scenario)
    return (_status("VmHWM") - at_rest_b) / 2**20


def cost(scenario: dict[str, Any]) -> tuple[int, float]:
    """Simulate a scenario; return the number of data packets, and the processor time in seconds."""
    begin = time.process_time()
    return _run(scenario), time.process_time() - begin


def _run(scenario: dict[str, Any]) -> int:
    with tempfile.TemporaryDirectory(prefix="longhaul-speed-") as scratch:
        results = run(scenario, out=Path(scratch) / "run")
        return int(results.meta["data_packets"])


def _status(key: str) -> int:
    """Read a size from /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)
