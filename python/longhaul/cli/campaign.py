"""Commands about campaigns: new, plan, run, status, resume, work, report."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul._engine import RunError
from longhaul.campaign.dataset import Dataset
from longhaul.campaign.execute import Outcome, execute
from longhaul.campaign.file import Campaign, read_campaign
from longhaul.campaign.leases import Leases
from longhaul.campaign.pool import LocalWorkers, Workers
from longhaul.campaign.progress import show_progress
from longhaul.cli.places import folder_of, store_of, write_table
from longhaul.cli.printing import plain_table, print_json, stdout, warn
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overwrite,
    Quiet,
    WorkerCount,
    out_option,
    refuse_existing,
)
from longhaul.designs import roman
from longhaul.files.endings import PAGES, SCENARIOS, check_file
from longhaul.files.writing import write_text

File = Annotated[Path, typer.Argument(metavar="FILE", help="Campaign file (TOML).")]
Out = Annotated[Path | None, out_option("Directory of runs and results.", "campaigns/<FILE>")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler to run on, such as tcp://host:8786."),
]
# Maximum number of failed runs whose messages are printed.
MAX_MESSAGES = 5


def new(
    file: File,
    overwrite: Overwrite = False,
) -> None:
    """Write a commented campaign file to start from."""
    from importlib.resources import files

    check_file(file, SCENARIOS, "campaign new")
    refuse_existing(file, overwrite=overwrite)
    text = (files("longhaul.templates") / "campaign.toml").read_text(encoding="utf-8")
    write_text(file, text)
    typer.echo(f"{file}: longhaul campaign plan {file}")


def plan(file: File, out: Out = None, json: AsJson = False) -> None:
    """Show the design of a campaign, its runs, expected packets, and finished runs."""
    campaign = read_campaign(file)
    warn(campaign.warnings())
    store = store_of(campaign, out)
    runs = campaign.runs()
    done = sum(store.has(run.key) for run in runs)
    design = campaign.design
    expected = sum(run.expected_packets for run in runs)
    facts: dict[str, Any] = {
        "title": campaign.title,
        "design": design.describe(),
        "replications": campaign.sweep.replications,
        "runs": len(runs),
        "done": done,
        "expected_data_packets": expected,
        "responses": [response.name for response in campaign.responses],
    }
    if json:
        print_json(facts)
        return
    typer.echo(f"{campaign.title}: {design.kind}, {design.runs} combinations of levels")
    if design.is_two_level and design.generators:
        typer.echo(
            f"resolution {roman(facts['design']['resolution'])}; {', '.join(design.generators)}"
        )
    for factor in design.factors:
        typer.echo(f"  {factor.name}: {', '.join(map(str, factor.levels))}")
    typer.echo(
        f"{len(runs):,} runs ({campaign.sweep.replications} replications), {done:,} of them done; "
        f"about {expected:.2g} data packets"
    )


def run(
    file: File,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    out: Out = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Execute the runs that have not finished, and write the table of results.

    Finished runs are kept and never repeated. The command can be stopped at any time; the same
    command then resumes the campaign.
    """
    campaign = read_campaign(file)
    _do(campaign, out, _workers(campaign, workers, scheduler), quiet=quiet, json=json)


def resume(
    file: File,
    workers: WorkerCount = None,
    scheduler: Scheduler = None,
    out: Out = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Resume a campaign that was stopped or killed; failed runs are retried."""
    campaign = read_campaign(file)
    if not store_of(campaign, out).path.is_dir():
        raise InputError(f"{folder_of(campaign, out)}: not started: longhaul campaign run {file}")
    _do(campaign, out, _workers(campaign, workers, scheduler), quiet=quiet, json=json)


def work(
    file: File,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Part of the runs to start with, from 1/N to N/N.")
    ] = "1/1",
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Do part of a campaign alongside other processes: one task of an array job.

    Each shard begins with its own part of the runs, and then takes runs that no other shard has
    begun. The store records which shard has taken a run, so that no run is done twice. Shards may
    join or stop at any time. A shard ends when all runs of the campaign have finished or failed.
    """
    index, count = _shard(shard)
    campaign = read_campaign(file)
    own = {run.key for i, run in enumerate(campaign.runs()) if i % count == index}
    pool, title = LocalWorkers(workers, campaign.memory), f"{campaign.name} {shard}"
    _report_failures(_executed(campaign, out, pool, title, first=own, quiet=quiet).failed)


def status(file: File, out: Out = None, json: AsJson = False) -> None:
    """Show the finished, running, failed and pending runs of a campaign."""
    campaign = read_campaign(file)
    store = store_of(campaign, out)
    leases = Leases(store.path)
    counts = {"done": 0, "running": 0, "failed": 0, "to do": 0}
    failures: dict[str, list[str]] = {}
    for run in campaign.runs():
        if store.has(run.key):
            counts["done"] += 1
        elif leases.is_held(run.key):
            counts["running"] += 1
        elif failure := store.failure(run.key):
            counts["failed"] += 1
            failures.setdefault(failure[1], []).append(run.name)
        else:
            counts["to do"] += 1
    living = leases.living()
    if json:
        print_json({**counts, "programs": living, "failures": failures})
        return
    total = sum(counts.values())
    typer.echo(f"{total:,} runs: " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))
    typer.echo(f"running processes: {', '.join(living) or 'none'}")
    for message, names in failures.items():
        typer.echo(f"{len(names)} failed: {message}; such as {names[0]}")


def report(
    file: File,
    out: Out = None,
    html: Annotated[
        Path | None,
        typer.Option(help="HTML page to write.", show_default="<OUT>/report.html"),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the table of a campaign, and a page with the effects of its factors."""
    if html is not None:
        check_file(html, PAGES, "--html")
        refuse_existing(html, overwrite=overwrite)
    campaign = read_campaign(file)
    folder = folder_of(campaign, out)
    dataset = write_table(campaign, out)
    from longhaul.findings import page

    target = page.write(dataset, html or folder / "report.html")
    if not quiet:
        typer.echo(f"Table: {folder / 'results.parquet'}\nReport: {target}")


def _executed(
    campaign: Campaign,
    out: Path | None,
    workers: Workers,
    title: str,
    *,
    first: Collection[str] = (),
    quiet: bool,
) -> Outcome:
    """Execute the runs that have not finished; show progress on standard error unless `quiet`.

    `title` is the heading of the progress display. `first` are the keys of runs that are executed
    before all others.
    """
    with show_progress(title) as watch:
        return execute(
            campaign.runs(), store_of(campaign, out), workers=workers,
            watch=None if quiet else watch, reducer=campaign.reducer, retries=campaign.retries,
            first=first, check=campaign.reducer.row,
        )  # fmt: skip


def _do(campaign: Campaign, out: Path | None, workers: Workers, *, quiet: bool, json: bool) -> None:

    warn(campaign.warnings())
    outcome = _executed(campaign, out, workers, campaign.name, quiet=quiet)
    if outcome.done > len(outcome.failed):
        dataset = write_table(campaign, out)
        if json:
            print_json({**dataset.facts, "rows": dataset.frame.to_dicts()})
        elif not quiet:
            table = folder_of(campaign, out) / "results.parquet"
            _print_summary(outcome, dataset, table, out or campaign.path)
    _report_failures(outcome.failed)


def _print_summary(outcome: Outcome, dataset: Dataset, file: Path, source: Path) -> None:
    console = stdout()
    done = outcome.finished + outcome.found
    console.print(
        f"{done:,} of {outcome.total:,} runs done, {outcome.finished:,} of them now: "
        f"{outcome.data_packets:,} data packets, {outcome.packets_per_s / 1e6:.2f} M/s"
    )
    values = {name: dataset.frame[name].drop_nulls().to_numpy() for name in dataset.responses}
    rows = (
        (name, *(f"{cell:.6g}" for cell in (of.mean(), of.min(), of.max())))
        for name, of in values.items()
        if len(of)
    )
    console.print(plain_table(("response", "mean", "min", "max"), rows))
    console.print(f"Table: {file}\nNext: longhaul analyze {source}")


def _report_failures(failed: list[tuple[Any, str]]) -> None:
    if failed:
        lines = [f"{run.name}: {message}" for run, message in failed[:MAX_MESSAGES]]
        more = [f"and {len(failed) - MAX_MESSAGES} more"] if len(failed) > MAX_MESSAGES else []
        warn([*lines, *more])
        raise RunError(f"{len(failed)} runs failed; `resume` retries them")


def _workers(campaign: Campaign, count: int | None, scheduler: str | None) -> Workers:

    if scheduler is None:
        return LocalWorkers(count or os.cpu_count() or 1, campaign.memory)
    from longhaul.campaign.cluster import ClusterWorkers

    return ClusterWorkers(scheduler)


def _shard(text: str) -> tuple[int, int]:
    """Parse a shard such as `2/16`.

    Return its index from 0, here 1, and the number of shards, here 16. Raise an error for another
    text.
    """
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise InputError(f"--shard {text}: expected for example 1/16, up to 16/16")
    return int(index) - 1, int(count)
