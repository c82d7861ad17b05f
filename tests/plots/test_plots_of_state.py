"""Plots of the state of algorithms and proxies: lines have the recorded values."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul import _engine, plots
from longhaul.guide import catalogue

TRACED = """
duration = "8 s"
measure = { every = "500 ms" }
[topology.dumbbell.bottleneck]
rate = "5 Mbps"
delay = "20 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[flows]]
label = "sync"
congestion = { kind = "sync-mixreact" }
tcp.timestamps = "one-way"
trace_acks = true
[[flows]]
label = "dctcp"
congestion = { kind = "dctcp" }
trace_acks = true
"""
SPLIT = """
duration = "8 s"
measure = { from = "2 s", every = "500 ms" }
[topology.dumbbell]
bottleneck = { rate = "5 Mbps", delay = "50 ms" }
access = { rate = "100 Mbps", delay = "5 ms" }
[[proxies]]
name = "middle"
start = "left"
end = "right"
queue = { kind = "droptail", limit = "50 packets" }
credit = "20 packets"
interval = "10 ms"
congestion = { kind = "cubic" }
[[flows]]
label = "bulk"
count = 2
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run two flows that record their state."""
    return longhaul.run(TRACED, out=tmp_path_factory.mktemp("state") / "traced")


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run two flows through a proxy."""
    return longhaul.run(SPLIT, out=tmp_path_factory.mktemp("state") / "split")


def test_state_has_a_panel_for_each_declared_quantity_that_was_recorded(
    traced: longhaul.Results,
) -> None:
    drawn = plots.figure("state", [traced])
    titles = [axes.get_title() for axes in drawn.axes]
    assert titles[0] == "congestion window"
    declared = {
        (quantity["title"], quantity["unit"])
        for row in _engine.algorithms()["algorithms"]
        if row["name"] in ("sync-mixreact", "dctcp")
        for quantity in row["state"]
    }
    own = {(axes.get_title(), axes.get_ylabel()) for axes in drawn.axes[1:]}
    assert own <= declared
    assert len(own) >= 8


def test_a_run_that_recorded_no_acknowledgement_has_no_state(traced: longhaul.Results) -> None:
    run = longhaul.open(traced.path)
    run.meta["rows"] |= {"acks": 0}
    assert "state" not in plots.suitable([run])


def test_a_chosen_quantity_is_drawn_as_it_was_recorded(traced: longhaul.Results) -> None:
    options = plots.Options(parts=("queueing_delay",))
    (axes,) = plots.figure("state", [traced], options).axes
    (line,) = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata()))]
    recorded = traced.acks.filter(pl.col("quantity") == "queueing_delay")
    assert np.asarray(line.get_ydata()).tolist() == recorded["value"].to_list()
    assert axes.get_ylabel() == "s"


def test_an_unknown_quantity_is_refused_with_the_nearest(
    traced: longhaul.Results, cli: CommandLine
) -> None:
    refused = cli("plot", traced.path, "state", "--part", "queuing_delay")
    assert refused.returncode == 2
    assert "did you mean `queueing_delay`?" in refused.stderr


def test_one_name_of_two_algorithms_is_two_quantities() -> None:
    alphas = [row for row in catalogue.state() if row["name"] == "alpha"]
    of = {kind: row["unit"] for row in alphas for kind in row["algorithms"]}
    assert of["fast"] == "segments"
    assert of["dctcp"] == ""


@pytest.mark.parametrize(
    ("name", "column"), [("proxy-window", "cwnd_pkts"), ("proxy-queue", "queue_pkts")]
)
def test_plots_of_a_proxy_show_its_samples(split: longhaul.Results, name: str, column: str) -> None:
    (axes,) = plots.figure(name, [split]).axes
    (line,) = axes.get_lines()
    samples = split.series.filter(pl.col("kind") == "proxy")
    assert np.asarray(line.get_ydata()).tolist() == samples[column].to_list()


def test_tables_and_summaries_have_what_a_proxy_did(
    split: longhaul.Results, cli: CommandLine, tmp_path: Path
) -> None:
    (row,) = split.as_json()["proxies"]
    (proxy,) = split.proxies.to_dicts()
    assert row["proxy"] == "middle"
    assert row["forwarded_bps"] == pytest.approx(8 * proxy["forwarded_bytes"] / 6.0)
    assert row["queue_max_pkts"] == proxy["queue_max_pkts"]
    shown = cli("compare", split.path, split.path).stdout
    assert "proxy middle" in shown
    assert "mean congestion window between the nodes" in shown


def test_figures_of_proxies_are_responses_of_campaigns(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "split.toml").write_text(SPLIT)
    campaign = tmp_path / "credits.toml"
    campaign.write_text(
        'scenario = "split.toml"\n'
        'responses = ["proxies.middle.cwnd_mean_pkts", "all.congestion_event_rate"]\n'
        '[factors]\ncredit = { path = "proxies.0.credit", levels = ["20 packets", "40 packets"] }\n'
    )
    finished = cli("campaign", "run", campaign, "--out", tmp_path / "out", "--quiet")
    assert finished.returncode == 0, finished.stderr
    table = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert (table["proxies.middle.cwnd_mean_pkts"] > 0).all()
    campaign.write_text(campaign.read_text().replace("middle", "centre"))
    refused = cli("campaign", "run", campaign, "--out", tmp_path / "other")
    assert refused.returncode == 2
    assert "proxies.centre.cwnd_mean_pkts" in refused.stderr
