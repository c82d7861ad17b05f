"""The command `analyze` on the table of a campaign, on a run, and on any other table."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from conftest import CommandLine, WorkersHere

import longhaul
from longhaul.campaign import Store, execute
from longhaul.campaign.dataset import collect
from longhaul.campaign.file import read_campaign
from longhaul.findings.runs import RUN_ANALYSES

CAMPAIGN = """
replications = 2
responses = ["goodput_bps", "rtt_mean_s", "retransmitted", "links.bottleneck.queue_mean_pkts",
             "labels.flow.goodput_bps"]

[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["2 Mbps", "4 Mbps"] }
rtt  = { path = "topology.dumbbell.bottleneck.delay", levels = ["5 ms", "10 ms"] }
kind = { path = "flows.0.congestion.kind", levels = ["reno", "cubic", "hstcp"] }
n    = { path = "flows.0.count", levels = [1, 2] }

[scenario]
duration = "1 s"

[scenario.topology.dumbbell.bottleneck]
rate  = "5 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[scenario.flows]]
label = "flow"
"""


@pytest.fixture(scope="module")
def campaign_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the table of a small campaign that has been run."""
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "c.toml").write_text(CAMPAIGN)
    campaign = read_campaign(folder / "c.toml")
    store = Store(folder / "store", campaign.reducer.variant)
    execute(campaign.runs(), store, workers=WorkersHere(1), reducer=campaign.reducer)
    collect(campaign, store).write(folder / "results.parquet")
    return folder / "results.parquet"


NAMED: Mapping[str, tuple[list[str], int]] = {
    "effects": ([], 4),
    "shares": (["-r", "labels.flow.goodput_bps"], 1),
    "cells": ([], 4),
    "compare": (["--of", "kind"], 4),
    "anova": ([], 4),
    "regression": (["-r", "goodput_bps"], 0),
    "ten-step": (["-r", "goodput_bps"], 10),
    "correlations": ([], 3),
    "components": (["--of", "kind"], 4),
    "y-y-x": (["-r", "goodput_bps", "-r", "rtt_mean_s"], 1),
    "ranks": ([], 0),
    "cube": (["-f", "rate", "-f", "rtt", "-f", "n"], 1),
    "clusters": (["--of", "kind"], 1),
    "residuals": (["--of", "kind", "--critical", "2.08"], 4),
    "standouts": (["--of", "kind", "--min-percent", "10"], 1),
    "congestion": (["-r", "links.bottleneck.queue_mean_pkts", "--of", "kind", "--classes", "2"], 1),
    "users": (["--of", "kind", "-r", "goodput_bps"], 4),
}


def test_every_analysis_is_tried(cli: CommandLine) -> None:
    listed, of_runs = cli("analyze", "list").stdout.split("of the directory of one run:\n")
    assert {line.split()[0] for line in listed.splitlines()} == set(NAMED)
    assert {line.split()[0] for line in of_runs.splitlines()} == set(RUN_ANALYSES)


@pytest.mark.parametrize("name", NAMED)
def test_analyses_print_tables_and_draw_pictures(
    cli: CommandLine, campaign_table: Path, tmp_path: Path, name: str
) -> None:
    words, pictures = NAMED[name]
    out = ["--out", tmp_path / "pictures"] if pictures else []
    found = cli("analyze", campaign_table, name, *words, *out, "--json")
    assert found.returncode == 0, found.stderr
    tables = json.loads(found.stdout)[name]
    assert all(table["rows"] for table in tables)
    drawn = list((tmp_path / "pictures").glob("*.svg"))
    assert len(drawn) == pictures
    assert cli("analyze", campaign_table, name, *words).returncode == 0


def test_plots_of_analyses_have_the_width_that_is_asked_for(
    cli: CommandLine, campaign_table: Path, tmp_path: Path
) -> None:
    words = ["analyze", campaign_table, "effects", "-r", "goodput_bps", "--width", "column"]
    drawn = cli(*words, "--out", "e.pdf")
    assert drawn.returncode == 0, drawn.stderr
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", (tmp_path / "e.pdf").read_bytes())
    assert float(box) == pytest.approx(240.9, abs=0.1)
    for refused in (cli(*words), cli(*words, "--out", "e.csv")):
        assert refused.returncode == 2
        assert "--width: expected a plot or a directory as --out" in refused.stderr


def test_runs_are_left_out_of_an_analysis(cli: CommandLine, campaign_table: Path) -> None:
    words = ["analyze", campaign_table, "compare", "--of", "kind", "-r", "goodput_bps", "--json"]
    whole, without = (
        json.loads(cli(*words, *more).stdout)["compare"][0]["rows"]
        for more in ([], ["--without", "kind=hstcp"])
    )
    assert len(whole) == 3
    assert [(row["kind"], row["less"]) for row in without] == [("reno", "cubic")]
    only = cli(*words, "--only", "rate=2 Mbps")
    assert json.loads(only.stdout)["compare"][0]["rows"][0]["ahead in conditions"][-4:] == "of 4"
    assert "no level bic" in cli(*words, "--without", "kind=bic").stderr


def test_correlations_are_compared_with_another_campaigns(
    cli: CommandLine, campaign_table: Path, tmp_path: Path
) -> None:
    frame = pl.read_parquet(campaign_table)
    noise = pl.Series("rtt_mean_s", [float(i * 7919 % 97) for i in range(len(frame))])
    frame.with_columns(noise, retransmitted=frame["goodput_bps"] * 2).write_parquet(
        tmp_path / "other.parquet"
    )
    words = ["-r", "goodput_bps", "-r", "retransmitted", "-r", "rtt_mean_s", "-f", "rate", "--json"]
    found = cli("analyze", campaign_table, "correlations", "--against", "other.parquet", *words)
    [*_, changed] = json.loads(found.stdout)["correlations"]
    lost = [row for row in changed["rows"] if row[""] == "lost"]
    assert ("goodput_bps", "retransmitted") in {(row["first"], row["second"]) for row in lost}
    # The filter applies to both tables, and the other campaign has no runs of this level.
    frame.with_columns(n=pl.lit(2)).write_parquet(tmp_path / "other.parquet")
    alone = ("-f", "n", "--only", "n=1")
    found = cli("analyze", campaign_table, "correlations", "--against", "other.parquet", *alone)
    assert "n has no level 1" in found.stderr


def test_a_run_is_judged_for_warm_up_and_drift(
    cli: CommandLine, finished: longhaul.Results
) -> None:
    found = json.loads(cli("analyze", finished.path, "--json").stdout)["steady"][0]
    series = {row["series"]: row for row in found["rows"]}
    assert set(series) >= {"fast: goodput (bit/s)", "bottleneck: queue (packets)"}
    rate = series["fast: goodput (bit/s)"]
    assert 0 < rate["95 % from"] < rate["mean from there"] < rate["to"] < 20e6
    assert 0 <= rate["p of drift"] <= 1


def test_any_table_is_analysed(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,y\n0,x,1.0\n1,x,3.0\n0,z,2.0\n1,z,4.0\n")
    found = cli("analyze", "t.csv", "ten-step", "-f", "a", "-f", "b", "--json")
    rows = json.loads(found.stdout)["ten-step"][0]["rows"]
    assert [(row["effect"], row["size"]) for row in rows] == [("a", 2.0), ("b", 1.0), ("a*b", 0.0)]
    refused = cli("analyze", "t.csv")
    assert refused.returncode == 2
    assert "--factor" in refused.stderr
