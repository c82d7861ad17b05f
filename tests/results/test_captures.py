"""Captures in Wireshark: its expert finds as many retransmissions as the run has."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import SMALL

import longhaul
from longhaul.guide import examples

WEB = {
    "kind": "requests",
    "interval": {"kind": "exponential", "mean": "50 ms"},
    "request": "400 B",
    "response": {"kind": "bounded-pareto", "min": "2 KB", "max": "1 MB", "shape": 1.2},
}

# The expert's messages for consequences of losses downstream of the tap.
LOSSES = (
    "dropped on arrival at this link",
    "Duplicate ACK",
    # tshark's message for retransmissions right after new data.
    "This frame is a (suspected) out-of-order segment",
    "This frame is a (suspected) fast retransmission",
    "This frame is a (suspected) spurious retransmission",
    "This frame is a (suspected) retransmission",
)
# The expert's messages for opening and closing connections, and full windows.
USUAL = (
    "TCP window specified by the receiver is now completely full",
    "This frame initiates the connection closing",
    "This frame undergoes the connection closing",
    "Connection establish request",
    "Connection establish acknowledge",
    "Connection finish",
)


def _expert(tmp_path: Path, queue: str, window: int) -> Counter[str]:
    """Run web and bulk traffic over a queue, and count the messages of Wireshark's expert."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    run = longhaul.run(
        {
            "duration": "5 s",
            "measure": {"from": "1 s", "capture": ["bottleneck", "bottleneck-reverse"]},
            "topology": {
                "dumbbell": {
                    "bottleneck": {
                        "rate": "10 Mbps",
                        "delay": "10 ms",
                        "queue": {"kind": "droptail", "limit": queue},
                    }
                }
            },
            "flows": [
                {"label": "bulk", "tcp": {"receive_window": window}},
                {"label": "transfer", "transfer": "300 KB", "tcp": {"receive_window": 1000}},
                {"label": "web", "traffic": WEB, "count": 3, "tcp": {"receive_window": 1000}},
            ],
        },
        out=tmp_path / "run",
    )
    fields = ["-T", "fields", "-e", "_ws.expert.message", "-E", "separator=;", "-E", "aggregator=;"]
    command = ["tshark", "-r", str(run.path / "packets.pcapng"), *fields]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Counter(
        message for line in printed.splitlines() for message in line.split(";") if message
    )


def test_the_expert_finds_nothing_where_nothing_is_lost(tmp_path: Path) -> None:
    found = _expert(tmp_path, "10000 packets", window=60)
    assert sum(count for text, count in found.items() if "request" in text) > 100
    assert [text for text in found if not text.startswith(USUAL)] == []


def test_the_expert_finds_losses_and_retransmissions_alone(tmp_path: Path) -> None:
    found = _expert(tmp_path, "20 packets", window=1000)
    assert [text for text in found if not text.startswith(USUAL + LOSSES)] == []
    assert any(text.startswith(LOSSES[-2:]) for text in found)


def test_retransmissions_at_a_sender_s_link_are_those_of_the_run(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    access = {"rate": "100 Mbps", "delay": "1 ms", "at": "sender"}
    run = longhaul.run(
        {
            "duration": "20 s",
            "measure": {"capture": ["bulk-0-sender-up", "bulk-0-sender-down"]},
            "topology": {
                "dumbbell": {
                    "bottleneck": {
                        "rate": "10 Mbps",
                        "delay": "10 ms",
                        "queue": {"kind": "droptail", "limit": "20 packets"},
                        "loss": {"bernoulli": 0.002},
                    },
                    "access": access,
                }
            },
            "flows": [{"label": "bulk"}, {"label": "other"}],
        },
        out=tmp_path / "run",
    )
    capture = str(run.path / "packets.pcapng")

    def count(expression: str) -> int:
        command = ["tshark", "-r", capture, "-Y", expression]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return len(printed.splitlines())

    flow = run.flows.filter(name="bulk-0").row(0, named=True)
    assert flow["total_retransmitted_pkts"] > 20
    # tshark calls a few retransmissions out of order: those within a round trip of new data.
    repeated = count("tcp.analysis.retransmission || tcp.analysis.out_of_order")
    assert repeated == flow["total_retransmitted_pkts"]
    assert count("tcp.analysis.out_of_order") < repeated / 10
    assert count("tcp.analysis.lost_segment") == 0


def test_packets_that_are_dropped_on_arrival_say_so(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    overrides = ["measure.capture=['bottleneck']", "measure.from=0 s"]
    run = longhaul.run(SMALL, out=tmp_path / "run", set=overrides)
    command = [
        "tshark",
        "-r",
        str(run.path / "packets.pcapng"),
        "-Y",
        'frame.comment contains "drop"',
    ]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    link = run.links.filter(name="bottleneck").row(0, named=True)
    assert link["dropped_overflow_pkts"] > 0
    assert len(printed.splitlines()) == link["dropped_overflow_pkts"]


def test_a_capture_at_a_host_gives_the_round_trips_of_the_run(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    scenario = examples.read("one_flow")
    settings = ["duration=12 s", "measure.from=0 s", 'measure.capture=["left"]']
    run = longhaul.run(scenario, out=tmp_path / "run", set=settings)
    flow = run.flows.row(0, named=True)
    command = ["tshark", "-r", str(run.path / "packets.pcapng"), "-T", "fields"]
    command += ["-Y", "tcp.analysis.ack_rtt", "-e", "tcp.analysis.ack_rtt"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured = [float(line) for line in printed.split()]
    # The handshake has the shortest RTT. tshark's RTTs of retransmitted data exceed all samples.
    assert min(measured) == pytest.approx(flow["rtt_min_s"], abs=1e-6)
    usual = [rtt for rtt in measured if rtt <= flow["rtt_max_s"]]
    assert len(usual) > 0.98 * len(measured)
    # The run's samples are of the first segment that an ACK covers, tshark's of the last.
    assert sum(usual) / len(usual) == pytest.approx(flow["rtt_mean_s"], rel=0.01)
