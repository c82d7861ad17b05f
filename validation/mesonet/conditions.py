"""Comparison of full-length runs of standard TCP with values printed in chapters 4, 6 and 7.

Nothing is simulated: printed values, recorded runs and verdicts are those of study `nist-2010`.
"""

from __future__ import annotations

from collections.abc import Iterator

from longhaul.analysis.judging import CONTRADICTED, OUTSIDE, REPRODUCED
from longhaul.studies import ledger
from longhaul.studies.judgement import Judgement
from longhaul.studies.record import recorded
from longhaul.studies.study import find
from validation.rows import CONDITIONS_MEAN, VALUE, Row

PART = "conditions"
STUDY = "nist-2010"
EXPERIMENTS = ("SA64", "N6-MAIN", "N7-MAIN")
TCP = "TCP"
WITHIN = {REPRODUCED: True, OUTSIDE: False, CONTRADICTED: False}


def rows() -> Iterator[Row]:
    """Yield rows that compare printed values of standard TCP with values of recorded runs."""
    study = find(STUDY)
    _, record = recorded(study)
    for judgement in ledger.judge(study, record.data, record.facts.scale, EXPERIMENTS):
        if _is_printed_of_tcp(judgement) and judgement.measured is not None:
            yield _row(judgement)


def _is_printed_of_tcp(judgement: Judgement) -> bool:
    claim = judgement.claim
    alone = claim.experiments == ("SA64",) or claim.question.levels.get("algorithm") == TCP
    return alone and claim.expected.printed is not None and not claim.is_set_up


def _row(judgement: Judgement) -> Row:
    claim, part = judgement.claim, judgement.part
    is_part = part is not None and not part.is_whole
    return Row(
        case=f"{claim.experiments[0]} {claim.id}",
        metric=claim.statement,
        expected=claim.expected.printed,
        measured=judgement.measured,
        rule=f"{claim.tolerance}; {part.text}" if is_part and part else claim.tolerance,
        within=WITHIN.get(judgement.verdict),
        kind=CONDITIONS_MEAN if is_part else VALUE,
    )
