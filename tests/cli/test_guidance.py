"""Help for users: line numbers and suggestions in messages, units, and short commands."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from conftest import MESONET_NETWORK, CommandLine

import longhaul
from longhaul.campaign.file import CampaignError, read_campaign
from longhaul.campaign.place import line_of
from longhaul.comparison.differences import given_and_derived
from longhaul.connections import tables
from longhaul.figures import find
from longhaul.figures.forms import number
from longhaul.results import table as figure_table

CAMPAIGN = """\
responses = ["goodput_bps"]

[factors]
algorithm = { path = "flows.flow.congestion.kind", levels = ["reno", "cubic"] }

[scenario]
duration = "1 s"

[scenario.topology.dumbbell.bottleneck]
rate  = "10 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "20 packets" }

[[scenario.flows]]
label = "flow"
"""
SCENARIO = """
duration = "4 s"
[topology.dumbbell.bottleneck]
rate  = "5 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[flows]]
label = "flow"
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("rate  =", "rte   =", r"line 10: topology\.dumbbell\.bottleneck\.rte: unknown key"),
        ("limit =", "limt =", r"line 12: topology\.dumbbell\.bottleneck\.queue\.limt: unknown"),
        ('"cubic"', '"cubc"', r"line 4: factors\.algorithm = 'cubc': flows\.0\.congestion\.kind"),
        ("label =", "lable =", r"line 15: flows\.0\.lable: unknown key"),
        ("responses =", "replicatons = 2\nresponses =", r"line 1: replicatons: unknown \(did you"),
        ("[factors]", "design = { rusn = 4 }\n[factors]", r"line 3: design\.rusn: unknown"),
        ("goodput_bps", "gooput_bps", r"line 1: .*`gooput_bps` \(did you mean `goodput_bps`\?\)"),
        (
            '["goodput_bps"]',
            '[\n  "jain",\n  "links.botleneck.utilization",\n]',
            r"line 3: .*\(did you mean `links\.bottleneck\.utilization`\?\)",
        ),
        ("goodput_bps", "labels.flwo.jain", r"did you mean `labels\.flow\.jain`\?"),
        ("goodput_bps", "limited_by", r"line 1: responses: `limited_by` is no number"),
        ('["goodput_bps"]', "[]", r"line 1: responses: expected at least one"),
        (
            '["goodput_bps"]',
            '{ a = "jain", b = "jian" }',
            r"line 1: .*`jian` \(did you mean `jain`",
        ),
    ],
)
def test_a_typo_in_a_campaign_is_found_where_it_was_written(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(CAMPAIGN.replace(right, wrong).replace("flows.flow", "flows.0"))
    with pytest.raises(CampaignError, match=message) as refused:
        read_campaign(file)
    assert str(refused.value).startswith(str(file))
    assert "{" not in str(refused.value), "no generated JSON"


@pytest.mark.parametrize(
    "place", ["goodput_bps", "wall_s", "utilization", "links.utilization", "labels.flow.timeouts",
              "all.response_p95_s", "links.bottleneck-reverse.queue_max_pkts", "run.data_packets"]
)  # fmt: skip
def test_responses_that_runs_have_are_accepted_before_any_has_run(
    place: str, tmp_path: Path
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(CAMPAIGN.replace("goodput_bps", place).replace("flows.flow", "flows.0"))
    assert read_campaign(file).responses[0].place == place


def test_a_misspelt_response_costs_no_run(tmp_path: Path, cli: CommandLine) -> None:
    text = CAMPAIGN.replace("goodput_bps", "gooput_bps").replace("flows.flow", "flows.0")
    (tmp_path / "c.toml").write_text(text)
    refused = cli("campaign", "run", "c.toml", "--workers", "1")
    assert refused.returncode == 2
    assert "c.toml: line 1: responses: unknown column `gooput_bps`" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["c.toml"]


def test_runs_that_differ_in_nothing_drawn_are_said_to_be_the_same(
    tmp_path: Path, cli: CommandLine
) -> None:
    names = ["s1", "s2", "s3"]
    drawn = SCENARIO + 'start = { uniform = ["0 s", "1 s"] }\n'
    for folder, scenario, expected in (("same", SCENARIO, True), ("drawn", drawn, False)):
        paths = [tmp_path / folder / name for name in names]
        for seed, path in enumerate(paths):
            longhaul.run(scenario, out=path, set=[f"seed={seed}"])
        compared = cli("compare", *map(str, paths))
        assert ("s1, s2, s3 have the same figures: nothing is" in compared.stderr) == expected
        assert ("draw start times" in compared.stderr) == expected
        page = tmp_path / f"{folder}.html"
        assert cli("report", *map(str, paths), "--out", str(page)).returncode == 0
        assert ("the same figures: nothing is drawn" in page.read_text()) == expected


def test_a_key_is_found_in_the_second_of_several_tables() -> None:
    text = "[[flows]]\nlabel = 1\n[[flows]]\nlabel = 2\n[flows.traffic]\nkind = 3\n"
    assert line_of(text, "flows.1.label") == 4
    assert line_of(text, "flows.1.traffic.kind") == 6
    assert line_of(text, "topology.dumbbell") is None


def test_differences_that_follow_from_others_come_apart() -> None:
    key = "topology.dumbbell.bottleneck.queue."
    runs = [
        longhaul.run(SCENARIO),
        longhaul.run(SCENARIO, set=[f"{key}kind=red", f"{key}ecn=true"]),
    ]
    given, derived = given_and_derived(runs)
    assert sorted(path for path, _ in given) == [f"{key}ecn", f"{key}kind"]
    assert f"{key}max_p" in {path for path, _ in derived}


def test_no_difference_follows_from_an_entry_of_a_list_or_from_what_follows_itself() -> None:
    def given(setting: str) -> set[str]:
        return {
            path for path, _ in given_and_derived([plain, longhaul.run(SCENARIO, set=[setting])])[0]
        }

    plain = longhaul.run(SCENARIO)
    # One key of `pacing` follows from the other keys, but all keys together follow from nothing.
    assert "flows.0.tcp.pacing.avoidance" in given("flows.0.tcp.pacing=true")
    # If a group of flows is left out, the next group takes its number.
    assert "flows.0.count" in given("flows.0.count=3")


@pytest.mark.parametrize(
    ("values", "title", "scale"),
    [
        ([93.5e6, 1e3], "goodput (Mbit/s)", 1e-6),
        ([920.0, 0.0, None], "goodput (bit/s)", 1.0),
        ([41e3], "goodput (kbit/s)", 1e-3),
        ([0.0, None], "goodput (Mbit/s)", 1e-6),
    ],
)
def test_the_unit_of_a_row_follows_its_largest_figure(
    values: list[float | None], title: str, scale: float
) -> None:
    assert figure_table.in_units("goodput (Mbit/s)", 1, values) == (title, scale)


def test_the_summary_says_what_it_counts_from() -> None:
    run = longhaul.run(SCENARIO, set=["measure.from=3 s"])
    shown = longhaul.comparison.table([run])
    assert shown.window == "from 3 s to 4 s"
    [row] = run.summary().labels.to_dicts()
    [flow] = run.flows.to_dicts()
    assert row["before_cuts_loss"] == flow["total_cuts_loss"] - flow["cuts_loss"] > 0
    columns = [{"timeouts": 0, "before_timeouts": 2}, {"timeouts": 3, "before_timeouts": 9}]
    timeouts = find("label", "timeouts")
    assert timeouts is not None
    assert tables.row(timeouts, columns)[1] == ["0 (2 before)", "3"]


def test_a_run_is_reopened_and_its_columns_are_guessed(tmp_path: Path) -> None:
    longhaul.run(SCENARIO, out=tmp_path / "r")
    run = longhaul.open(tmp_path / "r")
    assert isinstance(run, longhaul.results.Results)
    for word, column in (("time", "t_s"), ("cwnd", "cwnd_pkts"), ("rtt", "srtt_s")):
        with pytest.raises(longhaul.ResultsError, match=f"did you mean `{column}`"):
            run.series[word]
    assert run.series["t_s", "cwnd_pkts"].width == 2


def test_a_plot_goes_to_the_file_that_is_named(tmp_path: Path, cli: CommandLine) -> None:
    longhaul.run(SCENARIO, out=tmp_path / "r")
    assert cli("plot", "r", "cwnd", "--out", "t.png").returncode == 0
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    assert "expected one plot" in cli("plot", "r", "--out", "u.png").stderr
    assert "ends in .svg, .png or .pdf" in cli("plot", "r", "cwnd", "--out", "t.eps").stderr
    assert not (tmp_path / "u.png").exists()


def test_lists_show_single_entries_and_the_experiments_of_a_study(cli: CommandLine) -> None:
    [cubic] = json.loads(cli("list", "algorithms", "cubic", "--json").stdout)
    assert cubic["name"] == "cubic"
    assert "did you mean `cubic`" in cli("list", "algorithms", "cubc").stderr
    experiments = json.loads(cli("study", "list", "split-pep-2009", "--json").stdout)
    assert "PEP-E01" in [one["name"] for one in experiments]


def test_small_figures_beside_large_ones_are_not_shown_as_zero() -> None:
    form = number(1, 1e-6)
    assert [form(95_000_000.0), form(958.0), form(0.0)] == ["95.0", "0.00096", "0.0"]
    assert number(0)(0.4) == "0"


def test_a_link_without_capacity_is_said_to_have_none(tmp_path: Path, cli: CommandLine) -> None:
    outage = 'delay = "5 ms"\nchanges = [{ at = "1 s", rate = "0 bps" }]'
    file = tmp_path / "outage.toml"
    file.write_text('measure = { from = "2 s" }\n' + SCENARIO.replace('delay = "5 ms"', outage))
    shown = cli("run", str(file), "--out", "r1")
    assert shown.returncode == 0, shown
    assert re.search(r"utilisation +no capacity", shown.stdout)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("network.out_pps", ""),
        ("utilization", ""),
        ("utilisation", "`utilisation` is now called `utilization`"),
        ("classes.TP1.NN.throughput_pps", ""),
        ("long_lived.L1.naks", ""),
        ("wall_s", ""),
        ("utilizatoin", "did you mean `utilization`"),
        ("classes.TP1.NN.troughput_pps", "did you mean `classes.throughput_pps`"),
    ],
)
def test_responses_of_mesonet_are_known_before_a_run_too(
    place: str, wrong: str, tmp_path: Path
) -> None:
    scenario = tomllib.loads(f"[mesonet]\nintervals = 10\n{MESONET_NETWORK}")
    (tmp_path / "m.json").write_text(json.dumps(scenario))
    file = tmp_path / "c.toml"
    file.write_text(
        f'responses = ["{place}"]\nscenario = "m.json"\n[factors]\n'
        'think = { path = "mesonet.users.think", levels = ["1 s", "2 s"] }\n'
    )
    if not wrong:
        assert read_campaign(file).responses[0].place == place
        return
    with pytest.raises(CampaignError, match=f"c.toml: line 1: responses: .*{wrong}"):
        read_campaign(file)
