"""Congestion control in another process, compared with the same algorithm as a class."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import CommandLine

import longhaul
from longhaul.congestion import Ack, Congestion, CongestionControl, Window
from longhaul.evaluation.contenders import ContenderError, contender

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENARIO = {
    "duration": "15 s",
    "measure": {"from": "1 s", "every": "100 ms", "events": True},
    "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "20 ms"}}},
}


class Reno(CongestionControl):
    """The algorithm of `examples/external_controller.*`, as a class in this process."""

    phases = "slow start"

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Grow the window as `examples/external_controller.*` do."""
        slow_start = min(ack.acked, window.cwnd)
        window.cwnd += slow_start if window.in_slow_start else ack.acked / window.cwnd

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Reduce the window as `examples/external_controller.*` do."""
        window.ssthresh = window.cwnd = max(event.base / 2, 2.0)


def _command(language: str, folder: Path) -> list[str]:
    """Return the command that starts an example; compile the example first if necessary."""
    source = EXAMPLES / f"external_controller.{language}"
    if language == "py":
        return [sys.executable, str(source)]
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    program = folder / "controller"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)
    return [str(program)]


@contextmanager
def _running(command: list[str], place: Path, *more: str) -> Iterator[str]:
    """Start a controller, and provide its address while it runs."""
    process = subprocess.Popen([*command, str(place), *more])
    try:
        for _ in range(200):
            if place.exists():
                break
            time.sleep(0.05)
        yield f"unix:{place}"
    finally:
        process.kill()
        process.wait()


def _scenario(congestion: dict[str, Any], **keys: Any) -> dict[str, Any]:  # noqa: ANN401
    flow = {"label": "flow", "count": 2, "start": ["0 s", "3 s"], "congestion": congestion}
    return {**SCENARIO, "flows": [flow], **keys}


@pytest.mark.parametrize("language", ["py", "c"])
def test_a_controller_elsewhere_has_the_windows_of_one_here(language: str, tmp_path: Path) -> None:
    command = _command(language, tmp_path)
    with _running(command, tmp_path / "controller.sock") as address:
        there = longhaul.run(_scenario({"external": address}))
    here = longhaul.run(_scenario({"python": Reno}))
    assert there.events.filter(there.events["event"] == "cut").height > 3
    assert there.series.equals(here.series)
    # `cwnd_before_pkts` differs, since a controller that also acts in recovery gets the ACK first.
    events = [run.events.drop("cwnd_before_pkts") for run in (there, here)]
    assert events[0].equals(events[1])


def test_one_that_is_told_once_a_round_trip_has_as_much(tmp_path: Path) -> None:
    command = _command("py", tmp_path)
    with _running(command, tmp_path / "controller.sock", "round") as address:
        there = longhaul.run(_scenario({"external": address}))
    here = longhaul.run(_scenario({"python": Reno}))
    goodputs = [run.flows["goodput_bps"].sum() for run in (there, here)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.05)


@contextmanager
def _silent(*answers: bytes) -> Iterator[str]:
    """Provide the address of a controller that sends `answers` on each connection, then nothing."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        kept = []
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            for answer in answers:
                connection.recv(4096)
                connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"tcp:127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


def test_a_controller_that_does_not_answer_is_not_waited_for_beyond_the_limit() -> None:
    with _silent(b"{}\n", b"{}\n") as address:
        began = time.monotonic()
        with pytest.raises(longhaul.AlgorithmError, match="when the time limit was reached"):
            longhaul.run(_scenario({"external": address}), limit="500 ms")
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_waiting_for_a_controller_ends_with_a_signal(number: int, tmp_path: Path) -> None:
    (tmp_path / "waits.json").write_text(json.dumps(_scenario({})))
    with _silent(b"{}\n", b"{}\n") as address:
        override = f'flows.0.congestion={{external="{address}"}}'
        command = [sys.executable, "-m", "longhaul", "run", "waits.json", "--set", override]
        process = subprocess.Popen(
            [*command, "--out", "r1"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        while not any(path.name.startswith("r1.partial") for path in tmp_path.iterdir()):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        time.sleep(1)
        process.send_signal(number)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 1, error
    assert "Traceback" not in error


def test_what_is_no_answer_ends_the_run_with_address_and_time(tmp_path: Path) -> None:
    with (
        _silent(b"{}\n", b"{}\n", b"rubbish\n") as address,
        pytest.raises(longhaul.AlgorithmError, match=rf"{address}: .*rubbish.*s of simulated time"),
    ):
        longhaul.run(_scenario({"external": address}), out=tmp_path / "run")
    assert longhaul.open(tmp_path / "run").meta["stopped"]


def test_a_controller_that_is_not_there_is_refused(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'nobody'}"
    with pytest.raises(ContenderError, match="no controller answers"):
        contender(address)
    with pytest.raises(longhaul.AlgorithmError, match="no controller answers"):
        longhaul.run(_scenario({"external": address}))


@pytest.mark.parametrize(
    ("congestion", "message"),
    [
        ({"external": "x"}, "external: expected unix:PATH or tcp:HOST:PORT, found"),
        ({"external": 3}, "external: expected text in quotes"),
        ({"external": "tcp:a:1", "gain": 2}, "gain: a controller in another process has"),
        ({"external": "tcp:a:1", "kind": "reno"}, "kind: a controller in another process has"),
        ({"external": "tcp:a:1", "python": "a.py:A"}, "an algorithm in Python has no external"),
    ],
)
def test_what_names_no_controller_is_refused(congestion: dict[str, Any], message: str) -> None:
    with pytest.raises(longhaul.ScenarioError, match=message):
        longhaul.load(_scenario(congestion))


def test_another_version_is_another_scenario() -> None:
    plain, first, second = (
        longhaul.load(_scenario({"external": "tcp:localhost:9", **version}))
        for version in ({}, {"version": "1"}, {"version": "2"})
    )
    assert len({plain.hash, first.hash, second.hash}) == 3


def test_the_command_refuses_an_address_where_nobody_listens(cli: CommandLine) -> None:
    done = cli("evaluate", "tcp:127.0.0.1:9")
    assert done.returncode == 2
    assert "no controller answers" in done.stderr
