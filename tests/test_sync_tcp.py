"""Sync-TCP on a network: the study's FTP experiment with one bottleneck (Weigle 2003, Table 4.3).

Six routers in a row; twenty flows each way, each with its own base round trip, meet at the first
link. One run of five minutes, as published; bounds are those of the printed statements.
"""

from functools import cache
from typing import Any

import pytest

import longhaul

ROUND_TRIPS_MS = [
    54.77, 97.21, 85.70, 46.04, 88.02, 20.90, 98.48, 94.66, 17.41, 31.30,
    77.30, 31.11, 17.51, 16.54, 118.42, 52.97, 691.18, 410.78, 16.36, 26.56,
]  # fmt: skip
"""Table 4.2, propagation alone."""

UTILISATION = {"reno": 0.9059, "sync-pcwnd": 0.9197, "sync-mixreact": 0.8579}
DROPPED = {"reno": 0.0156, "sync-pcwnd": 0.0006, "sync-mixreact": 0.0103}
QUEUE_PKTS = {"reno": 41.51, "sync-pcwnd": 26.49, "sync-mixreact": 30.97}
"""Table 4.3."""


def scenario(kind: str) -> dict[str, Any]:
    """Everyone uses the same protocol; segments of 1420 bytes and a window of 46 at most."""
    queue = {"kind": "droptail", "limit": "92 packets"}
    hop = {"rate": "10 Mbps", "delay": "1 ms", "queue": queue}
    flows = [
        {
            "congestion": {"kind": kind},
            "label": f"{number} {path}",
            "path": path,
            "rtt": f"{rtt} ms",
            # At the same instant, both directions would stay each other's mirror image for ever: a
            # network in step that loses nothing with sync-mixreact.
            "start": {"uniform": ["0 s", "1 ms"]},
        }
        for path in ([0, 5], [5, 0])
        for number, rtt in enumerate(ROUND_TRIPS_MS, 1)
    ]
    return {
        "title": f"FTP over one bottleneck, {kind}",
        "profile": "ns2-2003",
        "duration": "300 s",
        "tcp": {
            "receive_window": 46,
            "delayed_ack": True,
            "ecn": False,
            "timestamps": "one-way",
        },
        "topology": {
            "parking-lot": {"hops": [hop] * 5, "access": {"rate": "10 Mbps", "queue": queue}}
        },
        "flows": [{**flow, "recovery": "reno", "packet": "1474 B"} for flow in flows],
    }


@cache
def bottleneck(kind: str) -> dict[str, float]:
    link = longhaul.run(scenario(kind)).links.row(0, named=True)
    return {
        "utilisation": 8 * link["departed_bytes"] / (300 * link["rate_bps"]),
        "dropped": link["dropped_pkts"] / link["arrived_pkts"],
        "queue_pkts": link["queue_mean_pkts"],
    }


@pytest.mark.parametrize("kind", ["reno", "sync-mixreact"])
def test_the_bottleneck_is_as_published(kind: str) -> None:
    found = bottleneck(kind)
    assert found["utilisation"] == pytest.approx(UTILISATION[kind], abs=0.02)
    assert found["dropped"] == pytest.approx(DROPPED[kind], rel=0.4)
    assert found["queue_pkts"] == pytest.approx(QUEUE_PKTS[kind], rel=0.2)


def test_reacting_to_transit_times_shortens_queues_and_saves_packets() -> None:
    pcwnd, mixreact, reno = map(bottleneck, ("sync-pcwnd", "sync-mixreact", "reno"))
    assert pcwnd["dropped"] < 0.002
    assert pcwnd["dropped"] < mixreact["dropped"] < reno["dropped"]
    assert pcwnd["queue_pkts"] < mixreact["queue_pkts"] < reno["queue_pkts"]
    # Far below half of the limit.
    assert pcwnd["queue_pkts"] < 0.35 * 92


@pytest.mark.xfail(strict=True, reason="utilisation 0.85, queue 22 % too short; not explained yet")
def test_pcwnd_uses_the_bottleneck_as_published() -> None:
    found = bottleneck("sync-pcwnd")
    assert found["utilisation"] == pytest.approx(UTILISATION["sync-pcwnd"], abs=0.02)
    assert found["queue_pkts"] == pytest.approx(QUEUE_PKTS["sync-pcwnd"], rel=0.2)


@cache
def watched(detector: str | None) -> longhaul.Results:
    """Four flows of standard TCP on a short queue, with a detector that only watches or without."""
    congestion = {"kind": "sync", "detector": detector, "reaction": "none"}
    return longhaul.run(
        {
            "title": "Watched flows",
            "duration": "20 s",
            "measure": {"every": "100 ms", "events": True},
            "tcp": {"timestamps": "one-way"},
            "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}},
            "flows": [
                {
                    "label": "watched",
                    "count": 4,
                    "start": {"uniform": ["0 s", "1 s"]},
                    "congestion": congestion if detector else {"kind": "reno"},
                }
            ],
        }
    )


@pytest.mark.parametrize("detector", ["pqlen", "pminott", "trend", "avg", "mix"])
def test_detectors_that_only_watch_leave_every_packet_as_it_is(detector: str) -> None:
    # The same packets with each of them.
    assert watched(None).flows["cuts_loss"].sum() > 10
    assert watched(detector).series.equals(watched(None).series)
    assert watched(detector).events.equals(watched(None).events)
