"""Families of claims: claims about one column of a printed table, which are judged together.

Each printed number comes from a single run. All claims of a family have the same metric.
`families.toml` lists the families. A number should belong to one family only: if it belongs to
several, its claim gets the judgement of the last one.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

import numpy as np

from longhaul._engine import ScenarioError
from longhaul.analysis import families
from longhaul.analysis.families import DIFFERENCE, LOGARITHM, Family
from longhaul.analysis.prediction import MIN_RUNS
from longhaul.studies.claims import Claim
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.study import Study

NAME = "families.toml"
KEYS = ("title", "experiment", "cells", "by", "difference")
VALUE = "value"


@dataclass(frozen=True)
class FamilyJudgement:
    """A family of printed numbers with its verdict."""

    title: str
    metric: str
    claims: tuple[str, ...]
    family: Family
    verdict: str
    """Verdict of the family; empty if each claim keeps its own verdict."""

    @property
    def text(self) -> str:
        """Text with the family's title, its verdict, and a summary of its replications."""
        verdict = self.verdict or "not unlike print"
        return f"its family ({self.title}) is {verdict}: {self.family.text}"

    def as_json(self) -> dict[str, Any]:
        """Return the values that `longhaul study claims --json` prints."""
        return {
            "title": self.title,
            "metric": self.metric,
            "cells": len(self.claims),
            "replications": len(self.family.values),
            "reaching_print": self.family.reaching,
            "difference": self.family.difference,
            "verdict": self.verdict or None,
        }


@dataclass(frozen=True)
class _FamilyCells:
    """A family of claims that is not judged yet."""

    title: str
    metric: str
    statistic: str
    claims: tuple[Claim, ...]


def judge(study: Study, data: Data) -> dict[str, FamilyJudgement]:
    """Judge each family of claims as a whole; return its judgement by the id of each claim.

    A family is judged if at least three replications have finite values for all of its claims.
    """
    cells, found = [], []
    for declared in _declared(study):
        if (family := _family(study, data, declared)) is not None:
            cells.append(declared)
            found.append(family)
    judged = [
        FamilyJudgement(
            declared.title,
            declared.metric,
            tuple(claim.id for claim in declared.claims),
            family,
            verdict,
        )
        for declared, family, verdict in zip(cells, found, families.judge(found), strict=True)
    ]
    return {claim: judgement for judgement in judged for claim in judgement.claims}


def _family(study: Study, data: Data, cells: _FamilyCells) -> Family | None:
    """Compare the printed numbers of a family of claims with those of each replication.

    Return None if fewer than three replications have finite values of all numbers.
    """
    rows = []
    for replication in data.each_replication:
        try:
            row = [claim.question.value(replication) for claim in cells.claims]
        except (NotRunError, ZeroDivisionError):
            continue
        if all(map(isfinite, row)):
            rows.append(row)
    if len(rows) < MIN_RUNS:
        return None
    printed = [claim.expected.printed or 0.0 for claim in cells.claims]
    bands = [(claim.expected.low, claim.expected.high) for claim in cells.claims]
    try:
        return families.family(np.array(rows), printed, bands, cells.statistic)
    except ValueError as error:
        raise ScenarioError(
            f"{study.path / NAME}: {cells.title}, {cells.metric}: {error}"
        ) from None


def _declared(study: Study) -> list[_FamilyCells]:
    file = study.path / NAME
    if not file.is_file():
        return []
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8"))["families"]
        if not isinstance(entries, list):
            raise ScenarioError(f"expected [[families]], found {entries!r}")
        return [cells for entry in entries for cells in _of_entry(study, entry)]
    except (tomllib.TOMLDecodeError, KeyError, ScenarioError) as error:
        raise ScenarioError(f"{file}: {error}") from None


def _of_entry(study: Study, entry: Mapping[str, Any]) -> Iterator[_FamilyCells]:
    """Yield the families that an entry of `families.toml` declares.

    There is a family for each metric and, with `by`, for each level of this axis. A family needs at
    least two claims.
    """
    if unknown := set(entry) - set(KEYS):
        raise ScenarioError(f"unknown key `{min(unknown)}`: {', '.join(KEYS)}")
    by_difference = entry.get("difference", ())
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in filter(_is_cell, study.claims):
        levels = {axis: _text(level) for axis, level in claim.question.levels.items()}
        wanted = entry.get("cells", {})
        chosen = claim.experiments[0] == entry["experiment"] and all(
            fnmatchcase(levels.get(axis, ""), _text(pattern)) for axis, pattern in wanted.items()
        )
        if chosen:
            level = levels.get(entry["by"], "") if "by" in entry else ""
            groups.setdefault((claim.question.metric, level), []).append(claim)
    for (metric, level), claims in groups.items():
        title = entry["title"].format(level)
        statistic = DIFFERENCE if metric in by_difference else LOGARITHM
        if len(claims) > 1:
            yield _FamilyCells(title, metric, statistic, tuple(claims))


def _text(level: str | float) -> str:
    return f"{level:g}" if isinstance(level, int | float) else str(level)


def _is_cell(claim: Claim) -> bool:
    """Return true if a claim compares a plain metric with a number printed from a single run.

    The claim must have a finite band and one experiment, and be neither derived nor a check of the
    set-up.
    """
    band = claim.expected
    return (
        claim.of_one_run
        and not (claim.derived or claim.is_set_up)
        and claim.measure == VALUE
        and len(claim.experiments) == 1
        and claim.question.is_plain
        and isfinite(band.low)
        and isfinite(band.high)
    )
