"""Claims of a source: each names a measure and the expected value.

A measure computes one number from medians over replications. The interval of this number shows how
much it varies with the random numbers of the runs. `longhaul.analysis.judging` compares both with
the expected value.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError
from longhaul.analysis.judging import SINGLE, Expected, decimals_of, half_a_unit
from longhaul.files.rows import Row, numbered_rows
from longhaul.studies.errors import unknown
from longhaul.studies.measures import GENERAL, Measure, question
from longhaul.studies.questions import Question, words_of

# Prefix of the column `source` for a claim that follows from theory or from our reading.
DERIVED = "derived"
# Prefix of `source` for checks that a run is configured as in the source: the measure only reads
# back a number that was configured or tuned, or computes our formula.
SET_UP = "set-up"
# Prefix of `source` for our hypotheses on subjects outside the source, such as newer algorithms.
HYPOTHESIS = "hypothesis"

COLUMNS = (
    "id", "experiment", "measure", "where", "statement", "value", "low", "high", "opposite",
    "tolerance", "runs", "source",
)  # fmt: skip
# The column that is a table in TOML.
WHERE = "where"
# Optional columns.
OPTIONAL = ("sentence", "narrower")
# Form of a tolerance: a percentage of the value, an amount in the value's unit, or both joined by
# `or`, of which the larger one counts.
TOLERANCE = re.compile(r"(?=\d)(?:([\d.]+) %)?(?:(?:^| or )([\d.]+)(?: (?!or\b)[^\s%]+)?)?")
# Keys that a claim in TOML needs.
NEEDED = ("id", "experiment", "measure", "statement", "source")
# Value of `runs` for a source that averages over an unknown number of runs.
SEVERAL = "several"


@dataclass(frozen=True)
class Claim:
    """A statement of the source that results of simulations can confirm or contradict."""

    id: str
    experiments: tuple[str, ...]
    """Experiments whose runs decide the claim.

    Lists that are grouped by experiment show the claim under the first of these.
    """
    measure: str
    question: Question
    """The measure to compute, and the `key=value` words that select the values for it."""
    statement: str
    expected: Expected
    tolerance: str
    """Half-width of the band of accepted values, such as `5 %`, or the reason for the band."""
    runs: str
    """Number of runs from which the source computed its number, or `several`.

    It is empty for theory and general statements.
    """
    source: str
    """Section, table or figure of the source.

    It begins with `derived`, `set-up` or `hypothesis` for claims of these kinds.
    """
    sentence: str = ""
    """Name shared by all claims that test one sentence or one number.

    Such claims count as one statement.
    """
    narrower: str = ""
    """Levels that the source's sentence includes and the claim does not; empty if there are none.

    A claim with such levels cannot confirm the sentence.
    """

    @property
    def derived(self) -> bool:
        """True if the statement follows from theory or our interpretation, not from the source."""
        return self.source.startswith(DERIVED)

    @property
    def is_set_up(self) -> bool:
        """True if the claim only checks that runs are configured as in the source (set-up)."""
        return self.source.startswith(SET_UP)

    @property
    def is_hypothesis(self) -> bool:
        """True if the claim is our hypothesis about something that the source does not treat."""
        return self.source.startswith(HYPOTHESIS)

    @property
    def of_one_run(self) -> bool:
        """True if the claim may be judged by the rules for a number from one run of the source.

        These rules apply only if the source's number is not 0 and lies inside the claim's band,
        ends excluded. They also need several runs of ours.
        """
        # The rules compare our runs with half and twice the number, so it must not be 0.
        band = self.expected
        return self.runs == "1" and bool(band.printed) and band.low < band.printed < band.high  # type: ignore[operator]

    def expected_as_json(self) -> dict[str, float | None]:
        """Return the printed value and the ends of the band; open ends are None."""
        ends = {"low": self.expected.low, "high": self.expected.high}
        band = {key: end if isfinite(end) else None for key, end in ends.items()}
        return {"value": self.expected.printed, **band}


def read_claims(*files: Path, measures: Mapping[str, Measure] = GENERAL) -> list[Claim]:
    """Read the claims of a study from its files (CSV or TOML).

    `measures` are the measures that the claims may name. Raise ScenarioError for invalid claims.
    """
    claims = [claim for file in files for claim in _claims(file, measures)]
    names = [claim.id for claim in claims]
    if taken := {name for name in names if names.count(name) > 1}:
        raise ScenarioError(f"{files[-1]}: claims given twice: {', '.join(sorted(taken))}")
    return claims


def _claims(file: Path, measures: Mapping[str, Measure]) -> list[Claim]:
    is_toml = file.suffix == ".toml"
    rows = _declared(file) if is_toml else numbered_rows(file, COLUMNS, OPTIONAL).items()
    return [_claim(file, line, row, measures) for line, row in rows]


def _claim(file: Path, line: int | str, row: Row, measures: Mapping[str, Measure]) -> Claim:
    try:
        experiments = _experiments(row["experiment"])
        claim = Claim(
            id=row["id"],
            experiments=experiments,
            measure=row["measure"],
            question=_question(row, experiments, measures),
            statement=row["statement"],
            expected=_expected(row),
            tolerance=row["tolerance"],
            runs=_runs(row["runs"]),
            source=row["source"],
            sentence=row.get("sentence", ""),
            narrower=row.get("narrower", ""),
        )
    except ValueError as error:
        raise ScenarioError(f"{file}:{line}: {error}") from None
    low, high = claim.expected.low, claim.expected.high
    if low > high or (low, high) == (-inf, inf):
        raise ScenarioError(
            f"{file}:{line}: {claim.id}: expected low <= high, at least one of them finite, or a "
            "value and a tolerance such as `5 %`, `0.4 s` or `30 % or 0.4 s`"
        )
    return claim


def _question(row: Row, experiments: Sequence[str], measures: Mapping[str, Measure]) -> Question:
    """Return what a claim asks: its measure, for the values that the column `where` selects."""
    name = row["measure"]
    if name not in measures:
        raise ValueError(f"claim {row['id']}: {unknown('measure', name, list(measures))}")
    return question(measures, name, words_of(row["where"]), experiments)


def _declared(file: Path) -> Iterator[tuple[str, Row]]:
    """Yield the name of each claim in a TOML file, and the claim in the form of a CSV file's row.

    Numbers keep the digits that the file has, since these tell their precision. Columns for keys
    that the claim lacks are empty. If the claim's `where` lacks the key `of`, which names
    experiments, `of` is set to the claim's first experiment.
    """
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=str)["claims"]
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{file}: {error}") from None
    except KeyError as error:
        raise ScenarioError(f"{file}: missing {error}") from None
    if not isinstance(given, list) or not all(isinstance(claim, Mapping) for claim in given):
        raise ScenarioError(f"{file}: claims: expected tables, each below a line [[claims]]")
    for place, claim in enumerate(given, start=1):
        name = str(claim.get("id", f"claim {place}"))
        known = (*COLUMNS, *OPTIONAL)
        for key, value in claim.items():
            if key not in known:
                raise ScenarioError(f"{file}: {name}: unknown key `{key}`: {', '.join(known)}")
            if isinstance(value, list) or isinstance(value, Mapping) != (key == WHERE):
                form = "a table of words" if key == WHERE else "text or a number"
                raise ScenarioError(f"{file}: {name}: {key}: expected {form}, found {value!r}")
        if missing := [key for key in NEEDED if key not in claim]:
            raise ScenarioError(f"{file}: {name}: missing {', '.join(missing)}")
        row = {key: str(claim.get(key, "")) for key in known}
        first = " ".join(row["experiment"].split()[:1])
        words = {"of": first, **dict(_flat(claim.get(WHERE, {})))}
        yield name, {**row, WHERE: " ".join(f"{word}={value}" for word, value in words.items())}


def _flat(where: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the key and the value of each entry in a claim's table `where`.

    A `key` in a nested table such as `less` becomes `less.key`, at any depth.
    """
    for word, value in where.items():
        if isinstance(value, Mapping):
            yield from ((f"{word}.{inner}", each) for inner, each in _flat(value))
        else:
            yield word, value


def _expected(row: Row) -> Expected:
    """Return the value that a claim expects, and its band of accepted values.

    The band is from `low` to `high` or, if the claim has neither, the value plus or minus the
    tolerance. The rounding of results to single precision is tolerated.
    """

    def number(column: str, default: Any) -> Any:  # noqa: ANN401
        return float(row[column]) if row[column] else default

    printed = number("value", None)
    around = TOLERANCE.fullmatch(row["tolerance"]) if row["value"] else None
    if around and not row["low"] and not row["high"]:
        part, fixed = (float(width or 0) for width in around.groups())
        width = max(abs(printed) * part / 100, fixed)
        # Rounding to twelve digits removes errors of floating-point arithmetic.
        low, high = (float(f"{end:.12g}") for end in (printed - width, printed + width))
    else:
        low, high = number("low", -inf), number("high", inf)
    return Expected(
        low=low,
        high=high,
        opposite=number("opposite", None),
        printed=printed,
        rounding=half_a_unit(decimals_of(row["value"])),
        precision=SINGLE,
    )


def _experiments(text: str) -> tuple[str, ...]:
    """Return a claim's experiments, at least one; else raise ValueError."""
    if names := tuple(text.split()):
        return names
    raise ValueError(f"experiment: expected names of experiments, found `{text}`")


def _runs(text: str) -> str:
    """Return a claim's `runs`, a positive integer, `several` or empty; else raise ValueError."""
    if text and text != SEVERAL and not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"runs: expected a number of runs, `{SEVERAL}` or nothing, found `{text}`")
    return text
