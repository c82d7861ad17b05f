"""Delays of packets: exact values without queueing, Little's law with queueing."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import longhaul
from longhaul import plots

Flow = dict[str, Any]

BOTTLENECK = {"rate": "10 Mbps", "delay": "20 ms"}


def _run(tmp_path: Path, flows: list[Flow], **changes: object) -> longhaul.Results:
    scenario = {
        "duration": "20 s",
        "measure": {"from": "5 s", "every": "100 ms", "delays": True},
        "topology": {"dumbbell": {"bottleneck": {**BOTTLENECK, **changes}}},
        "flows": flows,
    }
    return longhaul.run(scenario, out=tmp_path / "run")


def _of(run: longhaul.Results, kind: str, name: str) -> dict[str, Any]:
    rows = run.delays.filter(pl.col("kind") == kind, pl.col("name") == name).to_dicts()
    assert len(rows) == 1
    return rows[0]


def test_a_stream_alone_takes_transmission_and_propagation(tmp_path: Path) -> None:
    run = _run(tmp_path, [{"label": "cbr", "protocol": "udp", "rate": "5 Mbps"}])
    flow = _of(run, "flow", "cbr-0")
    way_s = sum(link["delay_s"] for link in run.links.to_dicts() if link["name"] == "bottleneck")
    expected_s = 1500 * 8 / 10e6 + way_s
    for figure in ("min_s", "p50_s", "p999_s", "max_s"):
        assert flow[figure] == pytest.approx(expected_s, rel=1e-9)
    assert flow["mean_s"] == pytest.approx(expected_s, abs=40e-9)
    wait = _of(run, "link", "bottleneck")
    assert (wait["packets"], wait["max_s"]) == (flow["packets"], 0.0)
    assert flow["packets"] == pytest.approx(15 * 5e6 / 12000, abs=1)


@pytest.mark.parametrize("queue", ["droptail", "codel", "red"])
def test_waits_are_those_of_littles_law(tmp_path: Path, queue: str) -> None:
    flows: list[Flow] = [{"label": "reno", "congestion": {"kind": "reno"}, "count": 3}]
    run = _run(tmp_path, flows, queue={"kind": queue, "limit": "100 packets"})
    wait = _of(run, "link", "bottleneck")
    (link,) = run.links.filter(pl.col("name") == "bottleneck").to_dicts()
    in_queue = wait["mean_s"] * wait["packets"] / 15
    # Packets that CoDel drops at the head also waited, but are not counted.
    assert in_queue == pytest.approx(link["queue_mean_pkts"], rel=0.02)
    assert wait["p5_s"] <= wait["p50_s"] <= wait["p95_s"] <= wait["max_s"]
    flow = _of(run, "all", "")
    assert flow["mean_s"] == pytest.approx(wait["mean_s"] + 0.0212, rel=0.01)


def test_plots_show_the_quantiles(tmp_path: Path) -> None:
    run = _run(tmp_path, [{"label": "a", "congestion": {"kind": "cubic"}, "count": 2}])
    (axes,) = plots.figure("delays", [run]).axes
    (line,) = [line for line in axes.get_lines() if line.get_label() == "a"]
    shares = dict(zip(np.asarray(line.get_ydata()), np.asarray(line.get_xdata()), strict=True))
    assert shares[0.95] == pytest.approx(1e3 * _of(run, "label", "a")["p95_s"])
    titles = [axes.get_title() for axes in plots.figure("waits", [run]).axes]
    assert titles == ["bottleneck", "bottleneck-reverse"]
    plain = longhaul.run(run.scenario, out=tmp_path / "plain", set=["measure.delays=false"])
    assert "delays" not in plots.suitable([plain])


def test_labels_are_the_sums_of_their_flows(tmp_path: Path) -> None:
    flows: list[Flow] = [{"label": "a", "count": 2}, {"label": "b", "start": "6 s"}]
    run = _run(tmp_path, flows)
    packets = {name: _of(run, "flow", name)["packets"] for name in ("a-0", "a-1", "b-0")}
    assert _of(run, "label", "a")["packets"] == packets["a-0"] + packets["a-1"]
    assert _of(run, "all", "")["packets"] == sum(packets.values())
    longest = max(_of(run, "flow", name)["max_s"] for name in ("a-0", "a-1"))
    assert _of(run, "label", "a")["max_s"] == longest
    labels = run.summary().labels.to_dicts()
    assert [row["delay_p95_s"] for row in labels] == [
        _of(run, "label", name)["p95_s"] for name in ("a", "b")
    ]


def test_measuring_delays_changes_nothing_else(tmp_path: Path) -> None:
    flows: list[Flow] = [{"label": "cubic", "congestion": {"kind": "cubic"}, "count": 2}]
    measured = _run(tmp_path / "1", flows)
    plain = longhaul.run(measured.scenario, out=tmp_path / "2", set=["measure.delays=false"])
    for table in ("flows", "links", "series"):
        files = [run.path / f"{table}.parquet" for run in (measured, plain)]
        assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(longhaul.LonghaulError, match="delays = true"):
        _ = plain.delays


def test_web_traffic_and_both_directions_are_counted(tmp_path: Path) -> None:
    traffic = {
        "kind": "requests",
        "interval": {"kind": "exponential", "mean": "100 ms"},
        "request": "400 B",
        "response": "20 KB",
    }
    run = _run(tmp_path, [{"label": "web", "traffic": traffic}])
    delays = _of(run, "label", "web")
    # About 150 exchanges have a request of one segment and a response of fourteen.
    assert delays["packets"] == pytest.approx(15 / 0.1 * 15, rel=0.25)
    assert delays["min_s"] > 0.02
