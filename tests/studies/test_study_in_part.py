"""Studies run in part: selected levels, separately made runs, resumed runs."""

import json
import re
import tomllib
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl
import pytest
from conftest import MESONET_NETWORK, CommandLine

import longhaul
from longhaul.campaign.execute import execute, work
from longhaul.campaign.pool import LocalWorkers, RunOutcome, tell
from longhaul.campaign.reduce import reduce
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run
from longhaul.studies.adoption import adopt
from longhaul.studies.errors import StudyError
from longhaul.studies.study import Study, find

pytestmark = pytest.mark.usefixtures("workers_here")

# The study has six runs of two seconds.
EXPERIMENTS = """
title     = "Losses and utilisation"
source    = "no publication: an example"
responses = { utilisation = "links.bottleneck.utilization" }

[scenario]
duration = "2 s"
measure  = { from = "1 s" }
topology = { dumbbell = { bottleneck = { rate = "10 Mbps", delay = "5 ms" } } }
flows    = [{ label = "flow" }]

[common.factors]
algorithm = { path = "flows.flow.congestion.kind", levels = ["reno", "cubic"] }

[[experiments]]
id    = "clean"
title = "One flow of each algorithm"

[[experiments]]
id      = "loss"
title   = "The same with losses"
factors = { loss = { path = "topology.dumbbell.bottleneck.loss.bernoulli", levels = [1e-4, 1e-3] } }
"""
CLAIMS = """
[[claims]]
id         = "C1"
experiment = "clean"
statement  = "CUBIC fills the link."
measure    = "value"
where      = { metric = "utilisation", algorithm = "cubic" }
low        = 0.5
opposite   = 0.1
tolerance  = "half"
source     = "derived from nothing: an example"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "link"
    folder.mkdir()
    (folder / "experiments.toml").write_text(EXPERIMENTS)
    (folder / "claims.toml").write_text(CLAIMS)
    return folder


def stored() -> int:
    """Return the number of runs in the study's store."""
    return len(list(Path("studies/link/store").glob("results-*/*/*.json")))


def test_only_runs_at_chosen_levels_are_done(study: Path, cli: CommandLine) -> None:
    where = ["--where", "algorithm=cubic", "--where", "loss=1e-4,0.001"]
    ran = cli("study", "run", study, "--quiet", *where)
    assert ran.returncode == 0, ran.stderr
    assert stored() == 2
    # The remaining runs are executed, and no run twice.
    assert cli("study", "run", study, "--quiet").returncode == 0
    assert stored() == 6


def test_a_part_prints_its_metrics_and_says_what_claims_are_judged_by(
    study: Path, cli: CommandLine
) -> None:
    ran = cli("study", "run", study, "--where", "algorithm=cubic", "-e", "clean")
    assert ran.returncode == 0, ran.stderr
    values = pl.read_parquet("studies/link/results/quick/values.parquet")
    (row,) = (line for line in ran.stdout.splitlines() if line.startswith("utilisation "))
    assert float(row.split()[1]) == pytest.approx(values["utilisation"][0], rel=1e-5)
    assert "`study claims` judges only these runs from now on; without studies/link" in ran.stdout


def test_a_level_of_the_other_scale_alone_names_that_scale(study: Path, cli: CommandLine) -> None:
    file = study / "experiments.toml"
    both = "levels = { quick = [1e-4], full = [1e-4, 1e-3] }"
    file.write_text(file.read_text().replace("levels = [1e-4, 1e-3]", both))
    refused = cli("study", "run", study, "--where", "loss=0.001")
    assert refused.returncode == 2
    assert "loss=0.001: only --scale full has this level; available: 0.0001" in refused.stderr


def test_experiment_on_request_is_done_if_it_is_named(study: Path, cli: CommandLine) -> None:
    file = study / "experiments.toml"
    file.write_text(file.read_text().replace('id      = "loss"', 'id = "loss"\non_request = true'))
    listed = cli("study", "list", study, "--json")
    assert [one["on_request"] for one in json.loads(listed.stdout)] == [False, True]
    assert cli("study", "run", study, "--quiet").returncode == 0
    assert stored() == 2
    unnamed = cli("study", "run", study, "--where", "loss=0.001")
    assert (unnamed.returncode, "has the axis `loss`: name loss" in unnamed.stderr) == (2, True)
    assert cli("study", "run", study, "-e", "loss", "--quiet").returncode == 0
    assert stored() == 6
    # A record includes experiments that run only on request.
    ran = cli("study", "run", study, "--quiet", "--record", "--store", "new", "--out", "r")
    assert ran.returncode == 0, ran.stderr
    recorded = pl.read_parquet(study / "results/quick/values.parquet")
    assert sorted(recorded["experiment"]) == ["clean"] * 2 + ["loss"] * 4
    # So does the full scale.
    assert cli("study", "run", study, "--scale", "full", "--quiet", "--out", "f").returncode == 0
    assert len(list(Path("f/store").glob("results-*/*/*.json"))) == 6


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("algorithm=cubik", "did you mean `cubic`?"),
        ("algoritm=cubic", "did you mean `algorithm`?"),
        ("algorithm", "expected AXIS=LEVEL"),
    ],
)
def test_levels_that_do_not_exist_are_refused(
    where: str, message: str, study: Path, cli: CommandLine
) -> None:
    ran = cli("study", "run", study, "--where", where)
    assert (ran.returncode, message in ran.stderr) == (2, True)
    assert not Path("studies").exists()


def test_run_made_alone_is_taken_for_the_studys(study: Path, cli: CommandLine) -> None:
    made = cli("study", "scenario", study, "clean", "algorithm=cubic", "--out", "one.toml")
    assert made.returncode == 0, made.stderr
    assert cli("run", "one.toml", "--out", "one", "--quiet").returncode == 0
    taken = cli("study", "adopt", study, "one")
    assert taken.returncode == 0, taken.stderr
    assert "clean (algorithm cubic" in taken.stdout
    ran = cli("study", "run", study, "--scale", "full", "--only-judge", "--json")
    (claim,) = json.loads(ran.stdout)
    utilisation = longhaul.open("one").links["utilization"][0]
    assert claim["measured"] == pytest.approx(utilisation)


def test_a_run_of_two_experiments_is_adopted_for_both(study: Path, cli: CommandLine) -> None:
    without = EXPERIMENTS.replace("responses =", "# responses =")
    again = '[[experiments]]\nid = "samples"\ntitle = "All samples"\nall_samples = true\n'
    (study / "experiments.toml").write_text(f"{without}\n{again}")
    own, store = Study("link", study), Path("store")
    run = longhaul.run(own.cell("clean", {"algorithm": "cubic"}).scenario, out="one")
    adopted = list(adopt(own, [run], "full", store))
    assert [one.experiment for one in adopted] == ["clean", "samples"]
    for one in adopted:
        assert own.store(store, own.experiments[one.experiment]).has(one.key)


def explored(page: Path) -> dict[str, Any]:
    found = re.search(r'id="catalogue">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    return {table["name"]: table for table in json.loads(found[1])["tables"]}


def test_a_study_is_explored_by_its_experiments(tmp_path: Path, cli: CommandLine) -> None:
    page = tmp_path / "c4.html"
    written = cli("explore", "c4-2026", "--out", str(page))
    assert written.returncode == 0, written.stderr
    tables = explored(page)
    experiments = find("c4-2026").experiments
    assert set(tables) <= set(experiments)
    assert len(tables) > 1
    for table in tables.values():
        roles = {column["name"]: column["role"] for column in table["columns"]}
        measured = {name for name in ("load_pct", "time_s", "rtt_ms") if name in roles}
        assert measured
        assert {roles[name] for name in measured} == {"response"}
    again = cli("explore", "c4-2026", "--out", str(page))
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_report_links_to_a_page_that_explores_the_runs(study: Path, cli: CommandLine) -> None:
    assert cli("study", "run", study, "--quiet").returncode == 0
    reported = cli("study", "report", study, "--out", "report.html")
    assert reported.returncode == 0, reported.stderr
    assert 'href="report-explorer.html"' in Path("report.html").read_text()
    tables = explored(Path("report-explorer.html"))
    assert {name: table["rows"] for name, table in tables.items()} == {"clean": 2, "loss": 4}
    roles = {column["name"]: column["role"] for column in tables["loss"]["columns"]}
    assert (roles["algorithm"], roles["loss"], roles["utilisation"]) == (
        "factor", "factor", "response",
    )  # fmt: skip


def test_run_that_is_not_the_studys_is_refused(study: Path, cli: CommandLine) -> None:
    cli("study", "scenario", study, "clean", "algorithm=cubic", "--out", "one.toml")
    cli("run", "one.toml", "--out", "other", "--set", "seed=2", "--quiet")
    refused = cli("study", "adopt", study, "other")
    assert refused.returncode == 2
    assert "link has no run of this scenario at scale full" in refused.stderr
    meta = Path("other/run.json")
    meta.write_text(re.sub(r'"results_version": *\d+', '"results_version": 0', meta.read_text()))
    old = cli("study", "adopt", study, "other")
    assert old.returncode == 2
    assert not Path("studies/link/store").exists()


def test_how_far_a_run_is_comes_from_its_worker() -> None:
    workers = LocalWorkers(1)
    workers.submit("key", tell, 0.25)
    parts: list[float] = []
    outcomes: list[RunOutcome] = []
    until = monotonic() + 60
    while not outcomes and monotonic() < until:
        outcomes = workers.finished(0.1)
        parts += workers.under_way().values()
    workers.close()
    assert 0.25 in parts
    assert [(one.key, one.error) for one in outcomes] == [("key", None)]


def test_run_of_mesonet_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    scenario = {"mesonet": {"intervals": 1500} | tomllib.loads(MESONET_NETWORK)}
    run = Run("one", {}, 0, scenario)
    whole = Store(tmp_path / "whole")
    work(scenario, whole, reduce)
    resumed = Store(tmp_path / "resumed")
    # The run is stopped as by a signal, with a checkpoint at every interval.
    out = resumed.resumable(run.resolved) / "run"

    class KilledError(Exception):
        pass

    def stop(simulated_s: float, packets: int) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        longhaul.run(scenario, out=out, progress=stop, checkpoint_every="1 ms")
    assert out.with_name("run.checkpoint").is_dir()
    outcome = execute([run], resumed, workers=1)
    assert (outcome.finished, outcome.failed) == (1, [])
    assert not out.parent.exists()
    kept, expected = resumed.get(run.key), whole.get(run.key)
    assert kept is not None
    assert expected is not None
    assert {key: value for key, value in kept.items() if key != "run"} == {
        key: value for key, value in expected.items() if key != "run"
    }


def test_versions_and_parts_of_runs_that_a_study_does_not_take(
    study: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a study refuses incomplete runs, and runs of unsuitable results versions.

    A results version is suitable if it gives the same results as the current one.
    """
    cli("study", "scenario", study, "clean", "algorithm=cubic", "--out", "one.toml")
    cli("run", "one.toml", "--out", "one", "--quiet")
    run, own = longhaul.open("one"), Study("link", study)
    this, oldest = run.meta["results_version"], run.kind.same_since
    store = Path("store")

    def adopted(**meta: object) -> list[str]:
        monkeypatch.setattr(run, "meta", run.meta | meta)
        return [one.name for one in adopt(own, [run], "full", store)]

    for version in (oldest - 1, this + 1):
        with pytest.raises(StudyError, match=f"expected results version .*{this}, found {version}"):
            adopted(results_version=version)
    with pytest.raises(StudyError, match="the run was stopped at 2 s"):
        adopted(results_version=this, stopped=True)
    assert not store.exists()
    for version in {oldest, this}:
        assert adopted(results_version=version, stopped=False) == [
            "clean (algorithm cubic; replication 0)"
        ]
    assert len(list(store.rglob("results-*/*/*.json"))) == 1
