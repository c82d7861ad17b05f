"""A run that exceeds its memory limit: it stops, keeps its records, and says what took memory."""

import sys
from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul

# The window doubles every 100 ms without limit: it would reach 10^8 segments after 2.5 s.
ENDLESS = """
title    = "A rate that no window fills"
duration = "60 s"
measure  = { every = "100 ms" }

[topology.dumbbell.bottleneck]
rate  = "1000000 Tbps"
delay = "50 ms"
queue = { kind = "droptail", limit = "1000000000 packets" }

[[flows]]
label = "greedy"
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def test_the_run_stops_and_keeps_what_was_recorded(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    result = cli("run", "endless.toml", "--out", "r1", "--memory", "200 MB", "--quiet")
    assert result.returncode == 1, result
    for text in (
        "full windows would take some",
        "by the memory limit of 200 MB: ",
        " needed ",
        "link `bottleneck",
        "a flow of `greedy` has ",
        "the recorded part is in r1",
    ):
        assert text in result.stderr
    assert "Traceback" not in result.stderr
    kept = longhaul.Results(tmp_path / "r1")
    assert kept.meta["stopped"]
    assert "memory limit" in kept.stopped
    assert kept.meta["machine"]["peak_memory_bytes"] <= 200e6
    # Samples up to the end exist, and show slow start.
    windows = kept.series.filter(kind="flow")["cwnd_pkts"]
    assert windows.max() > 1e4  # type: ignore[operator]
    assert kept.flows["delivered_bytes"].sum() > 0


@pytest.mark.parametrize("kind", ["codel", "fq-codel", "drr", "red"])
@pytest.mark.parametrize("recovery", ["sack", "rack-tlp"])
def test_whatever_holds_the_packets(kind: str, recovery: str, tmp_path: Path) -> None:
    scenario = ENDLESS.replace("droptail", kind) + f'recovery = "{recovery}"\n'
    with pytest.raises(longhaul.RunError, match=r"memory limit of 100 MB.* is in "):
        longhaul.run(scenario, out=tmp_path / "r1", memory="100 MB")
    assert longhaul.Results(tmp_path / "r1").meta["stopped"]


def test_a_run_that_fits_is_the_same_with_a_limit(tmp_path: Path) -> None:
    scenario = ENDLESS.replace("1000000 Tbps", "10 Mbps").replace("60 s", "5 s")
    one = longhaul.run(scenario, out=tmp_path / "r1", memory="2 GB")
    other = longhaul.run(scenario, out=tmp_path / "r2")
    assert one.flows.equals(other.flows)
    assert one.series.equals(other.series)


@pytest.mark.parametrize("size", ["2", "2 GiBit", "-1 GB", "many", "0 GB"])
def test_a_limit_that_is_no_size_is_refused(size: str, tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    result = cli("run", "endless.toml", "--memory", size)
    assert result.returncode == 2
    assert 'expected for example "2 GB"' in result.stderr
    assert not (tmp_path / "runs").exists()
