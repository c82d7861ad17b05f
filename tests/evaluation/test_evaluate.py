"""Suites, contenders, and one small experiment that is evaluated from end to end."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CommandLine

from longhaul.evaluation import page, scores, verdicts
from longhaul.evaluation.contenders import Contender, ContenderError, contender, field
from longhaul.evaluation.run import evaluate
from longhaul.evaluation.suite import Suite, find, suites
from longhaul.files.classes import ClassError

pytestmark = pytest.mark.usefixtures("workers_here")

AIMD = """
from longhaul.congestion import Ack, Congestion, CongestionControl, Window


class Aimd(CongestionControl):
    def on_ack(self, ack: Ack, window: Window) -> None:
        window.grow(ack.credit / window.cwnd)

    def on_congestion(self, event: Congestion, window: Window) -> None:
        window.reduce_to(event.base / 2)
"""


def _any(suite: str) -> Contender:
    """Return a contender that the suite can evaluate."""
    subject = find(suite).terms.subject
    return contender({"algorithm": "cubic", "discipline": "codel"}[subject], subject)


@pytest.mark.parametrize("name", suites())
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_scenario_of_a_suite_is_valid(name: str, scale: str) -> None:
    runs = find(name).runs([_any(name)], scale)
    first = [run for run in runs if run.replication == 0]
    assert len({run.key for run in first}) == len(first)


@pytest.mark.parametrize("name", suites())
def test_replications_differ(name: str) -> None:
    """Check that every run draws random numbers; otherwise all replications would be equal."""
    for run in find(name).runs([_any(name)], "quick"):
        written = json.dumps(run.scenario)
        drawn = ("uniform", "exponential", "bernoulli", '"abt"')
        assert any(word in written for word in drawn), run.name


@pytest.mark.parametrize("name", suites())
def test_criteria_are_in_the_order_of_the_document(name: str) -> None:
    sections = [one.section for one in find(name).criteria]
    assert sections == sorted(sections, key=lambda text: [int(part) for part in text.split(".")])
    assert len(set(sections)) == len(sections)


def test_some_criteria_alone_need_their_experiments_alone(cli: CommandLine) -> None:
    part = find("rfc9743").only(["5.1.3", "5.1.1"])
    assert [one.section for one in part.criteria] == ["5.1.1", "5.1.3"]
    assert set(part.experiments) == {"collapse", "loss"}
    refused = cli("evaluate", "reno", "--only", "5.1.3,5.9")
    assert refused.returncode == 2
    assert "no criterion `5.9`; there are: 5.1.1, 5.1.2" in refused.stderr
    refused = cli("evaluate", "reno", "--only", "5.3.2")
    assert "5.3.2: not evaluated: " in refused.stderr, refused


@pytest.mark.parametrize("name", suites())
def test_levels_of_figures_exist(name: str) -> None:
    """Check that experiments have the levels that figures select with `where`."""
    suite = find(name)
    for criterion in suite.criteria:
        for figure in criterion.figures:
            for axis, levels in figure.where.items():
                for experiment in figure.experiments or criterion.experiments:
                    known = suite.experiments[experiment].levels(axis, "quick")
                    assert set(levels) <= set(known)


def test_a_file_with_one_class_needs_no_name(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(AIMD)
    assert contender(str(mine)) == contender(f"{mine}:Aimd")
    mine.write_text(AIMD + "class Other(CongestionControl):\n    pass\n")
    with pytest.raises(ClassError, match="found Aimd, Other; say which"):
        contender(str(mine))


def test_an_algorithm_may_have_parameters() -> None:
    found = contender('{ kind = "cubic", decrease = 0.2 }')
    assert found.table == {"kind": "cubic", "decrease": 0.2}
    assert found.name == "cubic decrease=0.2"
    for written in ("{ decrease = 0.2 }", "{ kind = ", "{ kind = 3 }"):
        with pytest.raises(ContenderError):
            contender(written)


def test_the_subject_is_not_compared_with_itself() -> None:
    terms = find("rfc9743").terms
    standards = terms.standards
    whole = field(contender("cubic"), terms.against, standards)
    assert [one.name for one in whole] == ["cubic", "reno", "bbr3"]
    twice = field(contender("hstcp"), ["reno", "reno", "cubic"], standards)
    assert [one.name for one in twice] == ["hstcp", "reno", "cubic"]
    for subject in ("hstcp", '{ kind = "cubic", decrease = 0.2 }'):
        with pytest.raises(ContenderError, match="expected one of cubic, reno"):
            field(contender(subject), ["bbr3"], standards)


def test_contenders_have_different_names(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(AIMD)
    second.write_text(AIMD)
    # The same class may be written twice.
    found = field(contender("cubic"), [str(first), f"{first}:Aimd"], ["cubic"])
    assert [one.name for one in found] == ["cubic", "Aimd"]
    with pytest.raises(ContenderError, match=r"second\.py: another contender has the name Aimd"):
        field(contender("cubic"), [str(first), str(second)], ["cubic"])


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "not JSON", '{"algorithm": "cubic"}'])
def test_a_directory_with_another_summary_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(ContenderError, match=r"summary\.json: expected the summary of an"):
        scores.check_target(tmp_path, contender("cubic"))


def _small(suite: Suite, *names: str) -> Suite:
    """Return the suite with experiments `names`, one replication of each, and their criteria."""
    experiments = {
        name: replace(suite.experiments[name], replications={"quick": 1}) for name in names
    }
    criteria = tuple(c for c in suite.criteria if set(c.experiments) <= set(names))
    return replace(suite, experiments=experiments, criteria=criteria)


def test_an_evaluation_of_a_python_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(AIMD)
    suite = _small(find("rfc9743"), "constrained", "policer")
    subject = contender(str(mine))
    contenders = field(subject, ["reno"], suite.terms.standards)
    store = tmp_path / "store"
    measured, progress = evaluate(suite, contenders, store, workers=1)
    assert not progress.failed
    assert progress.finished == len(measured) == 8
    again, progress = evaluate(suite, contenders, store, workers=1)
    assert (progress.finished, again) == (0, measured)

    outcomes = verdicts.judge(suite, measured, "Aimd", ["reno"])
    by_section = {outcome.criterion.section: outcome for outcome in outcomes}
    # AIMD with halving is Reno's law, except for the initial window and the counting of ACKs.
    assert by_section["7.4"].verdict != verdicts.WORSE
    assert by_section["5.3.1"].verdict == verdicts.NOT

    scores.write_scores(tmp_path / "scores.csv", suite, outcomes)
    with (tmp_path / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    goodput = [row for row in rows if row["figure"] == "main.goodput_bps"]
    assert {row["algorithm"] for row in goodput} == {"Aimd", "reno"}
    assert all(5e6 < float(row["mean"]) < 10e6 for row in goodput)

    whole = scores.summary(suite, subject, "quick", outcomes)
    assert json.loads(json.dumps(whole))["failed"] == []
    # Classes of one name in different files need different directories.
    scores.write_summary(tmp_path / "summary.json", whole)
    scores.check_target(tmp_path, subject)
    other = tmp_path / "other.py"
    other.write_text(AIMD)
    with pytest.raises(ContenderError, match=r"mine\.py:Aimd; choose another directory"):
        scores.check_target(tmp_path, contender(str(other)))
    facts = {
        "against": ["reno"], "standards": ["reno"], "runs": 8, "failed": [], "settings": [],
        "table": subject.table, "replications": 1, "command": "", "date": "2026-11-26",
    }  # fmt: skip
    page.write(tmp_path / "report.html", suite, "Aimd", "quick", outcomes, facts)
    html = (tmp_path / "report.html").read_text()
    assert "7.2 Circuit breakers" in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_what_cannot_be_evaluated_is_refused_before_anything_runs(
    cli: CommandLine, tmp_path: Path
) -> None:
    for arguments, message in (
        (["cubik"], "did you mean `cubic`"),
        (["cubic", "--suite", "rfc1"], "there are: rfc7928, rfc9743, tcpeval"),
        (["cubic", "--scale", "huge"], "expected quick or full"),
        (["missing.py"], "missing.py: No such file"),
        (["cubic", "--set", "duration=3"], "error: --set duration: the unit is missing after"),
        (
            ["coddel", "--suite", "rfc7928"],
            "unknown queue discipline `coddel` (did you mean `codel`?)",
        ),
        (
            ["codel", "--suite", "rfc7928", "--against", "pie"],
            "--against: expected droptail, which",
        ),
        (
            ['{ kind = "codel", limit = "3 packets" }', "--suite", "rfc7928"],
            "--set topology.dumbbell.bottleneck.queue.limit=LIMIT",
        ),
    ):
        done = cli("evaluate", *arguments)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
    assert not list(tmp_path.iterdir())
