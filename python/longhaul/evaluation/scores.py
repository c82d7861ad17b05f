"""Machine-readable output of an evaluation: scores.csv and summary.json."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul.evaluation.contenders import TABLES, Contender, ContenderError
from longhaul.evaluation.suite import Suite
from longhaul.evaluation.verdicts import Outcome, Point
from longhaul.files.rows import as_csv
from longhaul.files.writing import write_text

HEADS = (
    "suite", "section", "experiment", "point", "figure", "{subject}", "n", "mean", "ci_low",
    "ci_high", "verdict",
)  # fmt: skip


def write_scores(path: Path, suite: Suite, outcomes: Sequence[Outcome]) -> None:
    """Write all points of all criteria to a CSV file, with a row per point and contender.

    A row has the contender's mean and interval. Only the subject's row has the verdict.
    """
    rows = [tuple(head.format(subject=suite.terms.subject) for head in HEADS)]
    for outcome in outcomes:
        for point in outcome.points:
            rows += _rows(suite.name, outcome, point)
    write_text(path, as_csv(rows))


def _rows(suite: str, outcome: Outcome, point: Point) -> list[tuple[Any, ...]]:
    where = "; ".join(f"{axis}={level}" for axis, level in point.levels.items())
    head = (suite, outcome.criterion.section, point.experiment, where, point.figure.name)
    return [
        (*head, name, mean.count, *(f"{value:.9g}" for value in (mean.mean, mean.low, mean.high)),
         "" if place else point.verdict)
        for place, (name, mean) in enumerate(point.values.items())
    ]  # fmt: skip


def summary(
    suite: Suite, subject: Contender, scale: str, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """Return the verdicts as lists and dictionaries for `summary.json`."""
    kind = suite.terms.subject
    return {
        kind: subject.name,
        TABLES[kind]: subject.table,
        "suite": suite.name,
        "scale": scale,
        "version": _engine.version(),
        "results_version": _engine.results_version(),
        "failed": [outcome.criterion.section for outcome in outcomes if outcome.fails],
        "criteria": [
            {
                "section": outcome.criterion.section,
                "title": outcome.criterion.title,
                "class": outcome.criterion.strength,
                "verdict": outcome.verdict,
                "points": outcome.judged,
                "better": outcome.count("better"),
                "worse": outcome.count("worse"),
                "why": outcome.criterion.why,
            }
            for outcome in outcomes
        ],
    }


def check_target(folder: Path, subject: Contender) -> None:
    """Raise an error if `folder` has a summary.json of anything other than `subject`.

    Values of the key `congestion` or `queue` are compared, not names or suites.
    """
    file = folder / "summary.json"
    if not file.exists():
        return
    name, table = _evaluated(file)
    # The `version` of a controller in another process is the time of the evaluation.
    known, wanted = ({**of, "version": ""} for of in (table, subject.table))
    if known != wanted:
        raise ContenderError(
            f"{folder}: has the evaluation of {known.get('python') or name}; "
            f"choose another directory with --out"
        )


def _evaluated(file: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of the contender that a summary.json is about, and its table of parameters.

    Raise an error if the file is not the summary of an evaluation.
    """
    try:
        there = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        there = None
    match there:
        case {"algorithm": str(name), "congestion": dict(table)}:
            return name, table
        case {"discipline": str(name), "queue": dict(table)}:
            return name, table
    raise ContenderError(
        f"{file}: expected the summary of an evaluation, found something else; choose another "
        "directory with --out"
    )


def write_summary(path: Path, whole: dict[str, Any]) -> None:
    """Write `whole`, the result of `summary`, as JSON."""
    write_text(path, json.dumps(whole, indent=2) + "\n")
