"""Determinism: the same bytes in another process, and in simultaneous threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, CommandLine, contents

import longhaul

RED = "topology.dumbbell.bottleneck.queue.kind=red"


def test_two_processes_write_the_same_bytes(
    small: Path, tmp_path: Path, cli_process: CommandLine
) -> None:
    for out in ("r1", "r2"):
        assert cli_process("run", small, "--out", out, "--set", RED, "--quiet").returncode == 0
    first = contents(tmp_path / "r1")
    assert first == contents(tmp_path / "r2")
    assert {"flows.parquet", "links.parquet", "series.parquet", "events.parquet"} <= first.keys()


def test_threads_give_what_sequential_runs_give(tmp_path: Path) -> None:
    begin = threading.Barrier(2)

    def run(seed: int, where: str, wait: bool) -> dict[str, Any]:
        if wait:
            begin.wait()
        out = tmp_path / f"{where}-{seed}"
        longhaul.run(SMALL, out=out, set=[RED, f"seed={seed}"])
        return contents(out)

    alone = [run(seed, "alone", False) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda seed: run(seed, "together", True), (1, 2)))
    assert together == alone
    assert alone[0] != alone[1]


def test_the_resolved_scenario_gives_the_same_run(
    finished: longhaul.Results, tmp_path: Path
) -> None:
    again = longhaul.run(finished.scenario, out=tmp_path / "again")
    assert contents(again.path) == contents(finished.path)


def test_progress_is_reported_and_can_stop_a_run(tmp_path: Path) -> None:
    seen: list[tuple[float, int]] = []

    def stop(simulated_s: float, packets: int) -> None:
        seen.append((simulated_s, packets))
        if len(seen) == 2:
            raise KeyError("enough")

    long = ["duration=100000 s", "topology.dumbbell.bottleneck.rate=10 Gbps"]
    with pytest.raises(KeyError, match="enough"):
        longhaul.run(SMALL, out=tmp_path / "r1", set=long, progress=stop)
    assert seen[0] < seen[1]
    assert longhaul.Results(tmp_path / "r1").meta["stopped_by"] == "KeyError"
