"""Claims of incomplete studies: decided only if the missing runs cannot change the verdict."""

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path

import polars as pl
import pytest

from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from longhaul.studies import coverage
from longhaul.studies.data import Data
from longhaul.studies.errors import StudyError
from longhaul.studies.judgement import Judgement
from longhaul.studies.ledger import judge
from longhaul.studies.study import Study, find

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
where      = {{ metric = "loss", {where} }}
{band}
source     = "derived: an example"
"""
WHOLE = 'whole = "delay", '


def study_with(folder: Path, measure: str, where: str, band: str, whole: str = WHOLE) -> Study:
    (folder / "experiments.toml").write_text(EXPERIMENTS)
    where = f"{whole}{where}"
    (folder / "claims.toml").write_text(CLAIM.format(measure=measure, where=where, band=band))
    return find(str(folder))


def data(
    losses: Mapping[str, Sequence[float | None]], others: Sequence[Mapping[str, object]] = ()
) -> Data:
    """Return results with one run for each loss in `losses`, and the rows `others`.

    `losses` has a list for each algorithm: the loss rates at delays of 1 ms, 2 ms and so on.
    """
    rows = [
        run(level, name, loss)
        for name, column in losses.items()
        for level, loss in enumerate(column)
        if loss is not None
    ]
    return Data(pl.DataFrame([*rows, *others]), pl.DataFrame(), ("delay", "algorithm"))


def run(level: int, algorithm: str, loss: float | None, replication: int = 0) -> dict[str, object]:
    """Return the results of a run, whose delay is `level` + 1 ms, as a row."""
    return {"experiment": "E", "delay": (level + 1) * 1e-3, "algorithm": algorithm,
            "replication": replication, "loss": loss}  # fmt: skip


RENO = 'algorithm = "reno"'
OVER = 'algorithm = "cubic", over.algorithm = "reno"'
UNLIKE = "on 2 of 4 delays, which cannot be compared with all"
HIGHER = 'algorithm = "cubic", each = "delay", then = "{}", above = 1.1, over.algorithm = "reno"'


@pytest.mark.parametrize(
    ("measure", "where", "band", "losses", "verdict", "reason"),
    [
        # A mean over half of the levels decides nothing, in the band or not.
        ("mean", RENO, "low = 1\nhigh = 3", {"reno": [1, 2]}, UNDECIDED, UNLIKE),
        ("mean", RENO, "low = 8\nhigh = 9", {"reno": [1, 2]}, UNDECIDED, UNLIKE),
        ("mean", RENO, "low = 1\nhigh = 3", {"reno": [1, 2, 2, 3]}, REPRODUCED, ""),
        # A statement about every level is not proved by some levels, but refuted by one.
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [1]}, UNDECIDED,
         "on 1 of 4 delays, and in the band there"),
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [4]}, OUTSIDE, "on 1 of 4 delays"),
        ("largest", RENO, "high = 3\nopposite = 5", {"reno": [6]}, CONTRADICTED,
         "on 1 of 4 delays"),
        # A statement that some level satisfies is proved by one.
        ("largest", RENO, "low = 3\nopposite = 1", {"reno": [4]}, REPRODUCED, "on 1 of 4 delays"),
        ("least", RENO, "low = 3\nopposite = 1", {"reno": [4, 5]}, UNDECIDED,
         "on 2 of 4 delays, and in the band there"),
        # Two of three levels count, so the count over all four is 2 or 3.
        ("value", HIGHER.format("count"), "low = 2\nopposite = 1",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, REPRODUCED, "on 3 of 4 delays"),
        ("value", HIGHER.format("count"), "low = 3\nopposite = 1",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, UNDECIDED,
         "on 3 of 4 delays, and outside the band in proportion"),
        # Two of two suggest four of four, but one of one does not decide between 2 and 3.
        ("value", HIGHER.format("count"), "low = 4\nopposite = 2",
         {"reno": [1, 1], "cubic": [2, 2]}, UNDECIDED,
         "on 2 of 4 delays, and in the band in proportion"),
        ("value", HIGHER.format("count"), "low = 2\nhigh = 3", {"reno": [1], "cubic": [2]},
         UNDECIDED, "on 1 of 4 delays, which cannot be compared with all"),
        ("value", HIGHER.format("share"), "low = 0.9\nopposite = 0.2",
         {"reno": [1, 1], "cubic": [2, 1]}, OUTSIDE, "on 2 of 4 delays"),
        ("value", HIGHER.format("share"), "low = 0.7\nopposite = 0.2",
         {"reno": [1, 1], "cubic": [2, 1]}, UNDECIDED,
         "on 2 of 4 delays, and outside the band there"),
        # The smallest of two values may differ from the printed smallest of four.
        ("least", RENO, "low = 1\nhigh = 2", {"reno": [4, 5]}, UNDECIDED, UNLIKE),
        ("largest", RENO, "low = 8\nopposite = 6", {"reno": [4, 5]}, UNDECIDED, UNLIKE),
        # Some levels show an order, but not the size of a difference over all levels.
        ("mean", OVER, "low = 1\nopposite = 0.9", {"reno": [1, 1], "cubic": [2, 3]}, UNDECIDED,
         "on 2 of 4 delays, and in the band there"),
        ("mean", OVER, "low = 1\nopposite = 0.5", {"reno": [4, 4], "cubic": [3, 3]}, UNDECIDED,
         "on 2 of 4 delays, and outside the band there"),
        ("mean", OVER, "low = 1\nopposite = 0.9", {"reno": [4, 4], "cubic": [3, 3]}, UNDECIDED,
         "on 2 of 4 delays, and the contrary there"),
        ("mean", OVER, "low = 3\nopposite = 2", {"reno": [2, 2], "cubic": [3, 3]}, UNDECIDED,
         UNLIKE),
        ("mean", OVER, "low = 1.4\nhigh = 1.6", {"reno": [2, 2], "cubic": [3, 3]}, UNDECIDED,
         UNLIKE),
        ("value", HIGHER.format("count"), "low = 4\nopposite = 3",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, CONTRADICTED, "on 3 of 4 delays"),
        ("value", HIGHER.format("share"), "low = 0.9\nopposite = 0.2",
         {"reno": [1, 1, 1], "cubic": [2, 2, 1]}, OUTSIDE, "on 3 of 4 delays"),
        # A ratio of two smallest values may become larger as well as smaller.
        ("least", 'each = "algorithm", order = "reno>cubic", then = "least"',
         "low = 1\nopposite = 0.9", {"reno": [1, 2], "cubic": [2, 2]}, UNDECIDED,
         "on 2 of 4 delays, and the contrary there"),
        # A level without one of the two sides does not count.
        ("value", HIGHER.format("count"), "low = 1\nopposite = 0",
         {"reno": [1, 1, 1], "cubic": [2, None]}, REPRODUCED, "on 1 of 4 delays"),
        ("value", HIGHER.format("count"), "low = 1\nopposite = 0", {"reno": [1, 1, 1]}, NOT_RUN,
         "on 0 of 4 delays"),
        # The statement is about these levels only.
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
    assert len(claim.question.cells(study.experiments)) == 8
    cells = claim.question.cells(study.experiments)
    assert [*coverage.in_words(study, cells)] == ["E: all 4 delays, all 2 algorithms (8 runs)"]
    there = [cell for cell in cells if dict(cell[1])["delay"] < 2.5e-3]
    assert [*coverage.in_words(study, cells, there)] == [
        "E: delays 0.001, 0.002, all 2 algorithms (4 of 8 runs)"
    ]
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


RUNS_OF_ONE = "value = 2\nlow = 1\nhigh = 4\nopposite = 0.5\nruns = 1"


def test_a_part_shows_no_more_of_one_run(tmp_path: Path) -> None:
    """Check that a claim about four delays is undecided if only two of them were simulated."""
    study = study_with(tmp_path, "least", RENO, RUNS_OF_ONE)

    def losses(levels: Sequence[float]) -> Data:
        rows = [
            run(level, "reno", loss * (1 + 0.01 * replication), replication)
            for level, loss in enumerate(levels)
            for replication in range(5)
        ]
        return data({}, rows)

    partial = judged(study, losses([2, 2.5]))
    assert (partial.verdict, partial.interval_of) == (UNDECIDED, "one more run, normal")
    assert partial.reason == "on 2 of 4 delays, and in the band there"
    assert judged(study, losses([2, 0.1])).reason == "on 2 of 4 delays"
    for others, verdict in (((3.0, 3.0), REPRODUCED), ((0.1, 0.1), CONTRADICTED)):
        assert judged(study, losses([2, 2.5, *others])).verdict == verdict


def test_levels_that_are_numbers_or_text_are_recorded_as_text(tmp_path: Path) -> None:
    rows = [{**run(0, "reno", loss), "delay": delay} for delay, loss in (("5 ms", 1), ("0.002", 2))]
    study = study_with(tmp_path, "largest", RENO, "high = 3\nopposite = 5")
    text = EXPERIMENTS.replace("1e-3, 2e-3, 3e-3, 4e-3", '"5 ms", 2e-3, 3e-3')
    (tmp_path / "experiments.toml").write_text(text)
    found = judged(study, data({}, rows)).as_json()
    assert (found["on"], found["measured"]) == (
        {"axis": "delay", "levels": [0.002, "5 ms"], "of": 3}, 2
    )  # fmt: skip


@pytest.mark.parametrize("lacking", [None, nan])
def test_a_level_without_the_metric_is_not_there(lacking: float | None, tmp_path: Path) -> None:
    """Check that a run without a value of a claim's metric does not count as measured."""
    losses = data({"reno": [1, 2, 2]}, [run(3, "reno", lacking)])
    about_all = judged(study_with(tmp_path, "largest", RENO, "high = 3\nopposite = 5"), losses)
    assert (about_all.verdict, about_all.measured) == (UNDECIDED, 2)
    assert about_all.reason == "on 3 of 4 delays, and in the band there"
    share = HIGHER.format("share")
    beside = data({"reno": [1, 1], "cubic": [2]}, [run(1, "cubic", lacking)])
    assert judged(study_with(tmp_path, "value", share, "low = 0.9"), beside).measured == 1
    # Without `whole`, a claim cannot be judged on some levels.
    study = study_with(tmp_path, "largest", RENO, "high = 3\nopposite = 5", whole="")
    judgement = judged(study, losses)
    assert judgement.verdict == NOT_RUN
    assert judgement.reason == "E has no loss at {'algorithm': 'reno', 'delay': 0.004}"


def test_a_claim_on_some_of_its_runs_says_so(tmp_path: Path) -> None:
    """Check that a verdict from only some of a claim's runs states how many there were."""
    study = study_with(tmp_path, "largest", RENO, "high = 3\nopposite = 5", whole="")
    judgement = judged(study, data({"reno": [1, 2, 2]}))
    assert judgement.outcome == "reproduced: on 3 of 4 runs"
    assert judgement.is_partial
    every = judged(study, data({"reno": [1, 2, 2, 1]}))
    assert every.outcome == REPRODUCED
    assert not every.is_partial
    # At a scale with fewer levels, all of its runs suffice.
    (tmp_path / "experiments.toml").write_text(
        EXPERIMENTS.replace(
            "[1e-3, 2e-3, 3e-3, 4e-3]", "{ quick = [1e-3], full = [1e-3, 2e-3, 3e-3, 4e-3] }"
        )
    )
    (quick,) = judge(find(str(tmp_path)), data({"reno": [1]}), "quick")
    assert quick.outcome == REPRODUCED
