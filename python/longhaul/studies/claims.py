"""Claims of a source, and how they are judged.

A claim names a measure and the band in which it has to lie. A measure is one number, taken from the
medians over replications; its interval comes from the same number of each replication alone.

*Reproduced*: in the band. *Contradicted*: on the far side of `opposite`, the value beyond which the
contrary of the statement is seen, and its interval too. *Outside the band*: neither.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError

REPRODUCED = "reproduced"
OUTSIDE = "outside the band"
CONTRADICTED = "contradicted"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, OUTSIDE, CONTRADICTED, NOT_RUN)

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
    """Lines of the source."""

    def expected(self) -> dict[str, float | None]:
        """The printed value and the band; open ends are None."""
        ends = {"low": self.low, "high": self.high}
        band = {key: end if isfinite(end) else None for key, end in ends.items()}
        return {"value": self.value, **band}

    def judge(self, measured: float | None, interval: Interval | None) -> str:
        """The verdict on a measured value."""
        if measured is None:
            return NOT_RUN
        if self.low <= measured <= self.high:
            return REPRODUCED
        if self.opposite is None:
            return OUTSIDE
        below = self.opposite <= self.low
        nearest = measured
        if interval is not None:
            nearest = max(measured, interval[1]) if below else min(measured, interval[0])
        beyond = nearest <= self.opposite if below else nearest >= self.opposite
        return CONTRADICTED if beyond else OUTSIDE


def read_claims(file: Path) -> list[Claim]:
    """Read the claims of a study."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ScenarioError(f"{file}: the columns have to be: {', '.join(COLUMNS)}")
        claims = [_claim(file, line, row) for line, row in enumerate(rows, start=2)]
    names = [claim.id for claim in claims]
    if taken := {name for name in names if names.count(name) > 1}:
        raise ScenarioError(f"{file}: claims that are there twice: {', '.join(sorted(taken))}")
    return claims


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
        raise ScenarioError(f"{file}:{line}: {claim.id} has no band that could be missed")
    return claim


def _where(text: str) -> Iterator[tuple[str, str | float]]:
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"`{word}` is not key=value")
        try:
            yield key, float(value)
        except ValueError:
            yield key, value
