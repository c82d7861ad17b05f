"""Tests of statements: all claims about one sentence of a source have one combined verdict."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from test_study_verdicts import claim

from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
)
from longhaul.studies import conclusions, ledger, page, record
from longhaul.studies.claims import COLUMNS, OPTIONAL, read_claims
from longhaul.studies.judgement import Judgement
from longhaul.studies.statements import counted, counts, statements
from longhaul.studies.study import Study, find, studies


def judgement(name: str, verdict: str, sentence: str = "", narrower: str = "") -> Judgement:
    of = replace(claim(0, 1), id=name, sentence=sentence, narrower=narrower)
    return Judgement(of, 0.5, None, verdict, "full", 1)


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ([REPRODUCED, REPRODUCED], REPRODUCED),
        ([REPRODUCED, UNDECIDED], UNDECIDED),
        ([UNDECIDED, OUTSIDE], OUTSIDE),
        ([OUTSIDE, CONTRADICTED, REPRODUCED], CONTRADICTED),
        # The half that was run can refute the statement, but not confirm it.
        ([NOT_RUN, CONTRADICTED], CONTRADICTED),
        ([NOT_RUN, REPRODUCED], UNDECIDED),
        ([NOT_RUN, NOT_RUN], NOT_RUN),
    ],
)
def test_a_sentence_holds_if_all_of_its_claims_do(verdicts: list[str], together: str) -> None:
    parts = [judgement(str(place), verdict, "S") for place, verdict in enumerate(verdicts)]
    [statement] = statements(parts)
    assert statement.verdict == together
    assert counts(parts)[together] == sum(counts(parts).values()) == 1
    assert counted(parts) == f"1 statements in {len(parts)} claims"


@pytest.mark.parametrize(
    ("verdict", "of_sentence"),
    [(REPRODUCED, UNDECIDED), (OUTSIDE, OUTSIDE), (CONTRADICTED, CONTRADICTED)],
)
def test_fewer_levels_than_a_sentence_names_may_refute_it_only(
    verdict: str, of_sentence: str
) -> None:
    [statement] = statements([judgement("A", verdict, narrower="loads of 105 %")])
    assert (statement.verdict, statement.so_far) == (of_sentence, of_sentence)


def test_claims_without_a_sentence_are_statements_of_their_own() -> None:
    claims = [judgement("A", REPRODUCED), judgement("B", OUTSIDE), judgement("C", REPRODUCED, "A")]
    assert [one.verdict for one in statements(claims)] == [REPRODUCED, OUTSIDE, REPRODUCED]
    assert counted(claims) == "3 claims"


def test_a_summary_counts_statements_in_all_of_its_lines() -> None:
    claims = [judgement("A", REPRODUCED, "S"), judgement("B", REPRODUCED, "S")]
    assert ledger.summary(claims).splitlines() == [
        "1 statements in 2 claims: 1 reproduced", "1 of them rest on one run: 1 reproduced",
    ]  # fmt: skip


def test_both_columns_are_read_and_may_be_left_out(tmp_path: Path) -> None:
    file = tmp_path / "claims.csv"
    row = "A,E,mean,of=E metric=m,s,,0,1,,,,section 1"
    file.write_text(",".join((*COLUMNS, *OPTIONAL)) + f"\n{row},S,90 %\n")
    [both] = read_claims(file)
    assert (both.sentence, both.narrower) == ("S", "90 %")
    file.write_text(",".join((*COLUMNS, OPTIONAL[1])) + f"\n{row},90 %\n")
    [one] = read_claims(file)
    assert (one.sentence, one.narrower) == ("", "90 %")


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_named_sentence_has_several_claims(study: Study) -> None:
    named = Counter(claim.sentence for claim in study.claims if claim.sentence)
    assert {name for name, count in named.items() if count == 1} == set()


def test_a_card_counts_statements_once() -> None:
    """Check that a conclusion's card on the page counts statements instead of claims.

    Several claims can belong to one statement, such as A22.
    """
    study = find("split-pep-2009")
    _, results = record.recorded(study)
    judgements = ledger.judge(study, results.data, "full")
    declared = conclusions.read(study)
    assert declared is not None
    cards = [page._conclusion(study, question, judgements) for question in declared.questions]
    assert [sum(card["counts"].values()) for card in cards] == [card["count"] for card in cards]
    assert sum(len(card["claims"]) for card in cards) > sum(card["count"] for card in cards)
