"""The export to qlog: it follows the schema of format 0.3, with the numbers of the tables.

The rules are those of draft-ietf-quic-qlog-main-schema-04 and draft-ietf-quic-qlog-quic-events-03.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, CommandLine

import longhaul
from longhaul.results import ResultsError, qlog

NUMBER, WHOLE = (int, float), (int,)
# Keys of `metrics_updated` (events draft, section 7.2): all are optional, one is required.
METRICS: dict[str, tuple[type, ...]] = {
    "min_rtt": NUMBER, "smoothed_rtt": NUMBER, "latest_rtt": NUMBER, "rtt_variance": NUMBER,
    "pto_count": WHOLE, "congestion_window": WHOLE, "bytes_in_flight": WHOLE, "ssthresh": WHOLE,
    "packets_in_flight": WHOLE, "pacing_rate": WHOLE,
}  # fmt: skip
STATES = {"slow_start", "congestion_avoidance", "application_limited", "recovery"}
LOST = {"reordering_threshold", "time_threshold", "pto_expired"}


def _check(event: dict[str, Any]) -> None:
    """Check an event's keys and values against the drafts."""
    assert event.keys() == {"time", "name", "data"}
    data = event["data"]
    match event["name"]:
        case "recovery:metrics_updated":
            assert data
            assert all(isinstance(value, METRICS[name]) for name, value in data.items())
        case "recovery:congestion_state_updated":
            assert data.keys() <= {"old", "new", "trigger"}
            assert data["new"] in STATES
            assert data.get("old") != data["new"]
            assert data.get("trigger") in (None, "ECN", "persistent_congestion")
        case "recovery:packet_lost":
            assert data.keys() == {"trigger"}
            assert data["trigger"] in LOST
        case "transport:packet_sent":
            header = data["header"]
            assert header.keys() == {"packet_type", "packet_number"}
            assert header["packet_type"] == "1RTT"
            assert data["raw"].keys() == {"length"}
        case name:
            pytest.fail(name)


def _events(run: longhaul.Results, flow: int, name: str) -> list[dict[str, Any]]:
    events = qlog.qlog(run)["traces"][flow]["events"]
    return [event for event in events if event["name"].endswith(name)]


def test_a_file_is_as_the_schema_says(
    finished: longhaul.Results, cli: CommandLine, tmp_path: Path
) -> None:
    done = cli("export", finished.path, "--format", "qlog", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    whole = json.loads((tmp_path / f"{finished.name}.qlog").read_text())
    # qvis accepts this version and format, and needs the version first.
    assert list(whole)[:2] == ["qlog_version", "qlog_format"]
    assert (whole["qlog_version"], whole["qlog_format"]) == ("0.3", "JSON")
    assert [trace["title"] for trace in whole["traces"]] == finished.flows["name"].to_list()
    for trace in whole["traces"]:
        assert trace.keys() == {"title", "description", "vantage_point", "common_fields", "events"}
        assert trace["vantage_point"]["type"] == "server"
        common = trace["common_fields"]
        assert (common["time_format"], common["reference_time"]) == ("relative", 0)
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        for event in trace["events"]:
            _check(event)
    assert cli("export", finished.path, "--format", "qlog", "--out", tmp_path).returncode == 2


def test_windows_and_packets_are_those_of_the_tables(finished: longhaul.Results) -> None:
    flow = finished.flows.row(0, named=True)
    last = finished.series.filter(kind="flow", id=0).tail(1).row(0, named=True)
    windows = [
        event["data"]["congestion_window"]
        for event in _events(finished, 0, "metrics_updated")
        if "congestion_window" in event["data"]
    ]
    payload = flow["total_delivered_bytes"] / flow["total_delivered_pkts"]
    assert windows[-1] == round(last["cwnd_pkts"] * payload)
    sent = [event["data"] for event in _events(finished, 0, "packet_sent")]
    assert sum(one["count"] for one in sent) == last["sent_pkts"]
    cuts = finished.events.filter(flow=0, event="cut", cause="loss")
    assert len(_events(finished, 0, "packet_lost")) == cuts.height > 0


def _as_qvis_reads(text: str, trace: int) -> dict[str, list[tuple[float, float]]]:
    """Return the curves of qvis' congestion graph by name: times in milliseconds and values.

    The rules are from qvis' sources in October 2025: the kind of a file from its first 1,024
    characters (FileLoader.ts), versions and times (QlogLoaderV2.ts), curves and packets
    (CongestionGraphD3Renderer.ts).
    """
    head = text[:1024]
    assert '"qlog_version"' in head
    assert '"JSON"' in head.split('"qlog_format"')[1]
    assert not any(other in head for other in ("NDJSON", "JSON-SEQ"))
    whole = json.loads(text)
    assert whole["qlog_version"] in ("draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3")
    events = whole["traces"][trace]["events"]
    assert whole["traces"][trace]["common_fields"]["time_format"] == "relative"
    curves: dict[str, list[tuple[float, float]]] = {"sent": []}
    sent, packets = 0, set()
    for event in events:
        time, data = float(event["time"]), event["data"]
        match event["name"].split(":"):
            case ["transport", "packet_sent"]:
                # qvis leaves out packets without length, and keeps only the last of a number.
                assert data["raw"]["length"] > 0
                sent += data["raw"]["length"]
                packets.add((data["header"]["packet_type"], str(data["header"]["packet_number"])))
                curves["sent"].append((time, sent))
            case ["recovery", "metrics_updated"]:
                for name in ("bytes_in_flight", "congestion_window", "min_rtt", "smoothed_rtt"):
                    # qvis takes zero for a missing value.
                    if data.get(name):
                        curves.setdefault(name, []).append((time, data[name]))
    assert len(packets) == len(curves["sent"])
    return curves


def test_qvis_finds_what_its_congestion_graph_draws(finished: longhaul.Results) -> None:
    text = json.dumps(qlog.qlog(finished), separators=(",", ":"))
    for number, flow in enumerate(finished.flows.to_dicts()):
        curves = _as_qvis_reads(text, number)
        samples = finished.series.filter(kind="flow", id=flow["flow"])
        payload = flow["total_delivered_bytes"] / flow["total_delivered_pkts"]
        length = flow["total_sent_bytes"] / flow["total_sent_pkts"]
        last = samples.tail(1).row(0, named=True)
        largest = samples.max().row(0, named=True)
        # The axis of bytes ends at the sum of sent bytes, the axis of time at the last packet.
        assert curves["sent"][-1][1] == pytest.approx(last["sent_pkts"] * length, rel=1e-3)
        assert 0.9 * last["t_s"] * 1e3 < curves["sent"][-1][0] <= last["t_s"] * 1e3
        window = max(value for _, value in curves["congestion_window"])
        assert window >= round(largest["cwnd_pkts"] * payload)
        # The peak of slow start lies between samples, and comes from events.
        happened = finished.events.filter(flow=flow["flow"]).max().row(0, named=True)
        most = max(largest["in_flight_pkts"], happened["in_flight_pkts"])
        assert max(value for _, value in curves["bytes_in_flight"]) == round(most * payload)
        rtts_ms = [value for _, value in curves["smoothed_rtt"]]
        assert max(rtts_ms) == pytest.approx(1e3 * largest["srtt_s"])
        # Curves begin with the first packet, not seconds later.
        assert curves["congestion_window"][0][0] <= curves["sent"][0][0]


def test_a_reduction_for_marks_ends_with_the_next_sample() -> None:
    marks = [
        "tcp.ecn=true",
        'topology.dumbbell.bottleneck.queue={kind="red",limit="1 BDP",ecn=true}',
    ]
    run = longhaul.run(SMALL, set=marks)
    changes = [event["data"] for event in _events(run, 0, "congestion_state_updated")]
    marked = [number for number, one in enumerate(changes) if one.get("trigger") == "ECN"]
    assert marked
    assert all(changes[n + 1]["old"] == "recovery" for n in marked if n + 1 < len(changes))


def test_a_run_without_tcp_is_refused(tmp_path: Path) -> None:
    scenario = {
        "duration": "1 s",
        "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "20 ms"}}},
        "flows": [{"protocol": "udp", "rate": "1 Mbps"}],
    }
    with pytest.raises(ResultsError, match="samples of TCP flows"):
        qlog.qlog(longhaul.run(scenario))


def test_the_format_of_an_export_is_the_one_that_fits(
    finished: longhaul.Results, cli: CommandLine, tmp_path: Path
) -> None:
    result = cli("export", finished.path, "--out", tmp_path)
    assert result.returncode == 0, result
    assert json.loads((tmp_path / "r1.qlog").read_text())["traces"]
    refused = cli("export", finished.path, "--format", "mesonet")
    assert refused.returncode == 2
    assert "is a run of TCP; expected qlog" in refused.stderr
    refused = cli("export", finished.path, "--format", "xls")
    assert "--format xls: expected qlog, mesonet or csv" in refused.stderr
