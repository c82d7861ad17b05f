"""Defaults of campaign files, line numbers in messages, and tables of stored runs."""

import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from conftest import SMALL

from longhaul._engine import LonghaulError, results_version, version
from longhaul.campaign import Store
from longhaul.campaign.dataset import collect
from longhaul.campaign.file import Campaign, CampaignError, _few, _with_line, read_campaign
from longhaul.campaign.responses import (
    Response,
    ResponseError,
    Responses,
    _known,
    _rows_of,
    _without_row,
    check,
    look_up,
    read_responses,
)
from longhaul.campaign.sweep import Run
from longhaul.figures import registry
from longhaul.running.loading import load

SCENARIO = "[scenario]\n" + SMALL.replace("[topology", "[scenario.topology").replace(
    "[[flows]]", "[[scenario.flows]]"
)
FACTORS = """
[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["2 Mbps", "4 Mbps"] }
kind = { path = "flows.fast.congestion.kind", levels = ["reno", "cubic"] }
n    = { path = "flows.fast.count", levels = [1, 2] }
"""


def read(
    folder: Path, head: str = "", factors: str = FACTORS, scenario: str = SCENARIO
) -> Campaign:
    """Write a campaign file with these parts, and read it."""
    if "responses" not in head:
        head += '\nresponses = ["goodput_bps"]\n'
    (folder / "c.toml").write_text(head + factors + scenario)
    return read_campaign(folder / "c.toml")


def test_a_campaign_has_one_replication_and_repeats_a_failed_run_once(tmp_path: Path) -> None:
    """Check the defaults of a campaign: one replication, one retry, and a title.

    The default title is the name of the file.
    """
    campaign = read(tmp_path)
    assert (campaign.title, campaign.name, campaign.sweep.experiment) == ("c", "c", "c")
    assert (campaign.sweep.replications, campaign.retries, campaign.memory) == (1, 1, None)
    assert (campaign.keep, campaign.design.runs, len(campaign.runs())) == ((), 8, 8)
    assert campaign.reducer == Responses(campaign.responses, ())
    other = read(
        tmp_path, 'title = "T"\nretries = 0\nreplications = 2\nmemory = "1 GiB"\nkeep = ["flows"]'
    )
    assert (other.title, other.name, other.retries, other.memory) == ("T", "c", 0, 2**30)
    assert (other.keep, other.reducer.keep, len(other.runs())) == (("flows",), ("flows",), 16)
    assert [run.replication for run in other.runs()] == [0] * 8 + [1] * 8


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("retries = -1", "line 1: retries = -1: expected a whole number of at least 0"),
        ("replications = 0", "line 1: replications = 0: expected a whole number of at least 1"),
        ("design = { runs = 4, blocks = 3 }", "design.blocks = 3: expected a list of texts"),
        ('design = { csv = "none.csv" }', "none.csv"),
        ("topology = 1", "topology: unknown"),
        ("design = { generators = [\"n = rate*kind\"], runs = 4 }", "a table of runs, resolution"),
    ],
)  # fmt: skip
def test_keys_are_refused_at_their_line(head: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((LonghaulError, OSError)) as refused:
        read(tmp_path, head)
    assert message in str(refused.value)


def test_a_scenario_is_no_campaign(tmp_path: Path) -> None:
    for key in ("topology", "flows", "mesonet"):
        (tmp_path / "s.toml").write_text(f"[{key}]\n")
        with pytest.raises(CampaignError, match="a scenario, not a campaign: `longhaul run"):
            read_campaign(tmp_path / "s.toml")


def test_a_fraction_needs_factors_of_two_levels(tmp_path: Path) -> None:
    three = '[factors]\nn = { path = "flows.fast.count", levels = [1, 2, 3] }\n'
    with pytest.raises(CampaignError, match="a fraction needs factors of two levels, found none"):
        read(tmp_path, "design = { runs = 4 }", three)


@pytest.mark.parametrize(
    ("design", "runs", "blocks"),
    [
        ('generators = ["n = rate*kind"]', 4, None), ("runs = 4", 4, None),
        ("resolution = 3", 4, None), ("runs = 4, fold_over = false", 4, None),
        ("runs = 4, fold_over = true", 8, [1] * 4 + [2] * 4),
        ('runs = 4, fold_over = ["n"]', 8, [1] * 4 + [2] * 4),
        ('runs = 8, blocks = ["rate*kind*n"]', 8, [1, 2, 2, 1, 2, 1, 1, 2]),
    ],
)  # fmt: skip
def test_fractions_are_folded_and_in_blocks(
    design: str, runs: int, blocks: list[int] | None, tmp_path: Path
) -> None:
    """Check the numbers of runs and the blocks of fractional designs.

    `fold_over` adds the mirrored runs as a second block; `blocks` divides runs by the sign of a
    product of factors.
    """
    found = read(tmp_path, f"design = {{ {design} }}").design
    assert found.runs == runs
    assert (None if found.blocks is None else found.blocks.tolist()) == blocks
    if runs == 4:
        assert found.generators == ("n = rate*kind",)


@pytest.mark.parametrize("rate", ["2 Mbps", "4 Mbps"])
@pytest.mark.parametrize("kind", ["reno", "cubic"])
@pytest.mark.parametrize("n", [1, 2])
def test_levels_without_a_value_are_refused_in_any_cell(
    rate: str, kind: str, n: int, tmp_path: Path
) -> None:
    """Check that a setting without a value for a level is refused, whichever cell needs it."""
    when = f'{{ rate = ["{rate}"], kind = ["{kind}"] }}'
    setting = f'"flows.fast.recovery" = {{ factor = "n", of = {{ {3 - n} = "x" }}, when = {when} }}'
    with pytest.raises(CampaignError) as refused:
        read(tmp_path, "", f"{FACTORS}[set]\n{setting}\n")
    expected = f'set."flows.fast.recovery".of: expected a value of {n}, found {3 - n}'
    assert str(refused.value).endswith(expected)
    assert "scenario: " not in str(refused.value)


def test_a_hypercube_has_the_seed_one_unless_given(tmp_path: Path) -> None:
    path = "topology.dumbbell.bottleneck.loss.bernoulli"
    two = f'[factors]\nloss = {{ path = "{path}", levels = [0.0, 0.1] }}\n'
    cells = [
        read(tmp_path, f"design = {{ latin_hypercube = 5{more} }}", two).cells
        for more in ("", ", seed = 1", ", seed = 2")
    ]
    assert cells[0] == cells[1] != cells[2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # The message names a line of the scenario, a line of a factor, or no line.
        (
            'delay = "10 ms"', 'delay = "10 apples"',
            r"c\.toml: line \d+: topology\.dumbbell\.bottleneck\.delay: ",
        ),
        ('"4 Mbps"', '"4 apples"', r"c\.toml: .*factors\.rate = '4 apples': topology\.dumbbell"),
        ('"cubic"', '"cubik"', r"factors\.kind = 'cubik': flows\.0\.congestion"),
        ('title    = "Small"', "title = 5", r"c\.toml: line \d+: title: "),
    ],
)  # fmt: skip
def test_an_error_of_a_scenario_is_where_its_cause_was_written(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in SCENARIO + FACTORS
    with pytest.raises(CampaignError, match=message) as refused:
        read(tmp_path, "", FACTORS.replace(old, new), SCENARIO.replace(old, new))
    line = str(refused.value).partition("line ")[2].partition(":")[0]
    if line:
        assert new.split()[0] in (tmp_path / "c.toml").read_text().splitlines()[int(line) - 1]


def test_an_error_of_a_scenario_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL.replace('"10 ms"', '"10 apples"'))
    line = SMALL.splitlines().index('delay = "10 ms"') + 1
    with pytest.raises(CampaignError, match=rf"c\.toml: .*s\.toml: line {line}: topology"):
        read(tmp_path, 'scenario = "s.toml"', FACTORS, "")


@pytest.mark.parametrize(
    ("message", "placed"),
    [
        ("a: wrong", "line 1: a: wrong"), ("a = 2: wrong", "line 1: a = 2: wrong"),
        ("t.b.c: wrong", "line 3: t.b.c: wrong"),
        ('t."x.y".of: wrong', 'line 4: t."x.y".of: wrong'),
        ("other: wrong", "other: wrong"), ("wrong at all", "wrong at all"),
    ],
)  # fmt: skip
def test_a_message_that_begins_with_a_key_has_its_line(message: str, placed: str) -> None:
    assert _with_line('a = 1\n[t]\nb = 2\n"x.y" = 3\n', message) == placed


def test_a_few_cells_have_every_level() -> None:
    given: list[tuple[str | int, ...]] = [(1, "x"), (1, "y"), (1, "x"), (2, "x"), (2, "y")]
    cells: Any = [dict(zip("ab", levels, strict=True)) for levels in given]
    assert list(_few(cells)) == [cells[0], cells[1], cells[3]]
    assert list(_few([])) == []


def stored(store: Store, run: Run, **values: float) -> None:
    facts = {
        "scenario_hash": run.key, "results_version": 1, "version": "v", "data_packets": 9,
        "wall_s": 0.5, "measured_s": 1.0,
    }  # fmt: skip
    store.put(run.key, {"run": facts, "all": values, "measured": {}})


def test_a_table_has_a_row_for_each_run_that_has_finished(tmp_path: Path) -> None:
    """Check that a table has a row for each finished run.

    A row has the number of its combination of levels (`run`) and of its replication, from 1.
    """
    campaign, store = read(tmp_path, "replications = 2"), Store(tmp_path / "store")
    runs = campaign.runs()
    for number, place in enumerate((0, 3, 9)):
        stored(store, runs[place], goodput_bps=float(number))
    found = collect(campaign, store)
    assert found.frame.select("run", "replication", "goodput_bps").rows() == [
        (1, 1, 0.0), (4, 1, 1.0), (2, 2, 2.0)
    ]  # fmt: skip
    assert found.frame.columns == [
        "run", "replication", "rate", "kind", "n", "goodput_bps", "scenario_hash",
        "results_version", "version", "data_packets", "wall_s",
    ]  # fmt: skip
    assert found.frame["scenario_hash"].to_list() == [runs[n].key for n in (0, 3, 9)]
    facts = dict(found.facts)
    assert [facts.pop(name) for name in ("conditions", "replications", "runs", "wanted")] == [
        8, 2, 3, 16
    ]  # fmt: skip
    assert (facts.pop("version"), facts.pop("results_version")) == (version(), results_version())
    assert found.factors == {"rate": ["2 Mbps", "4 Mbps"], "kind": ["reno", "cubic"], "n": [1, 2]}
    assert (found.responses, facts["places"]) == (["goodput_bps"], {"goodput_bps": "goodput_bps"})
    assert (facts["title"], facts["file"], facts["path"]) == ("c", "c.toml", "../c.toml")
    assert set(facts["about"]) >= {"run", "rate", "goodput_bps"}
    assert found.table().place("goodput_bps") == "goodput_bps"


def test_a_table_of_no_run_has_the_responses_that_were_asked_for(tmp_path: Path) -> None:
    campaign = read(tmp_path, 'responses = { rate_of_all = "goodput_bps" }')
    found = collect(campaign, Store(tmp_path / "store"))
    assert (found.responses, found.facts["runs"], len(found.frame)) == (["rate_of_all"], 0, 0)


def test_a_table_has_blocks_and_directories_of_tables_where_the_campaign_has(
    tmp_path: Path,
) -> None:
    head = 'keep = ["flows"]\ndesign = { runs = 4, fold_over = true }'
    campaign = read(tmp_path, head)
    store = Store(tmp_path / "store", campaign.reducer.variant)
    for run in campaign.runs():
        stored(store, run, goodput_bps=1.0)
    frame = collect(campaign, store).frame
    assert frame["block"].to_list() == [1] * 4 + [2] * 4
    assert frame["tables"].to_list() == [str(store.tables(run.key)) for run in campaign.runs()]


def test_values_that_were_kept_before_a_figure_was_renamed_are_found() -> None:
    for old, new in {"utilisation": "utilization"}.items():
        kept: dict[str, Any] = {"links": [{"link": "x", old: 0.5}]}
        assert look_up(kept, f"links.x.{new}") == 0.5
        with pytest.raises(ResponseError, match=f"`{old}` is now called `{new}`"):
            look_up(kept, f"links.x.{old}")


def test_known_columns_are_named_by_table_row_and_column() -> None:
    """Check the names `table.row.column` of the numeric columns of stored values.

    A row is named by its text column, such as a label.
    """
    kept: dict[str, Any] = {
        "run": {"version": "0.1", "wall_s": 2.0}, "all": {"jain": None},
        "labels": [{"label": "a", "share": 0.5}, {"label": "b", "share": 0.5}],
        "series": [{"t": 1.0}], "none": [],
    }  # fmt: skip
    assert _known(kept) == [
        "run.wall_s", "all.jain", "labels.a.share", "labels.b.share", "series.t"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("open.x.share", "open.share"), ("open.share", "open.share"), ("open", "open"),
        ("named.x.share", "named.x.share"), ("all.share", "all.share"), ("none.x", "none.x"),
        ("empty.x.share", "empty.share"),
    ],
)  # fmt: skip
def test_a_row_that_only_a_run_shows_is_not_looked_up_before(place: str, path: str) -> None:
    known: dict[str, Any] = {
        "open": [{"share": 0}], "named": [{"label": "a", "share": 0}], "all": {"share": 0},
        "empty": [],
    }  # fmt: skip
    assert _without_row(place, known) == path


@pytest.mark.parametrize(
    ("of", "owner", "rows"),
    [
        (registry.RUN, "", ["all"]), (registry.LABEL, None, ["all"]), (registry.LABEL, "b", ["b"]),
        (registry.LABEL, "all", []), (registry.LINK, "x", ["x"]), (registry.PROXY, "p", ["p"]),
    ],
)  # fmt: skip
def test_a_measured_figure_is_of_its_owner_s_rows(
    of: str, owner: str | None, rows: list[str]
) -> None:
    summary: dict[str, Any] = {
        "all": {"name": "all"}, "labels": [{"label": "a"}, {"label": "b"}],
        "links": [{"link": "x"}, {"link": "y"}], "proxies": [{"proxy": "p"}],
    }  # fmt: skip
    figure = cast("registry.Figure", SimpleNamespace(of=of))
    assert [next(iter(row.values())) for row in _rows_of(summary, figure, owner)] == rows


def test_figures_that_summaries_lack_are_measured_once() -> None:
    """Check that a figure of merit that two responses use is computed once per run.

    The figure is then stored for each run. It therefore changes `variant`, a hash that identifies
    the stored values.
    """
    unlisted = next(one for one in registry.every() if registry.SUMMARY not in one.listed)
    plain = Responses((Response("a", place="goodput_bps"), Response("own", function="f")))
    assert plain.figures == ()
    twice = Responses(tuple(Response(name, place=unlisted.name) for name in "ab"))
    assert twice.figures == (unlisted,)
    assert len(twice.variant) == 8
    assert twice.variant != plain.variant


def test_a_response_whose_table_is_not_recorded_is_refused_with_the_remedy() -> None:
    """Check that a response whose table is not recorded is refused.

    The message names the first wrong response, and the key that records its table.
    """
    scenario = load(tomllib.loads(SMALL))
    for places, wrong, message in (
        (["goodput_bps", "labels.fast.delay_p95_s", "x"], "labels.fast.delay_p95_s",
         "`labels.fast.delay_p95_s` needs the table `delays`: .*delays = true"),
        (["labels.none.goodput_bps"], "labels.none.goodput_bps", "unknown column"),
        (["links.bottleneck.nothing"], "links.bottleneck.nothing", "unknown column"),
    ):  # fmt: skip
        found = check(places, [scenario])
        assert found is not None
        assert found[0] == wrong
        with pytest.raises(ResponseError, match=message):
            raise found[1]
    assert check(["run.wall_s", "labels.fast.goodput_bps", "measured_s"], [scenario]) is None
    delays = load(tomllib.loads(SMALL) | {"measure": {"delays": True}})
    assert check(["labels.fast.delay_p95_s"], [delays]) is None
    found = check(["labels.fats.delay_p95_s"], [delays])
    assert found is not None
    with pytest.raises(ResponseError, match=r"did you mean `labels.fast.delay_p95_s`"):
        raise found[1]
    with pytest.raises(LonghaulError, match=r"keep: flow: unknown .*did you mean `flows`"):
        check([], [scenario], ["flow"])
    assert check([], [scenario], ["flows", "links", "topology", "totals", "series"]) is None


def test_the_file_of_a_function_may_have_a_colon(tmp_path: Path) -> None:
    """Check that the file name in `FILE:FUNCTION` may contain a colon.

    The last colon is the separator.
    """
    (tmp_path / "a:b.py").write_text("def most(run):\n    return 1\n")
    [found] = read_responses(tmp_path, {"x": {"python": "a:b.py:most"}})
    assert (found.name, found.place, found.function) == ("x", "", "most")
    assert found.source == "def most(run):\n    return 1\n"
    with pytest.raises(ResponseError, match="has no function `mos`"):
        read_responses(tmp_path, {"x": {"python": "a:b.py:mos"}})
