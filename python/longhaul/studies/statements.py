"""Statements of a source: all claims of one sentence, or one claim without a sentence.

A sentence holds if all of its claims hold. A claim on only some of the levels in the
sentence can refute the sentence, but cannot confirm it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
)
from longhaul.studies.judgement import Judgement

# Verdicts, the worst first.
WORST_FIRST = (CONTRADICTED, OUTSIDE, UNDECIDED, NOT_RUN, REPRODUCED)


@dataclass(frozen=True)
class Statement:
    """A statement of the source: the judgements of all claims that test it."""

    judgements: tuple[Judgement, ...]

    @property
    def verdict(self) -> str:
        """The combined verdict on the statement."""
        return _together(
            [self._limited(judgement, judgement.verdict) for judgement in self.judgements]
        )

    @property
    def so_far(self) -> str:
        """Combined verdict; undecided claims count with their preliminary verdict, if any."""
        return _together(
            [
                self._limited(judgement, judgement.so_far or judgement.verdict)
                for judgement in self.judgements
            ]
        )

    @property
    def is_judged(self) -> bool:
        """True if at least one claim of the statement was measured."""
        return any(judgement.verdict != NOT_RUN for judgement in self.judgements)

    @staticmethod
    def _limited(judgement: Judgement, verdict: str) -> str:
        return UNDECIDED if judgement.claim.narrower and verdict == REPRODUCED else verdict


def _together(verdicts: Sequence[str]) -> str:
    """Return the worst verdict; undecided if some claims are reproduced, and all others not run."""
    worst = min(verdicts, key=WORST_FIRST.index)
    return UNDECIDED if worst == NOT_RUN and REPRODUCED in verdicts else worst


def statements(judgements: Sequence[Judgement]) -> list[Statement]:
    """Group the judgements of claims by statement, in the order of each statement's first claim."""
    parts: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        claim = judgement.claim
        parts.setdefault(f"sentence {claim.sentence}" if claim.sentence else claim.id, []).append(
            judgement
        )
    return [Statement(tuple(together)) for together in parts.values()]


def counts(judgements: Sequence[Judgement]) -> dict[str, int]:
    """Return the number of statements by verdict."""
    verdicts = Counter(statement.verdict for statement in statements(judgements))
    return {verdict: verdicts[verdict] for verdict in VERDICTS}


def counted(judgements: Sequence[Judgement]) -> str:
    """Return the numbers of statements and of claims as text."""
    count = len(statements(judgements))
    claims = f"{len(judgements)} claims"
    return claims if count == len(judgements) else f"{count} statements in {claims}"
