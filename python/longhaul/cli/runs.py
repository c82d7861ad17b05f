"""Commands that run one scenario: run, calibrate."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from longhaul._engine import RunError
from longhaul.cli.limit import enforced
from longhaul.cli.printing import plain_table, print_json, stdout, warn
from longhaul.cli.shared import (
    AsJson,
    Overrides,
    Overwrite,
    Quiet,
    RunDir,
    ScenarioFile,
    refuse_existing,
)
from longhaul.comparison import compare as compare_runs
from longhaul.files.endings import check_directory
from longhaul.results import Results
from longhaul.running.calibration import calibrate as find_rates
from longhaul.running.execution import run_loaded
from longhaul.running.loading import load


def run(
    file: ScenarioFile,
    out: RunDir = None,
    set: Overrides = None,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time between checkpoints of a MesoNet run; the same command resumes it.",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Wall-clock time after which to stop, such as '10 min'; also ends an algorithm in "
            "Python that never returns.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that the run may take, such as '2 GB': the run stops before it takes "
            "more, and keeps its records. Default: nine tenths of the available memory.",
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Show windows, queues and throughput in the terminal while it runs.",
        ),
    ] = False,
    threads: Annotated[
        int,
        typer.Option(min=1, help="Threads of a MesoNet run; their number changes no results."),
    ] = 1,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Simulate a scenario and print a summary.

    FILE may be the run.json of a run, which is then repeated. If a run is stopped, its records so
    far are kept, and the command prints the simulated time that was reached.
    """
    target = check_directory(out or Path("runs") / _name_of(file))
    with enforced(limit) as started:
        scenario = load(file, set or (), limit=started)
        warn(scenario.warnings)
        refuse_existing(target, overwrite=overwrite)
        kept = target.with_name(f"{target.name}.checkpoint")
        if checkpoint_every and (kept / "state").exists() and not quiet:
            typer.echo(f"resuming from {kept}", err=True)
        try:
            results = run_loaded(
                scenario,
                out=target,
                progress=not (quiet or json),
                overwrite=overwrite,
                checkpoint_every=checkpoint_every,
                limit=started,
                memory=memory,
                threads=threads,
                watch=watch,
            )
        except (KeyboardInterrupt, RunError) as stop:
            if not (checkpoint_every and kept.exists()):
                raise
            why = str(stop) or "interrupted"
            raise type(stop)(f"{why}; the same command resumes from {kept}") from None
    if results.stopped:
        warn([f"{results.stopped}; the recorded part is in {results.path}"])
    if json:
        print_json(results.as_json())
    elif not quiet:
        _print_summary(results)


def _name_of(file: Path) -> str:
    """Return the name of the run for a scenario file: its stem.

    For a `run.json`, it is the old run's name followed by `-again`.
    """
    return f"{file.absolute().parent.name}-again" if file.name == "run.json" else file.stem


def _print_summary(results: Results) -> None:
    console, target = stdout(), results.path
    console.print(Text(results.title, style="bold"))
    console.print(results.headline())
    console.print(compare_runs([results]))
    console.print(f"Tables: {target}")
    name = _next_plot(results)
    console.print(f"Next:   longhaul plot {target}{name}   or   longhaul report {target}")


def _next_plot(results: Results) -> str:
    """Return an argument such as ` cwnd`: the name of the most informative plot of a TCP run.

    For other kinds of runs, return an empty text, which means all plots.
    """
    if not results.is_tcp:
        return ""
    if {"proxies", "series"} <= results.tables.keys():
        return " proxy-window"
    if len(results.response_times):
        return " response-times"
    return " shares" if len(results.algorithms()) > 1 else " cwnd"


def calibrate(
    file: ScenarioFile,
    load: Annotated[float, typer.Option(help="Offered load, as a share of the link's rate.")],
    link: Annotated[str, typer.Option(help="Link to load.")] = "bottleneck",
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="LABEL",
            help="Flows to adjust, all by default; repeatable.",
        ),
    ] = None,
    set: Overrides = None,
    json: AsJson = False,
) -> None:
    """Find the rate of new connections that gives an offered load, on links ten times as fast.

    Links ten times as fast as the scenario's hardly limit flows, so they carry the offered load.
    The command simulates about eight runs of the scenario's whole `duration`; --set can shorten it.
    It prints the rate as options --set, and the range of loads that other random numbers give.
    """
    calibration = find_rates(
        file, load=load, link=link, labels=of, set=set or (), progress=not json
    )
    if json:
        print_json(calibration.as_json())
        return
    rows = [(f"{factor:.4f}", f"{measured:.2%}") for factor, measured in calibration.steps]
    stdout().print(plain_table(("factor", "load"), rows))
    low, high = calibration.range
    typer.echo(
        f"load with the random numbers of {1 + len(calibration.others)} replications: "
        f"{low:.2%} to {high:.2%}; a longer duration narrows this range"
    )
    for key, value in calibration.settings.items():
        typer.echo(f"--set {key}={value}")
