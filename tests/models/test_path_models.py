"""Closed forms for a path, such as its bandwidth-delay product."""

from math import cbrt, inf, log

import pytest

import longhaul
from longhaul.models import paths


def test_recovery_times() -> None:
    window, rtt_s = 8333.0, 0.1
    # Reno regains half a window at a segment per RTT, Scalable in constant RTTs, CUBIC in K.
    assert paths.recovery_s("reno", window, rtt_s) == pytest.approx(window / 2 * rtt_s, rel=1e-3)
    constant = -log(1 - 0.125) / 0.01 * rtt_s
    assert paths.recovery_s("scalable", window, rtt_s) == pytest.approx(constant, rel=0.01)
    assert paths.recovery_s("scalable", 10 * window, rtt_s) == pytest.approx(constant, rel=0.01)
    assert paths.recovery_s("cubic", window, rtt_s) == pytest.approx(
        cbrt(window * 0.3 / 0.4), rel=0.01
    )


def test_buffers() -> None:
    assert paths.full_buffer(1000.0) == 1000.0
    assert paths.full_buffer(1000.0, decrease=0.2) == 250.0
    assert paths.shared_buffer(1000.0, 100) == 100.0
    # Limits for large windows in the thesis on gHSTCP.
    found = [paths.utilisation(f, 1.0) for f in (0.1, 0.3, 0.5, 1.0, 2.0)]
    assert found == pytest.approx([0.8176, 0.9119, 0.9643, 1.0, 1.0], abs=5e-5)


@pytest.mark.parametrize("max_ssthresh", [None, 100])
@pytest.mark.parametrize("ssthresh", [None, 64])
def test_transfers_without_losses_take_as_long_as_packets_do(
    max_ssthresh: int | None, ssthresh: int | None
) -> None:
    tcp = {"delayed_ack": False, "initial_window": 2}
    flow = {"packet": "1500 B", "transfer": "2 MB", "tcp": tcp}
    if max_ssthresh is not None:
        flow["slow_start"] = {"max_ssthresh": max_ssthresh}
    if ssthresh is not None:
        tcp["initial_ssthresh"] = ssthresh
    queue = {"kind": "droptail", "limit": "100000 packets"}
    link = {"rate": "120 Mbps", "delay": "50 ms", "queue": queue}
    run = longhaul.run(
        {"duration": "60 s", "topology": {"dumbbell": {"bottleneck": link}}, "flows": [flow]}
    )
    expected = paths.loss_free_s(
        1382, 0.1, 10_000.0, ssthresh=ssthresh or inf, max_ssthresh=max_ssthresh or inf
    )
    # The run has an additional round trip for the handshake, and microseconds for ACKs.
    assert run.flows["completion_s"][0] - 0.1 == pytest.approx(expected, abs=1e-3)
