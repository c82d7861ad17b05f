"""Claims of a source, and how they are judged.

A claim names a measure and the band in which it has to lie. A measure is one number, taken from the
medians over replications; its interval says how far it would move with other random numbers.

*Reproduced*: the whole interval is in the band. *Undecided*: the interval crosses a boundary of
the band. *Contradicted*: all of it is on the far side of `opposite`, the value beyond which the
contrary of the statement is seen. *Outside the band*: none of it is in the band, and the contrary
is not seen either. Without an interval the measured value alone decides.

A number that the source has from one run is another question: could that run have been one of
ours? Its interval is that of one more run of ours, and it is *reproduced*, too, if the printed
number lies in this interval, unless the interval is so wide that half and twice the number, or
`opposite`, lie in it as well. Otherwise the verdicts are those above.
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
# How it begins where the measure reads back what was configured or tuned: no claim, but a check.
SET_UP = "set-up"

COLUMNS = (
    "id", "experiment", "measure", "where", "statement", "value", "low", "high", "opposite",
    "tolerance", "runs", "source",
)  # fmt: skip
# What `runs` says of a source that averages over runs and does not say how many.
SEVERAL = "several"

Interval = tuple[float, float]

# Verdicts do not hang on the last bits: results are kept in single precision, which is finer.
RELATIVE, ABSOLUTE = 1e-6, 1e-12


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
    rounding: float
    """Half a unit of its last printed digit."""
    low: float
    high: float
    opposite: float | None
    tolerance: str
    """Where the band comes from."""
    runs: str
    """How many runs the source has its number from; empty for theory and general statements."""
    source: str
    """Section, table or figure; `derived`, of what it is derived from, if it does not say so."""

    @property
    def derived(self) -> bool:
        """Whether the statement is not the source's own: theory, or a reading of ours."""
        return self.source.startswith(DERIVED)

    @property
    def is_set_up(self) -> bool:
        """Whether it only checks that runs are set up as the source has it."""
        return self.source.startswith(SET_UP)

    @property
    def of_one_run(self) -> bool:
        """Whether it is a number, inside its band, that the source has from one run.

        Of a printed 0 nothing is half and twice, and what lies on an end of its band is a bound.
        """
        return self.runs == "1" and bool(self.value) and self.low < self.value < self.high  # type: ignore[operator]

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
        if _at_most(self.low, low) and _at_most(high, self.high):
            return REPRODUCED
        if _at_most(low, self.high) and _at_most(self.low, high):
            return UNDECIDED
        return CONTRADICTED if self._contrary(low, high) else OUTSIDE

    def judge_one_run(self, interval: Interval) -> tuple[str, str]:
        """The verdict by the interval of one more run of ours, and if undecided, why."""
        verdict = self.judge(interval[0], interval)
        if verdict != REPRODUCED and self._holds_printed(interval):
            if self._decides_nothing(interval):
                return (
                    UNDECIDED,
                    "single runs scatter too widely; the source's own one would decide",
                )
            return REPRODUCED, ""
        if verdict == UNDECIDED:
            return verdict, "the printed run is not like ours, of which some are in the band"
        return verdict, ""

    def _contrary(self, low: float, high: float) -> bool:
        """Whether all of an interval is beyond `opposite`."""
        if self.opposite is None:
            return False
        if _at_most(self.opposite, self.low):
            return _at_most(high, self.opposite)
        return _at_most(self.opposite, low)

    def _holds_printed(self, interval: Interval) -> bool:
        """Whether the printed number, before it was rounded, may lie in an interval."""
        value = self.value or 0.0
        return _at_most(interval[0], value + self.rounding) and _at_most(
            value - self.rounding, interval[1]
        )

    def _decides_nothing(self, interval: Interval) -> bool:
        """Whether half and twice the printed number, or the contrary, lie in an interval, too."""
        value = self.value or 0.0
        ends = sorted((0.5 * value, 2.0 * value))
        if interval[0] <= ends[0] and ends[1] <= interval[1]:
            return True
        return self.opposite is not None and interval[0] <= self.opposite <= interval[1]


def _at_most(low: float, high: float) -> bool:
    """Whether one number is another one at most, but for the last bits."""
    return low <= high or low - high <= RELATIVE * min(abs(low), abs(high)) + ABSOLUTE


def read_claims(*files: Path) -> list[Claim]:
    """Read the claims of a study, from one file or several."""
    claims = [claim for file in files for claim in _claims(file)]
    names = [claim.id for claim in claims]
    if taken := {name for name in names if names.count(name) > 1}:
        raise ScenarioError(f"{files[-1]}: claims given twice: {', '.join(sorted(taken))}")
    return claims


def _claims(file: Path) -> list[Claim]:
    with file.open(encoding="utf-8", newline="") as text:
        rows = csv.DictReader(text)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ScenarioError(f"{file}: expected the columns {', '.join(COLUMNS)}")
        return [_claim(file, line, row) for line, row in enumerate(rows, start=2)]


def _claim(file: Path, line: int, row: Mapping[str, str]) -> Claim:
    def number(column: str, default: Any) -> Any:  # noqa: ANN401
        return float(row[column]) if row[column] else default

    try:
        if None in row.values() or None in row:
            raise ValueError(f"expected {len(COLUMNS)} columns")
        claim = Claim(
            id=row["id"],
            experiments=tuple(row["experiment"].split()),
            measure=row["measure"],
            where=where(row["where"]),
            statement=row["statement"],
            value=number("value", None),
            rounding=_rounding(row["value"]),
            low=number("low", -inf),
            high=number("high", inf),
            opposite=number("opposite", None),
            tolerance=row["tolerance"],
            runs=_runs(row["runs"]),
            source=row["source"],
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{file}:{line}: {error}") from None
    if claim.low > claim.high or (claim.low, claim.high) == (-inf, inf):
        raise ScenarioError(
            f"{file}:{line}: {claim.id}: expected low <= high, at least one of them finite"
        )
    return claim


def _rounding(printed: str) -> float:
    """Half a unit of the last digit of a number as written."""
    digits, _, power = printed.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return 0.5 * 10.0 ** (int(power or 0) - decimals)


def _runs(text: str) -> str:
    """How many runs a number of the source is of: a count, `several`, or nothing."""
    if text and text != SEVERAL and not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"runs: expected a number of runs, `{SEVERAL}` or nothing, found `{text}`")
    return text


def where(text: str) -> dict[str, str | float]:
    """Arguments of a measure, as `key=value` and separated by spaces."""
    return dict(_where(text))


def _where(text: str) -> Iterator[tuple[str, str | float]]:
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, found `{word}`")
        try:
            yield key, float(value)
        except ValueError:
            yield key, value
