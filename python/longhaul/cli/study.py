"""Commands about studies: published evaluations, run again and judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars.selectors as cs
import typer
from rich.markup import escape

from longhaul._engine import RunError
from longhaul.campaign import Run, as_toml
from longhaul.campaign.progress import show_progress
from longhaul.cli.places import folder_of_study, latest
from longhaul.cli.printing import plain_table, print_json, stdout, warn
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overwrite,
    Quiet,
    Width,
    WorkerCount,
    out_option,
    refuse_existing,
)
from longhaul.files import endings
from longhaul.files.names import unknown
from longhaul.files.writing import write_text
from longhaul.results import open_runs
from longhaul.studies import conclusions, ledger, parts
from longhaul.studies import record as record_
from longhaul.studies.addition import lost, not_recorded
from longhaul.studies.adoption import adopt as take
from longhaul.studies.data import REPLICATION, Data, NotRunError
from longhaul.studies.numbers import Numbers
from longhaul.studies.record import Record
from longhaul.studies.study import NONE_INSTALLED, README, Study, find, studies

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A name that `study list` shows, or a study's folder.")
]
Out = Annotated[Path | None, out_option("Directory of runs and results.", "studies/<NAME>")]
Store = Annotated[
    Path | None, typer.Option(help="Directory of finished runs.", show_default="<OUT>/store")
]
Of = Annotated[
    Path | None,
    typer.Option(
        "--of", help="Directory of the results.", show_default="studies/<NAME>", exists=True
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(help="quick or full.", show_default="full, if there are results, or quick"),
]


def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A study, whose experiments to list.")
    ] = None,
    json: AsJson = False,
) -> None:
    """List the installed studies, or the experiments of one."""
    if name is not None:
        _list_experiments(find(name), json=json)
        return
    rows = [
        {
            "name": each.name,
            "title": each.head.title,
            "source": each.head.source,
            "experiments": len(each.experiments),
            "claims": sum(not (claim.is_set_up or claim.is_hypothesis) for claim in each.claims),
        }
        for each in studies()
    ]
    if json:
        print_json(rows)
        return
    if not rows:
        raise InputError(NONE_INSTALLED)
    heads = ("name", "title", "experiments", "claims", "source")
    cells = ([str(row[head]) for head in heads] for row in rows)
    stdout().print(plain_table(heads, cells))


def _list_experiments(study: Study, *, json: bool) -> None:
    """Print the experiments of a study, each with its number of runs at each scale."""
    rows: list[dict[str, Any]] = [
        {
            "name": experiment.name,
            "title": experiment.title,
            "axes": list(experiment.axes),
            "quick": len(experiment.sweep("quick")),
            "on_request": experiment.on_request,
            "full": len(experiment.sweep("full")),
            "claims": sum(experiment.name in claim.experiments for claim in study.claims),
        }
        for experiment in study.chosen()
    ]
    if json:
        print_json(rows)
        return
    heads = ("experiment", "title", "axes", "runs (quick)", "runs (full)", "claims")
    cells = [
        (
            str(row["name"]), str(row["title"]), ", ".join(row["axes"]),
            f"{row['quick']}{', if named' if row['on_request'] else ''}",
            *(str(row[key]) for key in ("full", "claims")),
        )
        for row in rows
    ]  # fmt: skip
    stdout().print(plain_table(heads, cells))


def run(
    name: Name,
    experiment: Annotated[
        list[str] | None,
        typer.Option("--experiment", "-e", metavar="ID", help="Experiment to run; repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS=LEVEL[,LEVEL]",
            help="Only runs at these levels of an axis, such as condition=8,21; repeatable.",
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help="quick: minutes; full: as published.")] = "quick",
    workers: WorkerCount = None,
    replications: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of replications of each run.", show_default="all"),
    ] = None,
    out: Out = None,
    store: Store = None,
    only_judge: Annotated[
        bool, typer.Option("--only-judge", help="Run nothing; judge the finished runs.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Also write the results to the study's own folder.")
    ] = False,
    add: Annotated[
        bool,
        typer.Option("--add", help="Execute runs that the recorded results lack, and add them."),
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Run a study, judge its claims and write its report.

    Finished runs are kept and never repeated. The command can be stopped at any time; the same
    command then resumes the study.
    """
    from longhaul.studies import page

    if out is not None:
        endings.check_directory(out)
    study = find(name)
    parts.check(study)
    conclusions.check(study)
    target = out or folder_of_study(study.name)
    finished = store or target / "store"
    record_.check_scale(scale)
    names = experiment or ([] if record else study.by_default(scale))
    chosen = study.runs(scale, names, replications, _levels(where or []))
    recorded = study.recorded / scale
    before = record_.read(recorded, study) if add and (recorded / "run.json").is_file() else None
    replaces = record and before is None and (recorded / "run.json").is_file()
    if replaces:
        kept = record_.collect(study, finished, scale)
        _refuse_loss(study, kept, () if only_judge else chosen)
    failed = []
    if not only_judge:
        if before is not None:
            chosen = not_recorded(before.data, chosen)
        with show_progress(study.name) as watch:
            told = None if quiet else watch
            failed = record_.execute(study, chosen, finished, workers=workers, watch=told)
    results = record_.collect(study, finished, scale, before)
    folders = [target / "results" / scale, *([recorded] if record else [])]
    if replaces:
        _refuse_loss(study, results)
    for folder in folders:
        results.write(folder)
    report_file, judgements = page.judged(
        study, results, target / f"{scale}.html", experiment or ()
    )
    if json:
        print_json([judgement.as_json() for judgement in judgements])
    elif not quiet:
        console = stdout()
        console.print(ledger.table(judgements))
        console.print(ledger.summary(judgements))
        if where or experiment:
            _print_metrics(results.data, chosen, study)
        if (where or experiment) and out is None:
            console.print(f"`study claims` judges only these runs from now on; without {target}, "
                          "it judges the runs recorded with the study")  # fmt: skip
        console.print(f"Tables: {folders[0]}")
        console.print(f"Report: {report_file}")
    if failed:
        warn([f"{run.name}: {message}" for run, message in failed])
        raise RunError(f"{len(failed)} runs failed; the same command retries them")


def _refuse_loss(study: Study, results: Record, to_run: Sequence[Run] = ()) -> None:
    """Raise an error if results lack runs that the study's recorded results have.

    `to_run` are runs that will still be executed.
    """
    scale = results.facts.scale
    recorded = record_.read(study.recorded / scale, study).data
    coming = {run.name for run in to_run}
    runs = [run for run in study.runs(scale) if run.name not in coming]
    if gone := lost(results.data, recorded, runs):
        raise InputError(
            f"--record: {len(gone)} recorded runs are not among these results, "
            f"{gone[0].name} first, and would be lost; --add keeps them"
        )


# Maximum number of runs whose metrics are printed in columns.
MAX_RUNS = 4


def _print_metrics(data: Data, chosen: Sequence[Run], study: Study) -> None:
    """Print the metrics of at most `MAX_RUNS` of the `chosen` runs, one column per run.

    The runs are in the replication of the first one.
    """
    shown = [run for run in chosen if run.replication == chosen[0].replication][:MAX_RUNS]
    columns = {run.name: _metrics_of(data, run) for run in shown}
    rows = (
        (name, *(f"{of[name]:.6g}" if name in of else "" for of in columns.values()))
        for name in dict.fromkeys(name for of in columns.values() for name in of)
    )
    stdout().print(plain_table(("metric", *map(escape, columns)), rows))
    metrics = study.path / "metrics.py"
    described = f"{metrics} says what the names mean; " if metrics.is_file() else ""
    rest = f"{len(chosen) - len(shown)} more runs and " if len(chosen) > len(shown) else ""
    stdout().print(f"{described}{rest}all values are in values.parquet, in the folder of tables\n")


def _metrics_of(data: Data, run: Run) -> dict[str, float]:
    """Return the metrics of a run, without missing values; empty if the run has not finished."""
    try:
        rows = data.points(run.experiment, **run.cell).filter(replication=run.replication)
    except NotRunError:
        return {}
    numbers = rows.select(cs.numeric().exclude(REPLICATION, *run.cell))
    return {name: value for name, value in (numbers.row(0, named=True) if len(rows) else {}).items()
            if value is not None}  # fmt: skip


def _levels(words: list[str]) -> dict[str, list[str]]:
    """Parse words such as `condition=8,21` into levels (texts) by axis."""
    levels: dict[str, list[str]] = {}
    for word in words:
        axis, equals, given = word.partition("=")
        if not equals:
            raise InputError(f"--where {word}: expected AXIS=LEVEL")
        levels.setdefault(axis, []).extend(given.split(","))
    return levels


def adopt(
    name: Name,
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories that `longhaul run` has written."),
    ],
    scale: Annotated[str, typer.Option(help="The scale that the runs are of.")] = "full",
    out: Out = None,
    store: Store = None,
) -> None:
    """Add runs that were made with `longhaul run` to the results of a study.

    The runs must have reached their end, and their scenarios must be those of runs of the study, as
    `study scenario` writes them. Afterwards, `study run NAME --only-judge` judges the claims by all
    results.
    """
    study = find(name)
    for run in take(
        study, open_runs(runs), scale, store or (out or folder_of_study(study.name)) / "store"
    ):
        typer.echo(run.name)


def scenario(
    name: Name,
    experiment: Annotated[str, typer.Argument(help="An experiment of the study.")],
    levels: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AXIS=LEVEL]...", help="Levels that select the run."),
    ] = None,
    out: Annotated[Path | None, out_option("Scenario file to write.", "the terminal")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the scenario of one run of a study, to run or change it on its own.

    The run is in the first replication at full scale.
    """
    given = dict(word.partition("=")[::2] for word in levels or ())
    run = find(name).cell(experiment, given)
    text = f"# {name}: {run.name}\n\n{as_toml(run.scenario)}"
    if out is None:
        typer.echo(text, nl=False)
        return
    endings.check_file(out, endings.SCENARIOS)
    refuse_existing(out, overwrite=overwrite)
    write_text(out, text)
    typer.echo(f"{out}: longhaul run {out}")


def claims(
    name: Name,
    out: Annotated[
        Path | None, out_option("Directory of the results.", "studies/<NAME>", exists=True)
    ] = None,
    scale: Scale = None,
    json: AsJson = False,
) -> None:
    """Print every claim of a study with the values measured in its last runs."""
    study = find(name)
    folder, results = latest(study, out, scale)
    judgements = ledger.judge(study, results.data, results.facts.scale)
    if json:
        print_json([judgement.as_json() for judgement in judgements])
        return
    console = stdout()
    console.print(ledger.table(judgements))
    console.print(f"{ledger.summary(judgements)}; results of {folder}")


def tables(
    name: Name,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a number would change.")
    ] = False,
) -> None:
    """Update the numbers of a study's README from the results recorded with it.

    The comment after a number names the measure or claim that gives its value. A comment before a
    table names the table.
    """
    study = find(name)
    _, results = record_.recorded(study)
    file = study.path / README
    written = Numbers(study, results).written(study.readme)
    if check and written != study.readme:
        raise RunError(f"{file}: numbers are not those of the recorded results; "
                       f"longhaul study tables {name} writes them")  # fmt: skip
    if not check:
        write_text(file, written)
    typer.echo(file)


def figures(
    name: Name,
    numbers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NUMBER]...", help="Numbers of figures; all by default."),
    ] = None,
    out: Annotated[Path, out_option("Directory for the figures.")] = Path(),
    of: Of = None,
    scale: Scale = None,
    format: Annotated[str, typer.Option("--format", "-f", help="svg, png or pdf.")] = "svg",
    width: Width = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the figures of a study as files, from the last runs.

    Figures are left out if none of their runs has finished.
    """
    from longhaul import plots
    from longhaul.studies.figures import drawing

    ending = endings.check_format(format, endings.FIGURES)
    study = find(name)
    every = {figure.number: figure for figure in parts.figures(study)}
    for number in numbers or ():
        if number not in every:
            raise InputError(unknown("figure", number, every))
    _, results = latest(study, of, scale)
    for number in numbers or every:
        drawn = drawing(every[number], results.data, study.claims)
        if drawn is None:
            continue
        target = endings.check_directory(out) / f"{study.name}-{every[number].name}{ending}"
        refuse_existing(target, overwrite=overwrite)
        plots.save(drawn, target, width)
        if not quiet:
            typer.echo(target)


def report(
    name: Name,
    out: Annotated[Path | None, out_option("HTML file to write.", "<NAME>.html")] = None,
    of: Of = None,
    scale: Scale = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write one HTML page with the verdicts, and each figure next to the published one.

    The page links to a second page in the same directory, on which the runs can be explored:
    NAME-explorer.html or, with --out PAGE.html, PAGE-explorer.html.
    """
    from longhaul.studies import page

    study = find(name)
    target = endings.check_file(out or Path(f"{study.name}.html"), endings.PAGES)
    for file in (target, page.explorer_of(target)):
        refuse_existing(file, overwrite=overwrite)
    _, results = latest(study, of, scale)
    page.judged(study, results, target)
    if not quiet:
        typer.echo(target)
