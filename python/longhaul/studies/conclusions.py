"""A source's conclusions, with the verdicts of our claims, from the optional `conclusions.toml`.

A conclusion lists the ids of the claims that decide it, or patterns of ids (`K-12*`). Its verdict
is no stronger than the verdicts of these claims. If the claims were simulated under some of the
conditions only, the conclusion agrees *so far*. A conclusion without any run is *not run*.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError
from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from longhaul.studies import coverage
from longhaul.studies.cells import Cell
from longhaul.studies.errors import StudyError
from longhaul.studies.judgement import Judgement
from longhaul.studies.ledger import number
from longhaul.studies.statements import statements
from longhaul.studies.study import Study

NAME = "conclusions.toml"
AGREES, DIFFERS, OPEN, CONFIGURED = "agrees", "differs", "open", "configured"
SO_FAR = "so far"
NO_CLAIM = "not measured"

# Optional key of both kinds of entries.
NOTE = "note"
KEYS = {
    "questions": ("question", "source", "answer", "claims"),
    "conclusions": ("id", "about", "text", "source", "claims"),
}


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the source, or its answer to a question, with the claims that test it."""

    title: str
    """Identifier of the conclusion in the source, or the question that the conclusion answers."""
    text: str
    source: str
    about: tuple[str, ...]
    claims: tuple[str, ...]
    note: str = ""
    """Condition under which our runs give the answer; may be empty."""


@dataclass(frozen=True)
class Column:
    """A column of the source's summarising table, with a printed word or number for each row."""

    title: str
    printed: Mapping[str, str]
    claims: Mapping[str, str]
    """Id of the claim that tests a row's printed number in this column, by name of the row.

    Rows that have a word instead of a number in this column are left out.
    """


@dataclass(frozen=True)
class Summary:
    """Table in which the source summarises its results, with our claims for the numbers."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Conclusions:
    """The conclusions of a study, and the source's summarising table if there is one."""

    title: str
    questions: tuple[Conclusion, ...]
    summary: Summary | None
    conclusions: tuple[Conclusion, ...]


@dataclass(frozen=True)
class Outcome:
    """Combined verdict of the claims that test a conclusion."""

    word: str
    """The verdict as text, without `so far`."""
    worst: str
    """Worst verdict of the claims, which determines the colour in reports."""
    is_part: bool
    """True if runs are missing, but the runs that exist decide at least one statement."""
    rests_on: tuple[str, ...]
    """Descriptions of the runs from which the verdict follows."""
    needs: int
    """Number of cells (combinations of levels) that the claims need."""
    there: int
    """Number of statements of which at least one claim was measured."""
    claims: int
    """Number of distinct statements that the claims test."""

    @property
    def verdict(self) -> str:
        """Verdict as text, followed by `so far` if runs are missing."""
        return f"{self.word} {SO_FAR}" if self.is_part else self.word


def read(study: Study) -> Conclusions | None:
    """Read the conclusions of a study; return None if the study has no `conclusions.toml`."""
    file = study.path / NAME
    if not file.is_file():
        return None
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        return Conclusions(
            given["title"],
            tuple(_question(file, row) for row in given.get("questions", [])),
            _summary(given["summary"]) if "summary" in given else None,
            tuple(_conclusion(file, row) for row in given.get("conclusions", [])),
        )
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ScenarioError(f"{file}: {error}") from None


def _question(file: Path, row: Mapping[str, Any]) -> Conclusion:
    _check(file, "questions", row)
    return Conclusion(
        row["question"], row["answer"], row["source"], (), tuple(row["claims"]), row.get(NOTE, "")
    )


def _conclusion(file: Path, row: Mapping[str, Any]) -> Conclusion:
    _check(file, "conclusions", row)
    return Conclusion(
        row["id"],
        row["text"],
        row["source"],
        tuple(row["about"]),
        tuple(row["claims"]),
        row.get(NOTE, ""),
    )


def _check(file: Path, kind: str, row: Mapping[str, Any]) -> None:
    if {*row, NOTE} != {*KEYS[kind], NOTE}:
        name = row.get("id", row.get("question", "one"))
        raise ScenarioError(
            f"{file}: {kind}: {name}: expected the keys {', '.join(KEYS[kind])} (and {NOTE}), "
            f"found {', '.join(row)}"
        )


def _summary(given: Mapping[str, Any]) -> Summary:
    columns = (
        Column(column["title"], column["printed"], column.get("claims", {}))
        for column in given["columns"]
    )
    return Summary(given["title"], tuple(given["rows"]), tuple(columns))


def check(study: Study) -> None:
    """Raise StudyError if a study's conclusions or its summary name a claim that does not exist."""
    declared = read(study)
    if declared is None:
        return
    ids = [claim.id for claim in study.claims]
    missing = [
        (conclusion.title, pattern)
        for conclusion in (*declared.questions, *declared.conclusions)
        for pattern in conclusion.claims
        if not any(fnmatchcase(name, pattern) for name in ids)
    ]
    if declared.summary:
        # A cell of the summary shows one claim, so a pattern is not allowed.
        missing += [
            (declared.summary.title, name)
            for column in declared.summary.columns
            for name in column.claims.values()
            if name not in ids
        ]
    for title, name in missing:
        raise StudyError(f"{study.path / NAME}: {title}: there is no claim `{name}`")


def judgements_of(conclusion: Conclusion, judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements of the claims that a conclusion names, including checks of set-up.

    Such checks are claims on the configuration of runs.
    """
    return [
        judgement
        for judgement in judgements
        if any(fnmatchcase(judgement.claim.id, pattern) for pattern in conclusion.claims)
    ]


def outcome(study: Study, conclusion: Conclusion, judgements: Sequence[Judgement]) -> Outcome:
    """Combine the verdicts of the claims that a conclusion names, except checks of the set-up."""
    named = judgements_of(conclusion, judgements)
    own = [judgement for judgement in named if not judgement.claim.is_set_up]
    judged = [judgement for judgement in own if judgement.verdict != NOT_RUN]
    asked = statements(own)
    answered = [statement for statement in asked if statement.is_judged]
    said = [statement.so_far for statement in answered]
    decided = [verdict for verdict in said if verdict != UNDECIDED]
    is_part = len(judged) < len(own) or any(judgement.is_partial for judgement in judged)
    unjudged = NOT_RUN if own else CONFIGURED if named else NO_CLAIM
    cells = _cells(study, own)
    return Outcome(
        word=_word(said) if judged else unjudged,
        worst=_worst([statement.verdict for statement in answered], said, is_part=is_part),
        is_part=is_part and bool(decided),
        rests_on=tuple(_rests_on(study, judged or own)),
        needs=len(cells),
        there=len(answered),
        claims=len(asked),
    )


def _cells(study: Study, judgements: Sequence[Judgement]) -> set[Cell]:
    """Return the cells (combinations of levels) that the claims of these judgements need."""
    questions = (judgement.claim.question for judgement in judgements)
    return {cell for question in questions for cell in question.cells(study.experiments)}


def _word(said: Sequence[str]) -> str:
    """Return the combined verdict as text, from the verdicts `said` on a conclusion's statements.

    If the verdicts differ, the text counts the statements that hold and those that are undecided.
    """
    holding, undecided = said.count(REPRODUCED), said.count(UNDECIDED)
    if undecided == len(said):
        return OPEN
    if undecided:
        return f"{holding} of {len(said)} statements hold, {undecided} undecided"
    whole = {0: DIFFERS, len(said): AGREES}
    return whole.get(holding, f"{holding} of {len(said)} statements hold")


def _worst(verdicts: Sequence[str], said: Sequence[str], *, is_part: bool) -> str:
    """Return one verdict on several statements, from their final `verdicts`.

    It is `contradicted` if one of them is; else `outside the band` if one of them is. Otherwise, it
    is `reproduced` if no run is missing (`is_part` is false) and the provisional verdicts `said` on
    the statements are all `reproduced`; else `undecided`. Without verdicts, it is `not run`.
    """
    if not verdicts:
        return NOT_RUN
    bad = (verdict for verdict in (CONTRADICTED, OUTSIDE) if verdict in verdicts)
    agrees = not is_part and set(said) == {REPRODUCED}
    return next(bad, REPRODUCED if agrees else UNDECIDED)


def _rests_on(study: Study, own: Sequence[Judgement]) -> Iterator[str]:
    """Yield texts that name the levels and runs from which the judgements `own` were made."""
    partial = [
        judgement for judgement in own if judgement.part is not None and not judgement.part.is_whole
    ]
    yield from dict.fromkeys(
        f"{judgement.part.text} of {judgement.claim.experiments[0]}"
        for judgement in partial
        if judgement.part is not None
    )
    whole = [
        judgement
        for judgement in own
        if judgement not in partial and judgement.measured is not None
    ]
    cells = _cells(study, whole)
    there = {cell for judgement in whole for cell in judgement.there}
    yield from coverage.in_words(study, cells, there)


def summary_rows(summary: Summary, judgements: Sequence[Judgement]) -> list[list[dict[str, str]]]:
    """Return the rows of a table in which the source summarises its results.

    Each cell has the printed word or number, our value, the verdict and the claim's id. The last
    three are empty without a claim.
    """
    by_id = {judgement.claim.id: judgement for judgement in judgements}
    return [[_cell(column, row, by_id) for column in summary.columns] for row in summary.rows]


def _cell(column: Column, row: str, by_id: Mapping[str, Judgement]) -> dict[str, str]:
    cell = {"printed": column.printed[row], "measured": "", "verdict": "", "claim": ""}
    if name := column.claims.get(row):
        judgement = by_id[name]
        measured = number(judgement.measured)
        cell |= {"measured": measured, "verdict": judgement.verdict, "claim": name}
    return cell
