"""Runs of MesoNet that are killed and resumed: they end like runs that were never stopped."""

import fcntl
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import MESONET_NETWORK, CommandLine

import longhaul
from longhaul.congestion import Ack, CongestionControl, Window
from longhaul.mesonet import Interval, MesoNet

# Twelve seconds of a lossy network with everything that has state: long-lived flows, three
# algorithms, limits on large files, jumbo files, a log, batches, row groups and a trace.
SCENARIO = (
    """
title = "Killed"

[mesonet]
intervals = 60
flush_every = 7
algorithms = [
    { share = 0.5 },
    { congestion = { kind = "fast-at" }, share = 0.3 },
    { congestion = { kind = "bic", variant = "nist" }, share = 0.2 },
]
long_lived = [{ from = "X1a", to = "Z1a", start = "2 s", algorithm = "fast-at" }]
"""
    + MESONET_NETWORK
    + """\
files = { admission = true, jumbo = { from = 0.2, until = 0.7, factor = 100 } }
measure = { flow_log = true, batch = 50, trace = { flows = [1], sources = ["0-9"], from = 0.1 } }
"""
)


def _files(run: Path) -> dict[str, Any]:
    """Return the contents of a run's files, without the facts about the machine in `run.json`."""
    found: dict[str, Any] = {file.name: file.read_bytes() for file in sorted(run.iterdir())}
    meta = json.loads(found["run.json"])
    del meta["machine"]
    return found | {"run.json": meta}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the files of a run that was never stopped."""
    return _files(longhaul.run(SCENARIO, out=tmp_path_factory.mktemp("whole") / "run").path)


def _kill(command: list[str], folder: Path, *, checkpoints: int, later_s: float = 0.0) -> bool:
    """Kill a run `later_s` seconds after `checkpoints` checkpoints; return true if it still ran."""
    state = folder / "run.checkpoint" / "state"

    def written() -> int:
        return state.stat().st_ino if state.exists() else 0

    with subprocess.Popen(command, cwd=folder) as process:
        last = written()
        while checkpoints and process.poll() is None:
            checkpoints -= written() != last
            last = written()
            time.sleep(0.001)
        time.sleep(later_s)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def test_a_run_that_is_killed_again_and_again_ends_as_if_it_was_not(
    whole: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "killed.toml").write_text(SCENARIO)
    program = str(Path(sys.executable).with_name("longhaul"))
    command = [program, "run", "killed.toml", "--out", "run", "-q"]
    command += ["--checkpoint-every", "1 us"]
    kills = sum(_kill(command, tmp_path, checkpoints=after) for after in (1, 4, 2, 6))
    assert kills >= 2
    assert not (tmp_path / "run").exists()
    late = subprocess.run(
        [*command, "--limit", "1 ms"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert "by the limit of 1ms; the same command resumes from run.checkpoint" in late.stderr
    subprocess.run(command, cwd=tmp_path, check=True)
    assert _files(tmp_path / "run") == whole
    assert [path.name for path in tmp_path.iterdir() if "run" in path.name] == ["run"]


def test_a_run_that_is_killed_between_two_checkpoints_ends_as_if_it_was_not(
    whole: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "killed.toml").write_text(SCENARIO)
    program = str(Path(sys.executable).with_name("longhaul"))
    command = [program, "run", "killed.toml", "--out", "run", "-q", "--checkpoint-every", "50 ms"]
    kills = 0
    for later_s in (0.005, 0.01, 0.02):
        kills += _kill(command, tmp_path, checkpoints=1, later_s=later_s)
    assert kills >= 1
    if not (tmp_path / "run").exists():
        subprocess.run(command, cwd=tmp_path, check=True)
    assert _files(tmp_path / "run") == whole


def test_nothing_of_an_older_run_gets_into_one_with_checkpoints(
    whole: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    longhaul.run(SCENARIO, out=out, set=["seed=2"])
    # Simulate tables that are left by a process killed before its first checkpoint.
    left = tmp_path / "run.checkpoint" / "run"
    left.mkdir(parents=True)
    (left / "older.parquet").touch()
    run = longhaul.run(SCENARIO, out=out, overwrite=True, checkpoint_every="0 s")
    assert _files(run.path) == whole
    assert list(tmp_path.iterdir()) == [out]


def _raising(at: int) -> Callable[[Interval], dict[str, float]]:
    """Return a measuring function that raises an error in interval `at`."""

    def measure(interval: Interval) -> dict[str, float]:
        if interval.number == at:
            raise RuntimeError("enough")
        return {"out": interval.out_pkts, "number": interval.number}

    return measure


def test_functions_that_measure_are_given_again(tmp_path: Path) -> None:
    whole = longhaul.run(SCENARIO, out=tmp_path / "whole", measures=[_raising(0)])
    out = tmp_path / "run"
    for at in (9, 40):
        with pytest.raises(RuntimeError, match="enough"):
            longhaul.run(SCENARIO, out=out, measures=[_raising(at)], checkpoint_every="0 s")
    with pytest.raises(longhaul.LonghaulError, match="started with measuring functions"):
        longhaul.run(SCENARIO, out=out, checkpoint_every="0 s")
    run = longhaul.run(SCENARIO, out=out, measures=[_raising(0)], checkpoint_every="1 h")
    assert _files(run.path) == _files(whole.path)
    assert MesoNet.of(run).measures["number"].to_list() == list(range(1, 61))


def test_what_cannot_be_gone_on_with_is_refused(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    with pytest.raises(RuntimeError):
        longhaul.run(
            SCENARIO, out="run", measures=[_raising(9)], set=["seed=2"], checkpoint_every="0 s"
        )
    every = ("--out", "run", "--checkpoint-every", "1 min")
    other = cli("run", "a.toml", *every)
    assert (other.returncode, "checkpoint of another scenario" in other.stderr) == (2, True)
    without = cli("run", "a.toml", "--out", "run")
    assert without.returncode == 2
    assert "holds the checkpoint of an unfinished run" in without.stderr
    unit = cli("run", "a.toml", "--out", "new", "--checkpoint-every", "10")
    assert (unit.returncode, "time between two checkpoints" in unit.stderr) == (2, True)
    state = tmp_path / "run.checkpoint" / "state"
    kept = state.read_bytes()
    version = longhaul.__version__.encode()
    assert kept.count(version, 0, 20) == 1
    state.write_bytes(kept.replace(version, b"9" * len(version), 1))
    older = cli("run", "a.toml", *every)
    assert (older.returncode, "checkpoint of Longhaul 9" in older.stderr) == (2, True)
    state.write_bytes(kept[:10])
    damaged = cli("run", "a.toml", *every)
    assert (damaged.returncode, "checkpoint is damaged" in damaged.stderr) == (2, True)
    with (tmp_path / "run.checkpoint" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = cli("run", "a.toml", *every)
    assert (busy.returncode, "another process is writing" in busy.stderr) == (2, True)


class Own(CongestionControl):
    """A user's algorithm, which never changes the window."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Leave the window unchanged."""


def test_only_the_engine_s_own_mesonet_has_checkpoints(
    small: Path, tmp_path: Path, cli: CommandLine
) -> None:
    tcp = cli("run", small, "--checkpoint-every", "1 min")
    assert (tcp.returncode, "checkpoints are for scenarios of MesoNet" in tcp.stderr) == (2, True)
    with pytest.raises(longhaul.LonghaulError, match="`Own` is not one of the program's own"):
        longhaul.run(
            SCENARIO,
            out=tmp_path / "own",
            algorithms=[Own],
            set=['mesonet.algorithms=[{ congestion = { python = "Own" }, share = 1.0 }]',
                 "mesonet.long_lived=[]",
                "mesonet.measure.trace.flows=[]"],
            checkpoint_every="1 min",
        )  # fmt: skip
    with pytest.raises(longhaul.LonghaulError, match="need a run directory"):
        longhaul.run(SCENARIO, checkpoint_every="1 min")
