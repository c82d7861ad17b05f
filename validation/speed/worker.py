"""Process for timed simulations: `python -m validation.speed.worker`.

The first line of its input is a scenario in JSON. It is simulated once, which loads all libraries,
and the memory in excess of interpreter and libraries is printed in MB. For each further line, it is
simulated again, and the number of data packets and the processor time are printed in JSON. The time
includes checking the scenario and writing the tables, as for a user.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Instead of `longhaul.run`, which loads its libraries in the first call.
from longhaul.running.execution import run


def main() -> None:
    """Run the scenario in the first line of the input once, and again for each further line."""
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
    """Reset the system's record of peak memory; return the memory in use, in bytes."""
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
