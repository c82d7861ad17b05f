"""Live display of a run in the terminal; the display does not change the run's results."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import MESONET_NETWORK, SMALL, CommandLine, contents
from rich.console import Console

import longhaul
from longhaul._engine import Latest
from longhaul.running.watch import BLOCKS, Watch


def watched(out: Path, scenario: str) -> str:
    """Return the output of the terminal while a scenario runs."""
    main, other = pty.openpty()
    program = str(Path(sys.executable).with_name("longhaul"))
    command = [program, "run", scenario, "--out", str(out), "--watch"]
    environment = os.environ | {"COLUMNS": "120", "LINES": "50", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=other, stderr=other, env=environment)
    os.close(other)
    seen = b""
    while True:
        try:
            part = os.read(main, 65_536)
        except OSError:  # The other end is closed.
            break
        if not part:
            break
        seen += part
    os.close(main)
    assert process.wait() == 0, seen.decode()
    return seen.decode()


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    file = tmp_path / "s.toml"
    file.write_text(SMALL.replace('duration = "10 s"', 'duration = "300 s"'))
    return str(file)


def test_windows_queues_and_throughput_are_shown(scenario: str, tmp_path: Path) -> None:
    seen = watched(tmp_path / "r1", scenario)
    for word in ("window", "Mbit/s", "queue", "bottleneck", "s simulated"):
        assert word in seen, word
    # The same run without a watcher has the same content.
    longhaul.run(scenario, out=tmp_path / "r2")
    assert contents(tmp_path / "r1") == contents(tmp_path / "r2")


def test_without_a_terminal_there_is_nothing_to_watch(cli: CommandLine, scenario: str) -> None:
    refused = cli("run", scenario, "--watch", "--out", "r3")
    assert (refused.returncode, "--watch" in refused.stderr) == (2, True)
    assert not Path("r3").exists()


def picture(watch: Watch) -> str:
    console = Console(width=120, file=io.StringIO())
    with console.capture() as captured:
        console.print(watch.picture(1.0, 1000))
    return captured.get()


def test_curves_follow_the_rates() -> None:
    class Samples:
        number = 0

        def interval(self) -> None:
            return None

        def flows(self) -> dict[str, dict[str, Any]]:
            sample = {
                "t_s": float(self.number),
                "cwnd_pkts": 10.0,
                "srtt_s": 0.1,
                "retransmitted_pkts": 3,
                "delivered_bytes": 125_000 * self.number**2,
            }
            return {"reno-0": sample}

        def links(self) -> dict[str, dict[str, Any]]:
            return {}

    samples = Samples()
    watch = Watch("a run", 10.0, samples)  # type: ignore[arg-type]
    for number in range(1, 4):
        samples.number = number
        text = picture(watch)
    # The bars are for 1, 3 and 5 Mbit/s.
    assert "5.0" in text
    assert f"{BLOCKS[2]}{BLOCKS[5]}{BLOCKS[8]}" in text


def test_mesonet_is_watched_by_interval(tmp_path: Path) -> None:
    latest = Latest()
    watch = Watch("m", 8.0, latest)
    assert "no samples yet; measure.every (in MesoNet: mesonet.interval)" in picture(watch)
    scenario = longhaul.load(f"[mesonet]\nintervals = 40\n{MESONET_NETWORK}")
    scenario.run(tmp_path / "m1", latest=latest)
    text = picture(watch)
    assert "active flows" in text
    assert "router" in text
    last = longhaul.open(tmp_path / "m1").table("classes").filter(pl.col("interval") == 40)
    for active in last["active_flows"]:
        assert f" {active:,} " in text
