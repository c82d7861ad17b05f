"""Tests of common programs in emulated networks, and of the machine's state afterwards."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rights import needs

import longhaul

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))
SCENARIOS = Path(longhaul.__file__).parent / "scenarios"
PATH = str(SCENARIOS / "emulation.toml")
SERVER = ("--in", "right iperf3 -s")


@pytest.fixture(autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hold a lock against tests in other processes, which also count the machine's namespaces."""
    shared = tmp_path_factory.getbasetemp().parent / "emulations"
    with shared.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _emulate(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [LONGHAUL, "emulate", *words],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def _start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [LONGHAUL, "emulate", PATH, *words],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _started(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start an emulation, and wait until its hosts exist."""
    before = _networks()
    process = _start(folder, *words)
    while len(_networks() - before) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(1)
    return process


def _traces_outside() -> dict[str, object]:
    """Return the part of the machine's state that an emulation must not change."""
    listing = subprocess.run(["ip", "-json", "link"], capture_output=True, check=True).stdout
    return {
        "links": sorted(link["ifname"] for link in json.loads(listing)),
        "routes": Path("/proc/net/route").read_text(),
        "mounts": Path("/proc/mounts").read_text(),
        "hosts": Path("/etc/hosts").read_text(),
        "named": sorted(Path("/run/netns").glob("*")),
        "congestion": Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(),
    }


def _networks() -> set[str]:
    found = set()
    for process in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(process.readlink()))
        except OSError:
            continue
    return found


def _left(before: set[str]) -> set[str]:
    """Return the network namespaces that are not in `before`, after some time for them to end."""
    for _ in range(60):
        if not _networks() - before:
            break
        time.sleep(0.05)
    return _networks() - before


@needs("iperf3", "ip")
def test_iperf3_fills_the_link_and_is_recorded_as_a_flow(tmp_path: Path) -> None:
    before, networks = _traces_outside(), _networks()
    done = _emulate(
        tmp_path, PATH, "--out", "r1", "--set", 'measure.from="2 s"', *SERVER,
        "--sysctl", "net.ipv4.tcp_no_metrics_save=1", "--pcap", "r1.pcapng",
        "--", "iperf3", "-c", "right", "-C", "reno", "-t", "5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _traces_outside() == before
    assert not _left(networks)
    run = longhaul.open(tmp_path / "r1")
    (flow,) = [row for row in run.flows.to_dicts() if row["label"] == "reno"]
    # A packet with timestamps carries 1448 of 1500 bytes; a busy machine may not fill the link.
    assert 5e6 < flow["goodput_bps"] < 1.001 * 20e6 * 1448 / 1500
    assert 0.04 < flow["rtt_min_s"] == pytest.approx(0.041, abs=0.005)
    assert (flow["from"], flow["to"], flow["congestion"]) == ("left", "right", "reno")
    link = next(row for row in run.links.to_dicts() if row["name"] == "bottleneck")
    assert link["total_departed_bytes"] > flow["total_delivered_bytes"]
    samples = [row for row in run.series.to_dicts() if row["name"] == flow["name"]]
    assert sum(row["cwnd_pkts"] is not None for row in samples) > 20
    assert run.meta["emulation"]["lateness"]["packets"] > 5000
    assert (tmp_path / "r1.pcapng").stat().st_size > flow["total_delivered_bytes"]
    for command in (["report", "r1"], ["plot", "r1", "cwnd", "rtt"], ["compare", "r1"]):
        assert subprocess.run([LONGHAUL, *command], cwd=tmp_path, check=False).returncode == 0


@needs("lighttpd", "curl")
def test_curl_gets_a_file_from_a_web_server_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(bytes(1_000_000))
    config = f'server.document-root = "{tmp_path}"\nserver.port = 80\n'
    (tmp_path / "web.conf").write_text(config)
    done = _emulate(
        tmp_path, str(SCENARIOS / "quic_blackhole.toml"), "--out", "r1",
        "--in", f"left lighttpd -D -f {tmp_path}/web.conf", "--at", "right",
        "--", "curl", "-s", "-o", "got", "http://left/page",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "got").read_bytes() == bytes(1_000_000)
    flows = longhaul.open(tmp_path / "r1").flows.to_dicts()
    down = max(flows, key=lambda row: row["total_delivered_bytes"])
    assert down["from"] == "left"
    # The total also includes HTTP headers.
    assert 1_000_000 < down["total_in_order_bytes"] < 1_001_000


@needs("iperf3")
def test_an_interrupted_emulation_keeps_its_records(tmp_path: Path) -> None:
    networks = _networks()
    process = _started(tmp_path, "--out", "r1", *SERVER, "--", "iperf3", "-c", "right", "-t", "50")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "Traceback" not in error
    assert "interrupt; the recorded part is in" in error
    assert not _left(networks)
    run = longhaul.open(tmp_path / "r1")
    assert run.meta["stopped"]
    assert run.meta["data_packets"] > 0


@needs("iperf3", "ip")
def test_a_killed_emulation_keeps_its_records_and_leaves_nothing_else_behind(
    tmp_path: Path,
) -> None:
    before, networks = _traces_outside(), _networks()
    process = _started(tmp_path, "--out", "r1", *SERVER, "--", "iperf3", "-c", "right", "-t", "50")
    process.kill()
    # The error stream ends when the emulating process has written the records and exits.
    process.communicate(timeout=60)
    assert not _left(networks)
    assert _traces_outside() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r1"]
    run = longhaul.open(tmp_path / "r1")
    assert run.meta["stopped"]
    assert run.meta["data_packets"] > 0


@needs("iperf3")
def test_the_end_of_the_process_that_emulates_is_told(tmp_path: Path) -> None:
    networks = _networks()
    process = _started(tmp_path, "--out", "r1", *SERVER, "--", "iperf3", "-c", "right", "-t", "50")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    os.kill(int(children), signal.SIGKILL)
    _, error = process.communicate(timeout=20)
    assert "killed by signal 9" in error
    assert process.returncode == 128 + signal.SIGKILL
    assert not _left(networks)


@needs("iperf3")
def test_two_emulations_at_once_do_not_meet(tmp_path: Path) -> None:
    words = (*SERVER, "--", "iperf3", "-c", "right", "-t", "3")
    both = [_start(tmp_path, "--out", name, *words) for name in ("r1", "r2")]
    assert [process.communicate(timeout=60) and process.returncode for process in both] == [0, 0]
    for name in ("r1", "r2"):
        flows = longhaul.open(tmp_path / name).flows
        assert flows["total_delivered_bytes"].sum() > 1_000_000


@needs("iperf3")
def test_simulated_flows_share_the_network_of_a_parking_lot(tmp_path: Path) -> None:
    done = _emulate(
        tmp_path, str(SCENARIOS / "parking_lot.toml"), "--out", "r1", "--background", "--quiet",
        "--in", "router-3 iperf3 -s", "--", "iperf3", "-c", "router-3", "-t", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = longhaul.open(tmp_path / "r1")
    flows = {row["label"]: row for row in run.flows.to_dicts()}
    assert all(
        flows[label]["total_delivered_bytes"] > 100_000
        for label in ("long", "first", "second", "third")
    )
    # The program crosses all three links of 10 ms, both ways.
    programs = [row for row in flows.values() if row["source"] == "program"]
    program = max(programs, key=lambda row: row["total_sent_bytes"])
    assert (program["from"], program["to"]) == ("router-0", "router-3")
    samples = [row for row in run.series.to_dicts() if row["name"] == program["name"]]
    assert min(row["srtt_s"] for row in samples if row["srtt_s"]) > 0.06


@needs()
def test_a_program_that_fails_is_named_and_a_scenario_without_a_real_counterpart_is_refused(
    tmp_path: Path,
) -> None:
    done = _emulate(tmp_path, PATH, "--out", "r1", "--", "false")
    assert done.returncode == 1
    assert "`false` ended with code 1" in done.stderr
    xcp = ("--set", 'topology.dumbbell.bottleneck.queue={ kind = "xcp" }')
    for words, message in (
        (("--", "no-such-program"), "cannot start `no-such-program`: No such file"),
        ((*xcp, "--", "true"), "reads and writes a header that real packets do not have"),
        (("--at", "middle", "--", "true"), "there is no node `middle`; the nodes are left, right"),
        ((), "expected a program behind the scenario"),
        (("--sysctl", "net.nothing=1", "--", "true"), "sysctl net.nothing = 1: No such file"),
    ):
        done = _emulate(tmp_path, PATH, "--out", "r2", *words)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert not (tmp_path / "r2").exists()


@needs("capsh")
def test_a_right_that_lacks_is_named_with_a_way_to_get_it(tmp_path: Path) -> None:
    command = f"{LONGHAUL} emulate {PATH} --out r1 -- true"
    for right, message in (
        ("cap_sys_admin", "cannot make a network namespace: Operation not permitted"),
        ("cap_net_admin", "cannot make a TUN device: Operation not permitted"),
    ):
        done = subprocess.run(
            ["capsh", f"--drop={right}", "--", "-c", command],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert message in done.stderr
        assert "it needs" in done.stderr
