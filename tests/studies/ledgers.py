"""Judgements of the recorded results of studies, made once for all tests of a process."""

from functools import cache

from longhaul.studies import ledger
from longhaul.studies.judgement import Judgement
from longhaul.studies.record import recorded
from longhaul.studies.study import find


@cache
def judgements_of(name: str) -> list[Judgement]:
    study = find(name)
    _, record = recorded(study)
    return ledger.judge(study, record.data, record.facts.scale)
