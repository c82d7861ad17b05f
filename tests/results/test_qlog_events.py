"""Tests of the events in a qlog: their order, and changes of windows and states."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from longhaul.results import ResultsError, qlog

INFINITE = float("inf")
# Time, window, threshold, segments in flight, sent packets and smoothed RTT of each sample.
SAMPLES = [
    (0.0, 10.0, INFINITE, 10.0, 10, 0.1),
    (0.5, 5.0, 5.0, 9.0, 10, 0.1),
    (1.2, 4.0, 5.0, 5.0, 14, 0.1),
    (1.6, 3.0, 3.0, 5.0, 14, 0.2),
]
# Time, event, cause, window and threshold after the event, segments in flight.
EVENTS = [
    (0.5, "cut", "loss", 5.0, 5.0, 9.0),
    (1.0, "exit", "", 5.0, 5.0, 5.0),
    (1.5, "cut", "ecn", 3.0, 3.0, 5.0),
    (2.0, "timeout", "", 1.0, 2.0, 5.0),
    (3.0, "finish", "", 1.0, 2.0, 0.0),
    (4.0, "connection_lost", "", 1.0, 2.0, 0.0),
]


def run(tmp_path: Path, *, quic: bool = False, events: bool = True) -> Any:  # noqa: ANN401
    """Return a run of one flow, whose packets have 1000 bytes of payload and 100 of headers."""
    columns = ("t_s", "cwnd_pkts", "ssthresh_pkts", "in_flight_pkts", "sent_pkts", "srtt_s")
    series = pl.DataFrame(SAMPLES, schema=columns, orient="row").with_columns(
        kind=pl.lit("flow"), id=0
    )
    of_link = series.head(1).with_columns(kind=pl.lit("link"), cwnd_pkts=pl.lit(None, pl.Float64))
    after = ("t_s", "event", "cause", "cwnd_after_pkts", "ssthresh_after_pkts", "in_flight_pkts")
    flow = {
        "flow": 0, "name": "a-0", "label": "a", "congestion": "cubic", "from": "left",
        "total_delivered_bytes": 9000, "total_delivered_pkts": 9, "total_sent_bytes": 15_400,
        "total_sent_pkts": 14,
    }  # fmt: skip
    return SimpleNamespace(
        path=tmp_path, title="One", meta={"version": "0.1", "scenario_hash": "abc"},
        series=pl.concat([series, of_link]), flows=pl.DataFrame([flow]),
        tables={"events": 6} if events else {}, quic_labels={"a"} if quic else set(),
        events=pl.DataFrame(EVENTS, schema=after, orient="row").with_columns(flow=0),
    )  # fmt: skip


def told(trace: dict[str, Any]) -> list[tuple[float, str, dict[str, Any]]]:
    return [(one["time"], one["name"].split(":")[1], one["data"]) for one in trace["events"]]


def sent(number: int, count: int) -> dict[str, Any]:
    return {
        "header": {"packet_type": "1RTT", "packet_number": number},
        "raw": {"length": 1100 * count},
        "count": count,
    }


def window(window: int, in_flight: int, **more: float) -> dict[str, float]:
    return {
        "congestion_window": 1000 * window,
        "bytes_in_flight": 1000 * in_flight,
        "packets_in_flight": in_flight,
        **more,
    }


def test_events_are_changes_in_order_of_time(tmp_path: Path) -> None:
    """Check that a qlog is in order of time, and has only the values that changed.

    Recovery from a loss ends with the event `exit`. Recovery from a mark (ECN) has no such event,
    and ends with the next sample.
    """
    (trace,) = qlog.qlog(run(tmp_path))["traces"]
    metrics, state, lost = "metrics_updated", "congestion_state_updated", "packet_lost"
    start, avoidance = "slow_start", "congestion_avoidance"
    assert told(trace) == [
        (0.0, "packet_sent", sent(0, 10)),
        (0.0, metrics, window(10, 10, smoothed_rtt=100.0)),
        (0.0, state, {"new": start}),
        (500.0, lost, {"trigger": "reordering_threshold"}),
        (500.0, metrics, window(5, 9, ssthresh=5000)),
        (500.0, state, {"old": start, "new": "recovery"}),
        (1000.0, metrics, {"bytes_in_flight": 5000, "packets_in_flight": 5}),
        (1000.0, state, {"old": "recovery", "new": avoidance}),
        (1200.0, "packet_sent", sent(1, 4)),
        (1200.0, metrics, {"congestion_window": 4000}),
        (1500.0, metrics, {"congestion_window": 3000, "ssthresh": 3000}),
        (1500.0, state, {"old": avoidance, "new": "recovery", "trigger": "ECN"}),
        (1600.0, metrics, {"smoothed_rtt": 200.0}),
        (1600.0, state, {"old": "recovery", "new": avoidance}),
        (2000.0, lost, {"trigger": "pto_expired"}),
        (2000.0, metrics, {"congestion_window": 1000, "ssthresh": 2000}),
        (2000.0, state, {"old": avoidance, "new": start}),
        (3000.0, metrics, {"bytes_in_flight": 0, "packets_in_flight": 0}),
        (4000.0, "connection_closed", {"trigger": "error"}),
    ]
    assert trace["common_fields"]["protocol_type"] == ["TCP"]
    assert trace["vantage_point"] == {"name": "left", "type": "server"}
    assert trace["description"].startswith("cubic; each packet_sent stands for `count` packets")


def test_timeouts_of_quic_are_persistent_congestion(tmp_path: Path) -> None:
    """Check that timeouts of QUIC are written as persistent congestion (RFC 9002, section 7.6)."""
    (trace,) = qlog.qlog(run(tmp_path, quic=True))["traces"]
    triggers = [
        data.get("trigger") for _, name, data in told(trace) if name.endswith("state_updated")
    ]
    assert triggers == [None, None, None, "ECN", None, "persistent_congestion"]
    assert trace["common_fields"]["protocol_type"] == ["QUIC"]


def test_without_events_states_follow_the_samples_in_slow_start(tmp_path: Path) -> None:
    (trace,) = qlog.qlog(run(tmp_path, events=False))["traces"]
    states = [
        (time, data["new"]) for time, name, data in told(trace) if name.endswith("state_updated")
    ]
    assert states == [(0.0, "slow_start"), (500.0, "congestion_avoidance")]


def test_a_stack_s_own_log_takes_the_place_of_events(tmp_path: Path) -> None:
    """Check that the qlog that a QUIC stack wrote itself replaces the events of our own export.

    The stack writes JSON text sequences (RFC 7464); the first record describes the trace.
    """
    own = ['{"time":1,"name":"x","data":{}}', '{"time":2,"name":"y","data":{}}']
    text = "".join(f"\x1e{record}\n" for record in ['{"qlog_version":"0.3"}', *own])
    (tmp_path / "flow-0.sqlog").write_text(text, encoding="utf-8")
    (trace,) = qlog.qlog(run(tmp_path, quic=True))["traces"]
    assert [event["name"] for event in trace["events"]] == ["x", "y"]
    assert trace["description"] == "cubic; the stack's own log"


def test_a_run_without_windows_has_no_trace(tmp_path: Path) -> None:
    bare = run(tmp_path)
    bare.series = bare.series.filter(pl.col("kind") == "link")
    with pytest.raises(ResultsError, match="expected samples of TCP flows, found none"):
        qlog.qlog(bare)


def test_events_at_the_same_time_keep_their_order(tmp_path: Path) -> None:
    """Check that events of equal time keep their order, and come before a sample of that time."""
    flow = run(tmp_path).flows.to_dicts()[0]
    after = {"cwnd_after_pkts": 5.0, "ssthresh_after_pkts": 5.0, "in_flight_pkts": 9.0}
    happened = [
        {"t_s": 0.5, "event": event, "cause": "loss", **after}
        for event in ("cut", "connection_lost")
    ]
    names = ("t_s", "cwnd_pkts", "ssthresh_pkts", "in_flight_pkts", "sent_pkts", "srtt_s")
    sample = dict(zip(names, SAMPLES[1], strict=True))
    events = list(qlog._Trace(flow, quic=False).events([sample], happened))
    kinds = [one["name"].partition(":")[2] for one in events]
    lost, closed, sent_ = (kinds.index(one) for one in
                           ("packet_lost", "connection_closed", "packet_sent"))  # fmt: skip
    assert lost < closed < sent_
