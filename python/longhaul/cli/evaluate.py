"""The command `evaluate`, for algorithms and queue disciplines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from longhaul.campaign.progress import show_progress
from longhaul.cli.printing import plain_table, print_json, stdout, warn
from longhaul.cli.shared import AsJson, InputError, Quiet, WorkerCount, out_option
from longhaul.evaluation import contenders, page, scores, verdicts
from longhaul.evaluation import run as run_
from longhaul.evaluation import suite as suite_
from longhaul.evaluation.verdicts import Outcome
from longhaul.files.endings import check_directory
from longhaul.files.values import assignment

# Exit code if all runs have finished and a required criterion does not hold.
CRITERION_FAILED = 3


def evaluate(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            help="An algorithm: a name that `list algorithms` shows, with parameters as "
            "'{ kind = \"cubic\", decrease = 0.2 }', one in Python: mine.py, mine.py:Class, a "
            "module of Linux: tcp_mine.so, or the address of a controller in another process: "
            "unix:PATH, tcp:HOST:PORT, or one of a QUIC stack: quinn:bbr. "
            "With --suite rfc7928 a queue discipline that `list queues` shows.",
        ),
    ],
    suite: Annotated[
        str,
        typer.Option(
            help="Suite to run and judge: rfc9743 or tcpeval for algorithms, rfc7928 for queue "
            "disciplines."
        ),
    ] = "rfc9743",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Algorithms or disciplines that take the place of SUBJECT, for comparison.",
            show_default="those of the suite, such as cubic,reno,bbr3",
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help="quick: 3 replications; full: 10.")] = "quick",
    only: Annotated[
        str | None,
        typer.Option(
            metavar="SECTION,...",
            help="Only the criteria of these sections of the document, such as 5.1.3,5.2.1.",
            show_default="all",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a value in every scenario, such as profile='\"linux\"'; repeatable.",
        ),
    ] = None,
    workers: WorkerCount = None,
    out: Annotated[
        Path | None, out_option("Directory of the results.", "evaluations/<SUBJECT>")
    ] = None,
    store: Annotated[
        Path,
        typer.Option(
            help="Directory of finished runs, from which runs of CUBIC and others are taken."
        ),
    ] = Path("evaluations/store"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Evaluate an algorithm by the criteria of RFC 9743, or a queue discipline by RFC 7928.

    Each value is compared with the values of other algorithms or disciplines in the same scenario.
    The command writes report.html, scores.csv and summary.json. The exit code is 1 if a run failed,
    otherwise 3 if a required criterion does not hold. Finished runs are kept, and the same command
    resumes.
    """
    if scale not in ("quick", "full"):
        raise InputError(f"--scale: expected quick or full, found {scale}")
    if out is not None:
        check_directory(out)
    chosen = suite_.find(suite)
    if only is not None:
        chosen = chosen.only(_names(only))
    terms = chosen.terms
    others = terms.against if against is None else _names(against)
    evaluated = contenders.contender(subject, terms.subject)
    field = contenders.field(evaluated, others, terms.standards, terms.subject)
    given = dict(map(assignment, settings or []))
    chosen = run_.evaluable(chosen, field, scale)
    target = out or Path("evaluations") / evaluated.name.replace(":", "-")
    scores.check_target(target, evaluated)
    if not (quiet or json):
        count = len(chosen.runs(field, scale))
        typer.echo(f"{count} runs, less those that {store} has", err=True)
    with show_progress(f"{evaluated.name}, {suite} ({scale})") as watch:
        measured, progress = run_.evaluate(
            chosen, field, store, scale=scale, settings=given, workers=workers,
            watch=None if quiet else watch,
        )  # fmt: skip
    for run, message in progress.failed:
        warn([f"{run.name}: {message}"])
    names = [contender.name for contender in field]
    standards = [name for name in terms.standards if name in names]
    broken = [run.experiment for run, _ in progress.failed]
    outcomes = verdicts.judge(chosen, measured, evaluated.name, standards, broken)
    whole = scores.summary(chosen, evaluated, scale, outcomes)
    whole["failed_runs"] = [run.name for run, _ in progress.failed]
    target.mkdir(parents=True, exist_ok=True)
    scores.write_scores(target / "scores.csv", chosen, outcomes)
    scores.write_summary(target / "summary.json", whole)
    facts = {
        "against": names[1:],
        "standards": standards,
        "runs": progress.total,
        "failed": [(run.name, message) for run, message in progress.failed],
        "settings": settings or [],
        "table": evaluated.table,
        "replications": max((figures.replication for figures in measured), default=0) + 1,
        "command": _command(subject, suite, ",".join(others), scale, only, settings or []),
        "date": datetime.now(UTC).date().isoformat(),
    }
    page.write(target / "report.html", chosen, evaluated.name, scale, outcomes, facts)
    if json:
        print_json(whole)
    elif not quiet:
        heads = ("criterion", "class", "verdict", "points better", "worse", "judged")
        stdout().print(plain_table((terms.document, *heads), map(_row, outcomes)))
        typer.echo(f"\n{target / 'report.html'}, scores.csv, summary.json")
    if progress.failed:
        raise typer.Exit(1)
    if whole["failed"]:
        raise typer.Exit(CRITERION_FAILED)


def _command(
    subject: str, suite: str, against: str, scale: str, only: str | None, settings: Sequence[str]
) -> str:
    """Return the command line that repeats the evaluation, for the page."""
    given = [f"--suite={suite}", f"--against={against}", f"--scale={scale}"]
    given += [f"--only={only}"] if only else []
    words = ["longhaul", "evaluate", subject, *given, *(f"--set={setting}" for setting in settings)]
    return shlex.join(words)


def _names(written: str) -> list[str]:
    """Split a list of names at commas, except commas inside braces."""
    names = re.split(r",(?![^{]*})", written)
    return [name.strip() for name in names if name.strip()]


def _row(outcome: Outcome) -> tuple[str, ...]:
    criterion = outcome.criterion
    verdict = f"{outcome.verdict}{': ' + criterion.why if criterion.why else ''}"
    counts = (outcome.count("better"), outcome.count("worse"), outcome.judged)
    shown = map(str, counts if outcome.points else ())
    return (criterion.section, criterion.title, criterion.strength, verdict, *shown)
