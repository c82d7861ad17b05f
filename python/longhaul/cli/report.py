"""The command `report`: one HTML file about runs, with tables, plots and scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from longhaul.cli.shared import Overwrite, Quiet, RunDirs, out_option, refuse_existing
from longhaul.files.endings import PAGES, check_file
from longhaul.reports import report as write_report
from longhaul.results import open_runs


def report(
    runs: RunDirs,
    out: Annotated[Path, out_option("HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write one HTML file with tables, plots and scenarios; it opens without a network."""
    check_file(out, PAGES)
    refuse_existing(out, overwrite=overwrite)
    write_report(open_runs(runs), out, title=title, overwrite=overwrite)
    if not quiet:
        typer.echo(out)
