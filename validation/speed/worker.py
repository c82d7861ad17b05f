"""Timed simulations in a process of their own: `python -m validation.speed.worker`.

The first line of its input is a scenario in JSON. Simulates it once, which loads what a run needs,
and prints the memory that it took beyond the interpreter and the libraries at rest, in MB. Then,
for each further line, simulates again and prints a JSON object: data packets and the processor time
of everything a user's run does (checking the scenario, simulating, writing the tables).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Not `longhaul.run`, which loads its libraries when it is first called.
from longhaul.running.execution import run


def main() -> None:
    """Run the scenario in the first line of the input: once, and once for each further line."""
    scenario = json.loads(sys.stdin.readline())
    at_rest_b = _forget_peak()
    _run(scenario)
    print((_status("VmHWM") - at_rest_b) / 2**20, flush=True)
    for _ in sys.stdin:
        begin = time.process_time()
        packets = _run(scenario)
        print(json.dumps({"packets": packets, "cpu_s": time.process_time() - begin}), flush=True)


def _run(scenario: dict[str, Any]) -> int:
    with tempfile.TemporaryDirectory(prefix="longhaul-speed-") as scratch:
        results = run(scenario, out=Path(scratch) / "run")
        return int(results.meta["data_packets"])


def _forget_peak() -> int:
    """Have the system forget earlier peaks; return the memory in use, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(key: str) -> int:
    """Read a size from /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


if __name__ == "__main__":
    main()
