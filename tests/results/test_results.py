"""Results of runs: sums, Jain's index, counts in intervals, replications, printed summaries."""

from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import longhaul
from longhaul.analysis.fairness import jain_of_column
from longhaul.connections.names import without_numbers
from longhaul.results.counts import counted
from longhaul.results.replications import replicated
from longhaul.results.table import Block, Table
from longhaul.running.loading import load


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        ([5.0, 5.0, 5.0, 5.0], 1.0),
        ([8.0, 0.0, 0.0, 0.0], 0.25),
        # If k of n hosts share equally and the others get nothing: k/n (Jain, Chiu and Hawe 1984).
        ([3.0, 3.0, 0.0], 2 / 3),
        ([1.0, 3.0], 16 / 20),
    ],
)
def test_jains_index(rates: list[float], index: float) -> None:
    frame = pl.DataFrame({"rate": rates})
    assert frame.select(jain_of_column(pl.col("rate"))).item() == pytest.approx(index)


def test_labels_add_up_to_all_flows(finished: longhaul.Results) -> None:
    summary = finished.summary()
    assert summary.labels["flows"].to_list() == [2, 1]
    assert summary.labels["share"].sum() == pytest.approx(1.0)
    assert summary.total["goodput_bps"] == pytest.approx(summary.labels["goodput_bps"].sum())
    for key in ("cuts_loss", "cuts_ecn", "timeouts"):
        assert summary.total[key] == summary.labels[key].sum()


def test_a_summary_is_printed_on_one_screen(finished: longhaul.Results) -> None:
    summary = finished.summary()
    head, *lines = str(summary).splitlines()
    assert head.split() == [*summary.labels["label"], "all"]
    assert len(lines) < 50
    printed = {words[0]: words[1:] for words in map(str.split, lines) if words}
    assert printed["flows"] == ["2", "1", "3"]
    assert f"{summary.link(finished.bottleneck)['utilization']:.6g}" in printed["utilization"]


def test_goodput_fits_through_the_bottleneck(finished: longhaul.Results) -> None:
    # Greedy flows leave little of the 20 Mbit/s unused.
    summary = finished.summary()
    bottleneck = summary.link(finished.bottleneck)
    assert summary.total["goodput_bps"] < 20e6
    assert 0.5 < bottleneck["utilization"] <= 1.0
    assert bottleneck["queue_max_pkts"] >= bottleneck["queue_mean_pkts"] > 0


def test_a_flow_is_limited_by_what_held_it_longest(tmp_path: Path) -> None:
    finished = longhaul.run(
        """
        duration = "10 s"
        [topology.dumbbell.bottleneck]
        rate = "20 Mbps"
        delay = "10 ms"
        queue = { kind = "droptail", limit = "1 BDP" }
        [[flows]]
        label = "window"
        tcp = { receive_window = 4 }
        """,
        out=tmp_path / "r",
    )
    # The receive window allows four segments on a path of 33, so it limits the flow.
    assert finished.summary().flows["limited_by"].to_list() == ["receive window"]


def test_without_samples_the_remedy_is_named(tmp_path: Path) -> None:
    results = longhaul.run({"duration": "1 s", **_TINY}, out=tmp_path / "r")
    with pytest.raises(longhaul.ResultsError, match="events = true"):
        _ = results.events


def test_results_without_a_place_live_as_long_as_they_are_held() -> None:
    results = longhaul.run({"duration": "1 s", **_TINY})
    path = results.path
    assert path.is_dir()
    del results
    assert not path.exists()


_TINY = {
    "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "10 ms"}}},
    "flows": [{}],
}


def test_parallel_streams_count_as_one_flow(tmp_path: Path) -> None:
    scenario = {
        "duration": "20 s",
        "measure": {"from": "0 s", "every": "1 s"},
        "topology": {"dumbbell": {"bottleneck": {"rate": "20 Mbps", "delay": "10 ms"}}},
        "flows": [
            {"label": "striped", "streams": 3, "transfer": "6 MB"},
            {"label": "plain", "start": "1 s"},
            {"label": "call", "protocol": "udp", "rate": "1 Mbps"},
        ],
    }
    run = longhaul.run(scenario, out=tmp_path / "run")
    streams = run.flows.filter(pl.col("bundle") == "striped-0")
    assert streams["name"].to_list() == ["striped-0.0", "striped-0.1", "striped-0.2"]

    assert run.label_counts() == {"striped": 1, "plain": 1, "call": 1}
    flow, _, call = run.summary().flows.to_dicts()
    assert flow["transfer_bytes"] == 6_000_000
    assert flow["completion_s"] == pytest.approx(streams["finish_s"].max())
    for key in ("goodput_bps", "sent_pkts", "cwnd_mean_pkts"):
        assert flow[key] == pytest.approx(streams[key].sum())
    assert call["cwnd_mean_pkts"] is None
    assert run.flow_series.filter(label="call")["cwnd_pkts"].null_count() == 21
    shortest, longest = streams["rtt_mean_s"].min(), streams["rtt_mean_s"].max()
    assert shortest <= flow["rtt_mean_s"] <= longest

    series = run.flow_series.filter(pl.col("name") == "striped-0")
    of_streams = run.series.filter(pl.col("name").str.starts_with("striped"))
    at = series["t_s"][5]
    windows = of_streams.filter(pl.col("t_s") == at)["cwnd_pkts"]
    assert len(windows) == 3
    assert series.filter(pl.col("t_s") == at)["cwnd_pkts"].item() == pytest.approx(windows.sum())


def test_a_notebook_shows_the_summary_and_a_plot(finished: longhaul.Results) -> None:
    shown = finished._repr_html_()
    assert "<table>" in shown
    assert "goodput (Mbit/s)" in shown
    assert shown.count("<svg") == 1
    assert "<script" not in shown
    assert str(finished.path) in repr(finished)


@pytest.mark.parametrize(("measured_from", "intervals"), [("1 s", 2), ("2 s", 0)])
def test_three_samples_are_enough_to_count_in_intervals(
    measured_from: str, intervals: int, tmp_path: Path
) -> None:
    run = longhaul.run(
        f"""
        duration = "3 s"
        measure = {{ from = "{measured_from}", every = "1 s" }}
        [topology.dumbbell.bottleneck]
        rate = "5 Mbps"
        delay = "10 ms"
        queue = {{ kind = "droptail", limit = "1 BDP" }}
        [[flows]]
        label = "a"
        """,
        out=tmp_path / "r",
    )
    if not intervals:
        with pytest.raises(longhaul.LonghaulError, match="at least three samples"):
            list(counted(run))
        return
    [(name, step_s, counts)] = counted(run)
    assert name.endswith(": packets")
    assert (step_s, len(counts)) == (1.0, intervals)
    # 5 Mbit/s carry 417 packets of 1500 bytes a second.
    assert counts == pytest.approx([416, 416], abs=30)


def test_exchanges_are_counted_in_the_same_intervals() -> None:
    """Check the intervals in which exchanges are counted.

    Samples at 2, 3, 4 and 5 s make three intervals, of which the last includes its end.
    """
    series = pl.DataFrame({"t_s": [1.0, 2.0, 3.0, 4.0, 5.0], "departed_pkts": [5, 9, 9, 12, 20]})
    exchanges = pl.DataFrame({"start_s": [1.5, 2.0, 2.5, 3.0, 4.5, 5.0, 5.5]})
    run: Any = SimpleNamespace(
        path="r", bottleneck="b", bottleneck_series=series, measured_from_s=2.0,
        tables={"exchanges": 7}, exchanges=exchanges,
    )  # fmt: skip
    (_, _, packets), (name, step_s, begun) = counted(run)
    assert packets.tolist() == [0, 3, 8]
    assert (name, step_s, begun.tolist()) == ("exchanges", 1.0, [2, 1, 2])


def test_the_figures_of_a_run_are_known_by_name_before_it(finished: longhaul.Results) -> None:
    """Check that planned runs have the figures of the summary, and texts where it has texts."""
    planned, found = without_numbers([load(finished.scenario)]), finished.figures()
    assert planned["all"].keys() >= found["all"].keys()
    for planned_row, row in zip(planned["labels"], found["labels"], strict=True):
        assert planned_row["label"] == row["label"]
        assert planned_row.keys() >= row.keys()
    assert planned["links"][0].keys() >= found["links"][0].keys()
    texts = {name for name, value in found["all"].items() if isinstance(value, str)}
    assert texts == {name for name, value in planned["all"].items() if value == ""}
    assert "proxies" not in planned
    assert not [name for name in planned["all"] if name.startswith("delay_")]
    summary = finished.summary()
    assert (summary.link("x"), summary.proxy("x")) == ({}, {})


def test_replications_are_grouped_whatever_the_order_of_keys() -> None:
    def run(seed: int, **scenario: object) -> Any:  # noqa: ANN401
        return SimpleNamespace(scenario={"seed": seed, **scenario}, meta={})

    first, second = run(1, duration="1 s", title="t"), run(2, title="t", duration="1 s")
    other = run(1, duration="2 s", title="t")
    assert replicated([first, other, second]) == [[first, second], [other]]


def test_a_link_without_samples_is_refused_with_the_nearest_name(
    finished: longhaul.Results,
) -> None:
    for name in finished.observed_links():
        finished.check_link(name)
    with pytest.raises(longhaul.LonghaulError, match="no samples of a link") as refused:
        finished.check_link("bottlneck")
    assert "bottleneck" in str(refused.value)


def test_blocks_of_a_table_are_apart() -> None:
    rows = [("goodput", ["1"])]
    table = Table([("run", ["all"])], [Block("Flows", rows), Block("Links", rows)])
    console = Console(width=60, record=True, file=StringIO())
    console.print(table)
    lines = [line.strip() for line in console.export_text().splitlines()]
    first, second = lines.index("Flows"), lines.index("Links")
    assert "" in lines[first:second], "an empty line"
