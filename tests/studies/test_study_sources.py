"""Claims of all studies: items that they cite exist, and values that they accept are possible."""

import csv
import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import pytest

from longhaul._engine import ScenarioError
from longhaul.studies import conclusions, reading
from longhaul.studies.claims import Claim
from longhaul.studies.study import Study, studies

CONTENTS = Path(__file__).parents[1] / "data" / "contents"
NUMBER = r"(?:(?:[A-D]|\d{1,2})(?:[.-]\d+)*[a-d]?|[Pp]reface)"
KINDS = {
    "section": "section", "chapter": "section", "appendix": "section", "preface": "section",
    "table": "table", "figure": "figure", "equation": "equation",
}  # fmt: skip
REFERENCE = re.compile(
    rf"\b(section|chapter|appendix|table|figure|equation)s? "
    rf"({NUMBER}(?:(?:, | and | to ){NUMBER}\b)*)",
    re.IGNORECASE,
)


def contents(study: Study) -> set[tuple[str, str]]:
    """Return the kind and number of all headings, tables, figures and equations of a source."""
    with (CONTENTS / f"{study.path.name}.csv").open(encoding="utf-8", newline="") as text:
        return {(row["kind"], row["number"]) for row in csv.DictReader(text)}


def cited(source: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and number of each item that a claim's source cites."""
    if "preface" in source.lower():
        yield "section", "Preface"
    yield from (("file", name) for name in re.findall(r"\bfile (\w+)", source))
    for kind, numbers in REFERENCE.findall(source):
        for number in re.findall(NUMBER, numbers):
            yield KINDS[kind.lower()], number


def test_citations_are_read_one_by_one() -> None:
    assert list(cited("sections 4.3.1 and 7, Figures B.6 to B.8; table 8-24")) == [
        ("section", "4.3.1"), ("section", "7"), ("figure", "B.6"), ("figure", "B.8"),
        ("table", "8-24"),
    ]  # fmt: skip
    assert list(cited("section 4.3.1, Figure 4.55a")) == [
        ("section", "4.3.1"), ("figure", "4.55a"),
    ]  # fmt: skip


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_citation_is_in_the_contents_of_the_source(study: Study) -> None:
    known = contents(study)
    missing = {
        (claim.id, *one) for claim in study.claims for one in cited(claim.source)
        if one not in known
    }  # fmt: skip
    assert not missing


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_claim_cites_something_that_a_reader_can_open(study: Study) -> None:
    for claim in study.claims:
        assert not re.search(r"\blines?\b|^\d|\bL\d", claim.source), claim.id
        ours = claim.derived or claim.is_set_up or claim.is_hypothesis
        assert ours or list(cited(claim.source)), claim.id


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_conclusions_cite_what_is_in_the_contents_of_the_source(study: Study) -> None:
    declared = conclusions.read(study)
    assert declared is not None
    for one in (*declared.questions, *declared.conclusions):
        cites = set(cited(one.source))
        assert cites, one.title
        assert cites <= contents(study), one.title


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_statement_can_be_read_alone(study: Study) -> None:
    assert not [claim.id for claim in study.claims if claim.statement.startswith("...")]


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_readmes_cite_what_a_reader_can_open(study: Study) -> None:
    assert not re.search(r"\blines? \d", study.readme)
    sections = {one for one in cited(study.readme) if one[0] == "section"}
    assert sections <= contents(study)


def turning_point(claim: Claim) -> float | None:
    """Return the number that a claim would measure if its two sides were equal.

    The number is 0 for a correlation or a difference, 1 for a ratio; None without two sides.
    """
    words = claim.question.words
    if claim.measure in ("trend", "correlation"):
        return 0.0
    if claim.measure == "value" and any(word.startswith(("over.", "against.")) for word in words):
        return 1.0
    if claim.measure in ("value", "least", "largest") and any(
        word.startswith("less.") for word in words
    ):
        return 0.0
    return None


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_statement_of_the_larger_side_has_a_contrary(study: Study) -> None:
    """Check that a claim "A is larger than B" is contradicted (`opposite`) if A is at most B."""
    for claim in study.claims:
        band, turn = claim.expected, turning_point(claim)
        is_open = not (isfinite(band.low) and isfinite(band.high))
        if turn is not None and is_open and turn in (band.low, band.high):
            assert band.opposite == turn, claim.id


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_contraries_follow_from_the_sentences(study: Study) -> None:
    """Check that each claim's `opposite` is absent or has a value that docs/studies.md permits.

    `opposite` is the value beyond which the contrary of the claim is true.
    """
    for claim in study.claims:
        band = claim.expected
        # 0 and 1: two sides are equal. 0.5: half of the levels, if the claim is about their share.
        # A claim on more than half of the levels has a band from one more than half of them.
        half_of_levels = band.low - 1 if claim.question.words.get("then") == "count" else 0.5
        natural = (None, 0.0, 0.5, 1.0, half_of_levels, band.low, band.high)
        assert band.opposite in natural, (claim.id, band.opposite)


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_printed_size_has_no_contrary(study: Study) -> None:
    """Check that a claim about the size of a printed number has no `opposite`.

    Such a claim has a finite band around the printed number. `opposite` is the value from which on
    a claim is contradicted.
    """
    for claim in study.claims:
        band = claim.expected
        if band.printed is not None and band.low < band.printed < band.high:
            is_size = isfinite(band.low) and isfinite(band.high) and not claim.is_set_up
            assert not (is_size and band.opposite is not None), claim.id


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_no_band_holds_what_cannot_be(study: Study) -> None:
    for claim in study.claims:
        metric = claim.question.metric
        if claim.measure == "value" and metric in {"utilisation", "jain", "mbps"}:
            most = 1.0 if metric == "jain" else 100.0
            assert not isfinite(claim.expected.high) or claim.expected.high <= most, claim.id
        if claim.measure == "value" and metric and "_full_s_" in metric:
            assert not isfinite(claim.expected.low) or claim.expected.low >= 0.0, claim.id


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_number_of_one_run_is_one(study: Study) -> None:
    for claim in study.claims:
        assert not claim.of_one_run or claim.expected.printed, claim.id
        assert not claim.is_set_up or not claim.runs, claim.id


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_what_was_read_whole_and_is_no_claim_is_in_the_contents(study: Study) -> None:
    declared = reading.read(study)
    if declared is None:
        return
    known = contents(study)
    for text in (*declared.whole, *(one.source for one in declared.not_claims)):
        cites = set(cited(text))
        assert cites, text
        assert cites <= known, text
    assert all(one.statement and one.reason for one in declared.not_claims)
    statements = [one.statement for one in declared.not_claims]
    assert len(statements) == len(set(statements))
    # The README names the file of read passages, which the page shows, too.
    assert "reading.toml" in study.readme


def test_a_statement_that_is_no_claim_needs_a_reason(tmp_path: Path) -> None:
    row = '[[not_claims]]\nsource = "section 1"\nstatement = "It falls."\n'
    (tmp_path / "reading.toml").write_text(f'whole = ["section 1"]\n{row}')
    with pytest.raises(ScenarioError, match="expected source, statement, reason, found"):
        reading.read(Study("own", tmp_path))
    assert reading.read(Study("none", tmp_path / "none")) is None
