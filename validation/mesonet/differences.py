"""Known reasons for values outside their tolerances, from `differences.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from longhaul.studies.study import find

Name = tuple[str, str]
"""Case and metric of a row."""


@dataclass(frozen=True)
class Difference:
    """Rows that differ for a common reason, which may be unknown."""

    title: str
    rows: Mapping[Name, str]
    """Rows with their short labels on the page."""
    text: str
    explained: bool = False


_STATEMENTS = {claim.id: claim.statement for claim in find("nist-2010").claims}


def whole(experiment: str, claim: str) -> Name:
    """Return the name of a whole run's row, a claim of the study."""
    return f"{experiment} {claim}", _STATEMENTS[claim]


def _row(name: str) -> Name:
    """Parse the name of a row of this comparison, `case | metric`, or of a whole run."""
    case, _, metric = name.partition(" | ")
    return (case, metric) if metric else whole(*case.split())


def _read() -> list[Difference]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [
        Difference(rows={_row(name): label for name, label in entry.pop("values").items()}, **entry)
        for entry in tomllib.loads(text)["differences"]
    ]


DIFFERENCES = _read()
