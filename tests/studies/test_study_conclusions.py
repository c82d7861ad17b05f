"""Conclusions of a source, which never state more than their claims show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from ledgers import judgements_of

from longhaul._engine import ScenarioError
from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from longhaul.studies import conclusions, ledger, page, parts
from longhaul.studies.claims import Claim
from longhaul.studies.conclusions import Conclusion
from longhaul.studies.errors import StudyError
from longhaul.studies.judgement import Judgement
from longhaul.studies.partial import CoveredLevels
from longhaul.studies.record import recorded
from longhaul.studies.study import Study, find

STUDY = find("nist-2010")


def judgement(claim: Claim, verdict: str, so_far: str = "") -> Judgement:
    part = CoveredLevels("condition", (8,), 32) if so_far else None
    measured = None if verdict == NOT_RUN else 1.0
    return Judgement(
        claim, measured, None, verdict, "full", 1,
        part=part,
        so_far=so_far.replace("unlike", ""),
        is_partial=part is not None,
        there=frozenset(claim.question.cells(STUDY.experiments)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "expected", "worst"),
    [
        ([(REPRODUCED, ""), (REPRODUCED, "")], "agrees", REPRODUCED),
        ([(REPRODUCED, ""), (NOT_RUN, "")], "agrees so far", UNDECIDED),
        ([(UNDECIDED, REPRODUCED), (UNDECIDED, REPRODUCED)], "agrees so far", UNDECIDED),
        ([(UNDECIDED, REPRODUCED), (OUTSIDE, "")], "1 of 2 statements hold so far", OUTSIDE),
        ([(REPRODUCED, ""), (OUTSIDE, "")], "1 of 2 statements hold", OUTSIDE),
        ([(REPRODUCED, ""), (CONTRADICTED, "")], "1 of 2 statements hold", CONTRADICTED),
        ([(REPRODUCED, ""), (UNDECIDED, CONTRADICTED)], "1 of 2 statements hold so far", UNDECIDED),
        ([(REPRODUCED, ""), (UNDECIDED, "")], "1 of 2 statements hold, 1 undecided", UNDECIDED),
        # Levels that were run may not be comparable with all levels.
        (
            [(REPRODUCED, ""), (UNDECIDED, "unlike")],
            "1 of 2 statements hold, 1 undecided so far",
            UNDECIDED,
        ),
        ([(UNDECIDED, "unlike"), (UNDECIDED, "unlike")], "open", UNDECIDED),
        ([(CONTRADICTED, ""), (OUTSIDE, "")], "differs", CONTRADICTED),
        ([(OUTSIDE, ""), (OUTSIDE, "")], "differs", OUTSIDE),
        ([(UNDECIDED, CONTRADICTED), (NOT_RUN, "")], "differs so far", UNDECIDED),
        ([(UNDECIDED, ""), (UNDECIDED, "")], "open", UNDECIDED),
        ([(NOT_RUN, ""), (NOT_RUN, "")], "not run", NOT_RUN),
    ],
)
def test_a_conclusion_is_no_surer_than_its_claims(
    verdicts: Sequence[tuple[str, str]], expected: str, worst: str
) -> None:
    claims = [claim for claim in STUDY.claims if claim.id.startswith("K-21-")]
    one = Conclusion("K", "", "", (), ("K-21-*",))
    own = [judgement(claim, *verdict) for claim, verdict in zip(claims, verdicts, strict=False)]
    found = conclusions.outcome(STUDY, one, own)
    assert (found.verdict, found.worst) == (expected, worst)
    assert found.there == sum(verdict != NOT_RUN for verdict, _ in verdicts)
    if (UNDECIDED, REPRODUCED) in verdicts:
        assert "on 1 of 32 conditions of N7-MAIN" in found.rests_on
    assert (
        conclusions.outcome(STUDY, Conclusion("K", "", "", (), ()), own).verdict == "not measured"
    )


def test_what_is_configured_agrees_with_nothing() -> None:
    claims = [claim for claim in STUDY.claims if claim.id.startswith("K-07-")]
    assert all(claim.is_set_up for claim in claims)
    one = Conclusion("K", "", "", (), ("K-07-*",))
    found = conclusions.outcome(STUDY, one, [judgement(claim, REPRODUCED) for claim in claims])
    assert (found.verdict, found.worst, found.claims) == ("configured", NOT_RUN, 0)


def test_hypotheses_about_newer_algorithms_are_no_claims_of_the_source() -> None:
    newer = [claim for claim in STUDY.claims if claim.id.startswith("TD-") and claim.is_hypothesis]
    assert {str(claim.question.levels["algorithm"]) for claim in newer} == {"CUBIC", "BBR3"}
    claims, _, hypotheses = ledger.kinds([judgement(claim, CONTRADICTED) for claim in newer])
    assert (len(claims), len(hypotheses)) == (0, len(newer))
    assert "contradicted" not in ledger.summary([judgement(newer[0], CONTRADICTED)]).split("\n")[0]


def test_a_conclusion_rests_on_the_runs_that_are_there() -> None:
    (claim,) = [claim for claim in STUDY.claims if claim.id == "A8-081-FAST"]
    every = judgement(claim, REPRODUCED)
    one = Conclusion("K", "", "", (), (claim.id,))
    found = conclusions.outcome(STUDY, one, [every])
    assert found.verdict == "agrees"
    assert found.rests_on == ("N8L-DET: all 30 paths, algorithm FAST, all 2 interfaces (60 runs)",)
    fast = frozenset(cell for cell in every.there if dict(cell[1])["interface"] == "fast")
    found = conclusions.outcome(STUDY, one, [replace(every, there=fast, is_partial=True)])
    assert found.verdict == "agrees so far"
    assert found.rests_on == (
        "N8L-DET: all 30 paths, algorithm FAST, interface fast (30 of 60 runs)",
    )


def test_all_conclusions_of_chapter_10_are_there_and_about_its_algorithms() -> None:
    found = conclusions.read(STUDY)
    assert found is not None
    assert [one.title for one in found.conclusions] == [f"K-{n:02d}" for n in range(1, 39)]
    assert found.summary is not None
    named = {name for one in found.conclusions for name in one.about}
    assert named == {"all", *found.summary.rows}
    conclusions.check(STUDY)


def test_the_page_opens_with_what_the_source_concludes(tmp_path: Path) -> None:
    _, record = recorded(STUDY)
    judgements = judgements_of(STUDY.name)
    drawn = [None] * len(parts.figures(STUDY))
    text = page.write(STUDY, record, judgements, drawn, tmp_path / "x.html", None).read_text()
    opening = text[text.index("What NIST concludes") : text.index(">Verdicts<")]
    # The opening names the worst algorithms for other users, and the number of conditions.
    worst = opening[opening.index("worst for other users") : opening.index("And beside users")]
    assert "FAST, and FAST-AT" in worst
    assert "of 17 conditions" in worst
    assert opening.count("<tr data-about") == 38
    # Table 10-1 has printed and measured values.
    assert "18.8</td>" in opening
    assert 'href="#A10-1-BIC"' in opening


def test_a_conclusion_by_a_claim_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    text = (STUDY.path / conclusions.NAME).read_text()
    for part in STUDY.path.iterdir():
        if part.name != conclusions.NAME:
            (tmp_path / part.name).symlink_to(part)
    (tmp_path / conclusions.NAME).write_text(text.replace('"K-03"]', '"K-3"]'))
    with pytest.raises(StudyError, match=r"K-03: there is no claim `K-3`"):
        conclusions.check(Study("copy", tmp_path))
    (tmp_path / conclusions.NAME).write_text(text.replace("about  =", "abot   =", 1))
    with pytest.raises(ScenarioError, match="expected the keys id, about, text, source, claims"):
        conclusions.check(Study("copy", tmp_path))
