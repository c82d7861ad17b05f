"""Runs one simulation of either simulator in a process of its own, and measures it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import ns2

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Measurement:
    """What one run cost."""

    packets: int
    """Data packets sent, all flows."""
    wall_s: float
    engine_wall_s: float
    """Without checking the scenario and writing tables; the same as `wall_s` for ns-2."""
    peak_mb: float
    """Beyond interpreter and libraries at rest; the whole process for ns-2."""

    @property
    def pkts_per_s(self) -> float:
        """Data packets per second of wall time."""
        return self.packets / self.wall_s

    @property
    def engine_pkts_per_s(self) -> float:
        """Data packets per second of simulation alone."""
        return self.packets / self.engine_wall_s

    @property
    def ns_per_pkt(self) -> float:
        """Nanoseconds of simulation for one data packet."""
        return 1e9 / self.engine_pkts_per_s


def run_longhaul(scenario: dict[str, Any]) -> Measurement:
    """Run a scenario."""
    with tempfile.TemporaryDirectory(prefix="longhaul-speed-") as scratch:
        path = Path(scratch) / "scenario.json"
        path.write_text(json.dumps(scenario))
        command = [sys.executable, "-m", "validation.speed.worker", str(path)]
        output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    report = json.loads(output.stdout)
    return Measurement(
        report["packets"], report["wall_s"], report["engine_wall_s"], report["peak_mb"]
    )


def run_ns2(script: Path, arguments: list[str]) -> Measurement:
    """Run an ns-2 script that takes `out=` and `key=value` arguments."""
    with tempfile.TemporaryDirectory(prefix="ns2-speed-") as scratch:
        command = ns2.command(script, [f"out={scratch}/run", *arguments])
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=scratch)
        assert process.stdout is not None
        output = process.stdout.read()
        # wait4 reports the peak memory of this child alone.
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        packets = _packets(output, Path(scratch) / "run.kv")
    return Measurement(packets, wall_s, wall_s, usage.ru_maxrss / 1024)


def _packets(output: str, records: Path) -> int:
    """Find the data packets sent: printed, or in the records that gold.tcl leaves."""
    if records.exists():
        words = [line.split() for line in records.read_text().splitlines()]
        return sum(int(word[word.index("sent") + 1]) for word in words if word[0] == "flow")
    return int(output.split("sent")[1])
