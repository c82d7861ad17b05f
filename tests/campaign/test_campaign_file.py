"""Campaign files, the table that they make, and the command `campaign`."""

import json
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine, WorkersHere

import longhaul
from longhaul.campaign import Store, execute
from longhaul.campaign.dataset import Dataset, collect
from longhaul.campaign.execute import Outcome
from longhaul.campaign.file import Campaign, CampaignError, read_campaign
from longhaul.campaign.pool import LocalWorkers
from longhaul.campaign.responses import ResponseError, check, look_up

pytestmark = pytest.mark.usefixtures("workers_here")

PAGE = Path(__file__).parents[2] / "docs" / "campaigns.md"

SCENARIO = """
[scenario]
duration = "1 s"

[scenario.topology.dumbbell.bottleneck]
rate  = "5 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "1 BDP" }

[[scenario.flows]]
label = "flow"
"""

FACTORS = """
[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["2 Mbps", "4 Mbps"] }
rtt  = { path = "topology.dumbbell.bottleneck.delay", levels = ["5 ms", "10 ms"] }
kind = { path = "flows.0.congestion.kind", levels = ["reno", "cubic", "hstcp"] }
"""


def written(folder: Path, head: str = "", factors: str = FACTORS, scenario: str = SCENARIO) -> Path:
    """Write a campaign file with these parts, and return its path."""
    if "responses" not in head:
        head += '\nresponses = ["goodput_bps"]\n'
    file = folder / "c.toml"
    file.write_text(head + factors + scenario)
    return file


@pytest.mark.parametrize(
    ("head", "factors", "message"),
    [
        (r'title = "clear\u001b[2J"', FACTORS, r"title: '\u{1b}' is no printable character"),
        ("", FACTORS.replace("rate =", r'"ra\u202ete" ='), "factors.: the name of a key: "),
        ("", FACTORS.replace("rate =", f'"{"x" * 201}" ='), "found 201 characters"),
        ("", FACTORS.replace('"reno"', r'"re\u001bno"'), "re\ufffdno"),
    ],
)
def test_what_a_terminal_would_obey_is_refused(
    head: str, factors: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CampaignError) as refused:
        read_campaign(written(tmp_path, head, factors))
    assert message in str(refused.value)
    assert not set("\x1b\u202e") & set(str(refused.value))


def done(campaign: Campaign, folder: Path) -> Dataset:
    store = Store(folder / "store", campaign.reducer.variant)
    outcome = execute(campaign.runs(), store, workers=1, reducer=campaign.reducer)
    assert outcome.failed == []
    return collect(campaign, store)


def test_replications_of_which_nothing_is_drawn_are_warned_of(
    tmp_path: Path, cli: CommandLine
) -> None:
    def warnings(head: str, scenario: str = SCENARIO, factors: str = FACTORS) -> list[str]:
        return read_campaign(written(tmp_path, head, factors, scenario)).warnings()

    seeds = '[factors]\nseed = { path = "seed", levels = [1, 2] }\n'
    assert warnings("replications = 1") == []
    for found in (warnings("replications = 2"), warnings("", factors=seeds)):
        assert len(found) == 1
        assert "replications are the same" in found[0]
    drawn = SCENARIO + 'start = { uniform = ["0 s", "0.5 s"] }\n'
    assert warnings("replications = 2", drawn) == []
    written(tmp_path, "replications = 2")
    planned = cli("campaign", "plan", "c.toml")
    assert planned.returncode == 0, planned
    assert "start = { uniform" in planned.stderr


def test_all_combinations_times_replications_with_the_levels_in_place(tmp_path: Path) -> None:
    campaign = read_campaign(written(tmp_path, "replications = 2"))
    runs = campaign.runs()
    assert len(runs) == 24
    assert len({run.key for run in runs}) == 24
    assert runs[1].cell == {"rate": "4 Mbps", "rtt": "5 ms", "kind": "reno"}
    assert runs[1].scenario["topology"]["dumbbell"]["bottleneck"]["rate"] == "4 Mbps"
    assert runs[8].scenario["flows"][0]["congestion"]["kind"] == "hstcp"
    # All cells of a replication have its number.
    assert [run.scenario["replication"] for run in runs[::12]] == [0, 1]


def test_a_fraction_of_the_factors_of_two_levels_is_crossed_with_the_others(tmp_path: Path) -> None:
    more = FACTORS + 'n = { path = "flows.0.count", levels = [1, 2] }\n'
    campaign = read_campaign(written(tmp_path, "design = { runs = 4 }", more))
    assert campaign.design.generators == ("n = rate*rtt",)
    assert campaign.design.runs == 12
    cells = {(c["rate"], c["rtt"], c["n"]) for c in campaign.cells}
    assert len(cells) == 4
    assert ("2 Mbps", "5 ms", 2) in cells
    with pytest.raises(longhaul.LonghaulError, match="resolution III, not IV; that takes 8 runs"):
        read_campaign(written(tmp_path, "design = { runs = 4, resolution = 4 }", more))


def test_other_designs(tmp_path: Path) -> None:
    two = "\n".join(FACTORS.splitlines()[:-1]) + "\n"
    alone = read_campaign(written(tmp_path, 'design = "one-at-a-time"'))
    assert [tuple(c.values()) for c in alone.cells][:2] == [
        ("2 Mbps", "5 ms", "reno"), ("4 Mbps", "5 ms", "reno"),
    ]  # fmt: skip
    assert len(alone.cells) == 5
    cube = read_campaign(written(tmp_path, "design = { latin_hypercube = 6, seed = 3 }", two))
    rates = [str(cell["rate"]) for cell in cube.cells]
    assert len(set(rates)) == 6
    assert all(2 <= float(rate.removesuffix(" Mbps")) <= 4 for rate in rates)
    (tmp_path / "d.csv").write_text("run,rate,rtt\n1,2 Mbps,10 ms\n2,4 Mbps,5 ms\n")
    table = read_campaign(written(tmp_path, 'design = { csv = "d.csv" }', two))
    assert [tuple(c.values()) for c in table.cells] == [("2 Mbps", "10 ms"), ("4 Mbps", "5 ms")]
    three = two + 'n = { path = "flows.0.count", levels = [1, 2] }\n'
    folded = read_campaign(written(tmp_path, "design = { runs = 4, fold_over = true }", three))
    assert folded.design.blocks is not None
    assert folded.design.blocks.tolist() == [1] * 4 + [2] * 4


def test_levels_may_be_tables_and_places_may_follow_a_factor_in_their_own_way(
    tmp_path: Path,
) -> None:
    factors = """
[factors]
n = [2, 4]
[factors.queue]
path = "topology.dumbbell.bottleneck.queue"
[factors.queue.levels]
short = { kind = "droptail", limit = "4 packets" }
red   = { kind = "red", limit = "1 BDP" }
[set]
"flows.flow.count" = { factor = "n", times = 0.5 }
"duration"         = { value = "2 s" }
"""
    runs = read_campaign(written(tmp_path, factors=factors)).runs()
    assert [run.cell for run in runs[:3]] == [
        {"n": 2, "queue": "short"}, {"n": 4, "queue": "short"}, {"n": 2, "queue": "red"},
    ]  # fmt: skip
    assert [run.scenario["flows"][0]["count"] for run in runs] == [1, 2, 1, 2]
    assert runs[2].scenario["topology"]["dumbbell"]["bottleneck"]["queue"]["kind"] == "red"
    assert {run.scenario["duration"] for run in runs} == {"2 s"}


def test_a_scenario_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    inside = tomllib.loads(SCENARIO)["scenario"]
    (tmp_path / "base.toml").write_text(longhaul.campaign.as_toml({"duration": "3 s"}))
    own = {**inside, "extends": "base.toml"}
    del own["duration"]
    (tmp_path / "own.toml").write_text(longhaul.campaign.as_toml(own))
    campaign = read_campaign(written(tmp_path, 'scenario = "own.toml"', scenario=""))
    assert campaign.runs()[0].resolved.duration_s == 3.0


REFUSED = {
    "unknown key": ("replicatons = 2", FACTORS, "unknown (did you mean `replications`?)"),
    "no factors": ("", "", "factors: expected at least one"),
    "one level": (
        "", '[factors]\nn = { path = "flows.0.count", levels = [1] }', "at least two levels",
    ),
    "replications": (
        "", '[factors]\nn = { path = "replication", levels = [1, 2] }', "expected `replications`",
    ),
    "a place in a text": (
        "", '[factors]\nn = { path = "duration.a.b", levels = [1, 2] }', "to set `a` in",
    ),
    "no place": ("", "[factors]\nn = [1, 2]", "expected the `path` of a key"),
    "wrong place": (
        "", '[factors]\nn = { path = "flows.0.cuont", levels = [1, 2] }', "did you mean `count`",
    ),
    "wrong level": (
        "",
        FACTORS.replace('"10 ms"', '"10 apples"'),
        "10 apples",
    ),
    "wrong factor": ("", FACTORS + '[set]\n"flows.0.count" = "m"', "unknown factor `m`"),
    "wrong design": ('design = "half"', FACTORS, "one-at-a-time"),
    "wrong memory": ('memory = "2 apples"', FACTORS, "2 GB"),
    "no replication": ("replications = 0", FACTORS, "at least 1"),
    "no responses": ("responses = []", FACTORS, "responses: expected at least one"),
    "wrong function": (
        'responses = { a = { python = "none.py" } }', FACTORS, "expected FILE:FUNCTION",
    ),
    "responses in no list": ('responses = "goodput_bps"', FACTORS, "expected a list of texts or"),
    "replications are true": ("replications = true", FACTORS, "expected a whole number"),
    "infinite memory": ('memory = "inf GB"', FACTORS, "2 GB"),
    "memory below zero": ('memory = "-1 GB"', FACTORS, "memory = '-1 GB'"),
    "no such table": ('keep = ["sereis"]', FACTORS, "(did you mean `series`?); nearest of 10"),
    "a table in no list": ('keep = "series"', FACTORS, "keep = 'series': expected a list of texts"),
    "runs as text": ('design = { runs = "8" }', FACTORS, "design.runs = '8': expected a whole"),
    "a seed alone": ("design = { seed = 3 }", FACTORS, "a table of runs"),
    "an empty design": ("design = {}", FACTORS, "a table of runs"),
    "two designs": ('design = { runs = 4, generators = ["n = a"] }', FACTORS, "a table of runs"),
    "a wrong seed": ("design = { latin_hypercube = 4, seed = -1 }", FACTORS, "found -1"),
    "nothing between": (
        "design = { latin_hypercube = 4 }", FACTORS, "design: factor kind: nothing lies between",
    ),
    "each run twice": (
        "design = { fold_over = true }", FACTORS.replace(', "hstcp"', ""), "have the same levels",
    ),
    "a path that is none": ("", FACTORS.replace('"flows.0.congestion.kind"', "5"), "kind.path = 5"),
    "lists as levels": ("", "[factors]\nn = [[1], [2]]", "n.levels = [[1], [2]]: expected"),
    "the same level": ("", FACTORS.replace('"cubic"', '"reno"'), "the same level twice"),
    "an unknown level": (
        "", FACTORS + '[set]\nseed = { value = 1, when = { kind = ["bic"] } }', "expected some of",
    ),
    "a level in no list": (
        "", FACTORS + '[set]\nseed = { value = 1, when = { kind = "reno" } }', "'reno': expected a",
    ),
    "a number as place": ("", FACTORS + "[set]\nseed = 5", "seed = 5: expected text or a table"),
    "a level without a value": (
        "", '[factors]\nn = [2, 4]\n[set]\nseed = { factor = "n", of = { 2 = 1 } }', '"seed".of: ',
    ),
    "so many times a word": (
        "", FACTORS + '[set]\nseed = { factor = "kind", times = 2 }', "times = 2: 'reno' is no",
    ),
    **{
        f"a factor {name}": ("", FACTORS.replace("kind =", f"{name} ="), f"{name}: the table of")
        for name in ("run", "replication", "block", "version", "tables", "goodput_bps")
    },
    "a response version": (
        'responses = { version = "goodput_bps" }', FACTORS, "responses.version: the table",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_run_is_refused_before_anything_runs(tmp_path: Path, why: str) -> None:
    head, factors, message = REFUSED[why]
    file = written(tmp_path, head, factors)
    with pytest.raises(CampaignError, match=re.escape(message)) as refused:
        read_campaign(file)
    assert str(refused.value).startswith(f"{file}: ")


def test_a_file_that_is_not_utf8_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(CampaignError, match=r"c\.toml: .*not UTF-8"):
        read_campaign(tmp_path / "c.toml")


TWO = "\n".join(FACTORS.splitlines()[:-1]) + "\n"
TABLE = """run,replication,block,rate,rtt
1,1,2,2 Mbps,5 ms
2,1,1,4 Mbps,5 ms
1,2,2,2 Mbps,5 ms
2,2,1,4 Mbps,5 ms
"""


def test_a_table_with_replications_and_blocks_is_a_design_with_both(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(TABLE)
    campaign = read_campaign(written(tmp_path, 'design = { csv = "d.csv" }', TWO))
    table = done(campaign, tmp_path).frame
    assert table.select("run", "replication", "block").rows() == [
        (1, 1, 2), (2, 1, 1), (1, 2, 2), (2, 2, 1),
    ]  # fmt: skip
    assert table["scenario_hash"].n_unique() == 4, "replications have random numbers of their own"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("replication,", "number,", "d.csv: line 4: the same as line 2"),
        (TABLE, "# of 2026\n\n" + TABLE.replace("4 M", "5 M"), "d.csv: line 5: rate is '5 Mbps'"),
        ("2,2,1,4 Mbps,5 ms\n", "", "each replication"),
        (TABLE.partition("\n")[2], "", "each replication"),
        ("2,2,1,", "2,2,x,", "d.csv: line 5: replication, block: expected whole numbers"),
        ("2,2,1,4", "2,2,1,5", "d.csv: line 5: rate is '5 Mbps'; levels: 2 Mbps, 4 Mbps"),
        ("", "", "replications = 3: expected 2"),
    ],
)  # fmt: skip
def test_a_table_that_is_no_design_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "d.csv").write_text(TABLE.replace(old, new))
    with pytest.raises(CampaignError, match=message):
        read_campaign(written(tmp_path, 'replications = 3\ndesign = { csv = "d.csv" }', TWO))


def test_levels_are_compared_by_value(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("n,sack,loss\n1e0,true,1e-6\n2,false, 0.001\n")
    factors = """
[factors]
n    = [1, 2]
sack = { path = "flows.0.tcp.limited_transmit", levels = [true, false] }
loss = { path = "topology.dumbbell.bottleneck.loss.bernoulli", levels = [1e-6, 1e-3] }
[set]
"flows.0.count" = { factor = "loss", of = { 1e-6 = 3, 1e-3 = 4 } }
"seed"          = "n"
"""
    campaign = read_campaign(written(tmp_path, 'design = { csv = "d.csv" }', factors))
    assert [tuple(cell.values()) for cell in campaign.cells] == [(1, True, 1e-6), (2, False, 1e-3)]
    assert [run.scenario["flows"][0]["count"] for run in campaign.runs()] == [3, 4]


def test_the_table_has_factors_responses_and_what_they_are_from(tmp_path: Path) -> None:
    head = """
title = "T"
[responses]
goodput = "goodput_bps"
used    = "links.bottleneck.utilization"
own     = "labels.flow.rtt_mean_s"
"""
    campaign = read_campaign(written(tmp_path, head))
    table = done(campaign, tmp_path)
    assert table.frame.columns == [
        "run", "replication", "rate", "rtt", "kind", "goodput", "used", "own", "scenario_hash",
        "results_version", "version", "data_packets", "wall_s",
    ]  # fmt: skip
    assert len(table.frame) == 12
    one = table.frame.row(0, named=True)
    run = longhaul.run(campaign.runs()[0].scenario).summary()
    assert one["goodput"] == pytest.approx(run.total["goodput_bps"])
    assert one["used"] == pytest.approx(run.link("bottleneck")["utilization"])
    table.write(tmp_path / "t.parquet")
    again = Dataset.read(tmp_path / "t.parquet")
    assert again.frame.equals(table.frame)
    assert again.factors["rate"] == ["2 Mbps", "4 Mbps"]
    assert (again.facts["runs"], again.facts["wanted"], again.facts["title"]) == (12, 12, "T")


@pytest.mark.processes
def test_functions_measure_and_tables_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def late(run):\n    return run.series['t_s'].max()\n\n"
        "def several(run):\n    return {'a': 1, 'b': 2.5}\n"
    )
    head = """
keep = ["flows", "series"]
[responses]
late = { python = "mine.py:late" }
many = { python = "mine.py:several" }
goodput_bps = "goodput_bps"
"""
    scenario = SCENARIO.replace('"1 s"', '"1 s"\nmeasure = { every = "100 ms" }', 1)
    campaign = read_campaign(written(tmp_path, head, scenario=scenario))
    table = done(campaign, tmp_path)
    assert table.responses == ["goodput_bps", "late", "many.a", "many.b"]
    assert table.frame["late"].to_list() == pytest.approx([1.0] * 12)
    assert table.frame["many.b"].to_list() == [2.5] * 12
    kept = pl.read_parquet(Path(table.frame["tables"][3]) / "flows.parquet")
    assert kept["delivered_bytes"].sum() > 0
    assert kept["goodput_bps"].sum() == pytest.approx(table.frame["goodput_bps"][3])
    # A changed function is another measurement, so stored values are not reused.
    (tmp_path / "mine.py").write_text(
        "def late(run):\n    return 0\n\ndef several(run):\n    return 1\n"
    )
    assert read_campaign(campaign.path).reducer.variant != campaign.reducer.variant


def test_functions_are_refused_before_runs_or_say_whose_value_is_none(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def late(run:\n    return 0\n")
    head = 'responses = { late = { python = "mine.py:late" } }'
    with pytest.raises(longhaul.LonghaulError, match=r"responses\.late: .*mine\.py:1: "):
        read_campaign(written(tmp_path, head))
    run = longhaul.run(tomllib.loads(SCENARIO)["scenario"])
    mine = tmp_path / "mine.py"
    mine.write_text("def late(run):\n    return {'a': 1, 'b': None}\n")
    responses = read_campaign(written(tmp_path, head)).reducer
    assert responses.row(responses(run)) == {"late.a": 1.0, "late.b": None}
    mine.write_text("def late(run):\n    return 'x'\n")
    with pytest.raises(ResponseError, match=r"responses\.late: .* found 'x'"):
        read_campaign(written(tmp_path, head)).reducer(run)


def test_a_table_that_a_run_lacks_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    campaign = read_campaign(written(tmp_path, 'keep = ["events"]'))
    store = Store(tmp_path / "s", campaign.reducer.variant)
    outcome = execute(campaign.runs()[:1], store, workers=1, reducer=campaign.reducer, retries=0)
    assert "no table `events`; available: " in outcome.failed[0][1]


def test_responses_are_looked_up_by_table_row_and_column() -> None:
    kept: dict[str, Any] = {
        "run": {"wall_s": 2.0, "version": "x"},
        "all": {"goodput_bps": 5.0, "jain": None},
        "labels": [{"label": "a", "share": 0.25}, {"label": "b", "share": 0.75}],
        "links": [{"link": "bottleneck", "utilization": 0.5}],
        "classes": [
            {"period": "TP1", "class": "DD", "pps": 1.0},
            {"period": "TP1", "class": "NN", "pps": 2.0},
            {"period": "TP2", "class": "DD", "pps": 3.0},
        ],
    }  # fmt: skip
    assert look_up(kept, "goodput_bps") == 5.0
    assert look_up(kept, "jain") is None
    assert look_up(kept, "utilization") == 0.5
    assert look_up(kept, "wall_s") == 2.0
    assert look_up(kept, "labels.b.share") == 0.75
    assert look_up(kept, "classes.TP1.NN.pps") == 2.0
    assert look_up(kept, "classes.TP2.DD.pps") == 3.0
    with pytest.raises(ResponseError, match=r"did you mean `labels\.b\.share`.*list figures"):
        look_up(kept, "labels.c.share")
    with pytest.raises(ResponseError, match="unknown column"):
        look_up(kept, "gooput_bps")


def test_the_scenario_may_be_that_of_a_run(tmp_path: Path) -> None:
    whole = tomllib.loads(SCENARIO)["scenario"]
    longhaul.run(whole, out=tmp_path / "r1")
    # If the factors changed the kind of algorithm, keys of the run's algorithm would remain.
    factors = "\n".join(FACTORS.splitlines()[:-1])
    file = written(tmp_path, 'scenario = "r1/run.json"', factors, scenario="")
    campaign = read_campaign(file)
    rates = {run.scenario["topology"]["dumbbell"]["bottleneck"]["rate"] for run in campaign.runs()}
    assert rates == {"2 Mbps", "4 Mbps"}
    # With the same levels as in the run, the scenario is that of the run.
    again = longhaul.load(campaign.sweep.template)
    assert again.hash == longhaul.Results(tmp_path / "r1").meta["scenario_hash"]


def test_a_byte_order_mark_before_a_campaign_is_skipped(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.write_text("\ufeff" + file.read_text())
    assert len(read_campaign(file).runs()) == 12


def test_a_response_that_no_run_has_stops_the_campaign_at_the_first(
    cli: CommandLine, tmp_path: Path
) -> None:
    # Only runs with a policer have this column.
    file = written(tmp_path, 'responses = ["links.bottleneck.dropped_policed_pkts"]')
    stopped = cli("campaign", "run", file, "--workers", "1")
    assert stopped.returncode == 2
    assert "`longhaul list figures` shows all" in stopped.stderr
    assert json.loads(cli("campaign", "status", file, "--json").stdout)["done"] < 12
    # Stored values of finished runs serve other responses, too.
    written(tmp_path, 'responses = ["goodput_bps"]')
    assert cli("campaign", "resume", file).returncode == 0


def test_the_longest_runs_begin_first_and_time_left_follows_packets(tmp_path: Path) -> None:
    campaign = read_campaign(written(tmp_path))
    expected = {run.key: run.expected_packets for run in campaign.runs()}
    assert max(expected.values()) == pytest.approx(4e6 / 12000)
    began: list[str] = []

    class Recorder(WorkersHere):
        def submit(self, key: str, work: Any, *arguments: Any) -> None:  # noqa: ANN401
            began.append(key)
            super().submit(key, work, *arguments)

    told: list[Outcome] = []
    execute(
        campaign.runs(), Store(tmp_path / "s"), workers=Recorder(1), reducer=campaign.reducer,
        watch=told.append,
    )  # fmt: skip
    order = [expected[key] for key in began]
    assert order == sorted(order, reverse=True)
    assert told[-1].expected_left == pytest.approx(0)
    assert told[-1].left_s == pytest.approx(0)
    # The expected remaining work is three times the finished work, at the measured speed.
    begin = monotonic() - 1e6
    ahead = Outcome(2, 0, data_packets=200, expected_done=100, expected_left=300, began=begin)
    assert ahead.left_s == pytest.approx(3e6, rel=1e-3)


def test_memory_is_limited(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_text("def big(run):\n    return len(bytearray(2**30))\n")
    head = 'memory = "700 MiB"\nretries = 0\nresponses = { big = { python = "big.py:big" } }\n'
    campaign = read_campaign(written(tmp_path, head))
    assert campaign.memory == 700 * 2**20
    store = Store(tmp_path / "s", campaign.reducer.variant)
    workers = LocalWorkers(1, campaign.memory)
    outcome = execute(campaign.runs()[:1], store, workers=workers, reducer=campaign.reducer)
    [(_, message)] = outcome.failed
    assert "memory" in message


def example() -> str:
    """Return the text of the campaign `loss.toml` in `docs/campaigns.md`."""
    text = PAGE.read_text(encoding="utf-8")
    [block] = re.findall(r"`loss\.toml`:\n\n```toml\n(.*?)```", text, flags=re.DOTALL)
    return str(block)


def test_the_pages_question_takes_25_lines_and_three_commands(
    cli: CommandLine, tmp_path: Path
) -> None:
    block = example()
    assert len(block.splitlines()) <= 25
    commands = [
        line.split("#")[0].split()[1:]
        for line in PAGE.read_text(encoding="utf-8").partition("## Commands")[0].splitlines()
        if "loss.toml " in line and line.startswith("longhaul")
    ]
    assert len(commands) == 3
    # The page's campaign with shorter runs and fewer replications.
    small = block.replace('"60 s"', '"1 s"').replace('"20 s"', '"0.5 s"')
    small = small.replace("replications = 5", "replications = 2").replace(
        "1e-5, 1e-4, 1e-3", "1e-3"
    )
    (tmp_path / "loss.toml").write_text(small.replace('"hstcp", "htcp", ', ""))
    plan, run, analyze = (cli(*command) for command in commands)
    assert "36 combinations" in plan.stdout
    assert "72 runs" in plan.stdout
    assert run.returncode == 0, run.stderr
    assert "72 of 72 runs done" in run.stdout
    assert analyze.returncode == 0, analyze.stderr
    assert "% of variance" in analyze.stdout
    picture = (tmp_path / "effects.svg").read_text()
    for word in ("algorithm", "loss", "delay", "buffer", "of the variance", "bbr3", "0.1 BDP"):
        assert word in picture


@pytest.mark.processes
def test_the_verbs_of_campaigns(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("campaign", "new", "mine.toml").returncode == 0
    assert read_campaign(tmp_path / "mine.toml").sweep.replications == 5
    assert cli("campaign", "new", "mine.toml").returncode == 2
    file = written(tmp_path)
    assert "not started" in cli("campaign", "resume", file).stderr
    assert json.loads(cli("campaign", "status", file, "--json").stdout)["to do"] == 12
    assert "no run has finished" in cli("analyze", file).stderr
    begun, store = read_campaign(file), Store(tmp_path / "campaigns/c/store")
    execute(begun.runs()[:5], store, workers=1, reducer=begun.reducer)
    assert "5 of 12 runs have finished" in cli("analyze", file).stderr
    work = cli("campaign", "work", file, "--shard", "2/3")
    assert work.returncode == 0, work.stderr
    assert "interrupted" not in work.stderr, "idle workers end in silence"
    assert json.loads(cli("campaign", "plan", file, "--json").stdout)["done"] == 12
    report = cli("campaign", "report", file)
    assert report.returncode == 0, report.stderr
    page = (tmp_path / "campaigns/c/report.html").read_text()
    assert "12 of 12 runs" in page
    assert page.count("<svg") == 2, "effects and cells"
    assert cli("campaign", "work", file, "--shard", "4/3").returncode == 2
    (tmp_path / "mine.html").write_text("precious")
    assert cli("campaign", "report", file, "--html", "mine.html").returncode == 2
    assert cli("campaign", "report", file, "--html", "mine.html", "--overwrite").returncode == 0
    elsewhere = cli("campaign", "run", file, "--out", "other")
    assert elsewhere.stdout.endswith("Next: longhaul analyze other\n")


def test_the_results_of_another_campaign_file_are_not_overwritten(
    cli: CommandLine, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, factors=TWO)
    table = tmp_path / "campaigns/c/results.parquet"
    assert cli("campaign", "run", "a/c.toml").returncode == 0
    before = table.read_bytes()
    refused = cli("campaign", "run", "b/c.toml")
    assert refused.returncode == 2
    assert f"{tmp_path}/a/c.toml" in refused.stderr
    assert table.read_bytes() == before
    # A campaign's own file may change, and may be moved with its results.
    written(tmp_path / "a", "replications = 2", TWO)
    assert cli("campaign", "run", "a/c.toml").returncode == 0
    moved = tmp_path / "a/moved"
    moved.mkdir()
    for name in ("a/c.toml", "campaigns"):
        (moved / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).rename(moved / name)
    out = moved / "campaigns/c"
    assert "8 runs: 8 done" in cli("campaign", "status", moved / "a/c.toml", "--out", out).stdout


def test_a_campaign_error_names_file_and_key(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"c\.toml: factors: expected"):
        read_campaign(written(tmp_path, "", ""))


def test_drivers_that_end_together_write_one_table(tmp_path: Path) -> None:
    dataset = Dataset(pl.DataFrame({"run": [1, 2]}), {"title": "Shared"})
    file = tmp_path / "results.parquet"
    with ThreadPoolExecutor(8) as drivers:
        for ended in [drivers.submit(dataset.write, file) for _ in range(200)]:
            ended.result()
    assert Dataset.read(file).facts == dataset.facts
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_responses_of_one_scenario_are_checked(tmp_path: Path) -> None:
    campaign = read_campaign(written(tmp_path))
    one = [campaign.sweep.run(campaign.cells[0]).resolved]
    assert check(["goodput_bps"], one) is None
    refused = check(["goodput_bps", "goodputs"], one)
    assert refused is not None
    assert refused[0] == "goodputs"
