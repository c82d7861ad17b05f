"""Queue disciplines behind links whose rate changes."""

import pytest

import longhaul

SLOWS_DOWN = """
duration = "60 s"
measure  = { from = "40 s" }

[topology.dumbbell.bottleneck]
rate    = "10 Mbps"
delay   = "20 ms"
queue   = { kind = "pie", limit = "1000 packets" }
changes = [{ at = "30 s", rate = "2 Mbps" }]

[[flows]]
count = 4
start = { uniform = ["0 s", "1 s"] }
"""


def mean_wait_s(estimate: str) -> float:
    """Return the mean queueing delay (s) after the link's rate has changed to 2 Mbit/s.

    `estimate` is PIE's `delay_estimate`. At this rate, a packet of 1500 bytes takes 6 ms.
    """
    path = "topology.dumbbell.bottleneck.queue.delay_estimate"
    run = longhaul.run(SLOWS_DOWN, set=[f"{path}={estimate}"])
    return float(run.links["queue_mean_pkts"][0]) * 0.006


def test_pie_keeps_its_target_where_the_rate_falls() -> None:
    # The target is 15 ms (RFC 8033). An estimate with the first rate makes it five times as long.
    assert mean_wait_s("auto") == pytest.approx(0.015, abs=0.006)
    assert mean_wait_s("rate") == pytest.approx(0.075, abs=0.015)
