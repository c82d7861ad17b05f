"""Record of the sections of a source that were read completely.

The record is in the optional `reading.toml`. In these sections, every testable statement is a
claim, or the record lists it with the reason why it is no claim.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError
from longhaul.studies.study import Study

NAME = "reading.toml"
KEYS = ("source", "statement", "reason")


@dataclass(frozen=True)
class NotAClaim:
    """A testable statement of the source that is not a claim of the study."""

    source: str
    statement: str
    reason: str
    """Reason why the statement is not a claim, such as that the needed result is not recorded."""


@dataclass(frozen=True)
class Reading:
    """Record of the sections of a source that were read, and of statements that are not claims."""

    whole: tuple[str, ...]
    """Sections that were read paragraph by paragraph, written as in citations."""
    not_claims: tuple[NotAClaim, ...]


def read(study: Study) -> Reading | None:
    """Read a study's `reading.toml`; return None if there is none."""
    file = study.path / NAME
    if not file.is_file():
        return None
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        rows = given.get("not_claims", [])
        return Reading(tuple(given["whole"]), tuple(_not_a_claim(file, row) for row in rows))
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ScenarioError(f"{file}: {error}") from None


def _not_a_claim(file: Path, row: dict[str, Any]) -> NotAClaim:
    if set(row) != set(KEYS):
        raise ScenarioError(f"{file}: expected {', '.join(KEYS)}, found {', '.join(row)}")
    return NotAClaim(**row)
