"""What a part of a design shows of a statement about all of it: never more than it can."""

from pathlib import Path

import polars as pl
import pytest

from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from longhaul.studies import coverage
from longhaul.studies.data import Data
from longhaul.studies.ledger import Judgement, judge
from longhaul.studies.study import Study, StudyError, find

EXPERIMENTS = """
title     = "Losses"
source    = "none: an example"
responses = { loss = "links.bottleneck.loss_rate" }
[scenario]
duration = "1 s"
topology = { dumbbell = { bottleneck = { rate = "5 Mbps", delay = "5 ms" } } }
flows    = [{ label = "flow" }]
[[experiments]]
id      = "E"
title   = "Conditions"
[experiments.factors]
delay     = { path = "topology.dumbbell.bottleneck.delay", levels = [1e-3, 2e-3, 3e-3, 4e-3] }
algorithm = { path = "flows.flow.congestion.kind", levels = ["reno", "cubic"] }
"""
CLAIM = """
[[claims]]
id         = "C"
experiment = "E"
statement  = "A statement."
measure    = "{measure}"
where      = {{ metric = "loss", whole = "delay", {where} }}
{band}
source     = "derived: an example"
"""


def study_with(folder: Path, measure: str, where: str, band: str) -> Study:
    (folder / "experiments.toml").write_text(EXPERIMENTS)
    (folder / "claims.toml").write_text(CLAIM.format(measure=measure, where=where, band=band))
    return find(str(folder))


def data(losses: dict[str, list[float | None]]) -> Data:
    """Losses of each algorithm at the first levels of the delay."""
    rows = [
        {"experiment": "E", "delay": (level + 1) * 1e-3, "algorithm": name, "replication": 0,
         "loss": loss}
        for name, column in losses.items() for level, loss in enumerate(column) if loss is not None
    ]  # fmt: skip
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("delay", "algorithm"))


RENO = 'algorithm = "reno"'
HIGHER = 'algorithm = "cubic", each = "delay", then = "{}", above = 1.1, over.algorithm = "reno"'


@pytest.mark.parametrize(
    ("measure", "where", "band", "losses", "verdict", "reason"),
    [
        # A mean over half of all says nothing certain of all, whether it is in the band or not.
        ("mean", RENO, "low = 1\nhigh = 3", {"reno": [1, 2]}, UNDECIDED,
         "on 2 of 4 delays, and in the band there"),
        ("mean", RENO, "low = 8\nhigh = 9", {"reno": [1, 2]}, UNDECIDED,
         "on 2 of 4 delays, and outside the band there"),
        ("mean", RENO, "low = 1\nhigh = 3", {"reno": [1, 2, 2, 3]}, REPRODUCED, ""),
        # What holds everywhere is not shown by some, and refuted by one.
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [1]}, UNDECIDED,
         "on 1 of 4 delays, and in the band there"),
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [4]}, OUTSIDE, "on 1 of 4 delays"),
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [6]}, CONTRADICTED,
         "on 1 of 4 delays"),
        # What holds somewhere is shown by one.
        ("largest", RENO, "low = 3\nopposite = 1", {"reno": [4]}, REPRODUCED, "on 1 of 4 delays"),
        ("least", RENO, "low = 3\nopposite = 1", {"reno": [4, 5]}, UNDECIDED,
         "on 2 of 4 delays, and in the band there"),
        # A count: two of three here; it is at least 2 and at most 3 of all.
        ("value", HIGHER.format("count"), "low = 2\nopposite = 1",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, REPRODUCED, "on 3 of 4 delays"),
        ("value", HIGHER.format("count"), "low = 3\nopposite = 1",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, UNDECIDED,
         "on 3 of 4 delays, and outside the band there"),
        ("value", HIGHER.format("count"), "low = 4\nopposite = 3",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, CONTRADICTED, "on 3 of 4 delays"),
        ("value", HIGHER.format("share"), "low = 0.9\nopposite = 0.2",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, OUTSIDE, "on 3 of 4 delays"),
        # A ratio of two smallest values may become larger as well as smaller.
        ("least", 'each = "algorithm", order = "reno>cubic", then = "least"',
         "low = 1\nopposite = 0.9", {"reno": [1, 2], "cubic": [2, 2]}, UNDECIDED,
         "on 2 of 4 delays, and the contrary there"),
        # A level at which one side is missing does not count as one that is there.
        ("value", HIGHER.format("count"), "low = 1\nopposite = 0",
         {"reno": [1, 1, 1], "cubic": [2, None]}, REPRODUCED, "on 1 of 4 delays"),
        ("value", HIGHER.format("count"), "low = 1\nopposite = 0", {"reno": [1, 1, 1]}, NOT_RUN,
         "on 0 of 4 delays"),
        # Levels that the statement is about.
        ("mean", 'algorithm = "reno", delay = "1e-3,2e-3"', "low = 1\nhigh = 2",
         {"reno": [1, 2]}, REPRODUCED, ""),
    ],
)  # fmt: skip
def test_a_part_shows_no_more_than_it_can(
    measure: str, where: str, band: str, losses: dict[str, list[float | None]], verdict: str,
    reason: str, tmp_path: Path,
) -> None:  # fmt: skip
    judgement = judged(study_with(tmp_path, measure, where, band), data(losses))
    assert (judgement.verdict, judgement.reason) == (verdict, reason)


def judged(study: Study, results: Data) -> Judgement:
    (judgement,) = judge(study, results, "full")
    return judgement


def test_what_a_claim_needs_is_said_in_words(tmp_path: Path) -> None:
    study = study_with(tmp_path, "value", HIGHER.format("count"), "low = 1\nopposite = 0")
    (claim,) = study.claims
    assert len(coverage.needed(study, claim)) == 8
    assert coverage.in_words(study, claim) == "E: all 4 delays, all 2 algorithms (8 runs)"
    found = judged(study, data({"reno": [1, 1], "cubic": [2]})).as_json()
    assert found["needs"] == "E: all 4 delays, all 2 algorithms (8 runs)"
    assert found["on"] == {"axis": "delay", "levels": [0.001], "of": 4}
    assert judged(study, data({"reno": [1]})).as_json()["measured"] is None


def test_whole_names_an_axis(tmp_path: Path) -> None:
    from longhaul.studies import parts

    study = study_with(tmp_path, "own", 'of = "E"', "low = 1\nopposite = 0")
    (tmp_path / "measures.py").write_text('MEASURES = {"own": lambda data, **where: 1.0}\n')
    (tmp_path / "claims.toml").write_text(
        (tmp_path / "claims.toml").read_text().replace('"delay"', '"flows"')
    )
    with pytest.raises(StudyError, match="whole=flows: expected an axis, of delay, algorithm"):
        parts.check(find(str(study.path)))
