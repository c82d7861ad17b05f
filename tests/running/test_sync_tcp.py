"""Sync-TCP on a network: FTP experiment with one bottleneck (Weigle 2003, Table 4.3).

Six routers are in a row; twenty flows in each direction, each with its own base RTT, share the
first link. The run lasts five minutes, as published; bounds come from the printed statements.
"""

from functools import cache
from typing import Any

import polars as pl
import pytest

import longhaul

ROUND_TRIPS_MS = [
    54.77, 97.21, 85.70, 46.04, 88.02, 20.90, 98.48, 94.66, 17.41, 31.30,
    77.30, 31.11, 17.51, 16.54, 118.42, 52.97, 691.18, 410.78, 16.36, 26.56,
]  # fmt: skip
"""Base round trips of the flows in ms (Table 4.2), without queueing."""

UTILISATION = {"reno": 0.9059, "sync-pcwnd": 0.9197, "sync-mixreact": 0.8579}
DROPPED = {"reno": 0.0156, "sync-pcwnd": 0.0006, "sync-mixreact": 0.0103}
QUEUE_PKTS = {"reno": 41.51, "sync-pcwnd": 26.49, "sync-mixreact": 30.97}
"""Published mean queue in packets, by protocol (Weigle 2003, Table 4.3)."""


def scenario(kind: str) -> dict[str, Any]:
    """Return a scenario with protocol `kind`, 1420-byte segments, and windows up to 46 segments."""
    queue = {"kind": "droptail", "limit": "92 packets"}
    hop = {"rate": "10 Mbps", "delay": "1 ms", "queue": queue}
    flows = [
        {
            "congestion": {"kind": kind},
            "label": f"{number} {path}",
            "path": path,
            "rtt": f"{rtt} ms",
            # Flows that start at once would keep both directions identical for the whole run, and
            # sync-mixreact would lose nothing.
            "start": {"uniform": ["0 s", "1 ms"]},
        }
        for path in ([0, 5], [5, 0])
        for number, rtt in enumerate(ROUND_TRIPS_MS, 1)
    ]
    return {
        "title": f"FTP over one bottleneck, {kind}",
        "profile": "ns2-2003",
        "random": "streams",
        "duration": "300 s",
        "tcp": {
            "receive_window": 46,
            "delayed_ack": True,
            "ecn": False,
            "timestamps": "one-way",
            # As in ns-2's FullTcp.
            "limited_transmit": False,
            "rounding": "real",
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
    # The mean queue is far below half of the limit of 92.
    assert pcwnd["queue_pkts"] < 0.35 * 92


def test_pcwnd_uses_the_bottleneck_as_published() -> None:
    found = bottleneck("sync-pcwnd")
    assert found["utilisation"] == pytest.approx(UTILISATION["sync-pcwnd"], abs=0.02)
    assert found["queue_pkts"] == pytest.approx(QUEUE_PKTS["sync-pcwnd"], rel=0.2)


@cache
def watched(detector: str | None) -> longhaul.Results:
    """Run four standard TCP flows over a short queue, with a passive detector if one is given."""
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
    # Every detector sees the same packets.
    assert watched(None).flows["cuts_loss"].sum() > 10
    assert watched(detector).series.equals(watched(None).series)
    assert watched(detector).events.equals(watched(None).events)


def one_flow(flow: dict[str, Any]) -> longhaul.Results:
    """Run one Sync-TCP(Pcwnd) flow over a short queue for two minutes, and record every ACK."""
    return longhaul.run(
        {
            "title": "One flow",
            "duration": "120 s",
            "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}},
            "flows": [{"congestion": {"kind": "sync-pcwnd"}, "trace_acks": True, **flow}],
        }
    )


def quantity(run: longhaul.Results, name: str) -> list[float]:
    return run.acks.filter(pl.col("quantity") == name)["value"].to_list()


def test_the_trace_has_window_and_detector_at_each_ack() -> None:
    run = one_flow({})
    delays, largest = quantity(run, "queueing_delay"), quantity(run, "largest_queueing_delay")
    # A delayed ACK covers two segments.
    assert len(delays) == pytest.approx(run.flows["delivered_pkts"][0] / 2, rel=0.05)
    assert run.acks["t_s"].is_sorted()
    assert largest == sorted(largest)
    # The largest delay also rises when a shorter transit time is found.
    assert max(delays) == pytest.approx(largest[-1], rel=0.05)
    # Each cut follows a delay above half of the largest.
    cuts, windows = quantity(run, "early_cuts"), quantity(run, "cwnd")
    made = [n for n in range(1, len(cuts)) if cuts[n] > cuts[n - 1]]
    assert len(made) == cuts[-1] > 20
    assert all(delays[n] > 0.5 * largest[n] and windows[n] < 0.6 * windows[n - 1] for n in made)
    assert "acks" not in one_flow({"trace_acks": False}).tables


def test_an_offset_between_clocks_changes_nothing_and_drift_looks_like_a_queue() -> None:
    right = one_flow({})
    ahead = one_flow({"clock_error": {"offset": "250 ms"}})
    assert ahead.series.equals(right.series)
    assert quantity(ahead, "queueing_delay") == quantity(right, "queueing_delay")
    # A drift of 1 ms/s looks like 120 ms of queueing delay after two minutes.
    gaining = one_flow({"clock_error": {"drift": 1e-3}})
    gained = quantity(gaining, "queueing_delay")[-1]
    assert 0.119 <= gained < 0.12 + max(quantity(right, "queueing_delay"))
    assert gaining.flows["goodput_bps"][0] < 0.9 * right.flows["goodput_bps"][0]


def test_of_traffic_the_connections_are_traced_that_are_named() -> None:
    requests = {"kind": "requests", "interval": "1 s", "request": "500 B", "response": "100 kB"}
    run = one_flow({"traffic": requests, "trace_acks": [3, 7]})
    counts = run.acks.filter(pl.col("quantity") == "cwnd").group_by("connection").len()
    assert dict(counts.iter_rows()).keys() == {3, 7}
    # The response has 69 segments of 1448 bytes and a FIN, with one ACK for two.
    assert all(34 <= acks <= 40 for acks in counts["len"])
    times = run.exchanges.filter(pl.col("connection") == 3)
    traced = run.acks.filter(pl.col("connection") == 3)["t_s"]
    assert times["start_s"][0] < traced.min() < times["end_s"][0]


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            {"clock_error": {"offset": "1 s", "drift": -0.01}},
            "write an offset of at least 1.2 s, the time that the clock loses",
        ),
        (
            {"clock_error": {"offset": "1 s"}, "congestion": {"kind": "reno"}},
            'no transit times are measured; write tcp.timestamps = "one-way"',
        ),
        ({"clock_error": {"drift": 0.1}}, "from -0.01 to 0.01"),
    ],
)
def test_clocks_that_mean_nothing_are_refused(flow: dict[str, Any], message: str) -> None:
    with pytest.raises(longhaul.ScenarioError, match=message):
        one_flow(flow)
