"""The suite for queue disciplines (RFC 7928): its congestion levels, and a few scenarios."""

from dataclasses import replace
from pathlib import Path

import pytest

from longhaul.evaluation import page, scores, verdicts
from longhaul.evaluation.contenders import contender, field
from longhaul.evaluation.run import evaluate
from longhaul.evaluation.suite import Suite, find

pytestmark = pytest.mark.usefixtures("workers_here")

# Projected loss rates of drop-tail (RFC 7928, sections 8.2.2 to 8.2.4).
PROJECTED = {"mild": 0.001, "medium": 0.005, "heavy": 0.01}


def _part(*sections: str) -> Suite:
    """Return the suite with the criteria of these sections, and one replication per scenario."""
    suite = find("rfc7928").only(sections)
    experiments = {
        name: replace(one, replications={"quick": 1}) for name, one in suite.experiments.items()
    }
    return replace(suite, experiments=experiments)


def test_congestion_levels_are_those_of_the_rfc(tmp_path: Path) -> None:
    """Check drop-tail's loss rate at each congestion level of RFC 7928 against Morris's formula.

    The rates agree within a factor of two. The formula assumes that packets are lost one at a time,
    but drop-tail drops some 1.7 at a time.
    """
    suite = _part("8.2.2")
    droptail = contender("droptail", "discipline")
    measured, progress = evaluate(suite, [droptail], tmp_path, workers=1)
    assert not progress.failed
    dropped = {str(run.cell["congestion"]): run.figures["drop_rate"] for run in measured}
    for level, projected in PROJECTED.items():
        rate = dropped[level]
        assert rate is not None
        assert 0.5 * projected < rate < 2 * projected, level


def test_an_evaluation_of_a_discipline(tmp_path: Path) -> None:
    suite = _part("5.4", "10.2")
    subject = contender('{ kind = "codel", target = "5 ms" }', "discipline")
    terms = suite.terms
    contenders = field(subject, ["droptail"], terms.standards, terms.subject)
    measured, progress = evaluate(suite, contenders, tmp_path / "store", workers=1)
    assert not progress.failed
    outcomes = verdicts.judge(suite, measured, subject.name, terms.standards)
    by_section = {outcome.criterion.section: outcome for outcome in outcomes}
    # CoDel keeps the queue below LEDBAT's target, so that LEDBAT does not yield to NewReno: the
    # criterion of section 5.4 is meant to detect this.
    background = by_section["5.4"]
    assert background.verdict == verdicts.TRADE
    part = next(one for one in background.points if one.figure.name == "main.part")
    assert part.values["droptail"].mean > 0.9
    assert part.values[subject.name].mean < 0.6
    delay = next(one for one in by_section["10.2"].points if one.figure.name == "both.delay_p95_s")
    assert delay.verdict == verdicts.BETTER

    scores.write_scores(tmp_path / "scores.csv", suite, outcomes)
    heads = (tmp_path / "scores.csv").read_text().splitlines()[0].split(",")
    assert heads[5] == "discipline"
    whole = scores.summary(suite, subject, "quick", outcomes)
    assert whole["discipline"] == subject.name
    assert whole["queue"] == {"kind": "codel", "target": "5 ms"}
    facts = {
        "against": ["droptail"], "standards": ["droptail"], "runs": 4, "failed": [],
        "settings": [], "table": subject.table, "replications": 1, "command": "",
        "date": "2026-11-26",
    }  # fmt: skip
    page.write(tmp_path / "report.html", suite, subject.name, "quick", outcomes, facts)
    html = (tmp_path / "report.html").read_text()
    assert "By the criteria of RFC 7928" in html
    assert "RFC 9743" not in html
    assert "trade-off" in html


@pytest.mark.parametrize("name", ["red", "fq-codel", "cake", "cobalt", "pi", "fq-pie", "dualpi2"])
def test_other_disciplines_take_the_buffer_of_the_suite(name: str) -> None:
    """Check that the scenarios of RFC 7928's suite are valid with every queue discipline.

    The scenarios set the buffer size of the discipline.
    """
    runs = find("rfc7928").runs([contender(name, "discipline")], "quick")
    assert all(run.resolved for run in runs if run.replication == 0)
