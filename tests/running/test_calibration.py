"""Calibration, which finds the rate of new connections for a given load."""

import json
from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul
from longhaul.running.calibration import CalibrationError, calibrate

# 10 requests a second, answered with 10,000 bytes in seven segments each.
WEB = """
duration = "60 s"
measure  = { from = "10 s" }

[topology.dumbbell.bottleneck]
rate  = "10 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "100 packets" }

[tcp]
timestamps = false

[[flows]]
label = "web"
[flows.traffic]
kind     = "requests"
interval = { kind = "exponential", mean = "100 ms" }
response = "10 KB"

[[flows]]
label     = "other"
direction = "reverse"
[flows.traffic]
kind     = "requests"
interval = "50 ms"
response = "10 KB"
"""

# Bytes of an exchange on the forward link: SYN-ACK, data with headers, and at most one ACK of the
# request.
RESPONSE_BYTES = 10_000 + 7 * 40 + 40
# Bytes of a reverse exchange on this link: SYN, request, and an ACK for every other segment.
OTHER_BYTES = 40 + 440 + 4 * 40


def test_rates_give_the_load_that_their_sizes_make() -> None:
    found = calibrate(WEB, load=0.5, labels=["web"])
    assert found.load == pytest.approx(0.5, rel=0.005)
    assert list(found.settings) == ["flows.0.traffic.interval.mean"]
    mean_s = float(str(found.settings["flows.0.traffic.interval.mean"]).removesuffix(" s"))
    offered_bps = 8 * (RESPONSE_BYTES / mean_s + OTHER_BYTES / 0.05)
    # The mean of some 2,900 exponential gaps in the window has a standard error of 2 %.
    assert offered_bps / 10e6 == pytest.approx(0.5, rel=0.06)


def test_the_rates_hold_on_the_network_as_it_is() -> None:
    found = calibrate(WEB, load=0.4, labels=["web"])
    settings = [f"{key}={value}" for key, value in found.settings.items()]
    link = longhaul.run(WEB, set=settings).links.filter(name="bottleneck")
    assert link["utilization"][0] == pytest.approx(0.4, rel=0.02)


def test_nothing_slows_links_while_the_load_is_measured(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("100\n")
    slow = '{ rate = "1 Mbps", burst = "5 kB" }'
    slower = [
        f"shaper={slow}",
        f"policer={slow}",
        f"reverse={{ shaper = {slow} }}",
        f"delivery_trace={{ file = '{trace}' }}",
        'changes=[{ at = "1 s", rate = "1 Mbps" }]',
        'changes_period="2 s"',
    ]
    slow_links = [f"topology.dumbbell.bottleneck.{setting}" for setting in slower]
    short, load = 'duration="12 s"', 0.4
    expected = calibrate(WEB, load=load, others=0, set=[short])
    for settings in (slow_links[:3], slow_links[3:4], slow_links[4:]):
        assert calibrate(WEB, load=load, others=0, set=[short, *settings]) == expected


def test_rate_of_abt_traffic_is_found() -> None:
    settings = ['flows.0.traffic={ kind = "abt", rate = 50 }']
    found = calibrate(WEB, load=0.8, labels=["web"], others=0, set=settings)
    assert found.load == pytest.approx(0.8, rel=0.005)
    assert list(found.settings) == ["flows.0.traffic.rate"]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(CalibrationError, match=r"unknown link `bottelneck`.*bottleneck-reverse"):
        calibrate(WEB, load=0.5, link="bottelneck")
    with pytest.raises(CalibrationError, match=r"no flows `bulk`.*web, other"):
        calibrate(WEB, load=0.5, labels=["bulk"])
    with pytest.raises(CalibrationError, match="other flows may load the link"):
        calibrate(WEB, load=0.001, labels=["web"])
    with pytest.raises(CalibrationError, match="greater than 0"):
        calibrate(WEB, load=0)
    link = {"from": "a", "to": "b", "rate": "10 Mbps", "delay": "5 ms", "duplex": False}
    back = link | {"name": "ba", "from": "b", "to": "a"}
    graph = {"nodes": ["a", "b"], "links": [link | {"name": "ab"}, back]}
    requests = {"kind": "requests", "interval": "50 ms", "response": "10 KB"}
    flows = [{"label": "web", "from": "a", "to": "b", "traffic": requests}]
    one_way = {"duration": "6 s", "topology": {"graph": graph}, "flows": flows}
    with pytest.raises(CalibrationError, match=r"unknown link `ab-reverse`.*: ab, ba$"):
        calibrate(one_way, load=0.5, link="ab-reverse")


def test_the_verb_prints_overrides(tmp_path: Path, cli: CommandLine) -> None:
    file = tmp_path / "web.toml"
    file.write_text(WEB)
    printed = cli("calibrate", file, "--load", "0.3", "--of", "web")
    assert printed.returncode == 0, printed.stderr
    assert printed.stderr.startswith("60 s at 1 times the rates\n")
    assert printed.stderr.count("60 s at") == printed.stdout.count("%\n") + 4
    assert "--set flows.0.traffic.interval.mean=" in printed.stdout
    found = json.loads(cli("calibrate", file, "--load", "0.3", "--of", "web", "--json").stdout)
    assert found["load"] == pytest.approx(0.3, rel=0.005)
    assert cli("calibrate", file, "--load", "0.3", "--of", "wob").returncode == 2
