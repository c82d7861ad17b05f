"""The ledger of a study: every claim with its measured value, interval and verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, isnan
from statistics import median
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from longhaul.analysis.judging import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    Expected,
    Interval,
)
from longhaul.analysis.prediction import Prediction, predict
from longhaul.analysis.statistics import percentile_interval
from longhaul.studies import coverage, families, partial
from longhaul.studies.claims import Claim
from longhaul.studies.coverage import RecordedCells
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.data.noted import NotedData
from longhaul.studies.data.resampling import ResampledData
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.judgement import Judgement
from longhaul.studies.partial import CoveredLevels, Decide
from longhaul.studies.questions import Question
from longhaul.studies.statements import counted, counts, statements
from longhaul.studies.study import Study

COLOURS = {
    REPRODUCED: "green", UNDECIDED: "cyan", OUTSIDE: "yellow", CONTRADICTED: "red", NOT_RUN: "dim"
}  # fmt: skip

# Text for an infinite time, of an event that did not happen within the run.
NOT_REACHED = "not reached"
# Number of bootstrap samples. With the measured value, there are 100 values, of which the interval
# leaves out three on either side.
SAMPLES = 99


def judge(study: Study, data: Data, scale: str, experiments: Sequence[str] = ()) -> list[Judgement]:
    """Judge every claim of a study, or only the claims on the named experiments."""
    chosen = [experiment.name for experiment in study.chosen(experiments)]
    claims = [claim for claim in study.claims if set(claim.experiments) & set(chosen)]
    recorded = RecordedCells(study, data)
    noted = NotedData(data)
    measured = [_measured(study, claim, noted, recorded, scale) for claim in claims]
    samples = _in_samples(measured, ResampledData(data, SAMPLES))
    judged_families = families.judge(study, data)
    return [
        _in_family(
            _about(study, recorded, _judged(claim, measurement, values, scale)),
            judged_families.get(claim.id),
        )
        for claim, measurement, values in zip(claims, measured, samples, strict=True)
    ]


def _in_family(judgement: Judgement, family: FamilyJudgement | None) -> Judgement:
    """Return a claim's judgement, with the judgement of the claim's family added to it.

    A reproduced claim becomes undecided if its family is undecided or outside its band.
    """
    if family is None or not family.verdict or judgement.verdict != REPRODUCED:
        return replace(judgement, family=family)
    return replace(judgement, verdict=UNDECIDED, reason=family.text, family=family)


def families_of(judgements: Sequence[Judgement]) -> list[FamilyJudgement]:
    """Return the families of the judged claims without repetition, in the order of the claims."""
    found = {
        id(judgement.family): judgement.family
        for judgement in judgements
        if judgement.family is not None
    }
    return list(found.values())


def _about(study: Study, recorded: RecordedCells, judgement: Judgement) -> Judgement:
    """Return a judgement with `needs` (runs that its claim needs) and `there` (existing cells)."""
    cells = judgement.claim.question.cells(study.experiments)
    return replace(
        judgement,
        needs="; ".join(coverage.in_words(study, cells)),
        there=frozenset(cell for cell in cells if recorded.has(cell)),
    )


def _in_samples(measured: "Sequence[_MeasuredClaim]", samples: ResampledData) -> list[list[float]]:
    """Return, for each claim, its values in the bootstrap samples that have one.

    A question that cannot be answered for all samples at once is answered sample by sample.
    The list is empty for a claim whose interval does not come from bootstrap samples.
    """
    sampled: list[list[float]] = [[] for _ in measured]
    alone = []
    for measurement, values in zip(measured, sampled, strict=True):
        if measurement.resampled:
            numbers = measurement.question.in_samples(samples.at_once)
            if numbers is None:
                alone.append((measurement, values))
            else:
                values += [number for number in numbers.tolist() if not isnan(number)]
    for sample in samples if alone else ():
        for measurement, values in alone:
            value, _ = _value(measurement.question, sample)
            # A sample may lack values that a measure needs.
            values += [] if value is None else [value]
    return sampled


@dataclass(frozen=True)
class _MeasuredClaim:
    """A claim with its measured value, or the reason why the value is missing."""

    question: Question
    """Question that defines the number to compute.

    If the claim is about all levels of an axis and some of them lack runs, the question is
    restricted to the levels that have all runs.
    """
    part: CoveredLevels | None
    on_runs: str = ""
    """Text such as `on 180 of 270 runs` if runs of the claim are missing at this scale.

    It is empty otherwise.
    """
    value: float | None = None
    reason: str = ""
    replications: int = 0
    next_run: Prediction | None = None

    @property
    def resampled(self) -> bool:
        """True if the interval is computed from bootstrap samples."""
        several = self.replications > 1 and not self.question.is_extreme
        return several and self.value is not None and self.next_run is None

    @cached_property
    def kind(self) -> str:
        """Kind of the claim's number, such as `count` or `largest`; may be empty."""
        return "" if self.part is None else self.question.kind(self.part.axis)


def _measured(
    study: Study, claim: Claim, data: NotedData, recorded: RecordedCells, scale: str
) -> _MeasuredClaim:
    question = claim.question
    count = _replications(data, claim.experiments)
    if lacking := coverage.lacking(study, recorded, claim):
        return _MeasuredClaim(question, None, reason=lacking, replications=count)
    part = coverage.part_of(study, recorded, claim)
    if part is not None and not part.there:
        return _MeasuredClaim(question, part, reason=part.text, replications=count)
    if part is not None and not part.is_whole:
        question = question.narrowed(part.words)
    value, reason = _value(question, data)
    if (sampled := data.noted()) is not None:
        count = min(count, sampled)
    next_run = None
    if claim.of_one_run and count > 1 and value is not None:
        alone = [_value(question, replication)[0] for replication in data.each_replication]
        runs = [number for number in alone if number is not None]
        if (next_run := predict(runs)) is not None:
            # The median of runs' values, since an expression of medians may differ from every
            # run's.
            value = median(runs)
    on_runs = coverage.on_runs(study, recorded, claim, scale)
    return _MeasuredClaim(question, part, on_runs, value, reason, count, next_run)


def _judged(
    claim: Claim, measured: _MeasuredClaim, samples: Sequence[float], scale: str
) -> Judgement:
    if measured.value is None:
        return Judgement(
            claim, None, None, NOT_RUN, scale, measured.replications, measured.reason,
            part=measured.part,
        )  # fmt: skip
    next_run = measured.next_run
    interval = (next_run.low, next_run.high) if next_run else _interval(measured.value, samples)
    there = interval or (measured.value, measured.value)
    by = _by_next_run if next_run else _by_median
    decide = by(claim.expected, measured.value)
    so_far = ""
    if measured.part is None or measured.part.is_whole:
        verdict, why = decide(there)
        reason = "; ".join(filter(None, (why, measured.on_runs)))
        is_partial = bool(measured.on_runs)
    else:
        kind, part = measured.kind, measured.part
        verdict, so_far = partial.judge(kind, there, part, claim.expected, decide)
        reason = partial.reason(kind, part, verdict, so_far)
        is_partial = verdict == UNDECIDED
    return Judgement(
        claim, measured.value, interval, verdict, scale, measured.replications, reason,
        shape=next_run.shape if next_run else "",
        part=measured.part,
        so_far=so_far,
        is_partial=is_partial,
    )  # fmt: skip


def _by_next_run(expected: Expected, middle: float) -> Decide:
    """Return a function that gives a verdict by the prediction interval of one more run.

    `middle` is the median of our runs.
    """
    return lambda interval: expected.judge_one_run(interval, middle)


def _by_median(expected: Expected, _: float) -> Decide:
    """Return a function that gives a verdict by the confidence interval of the measured value."""

    def decide(interval: Interval) -> tuple[str, str]:
        verdict = expected.judge(interval[0], interval)
        return verdict, "more replications would decide" if verdict == UNDECIDED else ""

    return decide


def _interval(measured: float, resampled: Sequence[float]) -> Interval | None:
    """Return the percentile interval of a statistic's bootstrap values; None if there are none.

    The measured value counts as one of them. The interval is extended to it, since it may lie
    outside for skewed statistics.
    """
    if not resampled:
        return None
    low, high = percentile_interval([*resampled, measured])
    return min(low, measured), max(high, measured)


def _value(question: Question, data: Data) -> tuple[float | None, str]:
    """Return a question's measured value and an empty text, or None and the reason for None."""
    try:
        value = question.value(data)
    except NotRunError as error:
        return None, str(error)
    except ZeroDivisionError:
        return None, "a denominator is 0"
    return (None, f"the measured value is {value}") if isnan(value) else (value, "")


def _replications(data: Data, experiments: Sequence[str]) -> int:
    return min(
        (data.replications[name] for name in experiments if name in data.replications), default=0
    )


class ClaimsByKind(NamedTuple):
    """Judgements by kind of claim: claims of the source, checks of the set-up, our hypotheses."""

    claims: list[Judgement]
    """Judgements of all other claims, including derived ones."""
    checks: list[Judgement]
    """Judgements of claims that only check the configuration of runs."""
    hypotheses: list[Judgement]
    """Our hypotheses on subjects that the source does not treat."""


def kinds(judgements: Sequence[Judgement]) -> ClaimsByKind:
    """Divide judgements into claims of the source, checks of the set-up, and our hypotheses."""
    found = ClaimsByKind([], [], [])
    for judgement in judgements:
        claim = judgement.claim
        kind = 1 if claim.is_set_up else 2 if claim.is_hypothesis else 0
        found[kind].append(judgement)
    return found


def on_one_run(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements of measured claims whose smallest number of replications is 1."""
    return [
        judgement
        for judgement in judgements
        if judgement.replications == 1 and judgement.measured is not None
    ]


def number(value: float | None) -> str:
    """Return a number as text, with four significant digits from 0.001 to 10,000.

    Smaller numbers, and those from ten million on, have three digits; numbers in between are whole.
    The text is `not reached` if the number is infinite or NaN, and empty if it is None.
    """
    if value is None:
        return ""
    if not isfinite(value):
        return NOT_REACHED
    if 1e-3 <= abs(value) < 9999.5:
        return f"{value:.4g}"
    if 9999.5 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def band(claim: Claim) -> str:
    """Return the band of a claim's expected values as text, such as `2 to 3` or `at least 2`."""
    low, high = (
        number(end) if isfinite(end) else "" for end in (claim.expected.low, claim.expected.high)
    )
    if low and high:
        return low if low == high else f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}"


def span(interval: Interval | None) -> str:
    """Return an interval as text, such as `2 to 3`; empty if there is none."""
    return "" if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def table(judgements: Sequence[Judgement]) -> Table:
    """Return the ledger as a table for the terminal."""
    heads = ("claim", "experiment", "statement", "band", "measured", "interval", "verdict", "runs")
    shown = Table(*heads, box=None, pad_edge=False)
    for judgement in judgements:
        shown.add_row(
            judgement.claim.id,
            judgement.claim.experiments[0],
            judgement.claim.statement,
            band(judgement.claim),
            number(judgement.measured),
            span(judgement.interval) + (f" ({judgement.interval_of})" if judgement.shape else ""),
            Text(judgement.outcome, style=COLOURS[judgement.verdict]),
            ", ".join(word for word in (judgement.scale, judgement.runs) if word),
        )
    return shown


def summary(judgements: Sequence[Judgement]) -> str:
    """Return text that counts each verdict, separately for claims, checks and hypotheses."""
    claims, checks, hypotheses = kinds(judgements)
    derived = len(statements([judgement for judgement in claims if judgement.claim.derived]))
    note = f" ({derived} of them derived, not the source's own)" if derived else ""
    lines = [f"{counted(claims)}: {_verdicts(claims)}{note}"]
    if single := on_one_run(claims):
        lines.append(f"{len(statements(single))} of them rest on one run: {_verdicts(single)}")
    if judged := families_of(claims):
        verdicts = Counter(family.verdict or "stand" for family in judged)
        judged_as = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        lines.append(f"{len(judged)} families of cells: {judged_as}")
    if checks:
        lines.append(f"Checks of the set-up: {_verdicts(checks)}")
    if hypotheses:
        lines.append(f"Hypotheses of ours: {_verdicts(hypotheses)}")
    return "\n".join(lines)


def _verdicts(judgements: Sequence[Judgement]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(judgements).items() if count)
