"""Fixtures of all tests: a small scenario, runs of it, and the command line as a user calls it."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import longhaul
from longhaul.campaign.pool import LocalWorkers, RunOutcome, attempt
from longhaul.cli import app

# Two algorithms on 20 Mbit/s and 20 ms for ten seconds; runs fast, with losses and recoveries.
SMALL = """
title    = "Small"
duration = "10 s"
measure  = { from = "2 s", every = "100 ms", events = true }

[topology.dumbbell.bottleneck]
rate  = "20 Mbps"
delay = "10 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[flows]]
label = "fast"
count = 2
congestion = { kind = "hstcp" }
start = { uniform = ["0 s", "1 s"] }

[[flows]]
label = "standard"
start = { uniform = ["0 s", "1 s"] }
"""

# Three backbone routers with one point of presence each; a normal access router forwards 2 packets
# per ms, so that a few hundred sources fill it at times.
MESONET_NETWORK = """\
network = { backbone_rate = 80, topology = { backbone = [
    { name = "X", direct = 1, pops = [{ normal = 2 }] },
    { name = "Y", pops = [{ fast = 1 }] },
    { name = "Z", pops = [{ normal = 1 }] },
], links = [
    { from = "X", to = "Y", delay = 10 },
    { from = "Y", to = "Z", delay = 5 },
] } }
hosts = { sources = 40, scale = 1 }
users = { think = "1 s" }
"""

# Additive increase, multiplicative decrease in Python.
AIMD = """
from longhaul import CongestionControl


class Aimd(CongestionControl):
    def __init__(self, increase=1.0, decrease=0.5):
        self.increase = increase
        self.decrease = decrease

    def on_ack(self, ack, window):
        window.grow(self.increase * ack.credit / window.cwnd)

    def on_congestion(self, event, window):
        window.reduce_to(event.base * (1 - self.decrease))


class PerRound(CongestionControl):
    def on_round(self, ack, window):
        return 1.0
"""

CommandLine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run the small scenario once, for tests that only read the results."""
    return longhaul.run(SMALL, out=tmp_path_factory.mktemp("finished") / "r1")


@pytest.fixture(scope="session")
def finished_again(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run the small scenario with another seed."""
    out = tmp_path_factory.mktemp("finished") / "r2"
    return longhaul.run(SMALL, out=out, set=["seed=2"])


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Return a function that calls `longhaul` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(word) for word in words]
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        return subprocess.CompletedProcess(command, result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def cli_process(tmp_path: Path) -> CommandLine:
    """Return a function that calls `longhaul` in a new process, in an empty directory."""

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [Path(sys.executable).with_name("longhaul"), *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


class WorkersHere(LocalWorkers):
    """Workers in the test's own process, because starting one takes longer than a short run."""

    def __init__(self, count: int, memory: int | None = None) -> None:
        super().__init__(count, memory)
        self._submitted: list[tuple[str, bytes]] = []

    def submit(self, key: str, work: Any, *arguments: Any) -> None:  # noqa: ANN401
        """Pickle and keep a run, as if it were sent to another process."""
        self._submitted.append((key, pickle.dumps((work, arguments))))

    def finished(self, timeout_s: float) -> list[RunOutcome]:
        """Execute the run that was submitted first, and return a list with its outcome."""
        key, sent = self._submitted.pop(0)
        return [RunOutcome(key, *attempt(*pickle.loads(sent)))]


@pytest.fixture
def workers_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute runs in this process, except in tests marked `processes`.

    Those tests are about the workers themselves.
    """
    if request.node.get_closest_marker("processes") is None:
        for module in ("longhaul.campaign.execute", "longhaul.cli.campaign"):
            monkeypatch.setattr(import_module(module), "LocalWorkers", WorkersHere)


def contents(run: Path) -> dict[str, Any]:
    """Return the content of every file of a run; `run.json` without facts about the machine."""
    files: dict[str, Any] = {path.name: path.read_bytes() for path in run.iterdir()}
    files["run.json"] = json.loads(files["run.json"])
    del files["run.json"]["machine"]
    return files
