"""Figures are declared once, and all users of a figure read its declaration."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul.analysis.table import ResponseTable
from longhaul.campaign.file import CampaignError, read_campaign
from longhaul.campaign.responses import ResponseError, look_up
from longhaul.evaluation import suite
from longhaul.figures import every, find, registry, runs
from longhaul.figures.measured import measured, of_merit
from longhaul.figures.registry import MERIT, RUN, SUMMARY
from longhaul.figures.words import figure_at, meaning, unit_at
from longhaul.findings.labels import codes, label
from longhaul.findings.runs import analyse_run
from longhaul.guide import catalogue

TWO = """
duration = "30 s"
measure = { every = "100 ms", events = true, delays = true, from = "5 s" }
[topology.dumbbell.bottleneck]
rate = "5 Mbps"
delay = "10 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[flows]]
label = "a"
congestion = { kind = "cubic" }
[[flows]]
label = "b"
congestion = { kind = "reno" }
start = "1 s"
"""
CAMPAIGN = """
scenario = "two.toml"
[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["5 Mbps", "8 Mbps"] }
[responses]
apart     = "starvation_ratio"
together  = "synchronisation"
converged = "convergence_30_s"
variation = "labels.b.pdv_p95_s"
drops     = "links.bottleneck.drop_rate"
wait      = "links.bottleneck.wait_mean_s"
mine      = "labels.b.goodput_bps"
lost      = "lost"
of_a_link = "wait_mean_s"
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Write a scenario of two flows, and a campaign of it, to a folder."""
    (tmp_path / "two.toml").write_text(TWO)
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    return tmp_path


def test_figures_of_merit_are_responses_of_campaigns(two: Path, cli: CommandLine) -> None:
    """Check that responses of a campaign may be figures of merit, as computed for a single run."""
    ran = cli("campaign", "run", two / "c.toml", "--out", two / "c", "--quiet")
    assert ran.returncode == 0, ran.stderr
    table = ResponseTable.read(two / "c" / "results.parquet")
    row, _ = table.frame.to_dicts()
    run = longhaul.run(two / "two.toml", out=two / "run")
    merit: dict[str, Any] = {name: value for name, value, _ in of_merit(run)}
    assert row["apart"] == merit["starvation_ratio"] > 1
    assert 0 < row["together"] == merit["synchronisation"] <= 1
    assert row["converged"] == merit["convergence_30_s"]
    assert row["variation"] == merit["b.pdv_p95_s"] > 0
    [link] = run.links.filter(pl.col("name") == "bottleneck").to_dicts()
    assert row["drops"] == link["dropped_pkts"] / link["arrived_pkts"] > 0
    [delays] = run.delays.filter(pl.col("name") == "bottleneck").to_dicts()
    assert row["wait"] == delays["mean_s"] > 0
    assert row["of_a_link"] == row["wait"]
    flows = run.flows.select("dropped_pkts", "sent_pkts").sum()
    assert row["lost"] == flows["dropped_pkts"][0] / flows["sent_pkts"][0] > 0
    # A figure under the user's name keeps its title and unit.
    assert label(table.place("mine")) == "goodput of b (bit/s)"
    assert codes(["mine"], table.places) == (["mine"], ["mine: goodput of b (bit/s)"])


def test_one_flow_alone_has_no_part_of_flows_that_reduce_together(tmp_path: Path) -> None:
    """Check that a flow alone has no synchronisation: congestion events need two active flows."""
    (tmp_path / "one.toml").write_text(TWO.rpartition("[[flows]]")[0])
    run = longhaul.run(tmp_path / "one.toml", out=tmp_path / "run")
    assert run.events.filter(pl.col("event") == "cut").height > 3
    merit = {name: value for name, value, _ in of_merit(run)}
    assert merit.get("synchronisation") is None
    assert merit.get("congestion_events") is None


@pytest.mark.parametrize(
    ("given", "other", "response", "remedy"),
    [
        ('"100 ms"', '"never"', "starvation_ratio", "records samples with"),
        ("events = true", "events = false", "synchronisation", "records events with"),
        ("delays = true", "delays = false", "labels.b.pdv_p95_s", "measures them with"),
    ],
)
def test_a_figure_of_what_is_not_recorded_is_refused_before_a_run(
    given: str, other: str, response: str, remedy: str, two: Path
) -> None:
    assert given in TWO
    (two / "two.toml").write_text(TWO.replace(given, other))
    text = f'scenario = "two.toml"\nresponses = ["goodput_bps", "{response}"]\n'
    (two / "c.toml").write_text(text + '[factors]\nseed = { path = "seed", levels = [1, 2] }\n')
    with pytest.raises(CampaignError, match=f"line 2: .*{response}.* needs the table .*{remedy}"):
        read_campaign(two / "c.toml")


@pytest.fixture
def slowest() -> Iterator[str]:
    """Execute the example of a figure in `docs/contributing.md`, and return the figure's name."""
    text = (Path(__file__).parents[2] / "docs" / "contributing.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^## A figure\n.*?^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(code, dict(vars(runs)))
    yield "slowest_bps"
    del registry._FIGURES[RUN, "slowest_bps"]


def test_the_recipe_adds_a_figure_everywhere(slowest: str, two: Path) -> None:
    run = longhaul.run(two / "two.toml", out=two / "run")
    [text] = analyse_run("merit", run)
    [(_, value, what)] = [row for row in text.rows if row[0] == slowest]
    # The slower of two flows has at most half of the link.
    assert 0 < value <= 2.5e6
    assert what == "the smallest of the flows' mean rates, over windows of 1 s"
    [listed] = [one for one in catalogue.figures() if one["name"] == slowest]
    assert (listed["unit"], listed["needs"]) == ("bit/s", ["series"])
    assert label(slowest) == "rate of the slowest flow (bit/s)"
    (two / "c.toml").write_text(
        f'scenario = "two.toml"\nresponses = {{ it = "{slowest}" }}\n'
        '[factors]\nseed = { path = "seed", levels = [1, 2] }\n'
    )
    reducer = read_campaign(two / "c.toml").reducer
    assert reducer.row(reducer(run)) == {"it": value}
    given = {"section": "1", "class": "may", "title": "t", "figures": [{"name": slowest}]}
    [judged] = suite._criterion(Path("f"), given, {}).figures
    assert judged.title == "rate of the slowest flow (bit/s)"


def test_a_suite_that_names_an_unknown_figure_is_refused() -> None:
    for name in ("goodput", "jian", "main.starvation_ratio"):
        figures = [{"name": name, "title": ""}]
        given = {"section": "1", "class": "may", "title": "t", "figures": figures}
        with pytest.raises(suite.SuiteError, match=f"unknown figure `{name}`"):
            suite._criterion(Path("f"), given, {})


def test_what_a_store_kept_under_an_old_name_is_found_by_the_new_one() -> None:
    kept = {"network": [{"period": "whole", "utilisation": 0.5}]}
    assert look_up(kept, "network.utilization") == 0.5
    with pytest.raises(ResponseError, match="`utilisation` is now called `utilization`"):
        look_up(kept, "network.utilisation")


def test_every_figure_says_what_it_is() -> None:
    lists = {MERIT, SUMMARY}
    for one in every():
        assert one.title, one.name
        assert one.meaning(), f"{one.name}: neither `about` nor a column of that name"
        assert "{" not in one.meaning(), one.name
        assert one.better in ("", "more", "less"), one.name
        assert set(one.needs) <= {"series", "events", "delays", "proxies"}, one.name
        assert set(one.listed) <= lists, one.name


def test_a_name_alone_means_the_figure_of_all_flows_first() -> None:
    of_all = [(name, figure_at(name)) for name in ("goodput_bps", "jain", "delay_p95_s")]
    assert [(found and found.of) for _, found in of_all] == ["label"] * 3
    assert figure_at("drop_rate") == find("run", "drop_rate")
    assert figure_at("links.bottleneck.drop_rate") == find("link", "drop_rate")
    # The column is the link's, although flows have one of the same name.
    assert meaning("links.l.dropped_pkts") == "link l: packets dropped, any cause, in the " \
        "measurement window"  # fmt: skip
    # A column of an unknown table has no meaning, although a figure of labels is called `lost`.
    assert meaning("lost") == ""
    # The number in the name is not part of the unit.
    assert unit_at("convergence_20_s") == "s"


def test_figures_of_labels_are_those_of_the_summary(two: Path) -> None:
    with pytest.raises(longhaul.ScenarioError, match="that of all flows together"):
        longhaul.load(TWO.replace('"a"', '"all"'))
    run = longhaul.run(two / "two.toml", out=two / "run")
    summary = run.summary()
    rows = {row["label"]: row for row in summary.labels.to_dicts()} | {None: summary.total}
    links = {row["link"]: row for row in summary.links.to_dicts()}
    for owner, one, value in measured(run, [f for f in every() if SUMMARY in f.listed]):
        if one.name != "limited_by":
            expected = (rows if one.of == "label" else links)[owner].get(one.name)
            assert value == expected, (owner, one.name)


def test_links_that_filter_acknowledgements_say_how_many(tmp_path: Path) -> None:
    text = TWO.replace("[[flows]]", "ack_filtering = true\n[[flows]]", 1)
    (tmp_path / "f.toml").write_text(text)
    run = longhaul.run(tmp_path / "f.toml", out=tmp_path / "run")
    shown = json.loads(json.dumps(run.figures()))["links"]
    assert all("dropped_filtered_pkts" in link for link in shown)
