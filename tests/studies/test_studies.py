"""Studies: a small study from end to end, and invalid studies."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, CommandLine

from longhaul import _engine
from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, REPRODUCED, UNDECIDED
from longhaul.studies.data import Data
from longhaul.studies.ledger import judge
from longhaul.studies.study import Study

pytestmark = pytest.mark.usefixtures("workers_here")

EXPERIMENTS = """
title  = "Tiny"
source = "nobody"

[common]
replications = { quick = 2, full = 3 }

[[experiments]]
id    = "E1"
title = "Two rates"
parts = ["small"]
quick = "one rate"
factors = { n = { quick = [1, 2], full = [1, 2, 3] } }
set   = { "flows.fast.count" = "n" }

[[experiments]]
id    = "T1"
title = "Theory"
"""
CLAIMS = """\
id,experiment,measure,where,statement,value,low,high,opposite,tolerance,runs,source
A,E1,sent,n=2,two flows send something,,1,,,,,1
B,E1,sent,n=2,two flows send nothing,0,,0,1,exact,1,2
C,E1,sent,n=3,three flows send something,,1,,,,,3
D,T1,theory,,one is one,1,1,1,,exact,,derived from arithmetic
"""
MEASURES = """
from longhaul.studies.data import Data

MEASURES = {
    "sent": lambda data, n: data.value("sent", "E1", n=n),
    "theory": lambda data: 1.0,
}
"""
METRICS = """
def metrics(kept, run):
    return {"sent": kept["labels"][0]["sent_pkts"]}

def trajectory(kept):
    return [{"t_s": row["t_s"], "cwnd_pkts": row["cwnd_pkts"]} for row in kept["flow_series"]]
"""
FIGURES = """
from longhaul.plots.styles import ALGORITHMS
from longhaul.studies.figures import Figure, Frame, Line

FIGURES = [
    Figure("1", "Packets", ("E1",), "nothing is printed", Frame("flows", "packets"), axis="n",
           lines=[Line("E1", "sent", "HSTCP", ALGORITHMS["hstcp"])], panels=("",)),
    Figure("2", "Not there", ("T1",), "nothing", Frame("flows", "packets"), axis="n",
           lines=[Line("T1", "sent", "HSTCP", ALGORITHMS["hstcp"])]),
]
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Write a study of four short runs."""
    folder = tmp_path / "tiny"
    (folder / "scenarios").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "experiments.toml": EXPERIMENTS,
        "claims.csv": CLAIMS,
        "measures.py": MEASURES,
        "metrics.py": METRICS,
        "figures.py": FIGURES,
        "README.md": "# Tiny\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "scenarios/small.toml": SMALL.replace("10 s", "4 s"),
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.processes
def test_a_study_from_end_to_end(tiny: Path, tmp_path: Path, cli: CommandLine) -> None:
    ran = cli("study", "run", "tiny", "--json", "--workers", "2")
    assert ran.returncode == 0, ran.stderr
    found = {row["id"]: row for row in json.loads(ran.stdout)}
    assert {key: row["verdict"] for key, row in found.items()} == {
        "A": REPRODUCED,
        "B": CONTRADICTED,
        "C": NOT_RUN,
        "D": REPRODUCED,
    }
    assert list(found["A"]) == [
        "id", "experiment", "statement", "derived", "set_up", "hypothesis", "sentence", "narrower",
        "expected", "measured", "interval", "interval_of", "source_runs", "verdict", "reason",
        "scale", "replications", "needs", "so_far", "on", "family",
    ]  # fmt: skip
    # An experiment without runs states the reason.
    assert [key for key, row in found.items() if row["reason"]] == ["C"]
    assert [key for key, row in found.items() if row["derived"]] == ["D"]
    assert (found["A"]["scale"], found["A"]["replications"]) == ("quick", 2)
    low, high = found["A"]["interval"]
    assert low <= found["A"]["measured"] <= high
    assert found["D"]["interval"] is None
    kept = sorted((tmp_path / "studies/tiny/store").rglob("*.json"))
    assert len(kept) == 4

    # `--only-judge` at another scale judges the finished runs.
    judged = json.loads(
        cli("study", "run", "tiny", "--scale", "full", "--only-judge", "--json").stdout
    )
    assert {row["id"]: row["verdict"] for row in judged}["C"] == NOT_RUN
    assert len(list((tmp_path / "studies/tiny/store").rglob("*.json"))) == 4

    # Neither judging again nor a larger scale repeats a run.
    times = [path.stat().st_mtime_ns for path in kept]
    assert cli("study", "run", "tiny", "--scale", "full", "-q").returncode == 0
    assert [path.stat().st_mtime_ns for path in kept] == times
    assert len(list((tmp_path / "studies/tiny/store").rglob("*.json"))) == 9
    claims = json.loads(cli("study", "claims", "tiny", "--json").stdout)
    assert {row["scale"] for row in claims} == {"full"}
    assert [row["verdict"] for row in claims].count(NOT_RUN) == 0
    assert "not run" in cli("study", "claims", "tiny", "--scale", "quick").stdout

    assert cli("study", "report", "tiny").returncode == 0
    page = (tmp_path / "tiny.html").read_text()
    for text in ("nothing is printed", 'id="A"', "contradicted", "<svg", "<table>", "Not run",
                 "derived from arithmetic: not the source", "3 replications"):  # fmt: skip
        assert text in page
    # A full report lists replications, a quick one also the omitted runs.
    row = '<td class="number">9</td><td class="number">3</td><td class="number">'
    assert row in page
    assert "one rate" not in page
    assert "one rate" in (tmp_path / "studies/tiny/quick.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")
    for file in ("tiny.html", "tiny-explorer.html"):
        again = cli("study", "report", "tiny")
        assert again.returncode == 2
        assert f"{file} already exists" in again.stderr
        (tmp_path / file).unlink()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("claims.csv", None),
        ("scenarios/small.toml", None),
        ("metrics.py", None),
        ("metrics.py", "metrics"),
        ("measures.py", "MEASURES"),
        ("figures.py", "FIGURES"),
    ],
)
def test_a_missing_part_of_a_study_is_refused_before_anything_runs(
    file: str, name: str | None, tiny: Path, cli: CommandLine
) -> None:
    if name is None:
        (tiny / file).unlink()
    else:
        (tiny / file).write_text((tiny / file).read_text().replace(name, f"other_{name}"))
    ran = cli("study", "run", "tiny")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: ")
    assert f"{tiny / file}: " in ran.stderr
    if name is not None:
        assert f"expected a definition of `{name}`" in ran.stderr
    assert not Path("studies").exists()


@pytest.mark.parametrize(("written", "where"), [("sent,n=2", "sent,m=2"), ("sent,n=2", "sent,")])
def test_words_that_a_measure_in_python_does_not_take_are_refused_before_anything_runs(
    written: str, where: str, tiny: Path, cli: CommandLine
) -> None:
    (tiny / "claims.csv").write_text(CLAIMS.replace(written, where))
    ran = cli("study", "run", "tiny")
    assert ran.returncode == 2
    assert "claim A: sent: missing a required argument: 'n'" in ran.stderr


@pytest.mark.processes
def test_a_study_may_be_in_parts_with_reducers_of_their_own(tiny: Path, cli: CommandLine) -> None:
    head, experiments = EXPERIMENTS.split("[common]", 1)
    for folder in ("bulk", "web"):
        (tiny / folder).mkdir()
        (tiny / folder / "__init__.py").write_text("")
    (tiny / "experiments.toml").write_text(head + 'include = ["bulk", "web"]\n')
    (tiny / "bulk/experiments.toml").write_text("[common]" + experiments)
    (tiny / "scenarios").rename(tiny / "bulk/scenarios")
    (tiny / "claims.csv").rename(tiny / "bulk/claims.csv")
    shutil.copytree(tiny / "bulk/scenarios", tiny / "web/scenarios")
    more = '[[experiments]]\nid = "WEB"\ntitle = "More"\nparts = ["small"]\n'
    (tiny / "web/experiments.toml").write_text(more)
    header = CLAIMS.splitlines()[0]
    (tiny / "web/claims.csv").write_text(header + "\nW,WEB,theory,,s,,0,1,,,,\n")
    reduced = "from longhaul.campaign.reduce import reduce as all_\n\n\ndef reduce(run):\n"
    (tiny / "web/reduce.py").write_text(reduced + "    return all_(run) | {'web': True}\n")

    study = Study("tiny", tiny)
    assert list(study.experiments)[-1] == "WEB"
    assert [claim.id for claim in study.claims][-1] == "W"
    # Common settings apply only to their own part of the study.
    assert study.experiments["WEB"].axes == ()
    assert cli("study", "run", "tiny", "-e", "WEB", "-q").returncode == 0
    (kept,) = (Path("studies/tiny/store")).rglob("*.json")
    assert json.loads(kept.read_text())["web"] is True
    # A changed reducer gets a new store; the store of the other part does not change.
    before = [study.reduction(one).variant for one in study.experiments.values()]
    (tiny / "web/reduce.py").write_text(reduced + "    return all_(run)\n")
    after = [study.reduction(one).variant for one in study.experiments.values()]
    assert [old == new for old, new in zip(before, after, strict=True)][-2:] == [True, False]


def test_samples_over_time_need_a_function_trajectory(tiny: Path, cli: CommandLine) -> None:
    (tiny / "metrics.py").write_text(METRICS[: METRICS.index("def trajectory")])
    ran = cli("study", "run", "tiny", "--replications", "1", "-q")
    assert ran.returncode == 2
    expected = f"error: {tiny / 'metrics.py'}: expected a definition of `trajectory`, found none"
    assert ran.stderr.startswith(expected)
    assert len(list(Path("studies/tiny/store").rglob("*.json"))) == 2


def test_parts_of_a_scenario_differ_between_scales(tiny: Path) -> None:
    scenario = tiny / "scenarios/small.toml"
    both = 'duration = { quick = "4 s", full = "9 s" }'
    scenario.write_text(scenario.read_text().replace('duration = "4 s"', both))
    study = Study("tiny", tiny)
    for scale, duration in (("quick", "4 s"), ("full", "9 s")):
        assert {run.scenario["duration"] for run in study.runs(scale)} == {duration}


def test_recording_keeps_results_beside_the_study(tiny: Path, cli: CommandLine) -> None:
    assert cli("study", "run", "tiny", "-q", "--record", "--replications", "1").returncode == 0
    shutil.rmtree("studies")
    rows = json.loads(cli("study", "claims", "tiny", "--json").stdout)
    assert (rows[0]["verdict"], rows[0]["replications"]) == (REPRODUCED, 1)
    assert rows[0]["interval"] is None
    assert "one run" in cli("study", "claims", "tiny").stdout


def test_a_recording_without_the_recorded_runs_is_refused(tiny: Path, cli: CommandLine) -> None:
    record = ("study", "run", "tiny", "-q", "--record")
    assert cli(*record).returncode == 0
    values = tiny / "results/quick/values.parquet"
    before = values.read_bytes()
    part = (*record, "--replications", "1", "--store", "new")
    refused = cli(*part)
    assert refused.returncode == 2
    assert "2 recorded runs are not among these results" in refused.stderr
    assert values.read_bytes() == before
    # No run was executed.
    assert not list(Path("new").rglob("*.json"))
    assert cli(*part, "--add").returncode == 0
    assert len(pl.read_parquet(values)) == 4


def test_a_number_from_one_run_is_judged_by_where_one_more_run_would_lie(
    tiny: Path, cli: CommandLine
) -> None:
    claims = tiny / "claims.csv"
    claims.write_text(
        f"{CLAIMS}F,E1,sent,n=2,two flows send 3000,3000,1,1e6,,wide,1,4\n"
        "G,E1,sent,n=2,two flows send 2400 and more,,2400,,,as stated,,4\n"
    )
    assert cli("study", "run", "tiny", "-q", "--scale", "full", "--record").returncode == 0
    values = tiny / "results/full/values.parquet"
    table = pl.read_parquet(values)
    sent = pl.Series([2000.0, 2500.0, 3000.0])
    of_two = table.filter(pl.col("n") == 2).sort("replication").with_columns(sent=sent)
    pl.concat([table.filter(pl.col("n") != 2), of_two.select(table.columns)],
              how="vertical_relaxed").write_parquet(values)  # fmt: skip
    shutil.rmtree("studies")
    rows = {row["id"]: row for row in json.loads(cli("study", "claims", "tiny", "--json").stdout)}
    # The half-width is t (4.303 with two degrees of freedom) times 500 sqrt(1 + 1/3).
    assert rows["F"]["interval"] == pytest.approx([2500 - 2484.4, 2500 + 2484.4], abs=1)
    assert rows["F"]["interval_of"] == "one more run, normal"
    assert rows["A"]["interval_of"] == "median"
    assert "one more run" in cli("study", "claims", "tiny").stdout
    assert (rows["F"]["source_runs"], rows["A"]["source_runs"]) == ("1", None)
    assert (rows["G"]["verdict"], rows["G"]["reason"]) == (
        UNDECIDED, "more replications would decide",
    )  # fmt: skip


def test_checks_of_the_set_up_and_verdicts_on_one_run_are_counted_apart(
    tiny: Path, cli: CommandLine
) -> None:
    claims = tiny / "claims.csv"
    claims.write_text(CLAIMS + "S,E1,sent,n=2,two flows,2,1,1e9,,exact,,set-up: as configured\n")
    ran = cli("study", "run", "tiny", "--replications", "1")
    text = " ".join(ran.stdout.split())
    assert "4 claims: 2 reproduced, 1 contradicted, 1 not run (1 of them derived" in text
    assert "2 of them rest on one run: 1 reproduced, 1 contradicted" in text
    assert "Checks of the set-up: 1 reproduced" in text
    page = Path("studies/tiny/quick.html").read_text(encoding="utf-8")
    assert "1 of 1 hold" in page
    assert 'id="S"' not in page


def test_recorded_rows_are_added_to_new_ones_with_their_version(
    tiny: Path, cli: CommandLine
) -> None:
    def recorded() -> pl.DataFrame:
        return pl.read_parquet(tiny / "results/quick/values.parquet").sort("n", "replication")

    run = ("study", "run", "tiny", "-q", "--record")
    assert cli(*run).returncode == 0
    old = recorded().with_columns(pl.lit(0, pl.Int64).alias("results_version"))
    old.write_parquet(tiny / "results/quick/values.parquet")
    assert cli(*run[:-1], "--replications", "1", "--store", "new").returncode == 0
    assert cli(*run, "--only-judge", "--add", "--store", "new").returncode == 0
    now = _engine.results_version()
    assert recorded()["results_version"].to_list() == [now, 0, now, 0]
    assert (
        recorded().drop("results_version", "wall_s").equals(old.drop("results_version", "wall_s"))
    )


def test_recorded_runs_are_not_repeated_by_adding_to_them(tiny: Path, cli: CommandLine) -> None:
    run = ("study", "run", "tiny", "-q", "--record")
    assert cli(*run, "--replications", "1").returncode == 0
    assert cli(*run, "--add", "--store", "new").returncode == 0
    recorded = pl.read_parquet(tiny / "results/quick/values.parquet")
    assert sorted(recorded["replication"]) == [0, 0, 1, 1]
    assert len(list(Path("new").rglob("*.json"))) == 2


def with_conditions(tiny: Path, table: str, settings: str) -> None:
    """Add an experiment E3, in which the start of the measurement depends on the condition."""
    (tiny / "conditions").mkdir()
    (tiny / "conditions/loads.csv").write_text(table)
    more = f"""
[[experiments]]
id         = "E3"
title      = "Conditions"
parts      = ["small"]
conditions = "loads"
[experiments.set]
"measure.from" = {settings}
"""
    (tiny / "experiments.toml").write_text(EXPERIMENTS + more)


def test_claims_name_factors_of_conditions_that_are_words(tiny: Path, cli: CommandLine) -> None:
    begins = '{ factor = "how", of = { early = "1 s", late = "2 s" } }'
    with_conditions(tiny, "load,how\n1,late\n2,early\n", begins)
    each = [f"F-{how},E3,start,how={how},something,,1,,,,2,\n" for how in ("early", "late")]
    (tiny / "claims.csv").write_text(CLAIMS + "".join(each))
    start = '"start": lambda data, how: data.value("sent", "E3", how=how),'
    measures = (tiny / "measures.py").read_text()
    (tiny / "measures.py").write_text(measures.replace('"theory"', f'{start}\n    "theory"'))
    assert cli("study", "run", "tiny", "-q").returncode == 0
    claims = json.loads(cli("study", "claims", "tiny", "--json").stdout)
    early, late = (one for one in claims if one["id"].startswith("F-"))
    assert early["measured"] > late["measured"] > 1.0
    # The interval is over two replications.
    low, high = early["interval"]
    assert low <= early["measured"] <= high


def test_recorded_rows_of_conditions_with_fractions_are_found_again(
    tiny: Path, cli: CommandLine
) -> None:
    begins = '{ factor = "seconds", of = { "1.1" = "1 s", "1.2345678901" = "2 s" } }'
    with_conditions(tiny, "load,seconds\n1,1.1\n2,1.2345678901\n", begins)
    words = ("study", "run", "tiny", "-q", "--record")
    assert cli(*words).returncode == 0
    before = pl.read_parquet(tiny / "results/quick/values.parquet")
    assert cli(*words, "--only-judge", "--add", "--store", "new").returncode == 0
    after = pl.read_parquet(tiny / "results/quick/values.parquet")
    assert len(after.filter(experiment="E3")) == len(before.filter(experiment="E3")) > 0


def test_what_was_recorded_of_a_scenario_stands_for_all_experiments_that_share_it(
    tiny: Path, cli: CommandLine
) -> None:
    assert cli("study", "run", "tiny", "-q", "--record").returncode == 0
    again = EXPERIMENTS[EXPERIMENTS.index("[[experiments]]") : EXPERIMENTS.index('id    = "T1"')]
    other = (
        again.removesuffix("[[experiments]]\n")
        .replace('"E1"', '"E2"')
        .replace("n = { quick = [1, 2], full", "n = { quick = [2, 3], full")
    )
    (tiny / "experiments.toml").write_text(EXPERIMENTS + other)
    words = ("study", "run", "tiny", "-q", "--only-judge", "--add", "--record", "--store", "new")
    assert cli(*words).returncode == 0
    values = pl.read_parquet(tiny / "results/quick/values.parquet")
    first, second = (values.filter(experiment=name) for name in ("E1", "E2"))
    assert first["n"].to_list() == [1, 2, 1, 2]
    assert second["n"].to_list() == [2, 2]
    assert second["sent"].to_list() == first.filter(n=2)["sent"].to_list()


def test_every_sample_is_kept_where_an_experiment_says_so(tiny: Path, cli: CommandLine) -> None:
    scenario = tiny / "scenarios/small.toml"
    scenario.write_text(scenario.read_text().replace('every = "100 ms"', 'every = "1 ms"'))
    run = ("study", "run", "tiny", "-q", "--replications", "1", "--record")
    counts = []
    for line in ("", "all_samples = true\n"):
        (tiny / "experiments.toml").write_text(
            EXPERIMENTS.replace('quick = "one rate"\n', f'quick = "one rate"\n{line}')
        )
        assert cli(*run).returncode == 0
        trajectories = pl.read_parquet(tiny / "results/quick/trajectories.parquet")
        counts.append(len(trajectories.filter(pl.col("n") == 1)["t_s"].unique()))
    assert counts[0] < 1000
    assert counts[1] > 3000


def test_a_study_may_reduce_runs_itself_and_say_which_are_drawn(
    tiny: Path, tmp_path: Path, cli: CommandLine
) -> None:
    reduction = """
def reduce(run):
    facts = {"data_packets": run.meta["data_packets"], "wall_s": 1, "results_version": 2}
    flows = run.flows["total_sent_pkts"].to_list()
    series = [{"t_s": 1.0, "cwnd_pkts": float(len(flows))}]
    return {"run": facts, "labels": [{"sent_pkts": sum(flows)}], "flow_series": series}
"""
    (tiny / "metrics.py").write_text(
        METRICS + "\ndef drawn(run):\n    return run.replication == 1 and run.cell['n'] == 2\n"
    )
    run = ("study", "run", "tiny", "-q", "--record", "--workers", "1")
    assert cli(*run).returncode == 0
    before = pl.read_parquet(tiny / "results/quick/values.parquet")["sent"].to_list()
    (tiny / "reduce.py").write_text(reduction)
    assert cli(*run).returncode == 0
    assert pl.read_parquet(tiny / "results/quick/values.parquet")["sent"].to_list() != before
    trajectories = pl.read_parquet(tiny / "results/quick/trajectories.parquet")
    assert trajectories.select("n", "replication", "cwnd_pkts").rows() == [(2, 1, 3.0)]
    # Each way of reduction has its own store.
    assert len(list((tmp_path / "studies/tiny/store").rglob("*.json"))) == 8


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "hstpc-2003"], ["hstpc-2003", "did you mean `hstcp-2003`"]),
        (["run", "hstcp-2003", "--scale", "quik"], ["quik", "did you mean `quick`", "full"]),
        (["run", "hstcp-2003", "-e", "EXP-6.12"], ["EXP-6.12", "did you mean `EXP-6.1"]),
        (["claims", "nothing"], ["nothing", "hstcp-2003"]),
        (["claims", "hstcp-2003", "--scale", "ful"], ["ful", "did you mean `full`"]),
        (["report", "nothing"], ["nothing"]),
        (["report", "hstcp-2003", "--of", "."], ["results: no results of hstcp-2003 yet"]),
        (
            ["claims", "hstcp-2003", "--out", ".", "--scale", "quick"],
            ["results: no results of hstcp-2003 at scale quick yet"],
        ),
        (["claims", "hstcp-2003", "--out", "."], ["results: no results of hstcp-2003 yet"]),
        (["run", "."], ["expected a study's folder with experiments.toml"]),
    ],
)
def test_names_of_what_there_is_not_are_refused(
    words: list[str], expected: list[str], tmp_path: Path, cli: CommandLine
) -> None:
    result = cli("study", *words)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    for text in expected:
        assert text in result.stderr
    assert not list(tmp_path.iterdir())


def test_studies_are_listed(cli: CommandLine) -> None:
    rows = {row["name"]: row for row in json.loads(cli("study", "list", "--json").stdout)}
    assert rows["hstcp-2003"]["claims"] > 100
    assert "hstcp-2003" in cli("study", "list").stdout


def test_a_claim_on_trajectories_of_one_replication_is_of_one_run(
    tiny: Path,
) -> None:
    """Check that a claim on samples over time counts as a claim on one run.

    Such samples are recorded only for the first replication.
    """
    with (tiny / "claims.csv").open("a") as file:
        file.write("E,E1,sampled,n=2,samples,3,2,4,,exact,1,4\n")
    with (tiny / "measures.py").open("a") as file:
        file.write('MEASURES["sampled"] = lambda data, n: data.trajectory("E1", n=n)["x"][0]\n')
    rows = [{"experiment": "E1", "n": 2, "replication": number, "sent": 5.0 + number}
            for number in range(3)]  # fmt: skip
    samples = [{"experiment": "E1", "n": 2, "replication": 0, "x": 3.0}]
    study = Study("tiny", tiny)
    data = Data(pl.DataFrame(rows), pl.DataFrame(samples), ("n",))
    found = {judgement.claim.id: judgement for judgement in judge(study, data, "full", ["E1"])}
    assert (found["E"].replications, found["E"].interval) == (1, None)
    assert (found["E"].verdict, found["E"].runs) == (REPRODUCED, "one run")
    assert found["A"].replications == 3
    assert found["A"].interval is not None
