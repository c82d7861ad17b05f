"""Congestion control in another process: the example does what a class with the same law does."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul
from longhaul.congestion import Ack, Congestion, CongestionControl, Window
from longhaul.evaluation.contenders import ContenderError, contender
from longhaul.external import External

EXAMPLE = Path(__file__).parents[2] / "examples" / "external_controller.py"
SCENARIO = {
    "duration": "15 s",
    "measure": {"from": "1 s", "every": "100 ms", "events": True},
    "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "20 ms"}}},
}


class Reno(CongestionControl):
    """The example's law in this process."""

    phases = "slow start"

    def on_ack(self, ack: Ack, window: Window) -> None:
        """As the example."""
        window.cwnd += ack.acked if window.in_slow_start else ack.acked / window.cwnd

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """As the example, which does not round."""
        window.ssthresh = window.cwnd = max(event.base / 2, 2.0)


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[str]:
    """The address of a running example."""
    place = tmp_path / "controller.sock"
    process = subprocess.Popen([sys.executable, EXAMPLE, place])
    try:
        for _ in range(200):
            if place.exists():
                break
            time.sleep(0.05)
        yield f"unix:{place}"
    finally:
        process.kill()
        process.wait()


def test_a_controller_elsewhere_has_the_windows_of_one_here(controller: str) -> None:
    flows = [{"label": "flow", "count": 2, "start": ["0 s", "3 s"]}]
    there = {"python": External, "address": controller}
    runs = [
        longhaul.run({**SCENARIO, "flows": [{**flows[0], "congestion": congestion}]})
        for congestion in (there, {"python": Reno})
    ]
    assert runs[0].events.filter(runs[0].events["event"] == "cut").height > 3
    assert runs[0].series.equals(runs[1].series)
    # One that decides in recovery, too, gets the acknowledgement that begins it before the cut.
    events = [run.events.drop("cwnd_before_pkts") for run in runs]
    assert events[0].equals(events[1])


def test_a_controller_that_is_gone_ends_the_run_with_its_address(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'nobody'}"
    with pytest.raises(ContenderError, match="no controller answers"):
        contender(address)
    flows = [{"label": "flow", "congestion": {"python": External, "address": address}}]
    with pytest.raises(longhaul.AlgorithmError, match="No such file"):
        longhaul.run({**SCENARIO, "flows": flows})
    with pytest.raises(longhaul.LonghaulError, match=r"expected unix:PATH or tcp:HOST:PORT"):
        longhaul.run({**SCENARIO, "flows": [{"congestion": {"python": External, "address": "x"}}]})


def test_the_command_refuses_an_address_where_nobody_listens(cli: CommandLine) -> None:
    done = cli("evaluate", "tcp:127.0.0.1:9")
    assert done.returncode == 2
    assert "no controller answers" in done.stderr
