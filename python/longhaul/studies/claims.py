"""Claims of a source, and how they are judged.

A claim names a measure and the band in which it has to lie. A measure is one number, taken from the
medians over replications; its interval says how far it would move with other random numbers.

*Reproduced*: the whole interval is in the band. *Undecided*: the interval crosses a boundary of
the band. *Contradicted*: all of it is on the far side of `opposite`, the value beyond which the
contrary of the statement is seen. *Outside the band*: none of it is in the band, and the contrary
is not seen either. Without an interval the measured value alone decides.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError

REPRODUCED = "reproduced"
UNDECIDED = "undecided"
OUTSIDE = "outside the band"
CONTRADICTED = "contradicted"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, UNDECIDED, OUTSIDE, CONTRADICTED, NOT_RUN)

# How the column `source` of a claim begins that the source does not make.
DERIVED = "derived"

COLUMNS = (
    "id", "experiment", "measure", "where", "statement", "value", "low", "high", "opposite",
    "tolerance", "source",
)  # fmt: skip

Interval = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement of the source, made checkable."""

    id: str
    experiments: tuple[str, ...]
    """Those whose runs it is judged by; the first is where it belongs."""
    measure: str
    where: Mapping[str, str | float]
    """Keyword arguments of the measure: which cell or curve it is of."""
    statement: str
    value: float | None
    """What the source prints, if it is a number."""
    low: float
    high: float
    opposite: float | None
    tolerance: str
    """Where the band comes from."""
    source: str
    """Lines of the source; `derived`, of what they are derived from, if it does not say so."""

    @property
    def derived(self) -> bool:
        """Whether the statement is not the source's own: theory, or a reading of ours."""
        return self.source.startswith(DERIVED)

    def expected(self) -> dict[str, float | None]:
        """The printed value and the band; open ends are None."""
        ends = {"low": self.low, "high": self.high}
        band = {key: end if isfinite(end) else None for key, end in ends.items()}
        return {"value": self.value, **band}

    def judge(self, measured: float | None, interval: Interval | None) -> str:
        """The verdict on a measured value."""
        if measured is None:
            return NOT_RUN
        low, high = interval or (measured, measured)
        if self.low <= low and high <= self.high:
            return REPRODUCED
        if low <= self.high and high >= self.low:
            return UNDECIDED
        if self.opposite is None:
            return OUTSIDE
        beyond = high <= self.opposite if self.opposite <= self.low else low >= self.opposite
        return CONTRADICTED if beyond else OUTSIDE


def read_claims(file: Path) -> list[Claim]:
    """Read the claims of a study: of the file, and of those in the folder of the same name."""
    parts = sorted(file.with_suffix("").glob("*.csv"))
    files = [file, *parts] if file.is_file() else parts
    if not files:
        raise ScenarioError(f"{file}: expected a file of the study, found none")
    claims = [claim for one in files for claim in _of_file(one)]
    names = [claim.id for claim in claims]
    if taken := {name for name in names if names.count(name) > 1}:
        raise ScenarioError(f"{file}: claims given twice: {', '.join(sorted(taken))}")
    return claims


def _of_file(file: Path) -> list[Claim]:
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ScenarioError(f"{file}: expected the columns {', '.join(COLUMNS)}")
        return [_claim(file, line, row) for line, row in enumerate(rows, start=2)]


def _claim(file: Path, line: int, row: Mapping[str, str]) -> Claim:
    def number(column: str, default: Any) -> Any:  # noqa: ANN401
        return float(row[column]) if row[column] else default

    try:
        claim = Claim(
            id=row["id"],
            experiments=tuple(row["experiment"].split()),
            measure=row["measure"],
            where=dict(_where(row["where"])),
            statement=row["statement"],
            value=number("value", None),
            low=number("low", -inf),
            high=number("high", inf),
            opposite=number("opposite", None),
            tolerance=row["tolerance"],
            source=row["source"],
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{file}:{line}: {error}") from None
    if claim.low > claim.high or (claim.low, claim.high) == (-inf, inf):
        raise ScenarioError(
            f"{file}:{line}: {claim.id}: expected low <= high, at least one of them finite"
        )
    return claim


def _where(text: str) -> Iterator[tuple[str, str | float]]:
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, found `{word}`")
        try:
            yield key, float(value)
        except ValueError:
            yield key, value
