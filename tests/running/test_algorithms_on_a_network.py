"""Every algorithm on a network, run by the command that a user would type."""

from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul
from longhaul import _engine

ONE_FLOW = Path(__file__).parents[2] / "scenarios" / "one_flow.toml"
"""Scenario of a single flow on 100 Mbit/s and 50 ms, with a queue of half a BDP."""

PAYLOAD_MBPS = 96.5
"""Goodput in Mbit/s of the full link, less than its rate because of headers."""

ALGORITHMS = [row["name"] for row in _engine.algorithms()["algorithms"]]

WITHOUT_THEIR_ROUTERS = {"xcp"}
"""Algorithms that need feedback from routers, and warn that no router gives any."""

TAKE_THEIR_OWN_BURSTS_FOR_CONGESTION = {"delay-gradient"}
"""Algorithms that mistake queueing caused by their own bursts for congestion.

Pacing would avoid the bursts.
"""

MADE_FOR_SMALL_WINDOWS = {"sync-mixreact"}
"""Algorithms for small windows, such as those of twenty flows on 10 Mbit/s.

They adjust the window at every third ACK: on the path of `ONE_FLOW`, 100 times per round trip.
"""

EXCEPTIONS = WITHOUT_THEIR_ROUTERS | TAKE_THEIR_OWN_BURSTS_FOR_CONGESTION | MADE_FOR_SMALL_WINDOWS


def alone(name: str, *changes: str) -> longhaul.Results:
    return longhaul.run(ONE_FLOW, set=[f"flows.0.congestion.kind={name}", *changes])


def goodput_mbps(name: str, *changes: str) -> float:
    return float(alone(name, *changes).flows["goodput_bps"].sum()) / 1e6


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_flow_alone_fills_its_path(name: str, cli: CommandLine) -> None:
    choice = f"flows.0.congestion.kind={name}"
    finished = cli("run", ONE_FLOW, "--set", choice, "--out", "r", "--quiet")
    assert finished.returncode == 0, finished.stderr
    row = longhaul.Results("r").flows.row(0, named=True)
    assert row["congestion"] == name
    # An algorithm that halves its window while the queue is short, or grows slowly afterwards,
    # uses three quarters of the path.
    least = 0.0 if name in EXCEPTIONS else 0.74 * PAYLOAD_MBPS
    assert least < row["goodput_bps"] / 1e6 < PAYLOAD_MBPS + 0.1


@pytest.mark.parametrize("name", sorted(TAKE_THEIR_OWN_BURSTS_FOR_CONGESTION))
def test_paced_flows_do_not_take_their_own_bursts_for_congestion(name: str) -> None:
    assert goodput_mbps(name) < 0.1 * PAYLOAD_MBPS
    # Pacing faster than cwnd / RTT would still leave bursts.
    pacing = "flows.0.tcp.pacing={ slow_start = 1.0, avoidance = 1.0 }"
    assert goodput_mbps(name, pacing) > 0.74 * PAYLOAD_MBPS


@pytest.mark.parametrize("name", sorted(MADE_FOR_SMALL_WINDOWS))
def test_small_windows_fill_a_path_by_many_small_adjustments(name: str) -> None:
    assert goodput_mbps(name) < 0.1 * PAYLOAD_MBPS
    many = ("topology.dumbbell.bottleneck.rate='10 Mbps'", "flows.0.count=20")
    assert goodput_mbps(name, *many) > 0.09 * PAYLOAD_MBPS


def test_bbr3_recovers_with_rack_tlp_and_without_timeouts() -> None:
    # BBR v3 fills the queue until it detects the loss, so that retransmissions are lost, too.
    # Without RACK-TLP (RFC 8985), only the timer detects this.
    counting = alone("bbr3", "flows.0.recovery=sack")
    assert counting.flows["total_timeouts"][0] > 5
    assert any("without RACK-TLP" in warning for warning in counting.warnings)
    default = alone("bbr3")
    assert not default.warnings
    assert default.flows["total_timeouts"][0] == 0
    assert default.flows["goodput_bps"][0] / 1e6 > 0.9 * PAYLOAD_MBPS


@pytest.mark.parametrize("name", ["xcp", "vcp"])
def test_with_their_routers_they_fill_the_path_and_no_queue(name: str) -> None:
    queue = f"topology.dumbbell.bottleneck.queue.kind={name}"
    results = alone(name, queue, "measure.from='30 s'")
    assert not results.warnings
    link = results.links.row(0, named=True)
    # VCP targets 98 % (SIGCOMM 2005, section 3), and reduces by an eighth above it.
    assert link["utilization"] > (0.98 if name == "xcp" else 0.9)
    assert link["queue_mean_pkts"] < 20
    assert link["dropped_pkts"] == 0


def test_without_their_routers_they_say_so() -> None:
    waiting = alone("xcp")
    assert waiting.flows["cwnd_mean_pkts"][0] == pytest.approx(10.0)
    assert any("does not grow" in warning for warning in waiting.warnings)
    # Without marks from a router, VCP takes the network for idle.
    growing = alone("vcp")
    assert growing.flows["total_cuts_loss"][0] > 0
    assert any("takes the network for idle" in warning for warning in growing.warnings)


@pytest.mark.parametrize(("delayed_ack", "queued"), [("false", 4.0), ("true", 5.0)])
def test_santa_cruz_keeps_its_operating_point_queued(delayed_ack: str, queued: float) -> None:
    # The operating point is four segments. A delayed ACK measures the second segment of a pair,
    # whose transit time includes the transmission of the first.
    results = alone("santa-cruz", f"tcp.delayed_ack={delayed_ack}", "measure.from='30 s'")
    link = results.links.row(0, named=True)
    assert link["queue_mean_pkts"] == pytest.approx(queued, abs=0.5)
    assert link["utilization"] > 0.99


def test_vivace_keeps_its_rate_at_random_losses_unlike_cubic() -> None:
    # Losses independent of the rate hardly change Vivace's utility; CUBIC reacts to each.
    loss = "topology.dumbbell.bottleneck.loss={ bernoulli = 0.01 }"
    assert goodput_mbps("vivace", loss) > 0.85 * PAYLOAD_MBPS
    assert goodput_mbps("cubic", loss) < 0.1 * PAYLOAD_MBPS


def test_vivace_comes_down_from_a_start_that_overfills_a_slow_link() -> None:
    # Unacknowledged retransmissions then fill the receive window, and limit the sending rate.
    link = "topology.dumbbell.bottleneck"
    slow = (f"{link}.rate='2 Mbps'", f"{link}.queue.limit='20 kB'", f"{link}.delay='15 ms'")
    forward = alone("vivace", "profile=linux", *slow).links.row(0, named=True)
    assert forward["utilization"] > 0.85
    assert forward["dropped_overflow_pkts"] < 0.05 * forward["arrived_pkts"]
