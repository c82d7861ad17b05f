"""Known reasons for values outside their tolerances, from `differences.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from longhaul.studies.study import find

Name = tuple[str, str]
"""Case and metric of a row, which identify it."""


@dataclass(frozen=True)
class Difference:
    """A group of rows outside their tolerances for one reason, which may be unknown."""

    title: str
    rows: Mapping[Name, str]
    """Short labels of the rows on the page, by the rows' identifiers."""
    text: str
    explained: bool = False


_STATEMENTS = {claim.id: claim.statement for claim in find("nist-2010").claims}


def whole(experiment: str, claim: str) -> Name:
    """Return case and metric of the row for a claim of study `nist-2010` (full-length runs)."""
    return f"{experiment} {claim}", _STATEMENTS[claim]


def _row(name: str) -> Name:
    """Parse a row's identifier: `case | metric`, or `experiment claim` for full-length runs."""
    case, _, metric = name.partition(" | ")
    return (case, metric) if metric else whole(*case.split())


def _read() -> list[Difference]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [
        Difference(rows={_row(name): label for name, label in entry.pop("values").items()}, **entry)
        for entry in tomllib.loads(text)["differences"]
    ]


DIFFERENCES = _read()
