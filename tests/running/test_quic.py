"""QUIC flows: their rows in tables, warnings, captures, qlog, and evaluations."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul.evaluation import contenders, stacks, suite
from longhaul.evaluation.run import evaluable
from longhaul.results import qlog

SCENARIO = """
duration = "6 s"
measure  = { from = "2 s", events = true, capture = ["bottleneck", "bottleneck-reverse"] }

[topology.dumbbell.bottleneck]
rate  = "5 Mbps"
delay = "10 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[flows]]
protocol = "quic"
stack    = { congestion = "newreno" }

[[flows]]
congestion = { kind = "cubic" }
"""


@pytest.fixture(scope="module")
def quic(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    return longhaul.run(SCENARIO, out=tmp_path_factory.mktemp("quic") / "r1")


def test_tables_have_a_stack_beside_tcp(quic: longhaul.Results) -> None:
    first, second = quic.flows.to_dicts()
    assert (first["congestion"], first["label"]) == ("quinn:newreno", "quinn-newreno")
    assert (second["congestion"], first["source"]) == ("cubic", "greedy")
    for flow in (first, second):
        assert flow["goodput_bps"] > 5e5
        assert flow["cwnd_mean_pkts"] > 2
        assert 0.02 <= flow["rtt_min_s"] <= flow["rtt_mean_s"] <= flow["rtt_max_s"]
        assert flow["cuts_loss"] > 0
    series = quic.series.filter(pl.col("name") == "quinn-newreno-0")
    assert series["srtt_s"].drop_nulls().min() > 0.019  # type: ignore[operator]
    assert series["in_flight_pkts"].max() > 5  # type: ignore[operator]
    stack = quic.meta["scenario"]["flows"][0]["stack"]
    assert stack["version"] == "quinn-proto 0.11.19"


def test_a_lost_connection_is_a_warning_and_an_event(tmp_path: Path) -> None:
    outage = 'topology.dumbbell.bottleneck.changes=[{ at = "2 s", loss = 1 }]'
    idle = 'flows.0.stack.idle_timeout="1 s"'
    run = longhaul.run(SCENARIO, out=tmp_path / "r", set=[outage, idle])
    (warning,) = (text for text in run.meta["warnings"] if "connection was lost" in text)
    assert warning.startswith("flow `quinn-newreno-0`: its connection was lost at 3")
    lost = run.events.filter(pl.col("event") == "connection_lost")
    assert lost["name"].to_list() == ["quinn-newreno-0"]
    closed = [
        event
        for event in qlog.qlog(run)["traces"][0]["events"]
        if event["name"] == "connectivity:connection_closed"
    ]
    assert [event["time"] for event in closed] == [lost["t_s"][0] * 1e3]


def test_qlog_says_which_protocol_a_flow_has(quic: longhaul.Results) -> None:
    traces = qlog.qlog(quic)["traces"]
    protocols = [trace["common_fields"]["protocol_type"] for trace in traces]
    assert protocols == [["QUIC"], ["TCP"]]
    names = {event["name"] for event in traces[0]["events"]}
    assert {"recovery:metrics_updated", "recovery:packet_lost"} <= names


def test_qlog_has_the_events_of_the_stacks_own_log(tmp_path: Path) -> None:
    run = longhaul.run(SCENARIO, out=tmp_path / "r", set=["flows.0.stack.qlog=true"])
    assert (run.path / "flow-0.sqlog").is_file()
    assert "flow-0.sqlog" in run.meta["sha256"]
    own, tables = qlog.qlog(run)["traces"]
    lost = [event for event in own["events"] if event["name"] == "recovery:packet_lost"]
    assert len(lost) == run.flows["total_retransmitted_pkts"][0] > 0
    # The stack's log also has the packets of the handshake.
    sent = [event for event in own["events"] if event["name"] == "transport:packet_sent"]
    assert run.flows["total_sent_pkts"][0] < len(sent) < run.flows["total_sent_pkts"][0] + 5
    assert own["description"].endswith("the stack's own log")
    times = [event["time"] for event in own["events"]]
    assert times == sorted(times)
    # The last event is at most one round trip (65 ms) before the end.
    assert 5935 < times[-1] <= 6000
    assert "count" in tables["description"]
    assert not (run.path / "flow-1.sqlog").exists()


def test_captures_have_datagrams_with_their_sizes(quic: longhaul.Results) -> None:
    data = (quic.path / "packets.pcapng").read_bytes()
    sizes = []
    at = 0
    while at < len(data):
        kind, length = (int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4))
        # Select frames of the first interface whose IPv4 protocol is UDP.
        is_first = int.from_bytes(data[at + 8 : at + 12], "little") == 0
        if kind == 6 and is_first and data[at + 28 + 23] == 17:
            sizes.append(int.from_bytes(data[at + 24 : at + 28], "little") - 14)
        at += length
    flow = quic.flows.row(0, named=True)
    assert (len(sizes), sum(sizes)) == (flow["total_sent_pkts"], flow["total_sent_bytes"])
    # Handshake packets are padded to a payload of 1200 bytes; path MTU discovery ends at 1452.
    assert (sizes[0], max(sizes)) == (1228, 1480)


def test_contenders_may_be_controllers_of_a_stack() -> None:
    quinn = contenders.contender("quinn:bbr")
    assert quinn.table == {"stack": {"kind": "quinn", "congestion": "bbr"}}
    for written, reason in (("quinn:vegas", "allowed: cubic, newreno, bbr"), ("quin:bbr", "quin")):
        with pytest.raises(contenders.ContenderError, match=reason):
            contenders.contender(written)


def test_flows_of_a_stack_take_the_place_of_those_of_an_algorithm() -> None:
    chosen = suite.find("rfc9743").only(["6.1"])
    field = [contenders.contender("quinn:bbr"), contenders.contender("cubic")]
    runs = [stacks.placed(run) for run in chosen.runs(field, "quick")]
    placed = [run.scenario["flows"][0] for run in runs if run.cell["algorithm"] == "quinn:bbr"]
    assert placed
    for flow in placed:
        assert flow["protocol"] == "quic"
        assert "congestion" not in flow
    others = [run.scenario["flows"][0] for run in runs if run.cell["algorithm"] == "cubic"]
    assert all(flow["congestion"] == {"kind": "cubic"} for flow in others)


def test_what_a_stack_refuses_is_not_evaluated() -> None:
    whole = suite.find("rfc9743")
    field = [contenders.contender("quinn:cubic"), contenders.contender("cubic")]
    left = evaluable(whole, field, "quick")
    by_section = {one.section: one for one in left.criteria}
    short = by_section["5.1.5"]
    assert not short.experiments
    assert short.why == (
        "short: flows.1.traffic: a QUIC flow has no traffic: it has one connection, with a "
        "transfer or unlimited data"
    )
    assert by_section["7.4"].why.endswith("holds after IP and UDP headers")
    assert by_section["6.1"] == {one.section: one for one in whole.criteria}["6.1"]
    # Without a stack, the whole evaluation is possible.
    assert evaluable(whole, [contenders.contender("cubic")], "quick") == whole


def test_settings_must_be_valid_for_flows_of_a_stack(cli: CommandLine) -> None:
    for setting, message in (
        ("nonsense=1", "--set nonsense: unknown key"),
        ("flows.0.tcp.timestamps=true", "--set flows.0.tcp.timestamps: a QUIC flow has no tcp"),
    ):
        done = cli("evaluate", "quinn:bbr", "--only", "5.1.2", "--set", setting)
        assert done.returncode == 2
        assert message in done.stderr


def test_evaluate_takes_a_controller_of_a_stack(cli: CommandLine, workers_here: None) -> None:
    words = ("evaluate", "quinn:newreno", "--against", "cubic,reno", "--only", "7.8")
    done = cli(*words, "--quiet", "--workers", "1")
    assert done.returncode in (0, 3), done.stderr
    summary: dict[str, Any] = json.loads(Path("evaluations/quinn-newreno/summary.json").read_text())
    assert summary["failed_runs"] == []
