"""The conditions of NIST SP 500-282: printed numbers, and access to one condition."""

import json
import tomllib
from itertools import combinations
from math import prod
from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul
from longhaul.campaign import Run, as_toml
from longhaul.campaign.reduce import reduce
from longhaul.guide import examples
from longhaul.mesonet import MesoNet
from longhaul.studies.errors import StudyError
from longhaul.studies.study import Study, find

STUDY = find("nist-2010")
TOPOLOGIES = Path(__file__).parents[2] / "crates/scenario/topologies"


def explained(run: Run) -> dict[str, str]:
    return {path: value for path, value, _ in run.resolved.explain()}


@pytest.mark.parametrize(
    ("experiment", "runs", "sources", "receivers"),
    [
        # Tables 4-13, 4-14, 6-9 and 7-6, with four receivers for each source of chapter 3.
        ("SA64", 64, {18_560, 27_800, 27_840, 41_700}, {111_200, 146_400, 166_800, 219_600}),
        ("N6-MAIN", 224, {174_600, 278_000}, {1_675_200}),
        ("N7-MAIN", 256, {17_460, 27_800}, {167_520}),
    ],
)
def test_hosts_are_as_many_as_printed(
    experiment: str, runs: int, sources: set[int], receivers: set[int]
) -> None:
    all_runs = STUDY.runs("full", [experiment])
    assert len(all_runs) == runs
    first = all_runs[0].cell["algorithm"]
    found = [explained(run) for run in all_runs if run.cell["algorithm"] == first]
    assert {int(one["mesonet.hosts.sources.all"]) for one in found} == sources
    assert {int(one["mesonet.hosts.receivers.all"]) for one in found} == receivers


@pytest.mark.parametrize(("condition", "below"), [("8", 200), ("3", 60)])
def test_the_cut_network_keeps_routers_rates_and_long_lived_flows(
    condition: str, below: int
) -> None:
    """Check that the network with fewer routers has the original's rates and long-lived flows.

    Each normal router has `below` sources in both networks. Table 6-12 gives the routers between
    which the long-lived flows run.
    """
    cell = {"condition": condition, "algorithm": "TCP"}
    whole, cut = (explained(STUDY.cell(experiment, cell)) for experiment in ("N7-MAIN", "N7-CUT"))
    for key in ("mesonet.network.capacity.normal", "mesonet.network.capacity.direct"):
        assert cut[key] == whole[key]
    assert cut["mesonet.hosts.sources.normal"] == f"{below} below each of 30 routers"
    assert whole["mesonet.hosts.sources.normal"] == f"{below} below each of 105 routers"
    mesonet = STUDY.cell("N7-CUT", cell).scenario["mesonet"]
    below_backbone = [
        ["direct"] * router.get("direct", 0) + ["below a point of presence"] * sum(
            sum(pop.values()) for pop in router["pops"]
        )
        for router in mesonet["network"]["topology"]["backbone"]
    ]  # fmt: skip
    access = [
        (name, kind)
        for name, kinds in zip("ABCDEFGHIJK", below_backbone, strict=True)
        for kind in kinds
    ]
    assert len(access) == 43
    abilene = tomllib.loads((TOPOLOGIES / "abilene.toml").read_text())
    for part in ("links", "routes"):
        assert mesonet["network"]["topology"][part] == abilene[part]
    ends = zip(mesonet["LL_FLOW_SOURCES"], mesonet["LL_FLOW_RECEIVERS"], strict=True)
    joined = [[access[number - 1] for number in both] for both in ends]
    assert joined == [[(start, "direct"), (end, "direct")] for start, end in ("BK", "CI", "EF")]


@pytest.mark.parametrize("condition", ["8", "12"])
def test_the_large_cut_network_keeps_rates_sources_and_places(condition: str) -> None:
    """Check that experiment N6-CUT has the same rates and sources per router as N6-MAIN.

    N6-CUT has fewer routers. Numbers of sources agree within 0.4 %, because they are rounded.
    Topology and long-lived flows are those of N7-CUT, another experiment with fewer routers.
    """
    cell = {"condition": condition, "algorithm": "TCP"}
    whole, cut = (explained(STUDY.cell(experiment, cell)) for experiment in ("N6-MAIN", "N6-CUT"))
    for router in ("normal", "fast", "direct"):
        assert (
            cut[f"mesonet.network.capacity.{router}"]
            == (whole[f"mesonet.network.capacity.{router}"])
        )
    for router in ("normal", "fast"):
        sources = [int(of[f"mesonet.hosts.sources.{router}"].split()[0]) for of in (cut, whole)]
        assert sources[0] == pytest.approx(sources[1], rel=0.004)
    large, small = (STUDY.cell(of, cell).scenario["mesonet"] for of in ("N6-CUT", "N7-CUT"))
    for key in ("LL_FLOW_SOURCES", "LL_FLOW_RECEIVERS"):
        assert large[key] == small[key]
    assert large["network"]["topology"] == small["network"]["topology"]


@pytest.mark.parametrize(
    ("algorithm", "original"),
    [
        ("TCP", "prTCP"),
        ("BIC", "prBICTCP"),
        ("CTCP", "prCTCP"),
        ("FAST", "prFAST"),
        ("HSTCP", "prHSTCP"),
        ("HTCP", "prHTCP"),
        ("Scalable", "prSCALABLE"),
    ],
)
def test_a_share_under_its_original_name_is_the_algorithm_of_the_study(
    algorithm: str, original: str, tmp_path: Path
) -> None:
    """Check that MesoNet's original key for an algorithm gives the same results as the study's key.

    The original key is the probability of the algorithm, such as `prCTCP`. MesoNet's configuration
    file has seven of them (SP 500-282, section 3.2.4).
    """
    study = STUDY.cell("N7-CUT", {"condition": "8", "algorithm": algorithm}).scenario
    kept = {key: value for key, value in study["mesonet"].items() if key != "periods"}
    short = {**study, "mesonet": {**kept, "MI": 10}}
    shares = {"prTCP": 0.0, original: 1.0}
    others = {key: value for key, value in short["mesonet"].items() if key != "algorithms"}
    as_original = {**study, "mesonet": {**others, **shares}}
    own = longhaul.run(short, out=tmp_path / "study")
    translated = longhaul.run(as_original, out=tmp_path / "original")
    for table in ("network", "classes", "long_lived", "routers", "goodput"):
        assert own.table(table).equals(translated.table(table)), table


@pytest.mark.parametrize(
    ("experiment", "words", "shortest"), [("N6-MAIN", 1, 6), ("N7-MAIN", 1, 6), ("SA64", 31, 4)]
)
def test_conditions_are_an_orthogonal_fraction(experiment: str, words: int, shortest: int) -> None:
    """Check that the conditions are an orthogonal fraction of the stated resolution.

    They are a 2^(6-1) design of resolution VI, and a 2^(11-5) design of resolution IV.
    """
    ((axis, table),) = STUDY.experiments[experiment].conditions.items()
    assert list(table) == list(range(1, len(table) + 1)), axis
    factors = list(table[1])
    high = {factor: max((row[factor] for row in table.values()), key=str) for factor in factors}
    signs = [{factor: 2 * (row[factor] == high[factor]) - 1 for factor in factors}
             for row in table.values()]  # fmt: skip
    for pair in combinations(factors, 2):
        assert sum(row[pair[0]] * row[pair[1]] for row in signs) == 0, pair
    defining = [
        group
        for size in range(3, len(factors) + 1)
        for group in combinations(factors, size)
        if abs(sum(prod(row[factor] for factor in group) for row in signs)) == len(signs)
    ]
    assert (len(defining), min(map(len, defining))) == (words, shortest)


def test_a_condition_is_what_its_table_says() -> None:
    """Check condition 21 against Table 7-4, in NIST's own parameters."""
    run = STUDY.cell("N7-MAIN", {"condition": "21", "algorithm": "FAST-AT"})
    values = explained(run)
    assert {
        "mesonet.network.backbone_rate": "600",
        "mesonet.users.think": "2000",
        "mesonet.network.delay_factor": "1",
        "mesonet.files.mean": "100",
        "mesonet.network.buffer": "rtt-capacity/sqrt-n",
        "mesonet.algorithms.0.label": "fast-at",
        "mesonet.transport.initial_ssthresh": "100",
        "mesonet.hosts.sources.all": "27800",
    }.items() <= values.items()


def test_the_example_is_condition_8() -> None:
    run = STUDY.cell("N7-MAIN", {"condition": "8", "algorithm": "TCP"})
    example = longhaul.load(examples.read("mesonet_scaled_down"))
    ours, theirs = (json.loads(one.resolved_json()) for one in (run.resolved, example))
    assert ours["mesonet"] == theirs["mesonet"]


def test_a_scenario_is_written_and_runs(tmp_path: Path, cli: CommandLine) -> None:
    command = ["study", "scenario", "nist-2010", "N7-MAIN", "condition=8"]
    written = cli(*command, "algorithm=HSTCP", "--out", "mine.toml")
    assert written.returncode == 0, written.stderr
    run = STUDY.cell("N7-MAIN", {"condition": "8", "algorithm": "HSTCP"})
    assert longhaul.load("mine.toml").hash == run.resolved.hash
    assert cli("check", "mine.toml").returncode == 0
    again = cli(*command, "algorithm=HSTCP", "--out", "mine.toml")
    assert (again.returncode, "--overwrite" in again.stderr) == (2, True)
    open_ = cli(*command)
    assert (open_.returncode, "algorithm of BIC, CTCP" in open_.stderr) == (2, True)


def test_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(
        StudyError, match=r"expected one run, found 0.*condition of 1, 2, 3, \.\.\., 32"
    ):
        STUDY.cell("N7-MAIN", {"condition": "33", "algorithm": "TCP"})
    with pytest.raises(StudyError, match="did you mean `condition`"):
        STUDY.cell("N7-MAIN", {"conditon": "3"})


def test_a_point_that_is_no_condition_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    parts = (
        "conditions/chapter_7.csv", "scenarios/users.toml", "scenarios/scaled_down.toml",
        "scenarios/cut.toml",
    )  # fmt: skip
    for part in parts:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).write_text((STUDY.path / part).read_text())
    text = (STUDY.path / "experiments.toml").read_text()
    head, *experiments = text.split("[[experiments]]")
    (cut,) = (one for one in experiments if '"N7-CUT"' in one)
    wrong = cut.replace("quick = [3, 5,", "quick = [33, 5,")
    (folder / "experiments.toml").write_text(f"{head}[[experiments]]{wrong}")
    with pytest.raises(longhaul.ScenarioError, match="N7-CUT: unknown condition `33`"):
        _ = Study("wrong", folder).experiments


@pytest.mark.parametrize(
    ("of", "beside"), [("N7-TODAY", "N7-CUT"), ("N7-TODAY-8", "N7-MAIN"), ("N8L-TODAY", "N8L-CUT")]
)
def test_todays_senders_are_in_the_networks_of_the_eight(of: str, beside: str) -> None:
    def networks(experiment: str) -> dict[str, dict[str, str]]:
        runs = STUDY.runs("full", [experiment])
        return {
            str(run.cell["condition"]): {
                path: value
                for path, value in explained(run).items()
                if not path.startswith("mesonet.algorithms")
            }
            for run in runs
        }

    ours, theirs = networks(of), networks(beside)
    assert ours == {condition: theirs[condition] for condition in ours}


def test_toml_is_what_was_written() -> None:
    scenario = {
        "title": 'a "name"\n',
        "on": True,
        "flows": [{"label": "x", "start": {"uniform": ["0 s", 1.5]}}],
        "mesonet": {"a key": [], "of.it": {"B-1": -3}},
    }
    assert tomllib.loads(as_toml(scenario)) == scenario


def test_the_figures_of_a_condition_are_kept() -> None:
    run = STUDY.cell("N7-MAIN", {"condition": "8", "algorithm": "TCP"})
    small = {
        **run.scenario["mesonet"], "MI": 30, "R1": 40, "baseSources": 2, "M": 200,
        "periods": [{"name": "TP1", "from": 0.2, "to": 1.0}],
    }  # fmt: skip
    results = longhaul.run({**run.scenario, "mesonet": small})
    kept = json.loads(json.dumps(reduce(results)))
    row = STUDY.module("metrics").metrics(kept, run)
    network = MesoNet.of(results).network.tail(24)
    assert row["active_flows_TP1"] == pytest.approx(network["active_flows"].mean())
    assert row["completed_flows"] == MesoNet.of(results).totals["completed_flows"].sum() > 0
    assert row["delivered_pkts"] == results.meta["mesonet"]["delivered_packets"]
    assert {"L1_pps_TP1", "DD_pps_TP1", "retransmission_rate_TP1"} <= set(row)
