"""One timed simulation in a process of its own: `python -m validation.speed.worker SCENARIO.json`.

Prints a JSON object: data packets, events, processor time of everything a user's run does (checking
the scenario, simulating, writing the tables), and the memory that it took beyond the interpreter
and the libraries at rest.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import longhaul


def main() -> None:
    """Run the scenario whose file is the first argument."""
    scenario = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory(prefix="longhaul-speed-") as scratch:
        at_rest_b = _forget_peak()
        begin = time.process_time()
        results = longhaul.run(scenario, out=Path(scratch) / "run")
        cpu_s = time.process_time() - begin
        peak_b = _status("VmHWM")
        meta = results.meta
    report = {
        "packets": meta["data_packets"],
        "events": meta["events"],
        "cpu_s": cpu_s,
        "peak_mb": (peak_b - at_rest_b) / 2**20,
    }
    print(json.dumps(report))


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
