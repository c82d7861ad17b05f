"""Files of a study: conclusions, readings, claims, refused files, and selection of runs."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_study_verdicts import claim

from longhaul._engine import LonghaulError
from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, REPRODUCED, UNDECIDED
from longhaul.studies import conclusions, reading, study
from longhaul.studies.claims import Claim, read_claims
from longhaul.studies.conclusions import Column, Conclusion, Conclusions, Summary
from longhaul.studies.errors import StudyError
from longhaul.studies.judgement import Judgement
from longhaul.studies.partial import CoveredLevels
from longhaul.studies.study import Study

CONCLUSIONS = """
title = "What is concluded"
[[questions]]
question = "Which?"
source   = "p. 1"
answer   = "None."
claims   = ["A*"]
note     = "a note"
[[conclusions]]
id     = "K-1"
about  = ["Reno", "BIC"]
text   = "It is so."
source = "p. 2"
claims = ["A1", "B?"]
"""
SUMMARY = """
[summary]
title   = "Table 1"
rows    = ["Reno", "BIC"]
columns = [
    { title = "word", printed = { Reno = "good", BIC = "bad" } },
    { title = "number", printed = { Reno = "1", BIC = "2" }, claims = { BIC = "A1" } },
]
"""


def own(folder: Path, name: str, text: str, claims: str = "A1 A2 B1") -> Any:  # noqa: ANN401
    """Write the file `name` of a study in `folder`, and return a study with the named `claims`."""
    (folder / name).write_text(text)
    named = [SimpleNamespace(id=one) for one in claims.split()]
    return SimpleNamespace(path=folder, claims=named)


QUESTION = Conclusion("Which?", "None.", "p. 1", (), ("A*",), "a note")
FIRST = Conclusion("K-1", "It is so.", "p. 2", ("Reno", "BIC"), ("A1", "B?"))


def test_conclusions_are_read_with_questions_and_summary(tmp_path: Path) -> None:
    plain = own(tmp_path, "conclusions.toml", CONCLUSIONS)
    assert conclusions.read(plain) == Conclusions(
        "What is concluded", (QUESTION,), None, (FIRST,)
    )  # fmt: skip
    columns = (
        Column("word", {"Reno": "good", "BIC": "bad"}, {}),
        Column("number", {"Reno": "1", "BIC": "2"}, {"BIC": "A1"}),
    )
    whole = own(tmp_path, "conclusions.toml", 'title = "T"\n' + SUMMARY)
    summary = Summary("Table 1", ("Reno", "BIC"), columns)
    assert conclusions.read(whole) == Conclusions("T", (), summary, ())
    conclusions.check(whole)
    (tmp_path / "conclusions.toml").unlink()
    assert conclusions.read(plain) is None
    conclusions.check(plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'title'"), ("title = ", "Invalid value"),
        (CONCLUSIONS.replace("answer", "answr"),
         "questions: Which?: expected the keys question, source, answer, claims (and note), found "
         "question, source, answr, claims, note"),
        (CONCLUSIONS.replace('id     = "K-1"\n', ""),
         "conclusions: one: expected the keys id, about, text, source, claims (and note), found "
         "about, text, source, claims"),
    ],
)  # fmt: skip
def test_what_is_no_conclusion_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as refused:
        conclusions.read(own(tmp_path, "conclusions.toml", text))
    assert str(refused.value).startswith(f"{tmp_path / 'conclusions.toml'}: {message}")


@pytest.mark.parametrize(
    ("text", "claims", "missing"),
    [
        (CONCLUSIONS + SUMMARY, "A1 B1", ""), (CONCLUSIONS, "B1", "Which?: there is no claim `A*`"),
        (CONCLUSIONS, "A2 B1", "K-1: there is no claim `A1`"),
        (CONCLUSIONS, "A1", "K-1: there is no claim `B?`"),
        ('title = "T"\n' + SUMMARY, "A2", "Table 1: there is no claim `A1`"),
        ('title = "T"\n' + SUMMARY.replace("A1", "A*"), "A1", "Table 1: there is no claim `A*`"),
    ],
)  # fmt: skip
def test_conclusions_are_judged_by_claims_that_exist(
    text: str, claims: str, missing: str, tmp_path: Path
) -> None:
    of = own(tmp_path, "conclusions.toml", text, claims)
    if not missing:
        conclusions.check(of)
        return
    with pytest.raises(StudyError) as refused:
        conclusions.check(of)
    assert str(refused.value) == f"{tmp_path / 'conclusions.toml'}: {missing}"


def judged(name: str, verdict: str = REPRODUCED, source: str = "", **facts: Any) -> Judgement:  # noqa: ANN401
    """Return a judgement of a claim that needs the cells n = 1 and n = 2 of experiment E."""
    question: Any = SimpleNamespace(
        cells=lambda _, __="full": {("E", (("n", n),)): () for n in (1, 2)}
    )
    of = replace(claim(0, 1), id=name, source=source, question=question)
    measured = None if verdict == NOT_RUN else 0.25
    one = Judgement(of, measured, None, verdict, "full", 1)
    return replace(one, there=frozenset({("E", (("n", 2),))}), **facts)


EXPERIMENT = SimpleNamespace(axes=("n",), replications={}, levels=lambda *_: [1, 2])
STUDY: Any = SimpleNamespace(experiments={"E": EXPERIMENT})
PART = CoveredLevels("n", (1,), 2)


@pytest.mark.parametrize(
    ("judgements", "expected"),
    [
        # The last numbers are needed runs, judged statements and all statements.
        ([judged("A1"), judged("A2", NOT_RUN), judged("C")],
         ("agrees so far", UNDECIDED, ("E: n 2 (1 of 2 runs)",), 2, 1, 2)),
        ([judged("A1"), judged("A2", source="set-up")],
         ("agrees", REPRODUCED, ("E: n 2 (1 of 2 runs)",), 2, 1, 1)),
        ([judged("A1", source="set-up")], ("configured", NOT_RUN, (), 0, 0, 0)),
        ([judged("C")], ("not measured", NOT_RUN, (), 0, 0, 0)),
        ([judged("A1", NOT_RUN)], ("not run", NOT_RUN, (), 2, 0, 1)),
        ([judged("A1", is_partial=True)], ("agrees so far", UNDECIDED, ("E: n 2 (1 of 2 runs)",),
                                           2, 1, 1)),
        # Undecided statements are open, not undecided so far.
        ([judged("A1", UNDECIDED), judged("A2", NOT_RUN)],
         ("open", UNDECIDED, ("E: n 2 (1 of 2 runs)",), 2, 1, 2)),
        ([judged("A1", part=PART), judged("A2", part=PART), judged("A3", CONTRADICTED)],
         ("2 of 3 statements hold", CONTRADICTED, ("on 1 of 2 ns of E", "E: n 2 (1 of 2 runs)"),
          2, 3, 3)),
        ([judged("A1", part=CoveredLevels("n", (1, 2), 2))],
         ("agrees", REPRODUCED, ("E: n 2 (1 of 2 runs)",), 2, 1, 1)),
    ],
)  # fmt: skip
def test_an_outcome_is_that_of_the_claims_that_a_conclusion_names(
    judgements: list[Judgement], expected: tuple[Any, ...]
) -> None:
    found = conclusions.outcome(STUDY, replace(FIRST, claims=("A*",)), judgements)
    assert (found.verdict, found.worst, found.needs, found.there, found.claims) == (
        *expected[:2], *expected[3:]
    )  # fmt: skip
    assert found.rests_on == expected[2]


def test_a_summary_has_our_number_beside_the_printed_one() -> None:
    summary = Summary(
        "T", ("Reno", "BIC"),
        (Column("word", {"Reno": "good", "BIC": "bad"}, {}),
         Column("number", {"Reno": "1", "BIC": "2"}, {"BIC": "A1"})),
    )  # fmt: skip
    empty = {"measured": "", "verdict": "", "claim": ""}
    assert conclusions.summary_rows(summary, [judged("A2"), judged("A1", CONTRADICTED)]) == [
        [{"printed": "good", **empty}, {"printed": "1", **empty}],
        [{"printed": "bad", **empty},
         {"printed": "2", "measured": "0.25", "verdict": CONTRADICTED, "claim": "A1"}],
    ]  # fmt: skip


READING = """
whole = ["section 1", "section 2"]
[[not_claims]]
source    = "p. 3"
statement = "It is old."
reason    = "No run tests it."
"""


def test_sections_that_were_read_and_statements_that_are_no_claims_are_listed(
    tmp_path: Path,
) -> None:
    found = reading.read(own(tmp_path, "reading.toml", READING))
    row = reading.NotAClaim("p. 3", "It is old.", "No run tests it.")
    assert found == reading.Reading(("section 1", "section 2"), (row,))
    short = reading.read(own(tmp_path, "reading.toml", "whole = []\n"))
    assert short == reading.Reading((), ())
    (tmp_path / "reading.toml").unlink()
    assert reading.read(own(tmp_path, "other.toml", "")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (READING.replace("reason ", "why "), "expected source, statement, reason, found source, "),
        ("", "'whole'"), ("whole", ""),
    ],
)  # fmt: skip
def test_what_is_no_reading_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as refused:
        reading.read(own(tmp_path, "reading.toml", text))
    assert str(refused.value).startswith(f"{tmp_path / 'reading.toml'}: {message}")


CLAIM = """
[[claims]]
id         = "C"
experiment = "E F"
measure    = "value"
statement  = "It is so."
source     = "p. 1"
where      = { metric = "loss", less = { n = 2 }, n = 1 }
value      = 2
tolerance  = "5 %"
"""


def claims(folder: Path, text: str, name: str = "claims.toml") -> list[Claim]:
    (folder / name).write_text(text)
    return read_claims(folder / name)


def test_a_claim_is_declared_with_its_words(tmp_path: Path) -> None:
    """Check a claim read from TOML; by default, it measures the first of its experiments."""
    [found] = claims(tmp_path, CLAIM)
    assert (found.id, found.experiments, found.measure) == ("C", ("E", "F"), "value")
    assert found.question.words == {"of": "E", "metric": "loss", "less.n": 2.0, "n": 1.0}
    assert (found.expected.low, found.expected.high, found.expected.printed) == (1.9, 2.1, 2.0)
    assert (found.expected.opposite, found.expected.rounding) == (None, 0.5)
    assert (found.tolerance, found.runs, found.sentence, found.narrower) == ("5 %", "", "", "")
    other = CLAIM.replace("where      = {", 'runs = "several"\nwhere = { of = "G",')
    [named] = claims(tmp_path, other)
    assert (named.question.words["of"], named.runs) == ("G", "several")


@pytest.mark.parametrize(
    ("value", "tolerance", "ends", "band"),
    [
        ("2", "5 %", "", (1.9, 2.1)), ("-2", "5 %", "", (-2.1, -1.9)), ("2", "0.5", "", (1.5, 2.5)),
        ("2", "0.5 s", "", (1.5, 2.5)), ("2", "5 % or 0.5 s", "", (1.5, 2.5)),
        ("20", "5 % or 0.5", "", (19.0, 21.0)), ("0.3", "10 %", "", (0.27, 0.33)),
        # A given band takes precedence over a tolerance.
        ("2", "5 %", "low = 1", (1.0, float("inf"))),
        ("2", "5 %", "high = 9", (-float("inf"), 9.0)),
        ("2", "as stated", "low = 0\nhigh = 3", (0.0, 3.0)),
    ],
)  # fmt: skip
def test_a_band_is_around_a_number_or_between_its_ends(
    value: str, tolerance: str, ends: str, band: tuple[float, float], tmp_path: Path
) -> None:
    text = CLAIM.replace("= 2\ntol", f"= {value}\n{ends}\ntol").replace('"5 %"', f'"{tolerance}"')
    [found] = claims(tmp_path, text)
    assert (found.expected.low, found.expected.high) == band


@pytest.mark.parametrize(
    ("value", "rounding"), [("2", 0.5), ("0.50", 0.005), ("100.0", 0.05), ("2e3", 500.0)]
)
def test_a_printed_number_is_as_precise_as_it_is_written(
    value: str, rounding: float, tmp_path: Path
) -> None:
    [found] = claims(tmp_path, CLAIM.replace("= 2\ntol", f"= {value}\ntol"))
    assert (found.expected.printed, found.expected.rounding) == (float(value), rounding)


def test_words_may_be_nested_twice(tmp_path: Path) -> None:
    text = CLAIM.replace("less = { n = 2 }", 'over = { n = 2, when = { loss = "0.1.." } }')
    [found] = claims(tmp_path, text)
    assert found.question.words["over.when.loss"] == "0.1.."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("statement ", "statment ", "C: unknown key `statment`: id, experiment, measure, where, "),
        ("source ", "runs ", "C: missing source"),
        ('id         = "C"\n', "", "claim 1: missing id"),
        ("[[claims]]", "[[claim]]", "missing 'claims'"), ("[[claims]]", "[[claims", ""),
        ('"value"', '"valu"', "C: claim C: no measure is called `valu` (did you mean `value`?)"),
        ("value      = 2", "high = 1\nlow = 2", "C: C: expected low <= high, at least one of them"),
        ('"5 %"', '"wide"', "C: C: expected low <= high, at least one of them finite"),
        ("value      = 2", "", "C: C: expected low <= high, at least one of them finite"),
        ("tolerance", 'runs = "0"\ntolerance',
         "C: runs: expected a number of runs, `several` or nothing, found `0`"),
        ("tolerance", 'runs = "few"\ntolerance', "C: runs: expected a number of runs, "),
        ("[[claims]]", "[claims]", "claims: expected tables, each below a line [[claims]]"),
        ('{ metric = "loss", less = { n = 2 }, n = 1 }', '"metric=loss"',
         "C: where: expected a table of words, found 'metric=loss'"),
        ('"E F"', '["E", "F"]', "C: experiment: expected text or a number, found ['E', 'F']"),
        ('"E F"', '""', "C: experiment: expected names of experiments, found ``"),
    ],
)  # fmt: skip
def test_what_is_no_claim_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in CLAIM
    with pytest.raises(LonghaulError) as refused:
        claims(tmp_path, CLAIM.replace(old, new))
    assert message in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'claims.toml'}")


def test_a_claim_has_one_name_in_all_files(tmp_path: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(CLAIM + CLAIM.replace('"C"', f'"{name}"'))
    with pytest.raises(LonghaulError) as refused:
        read_claims(tmp_path / "a.toml", tmp_path / "b.toml")
    assert str(refused.value) == f"{tmp_path / 'b.toml'}: claims given twice: C"


EXPERIMENTS = """
title  = "Title"
source = "Source"
[scenario]
duration = "2 s"
topology = { dumbbell = { bottleneck = { rate = "10 Mbps", delay = "5 ms" } } }
flows    = [{ label = "flow" }]
[common]
replications = { quick = 1, full = 2 }
[[experiments]]
id      = "E"
title   = "One"
factors = { n = { quick = [1], full = [1, 2] }, loss = [1e-4, 1e-3] }
set     = { "flows.flow.count" = "n" }
[[experiments]]
id         = "F"
title      = "Two"
on_request = true
factors    = { m = [1, 2] }
[[experiments]]
id    = "T"
title = "Theory"
scenario = { duration = "1 s" }
"""


@pytest.fixture
def link(tmp_path: Path) -> Study:
    (tmp_path / "experiments.toml").write_text(EXPERIMENTS)
    return Study("link", tmp_path)


def test_experiments_on_request_run_at_the_full_scale(link: Study) -> None:
    assert link.by_default("quick") == ["E", "T"]
    assert link.by_default("full") == ["E", "F", "T"]
    assert [one.name for one in link.chosen()] == ["E", "F", "T"]
    assert [one.name for one in link.chosen(["T", "E"])] == ["E", "T"]
    assert link.axes == ["n", "loss", "m"]
    with pytest.raises(StudyError, match=r"no experiment is called `G`; available: E, F, T"):
        link.chosen(["E", "G"])


def counted(runs: list[Any]) -> list[tuple[Any, ...]]:
    return [(one.experiment, one.replication, *one.cell.values()) for one in runs]


def test_runs_are_chosen_by_levels(link: Study) -> None:
    """Check that runs are selected by their levels, and ordered by replication.

    Experiments that do not have the axis of a given level are left out.
    """
    assert len(link.runs("full")) == 2 * (4 + 2 + 1)
    chosen = counted(link.runs("full", where={"loss": ["0.0001"], "n": ["2", "1"]}))
    assert chosen == [("E", number, n, 1e-4) for number in (0, 1) for n in (1, 2)]
    assert counted(link.runs("quick", ["F"])) == [("F", 0, 1), ("F", 0, 2)]
    assert counted(link.runs("full", ["F"], 1, {"m": ["2"]})) == [("F", 0, 2)]


@pytest.mark.parametrize(
    ("scale", "names", "where", "message"),
    [
        ("full", ["E"], {"m": ["1"]}, "no chosen experiment has the axis `m`: name F"),
        ("full", [], {"k": ["1"]}, "no axis is called `k`"),
        ("quick", [], {"n": ["2"]}, "n=2: only --scale full has this level; available: 1"),
        ("full", [], {"n": ["1", "3"]}, "no level of n is called `3`"),
        ("quick", [], {"loss": ["1"]}, "no level of loss is called `1`"),
    ],
)  # fmt: skip
def test_levels_that_no_run_has_are_refused(
    scale: str, names: list[str], where: dict[str, list[str]], message: str, link: Study
) -> None:
    with pytest.raises(StudyError) as refused:
        link.runs(scale, names, None, where)
    assert str(refused.value).startswith(message)


def test_a_cell_is_one_run_of_the_full_scale(link: Study) -> None:
    assert counted([link.cell("E", {"n": "2", "loss": "1e-4"})]) == [("E", 0, 2, 1e-4)]
    assert counted([link.cell("T", {})]) == [("T", 0)]
    for levels, message in (
        ({"n": "2"}, "E: expected one run, found 2; give loss of 0.0001, 0.001"),
        ({"n": "3", "loss": "1e-4"},
         "E: expected one run, found 0; give n of 1, 2; loss of 0.0001, 0.001"),
        ({"k": "3"}, "no axis is called `k`; available: n, loss"),
    ):  # fmt: skip
        with pytest.raises(StudyError) as refused:
            link.cell("E", levels)
        assert str(refused.value) == message


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "0"), (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"), (11, "0, 1, 2, ..., 10")],
)
def test_of_more_than_ten_levels_four_are_named(count: int, text: str) -> None:
    assert study._some(range(count)) == text


def test_claims_are_in_a_table_or_declared(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        study._claims_of(tmp_path)
    missing = f"{tmp_path / 'claims.csv'}: expected a file of the study, found none"
    assert str(refused.value) == missing
    (tmp_path / "claims.toml").touch()
    assert study._claims_of(tmp_path) == tmp_path / "claims.toml"
    (tmp_path / "claims.csv").touch()
    assert study._claims_of(tmp_path) == tmp_path / "claims.csv"
