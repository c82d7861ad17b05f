"""Tests of a study that consists of three files of declarations, without Python code.

Invalid declarations are refused.
"""

import json
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.experiments import Experiment
from longhaul.studies.questions import DECLARED
from longhaul.studies.study import find

# The recipe in docs/contributing.md has two experiments, one claim and one figure.
RECIPE = Path(__file__).parents[2] / "docs" / "contributing.md"
FILES = ("experiments.toml", "claims.toml", "figures.toml")


def recipe() -> dict[str, str]:
    """Return the texts of the example study's files in `docs/contributing.md`, by file name."""
    section = RECIPE.read_text(encoding="utf-8").partition("## A study\n")[2]
    blocks = [block.partition("```")[0] for block in section.split("```toml\n")[1:4]]
    return {block.splitlines()[0].removeprefix("# "): block for block in blocks}


@pytest.fixture
def study(tmp_path: Path, workers_here: None) -> Path:
    """Write the example study of `docs/contributing.md`, with runs of four seconds."""
    folder = tmp_path / "link"
    folder.mkdir()
    files = recipe()
    assert sorted(files) == sorted(FILES)
    for name, text in files.items():
        (folder / name).write_text(text.replace('"60 s"', '"4 s"').replace('"10 s"', '"1 s"'))
    return folder


def test_a_study_is_one_folder_with_three_files_of_declarations(
    study: Path, cli: CommandLine
) -> None:
    ran = cli("study", "run", study, "--json")
    assert ran.returncode == 0, ran.stderr
    (claim,) = json.loads(ran.stdout)
    assert claim["measured"] == pytest.approx(1.0, abs=0.5)
    assert claim["verdict"] in ("reproduced", "undecided", "outside the band", "contradicted")
    page = (Path("studies") / "link" / "quick.html").read_text()
    assert "<svg" in page
    assert {path.name for path in study.iterdir()} == set(FILES)
    assert len(find(str(study)).experiments) == 2
    drawn = cli("study", "figures", study, "1", "--format", "pdf", "--width", "85mm")
    assert drawn.returncode == 0, drawn.stderr
    assert Path("link-figure-1.pdf").read_bytes().startswith(b"%PDF")
    refused = cli("study", "figures", study, "2")
    assert refused.returncode == 2
    assert "unknown figure `2`" in refused.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("claims.toml", 'loss = 1e-4,', 'whole = "losses",', "has no axis `losses`"),
        ("claims.toml", 'loss = 1e-4,', 'each = "loss", then = "count",', "need above= or below="),
        ("claims.toml", 'loss = 1e-4,', 'then = "mean",', "then needs each"),
        ("claims.toml", 'loss = 1e-4,', 'each = "loss", then = "most",', "found `most`"),
        ("claims.toml", "measure", "measur", "unknown key `measur`"),
        ("claims.toml", 'metric = "', 'metrik = "', "missing metric"),
        ("claims.toml", 'measure    = "value"', 'measure    = "valu"', "did you mean `value`?"),
        ("claims.toml", "algorithm", "algorythm", "has no axis `algorythm`"),
        ("figures.toml", 'axis        = "', 'axes        = "', "did you mean `axis`?"),
        ("figures.toml", '"loss"]', '"no"]', "no experiment is called `no`"),
        ("experiments.toml", "factors = { loss", "axes = { loss", "axes: now called `factors`"),
        ("experiments.toml", "factors = { loss", "faktors = { loss", "did you mean `factors`?"),
        ("experiments.toml", "path =", "pat =", "did you mean `path`?"),
        ("experiments.toml", "responses =", "responce =", "did you mean `responses`?"),
        ("experiments.toml", "links.bottleneck.utilization", "links.bottleneck.utilisation",
         "`utilisation` is now called `utilization`"),
    ],
)  # fmt: skip
def test_a_bad_declaration_is_refused_before_anything_runs(
    file: str, old: str, new: str, message: str, study: Path, cli: CommandLine
) -> None:
    text = (study / file).read_text()
    assert old in text
    (study / file).write_text(text.replace(old, new))
    ran = cli("study", "run", study)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert str(study) in ran.stderr
    assert not Path("studies").exists()


def data() -> Data:
    """Return results of two experiments over queues and numbers of flows."""
    rows = [
        {"experiment": name, "replication": 0, "queue": queue, "n": n, "rate": rate * n}
        for name, queue, rate in (("A", "red", 1.0), ("A", "droptail", 3.0), ("B", "red", 2.0))
        for n in (1, 2, 4)
    ]
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("queue", "n"))


@pytest.mark.parametrize(
    ("take", "where", "expected"),
    [
        ("value", {"queue": "red", "n": 2}, 2.0),
        ("value", {"queue": "red", "n": 4, "over.n": 1}, 4.0),
        ("value", {"queue": "red", "n": 4, "less.of": "B"}, -4.0),
        ("largest", {}, 12.0),
        ("least", {"n": "2.."}, 2.0),
        ("middle", {"queue": "red"}, 2.0),
        ("mean", {"queue": "red", "n": "..2"}, 1.5),
        ("range", {"each": "queue"}, 9.0),
        ("range", {"each": "queue", "then": "least"}, 3.0),
        ("spread", {"queue": "droptail"}, 4.0),
        ("fall", {"queue": "red", "along": "n"}, -3.0),
        ("fall", {"queue": "droptail", "along": "n", "against.queue": "red"}, 3.0),
        ("ends", {"queue": "red", "along": "n"}, 4.0),
        ("trend", {"queue": "droptail", "along": "n", "less.queue": "red"}, 1.0),
        ("share", {"queue": "droptail", "over.queue": "red"}, 1.0),
        ("share", {"queue": "red", "less.of": "B"}, 0.0),
        ("furthest", {"queue": "red", "over.of": "B"}, 0.5),
        ("best", {"queue": "red", "along": "n"}, 4.0),
        # Words select levels or exclude them; several metrics give their mean.
        ("mean", {"queue": "red", "n": "1,4"}, 2.5),
        ("largest", {"queue": "!droptail"}, 4.0),
        ("mean", {"queue": "red", "n": "!1,2"}, 4.0),
        ("value", {"queue": "red", "n": 2, "metric": "rate,n"}, 2.0),
        # `then` takes a group's mean, or the count or share of its numbers beyond a bound.
        ("least", {"each": "queue", "then": "mean"}, 2.0),
        ("largest", {"each": "n", "then": "count", "above": 5}, 2.0),
        ("largest", {"each": "n", "then": "share", "below": 5}, 1 / 3),
        (
            "mean",
            {"queue": "droptail", "against.queue": "red", "each": "n", "then": "count", "above": 2},
            3.0,
        ),
        # Arithmetic includes axes; `r*` selects by prefix; one level is compared with several.
        ("value", {"queue": "red", "n": 2, "metric": "abs(1-rate)*n/(rate+2e0)"}, 0.5),
        ("value", {"queue": "r*", "n": 4}, 4.0),
        ("least", {"queue": "red", "n": 4, "less.n": "1,2"}, 2.0),
        ("largest", {"queue": "red", "n": "1,2", "over.n": 4}, 0.5),
        ("largest", {"of": "B", "n": 2, "queue": "red", "less.of": "A,B", "less.n": 1}, 3.0),
        # Metrics may form groups.
        ("largest", {"queue": "droptail", "metric": "rate,n", "each": "metric"}, 12.0),
        (
            "mean",
            {"queue": "droptail", "metric": "rate,n", "each": "metric,n", "then": "middle"},
            3.5,
        ),
        # Each place of an order is divided by the next; places may be shared, or have all others.
        ("mean", {"each": "n", "order": "4>2>1", "then": "least"}, 2.0),
        ("mean", {"each": "n", "order": "2+4>1", "then": "least"}, 2.0),
        ("mean", {"each": "n", "order": "4>*", "then": "largest"}, 2.0),
        ("mean", {"each": "n", "order": "*>4", "then": "least"}, 0.25),
        # Missing levels of a shared place are left out.
        ("value", {"queue": "red", "each": "n", "order": "4+8>*", "then": "least"}, 2.0),
        # Points selected by another metric, on either side; correlations with other values.
        ("mean", {"when.rate": "3.."}, 6.25),
        ("value", {"queue": "red", "when.rate": "4..", "over.n": 2, "over.when.rate": ""}, 2.0),
        ("trend", {"queue": "red", "with.metric": "1/rate"}, -1.0),
        ("trend", {"queue": "red", "with.of": "B"}, 1.0),
        ("correlation", {"queue": "red", "with.metric": "1-3*rate"}, -1.0),
        ("correlation", {"queue": "red", "with.metric": "rate*rate"}, 0.98974),
        # An experiment with a single queue may be compared with any queue of another.
        ("value", {"of": "B", "n": 2, "over.of": "A", "over.queue": "droptail"}, 2 / 3),
    ],
)
def test_what_a_claim_may_declare(
    take: str, where: dict[str, str | float], expected: float
) -> None:
    words = {"of": "A", "metric": "rate", **where}
    assert DECLARED[take](data(), **words) == pytest.approx(expected, rel=1e-4)


def test_single_runs_and_comparisons_in_each_replication() -> None:
    rows = [
        {"experiment": "A", "replication": number, "queue": queue, "rate": base + 10.0 * number}
        for number, bases in enumerate(((1.0, 2.0), (1.0, 2.0), (1.0, 5.0)))
        for queue, base in zip(("red", "droptail"), bases, strict=True)
    ]
    runs = Data(pl.DataFrame(rows), pl.DataFrame(), ("queue",))
    of_runs = {"of": "A", "metric": "rate", "queue": "red", "runs": "each"}
    assert DECLARED["largest"](runs, **of_runs) == 21.0
    assert DECLARED["ninth_decile"](runs, **of_runs) == pytest.approx(19.0)
    assert DECLARED["largest"].question(of_runs, ("A",)).is_extreme
    assert not DECLARED["ninth_decile"].question(of_runs, ("A",)).is_extreme
    beside = {"of": "A", "metric": "rate", "queue": "droptail", "less.queue": "red"}
    # The medians are 12 and 11; the differences by replication are 1, 1 and 4.
    assert DECLARED["value"](runs, **beside) == DECLARED["value"](runs, **beside, by="replication")
    assert DECLARED["mean"](runs, **beside, runs="each") == 2.0
    alike = {"of": "A", "metric": "rate", "runs": "each", "each": "replication"}
    assert DECLARED["range"](runs, **alike, then="count", above=1) == 1.0


# Questions read only the axes of experiments.
EXPERIMENTS = {"A": cast(Experiment, SimpleNamespace(axes=("queue", "n"), columns=()))}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"metric": "rate+"}, "expected metrics, numbers"),
        ({"metric": "max(rate)"}, "expected metrics, numbers"),
        ({"runs": "all"}, "runs: expected each, found `all`"),
        ({"by": "run"}, "by: expected replication"),
        ({"by": "replication"}, "either less. or over."),
        ({"by": "replication", "less.queue": "red", "metric": "rate/n"}, "no arithmetic"),
        ({"order": "red>droptail", "then": "least"}, "then needs each"),
        ({"order": "red>droptail", "each": "queue"}, "order needs each, of one axis, and then"),
        ({"along": "n", "with.metric": "delay"}, "along and with. do not go together"),
        ({"each": "replication"}, "A has no axis `replication`"),
    ],
)
def test_words_that_do_not_go_together_are_refused(where: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DECLARED["mean"].question({"of": "A", "metric": "rate", **where}, ("A",)).check(EXPERIMENTS)


@pytest.mark.parametrize(
    ("take", "where", "message"),
    [
        ("value", {"queue": "red"}, "3 values are there, not one"),
        ("trend", {"along": "n"}, "several values for each n"),
        ("trend", {"queue": "red", "along": "n", "n": "2.."}, "a trend needs 3 points"),
        ("least", {"queue": "codel"}, "was not run at"),
        ("least", {"when.rate": "100.."}, "A has no rate at {'when.rate': '100..'}"),
        ("mean", {"each": "n", "order": "8>*", "then": "least"}, "not every place of 8>"),
        ("correlation", {"n": "2..", "queue": "red", "with.of": "B"}, "needs 3 points"),
        ("best", {"n": "1,2", "queue": "red", "with.n": "4.."}, "no points in common"),
        ("least", {"less.of": "C"}, "C was not run"),
        ("least", {"queue": "red", "less.queue": "", "n": 2}, "several values to compare with"),
    ],
)
def test_what_is_not_there_is_not_run(
    take: str, where: dict[str, str | float], message: str
) -> None:
    with pytest.raises(NotRunError, match=message):
        DECLARED[take](data(), **{"of": "A", "metric": "rate", **where})


@pytest.mark.parametrize("lacking", [None, nan])
def test_points_that_lack_a_metric_are_not_left_out(lacking: float | None) -> None:
    rows = [
        {"experiment": name, "replication": 0, "n": n, "rate": rate, "delay": delay}
        for name, n, rate, delay in (
            ("A", 1, 1.0, 2.0),
            ("A", 2, lacking, 4.0),
            ("B", 1, 3.0, lacking),
        )
    ]
    gaps = Data(pl.DataFrame(rows), pl.DataFrame(), ("n",))
    refused: list[tuple[dict[str, str | float], str]] = [
        ({"of": "A"}, "A has no rate at {'n': 2}"),
        ({"of": "A", "metric": "delay/rate"}, "A has no rate at {'n': 2}"),
        ({"of": "A", "metric": "delay", "when.rate": "..5"}, "A has no rate at .*'n': 2"),
        ({"of": "A", "over.metric": "delay"}, "A has no rate at {'n': 2}"),
        ({"of": "A,B", "metric": "delay"}, "B has no delay at {}"),
        ({"of": "A", "each": "n", "then": "share", "above": 0.5}, "A has no rate at {'n': 2}"),
        ({"of": "B", "metric": "loss"}, "B has no loss at {}"),
    ]
    for where, message in refused:
        with pytest.raises(NotRunError, match=message):
            DECLARED["mean"](gaps, **{"metric": "rate", **where})
    # Points that are not selected may lack the metric.
    assert DECLARED["mean"](gaps, of="A", metric="rate", n=1) == 1.0
    assert DECLARED["mean"](gaps, **{"of": "A", "metric": "rate", "when.delay": "..3"}) == 1.0


@pytest.mark.parametrize(
    ("take", "where", "kind"),
    [
        ("mean", {}, ""),
        ("least", {}, "least"),
        ("furthest", {"over.queue": "red"}, "largest"),
        ("share", {"less.queue": "red"}, "share"),
        ("value", {"each": "n", "then": "count", "above": 1}, "count"),
        # With two axes, a level of n may count once for each queue.
        ("value", {"each": "n,queue", "then": "count", "above": 1}, ""),
        ("value", {"each": "n,queue", "then": "share", "above": 1}, "share"),
        ("mean", {"each": "queue", "then": "count", "above": 1}, ""),
        ("mean", {"each": "queue", "then": "share", "above": 1}, ""),
        # A share of queues is no share of levels of n.
        ("share", {"less.queue": "red", "each": "queue", "then": "share", "above": 0.5}, ""),
        ("least", {"each": "queue", "then": "least"}, "least"),
        ("least", {"each": "queue"}, ""),
        # This is the smallest value of some levels of n over the largest of others.
        ("value", {"each": "n", "order": "4>*", "then": "least"}, "least"),
        ("value", {"each": "n", "order": "4>2>1", "then": "largest"}, "least"),
        # These questions ask which side is larger.
        ("mean", {"each": "queue", "order": "red>*", "then": "least"}, "ratio"),
        ("mean", {"over.queue": "red"}, "ratio"),
        ("mean", {"less.queue": "red"}, "sign"),
        ("least", {"against.queue": "red"}, "ratio"),
        ("mean", {"against.queue": "red", "each": "n", "then": "mean"}, "ratio"),
        ("trend", {"with.metric": "delay"}, "sign"),
        # The size of a difference is not a question of the larger side.
        ("spread", {"over.queue": "red"}, ""),
    ],
)
def test_what_some_levels_of_an_axis_show(
    take: str, where: dict[str, str | float], kind: str
) -> None:
    question = DECLARED[take].question({"of": "A", "metric": "rate", **where}, ("A",))
    assert question.kind("n") == kind


def test_an_unreadable_file_is_named(study: Path) -> None:
    (study / "claims.toml").write_text("[[claims\n")
    with pytest.raises(longhaul.ScenarioError, match=r"claims\.toml: "):
        _ = find(str(study)).claims
