"""Verdicts on one contender, the subject, compared with others under equal conditions.

The RFCs and drafts with the criteria set no numeric bounds. Therefore a verdict is a comparison
with the standards of the suite, such as CUBIC and Reno for RFC 9743, or drop-tail for RFC 7928. At
a point of an experiment, the subject is *worse* if it is worse than all standards, and *better* if
it is better than all of them. Only a quantity with `at_most` has a fixed bound instead.

A difference counts only if it exceeds 5 % of the standard's value, and the quantity's `slack`, an
absolute threshold. In addition, the 95 % interval of the differences over replications, which share
their random numbers, must exclude zero; with a single replication, this condition is dropped.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from longhaul.analysis.comparisons import MeanInterval, mean_interval, paired
from longhaul.campaign.sweep import Level
from longhaul.evaluation.suite import Criterion, Figure, Suite, Terms
from longhaul.libraries import stats

BETTER, SAME, WORSE, STARVES, NOT = "better", "no worse", "worse", "starves", "not evaluated"
# Verdict on a subject that is better in one quantity and worse in another, such as delay and
# goodput.
TRADE = "trade-off"
VERDICTS = (BETTER, SAME, TRADE, WORSE, STARVES, NOT)
# Minimum difference, as a fraction of the other contender's figure.
MARGIN = 0.05
# Significance level of starvation; starving in three of three runs against none of three reaches
# it.
SIGNIFICANCE = 0.05 + 1e-9
# Fractions of a quantity's points from which on it is worse, and, without worse points, better.
FEW, MANY = 0.1, 0.5

Cell = Mapping[str, Level]


@dataclass(frozen=True)
class RunFigures:
    """The metrics of one run, with the experiment, the levels and the replication of the run."""

    experiment: str
    cell: Cell
    replication: int
    figures: Mapping[str, float | None]


@dataclass(frozen=True)
class Point:
    """A quantity under one condition of an experiment, with the values of all contenders."""

    experiment: str
    levels: Cell
    figure: Figure
    values: Mapping[str, MeanInterval]
    """Mean of the quantity and its confidence interval, by contender; the subject is first."""
    verdict: str
    """Verdict on the subject; empty for a quantity without a verdict."""

    @property
    def is_judged(self) -> bool:
        """True if the point has a verdict other than `not evaluated`."""
        return self.verdict not in ("", NOT)


@dataclass(frozen=True)
class Outcome:
    """A criterion with its verdict and points."""

    criterion: Criterion
    verdict: str
    points: list[Point] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """Number of points that have a verdict other than `not evaluated`."""
        return sum(point.is_judged for point in self.points)

    def count(self, verdict: str) -> int:
        """Return the number of points that have this verdict."""
        return sum(point.verdict == verdict for point in self.points)

    @property
    def fails(self) -> bool:
        """True if the subject does not meet a criterion that the document requires."""
        return self.criterion.strength == "must" and self.verdict in (WORSE, STARVES)


def judge(
    suite: Suite,
    runs: Sequence[RunFigures],
    subject: str,
    standards: Sequence[str],
    broken: Collection[str] = (),
) -> list[Outcome]:
    """Return the outcome of each criterion, in the order of the suite.

    `broken` are experiments with failed runs. The verdict on a criterion with such an experiment
    becomes `not evaluated`, unless it is `worse` or `starves`.
    """
    outcomes = [
        _outcome(criterion, runs, subject, standards, suite.terms) for criterion in suite.criteria
    ]
    return [
        replace(outcome, verdict=NOT)
        if set(outcome.criterion.experiments) & set(broken)
        and outcome.verdict in (SAME, BETTER, TRADE)
        else outcome
        for outcome in outcomes
    ]


def _outcome(
    criterion: Criterion, runs: Sequence[RunFigures], subject: str, standards: Sequence[str],
    terms: Terms,
) -> Outcome:  # fmt: skip
    points = [
        point
        for figure in criterion.figures
        for experiment in figure.experiments or criterion.experiments
        for point in _points(figure, experiment, runs, subject, standards, terms.subject)
    ]
    judged = [point for point in points if point.is_judged]
    return Outcome(criterion, _overall(judged, trades=terms.trades), points)


def _overall(points: Sequence[Point], *, trades: bool) -> str:
    """Return the verdict on a criterion, given its judged points.

    Starvation at one point decides; then a worse quantity does, and then a better one. With
    `trades`, worse and better quantities make a trade-off.
    """
    if not points:
        return NOT
    if any(point.verdict == STARVES for point in points):
        return STARVES
    better, is_worse = [], False
    for name in dict.fromkeys((point.figure.name, point.figure.at_most) for point in points):
        of = [point for point in points if (point.figure.name, point.figure.at_most) == name]
        worse = sum(point.verdict == WORSE for point in of) / len(of)
        is_worse |= worse >= FEW
        better.append(worse == 0 and sum(p.verdict == BETTER for p in of) / len(of) >= MANY)
    if is_worse:
        return TRADE if trades and any(better) else WORSE
    return BETTER if any(better) else SAME


def _points(
    figure: Figure, experiment: str, runs: Sequence[RunFigures], subject: str,
    standards: Sequence[str], axis_of_subject: str,
) -> list[Point]:  # fmt: skip
    """Return a point for each condition in which the `subject` has values of the metric `figure`.

    A point has the values of all contenders, and the verdict on the `subject` from a comparison
    with the `standards`.
    """
    by_point: dict[tuple[tuple[str, Level], ...], dict[str, dict[int, float]]] = {}
    for run in runs:
        value = run.figures.get(figure.name)
        is_at = all(run.cell.get(axis) in levels for axis, levels in figure.where.items())
        if run.experiment != experiment or value is None or not is_at:
            continue
        levels = tuple((axis, level) for axis, level in run.cell.items() if axis != axis_of_subject)
        contender = str(run.cell[axis_of_subject])
        by_point.setdefault(levels, {}).setdefault(contender, {})[run.replication] = value
    return [
        Point(
            experiment,
            dict(levels),
            figure,
            {
                name: mean_interval(list(values[name].values()))
                for name in dict.fromkeys((subject, *values))
            },
            _verdict(figure, values[subject], [values[s] for s in standards if s in values]),
        )
        for levels, values in by_point.items()
        if subject in values
    ]


def _verdict(figure: Figure, own: Mapping[int, float], others: list[dict[int, float]]) -> str:
    if figure.at_most is not None:
        return SAME if mean_interval(list(own.values())).mean <= figure.at_most else WORSE
    if not figure.better and not figure.starves:
        return ""
    if not others:
        return NOT
    if figure.starves:
        return STARVES if all(_more_often(own, other) for other in others) else SAME
    compared = [_compared(figure, own, other) for other in others]
    if all(verdict == WORSE for verdict in compared):
        return WORSE
    return BETTER if all(verdict == BETTER for verdict in compared) else SAME


def _more_often(own: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """Return true if flows starve in significantly more runs of the subject than of a contender.

    `own` has the subject's values by replication, `other` the contender's; a positive value means
    starvation. The test is Fisher's exact test (one-sided, 5 %).
    """
    counts = [[sum(v > 0.5 for v in of.values()), len(of)] for of in (own, other)]
    table = [[starving, runs - starving] for starving, runs in counts]
    return bool(stats.fisher_exact(table, alternative="greater").pvalue <= SIGNIFICANCE)


def _compared(figure: Figure, own: Mapping[int, float], other: Mapping[int, float]) -> str:
    """Compare the subject's values (`own`) with a contender's (`other`); return the verdict.

    Keys are replications; only common ones count. A small or insignificant difference counts as
    none. The significance of a single difference is not tested.
    """
    both = [number for number in own if number in other]
    if not both:
        return SAME
    gained = paired([own[n] for n in both], [other[n] for n in both])
    reference = sum(other[n] for n in both) / len(both)
    margin = max(figure.slack, MARGIN * abs(reference))
    certain = gained.count < 2 or gained.low > 0 or gained.high < 0
    if abs(gained.mean) <= margin or not certain:
        return SAME
    return BETTER if (gained.mean > 0) == (figure.better == "more") else WORSE
