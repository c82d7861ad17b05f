"""Commands that read results but do not draw: compare, export."""

from pathlib import Path
from typing import Annotated

import typer

from longhaul.cli.printing import print_json, stdout, warn
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overwrite,
    Quiet,
    RunDirs,
    Width,
    out_option,
    refuse_existing,
)
from longhaul.comparison import compare as compare_runs
from longhaul.comparison import differences
from longhaul.files.endings import FIGURES, check_directory, check_file
from longhaul.files.writing import atomic
from longhaul.mesonet.export import export as write_files
from longhaul.results import Results, open_runs, qlog


def compare(
    runs: RunDirs,
    model: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="fluid", help="Run a scenario FILE, and compare with its fluid model."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Plot of both (.svg, .png or .pdf), for `--with fluid`."),
    ] = None,
    width: Width = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also show differences that follow from others."),
    ] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Compare runs: metrics side by side, changes from the first run, and scenario differences.

    With `--with fluid`, the command compares a scenario with its fluid model.
    """
    if plot is not None:
        check_file(plot, FIGURES, "--plot")
    elif width is not None:
        raise InputError("--width: expected --plot and a file for the plot")
    if model is not None:
        from longhaul.cli.fluid import beside_packets

        beside_packets(runs, model, plot, width, overwrite=overwrite, json=json)
        return
    if plot is not None:
        raise InputError(f"--plot {plot}: expected --with fluid")
    opened = open_runs(runs)
    warn(differences.warnings(opened))
    if json:
        print_json([results.as_json() for results in opened])
    else:
        stdout().print(compare_runs(opened, every=every))


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    out: Annotated[Path, out_option("Directory for the files.")] = Path(),
    format: Annotated[
        str | None,
        typer.Option(
            help="qlog: a file for qvis, with a trace for each flow; mesonet: the text files of "
            "the original MesoNet; csv: a file for each table. Default: qlog for runs of TCP, "
            "mesonet for runs of MesoNet."
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a run in the format of other programs: qlog, CSV, or the text files of MesoNet."""
    if format not in (None, "qlog", "mesonet", "csv"):
        raise InputError(
            f"--format {format}: expected qlog, mesonet or csv; the tables of a run are Parquet "
            "files in its directory, and `longhaul compare RUN --json` prints its figures"
        )
    check_directory(out)
    results = Results(run)
    if format == "csv":
        targets = _export_tables(results, out, overwrite=overwrite)
    else:
        targets = [_export_own(results, format, out, overwrite=overwrite)]
    if not quiet:
        for target in targets:
            typer.echo(target)


def _export_own(results: Results, format: str | None, out: Path, *, overwrite: bool) -> Path:
    """Write a run in the format of its kind of simulation; return the path."""
    fitting = "qlog" if results.is_tcp else "mesonet"
    if format not in (None, fitting):
        kind = "TCP" if results.is_tcp else "MesoNet"
        raise InputError(
            f"--format {format}: {results.path} is a run of {kind}; expected {fitting} or csv"
        )
    if fitting == "mesonet":
        return write_files(results, out, overwrite=overwrite)
    target = out / f"{results.name}.qlog"
    refuse_existing(target, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    qlog.write(results, target)
    return target


def _export_tables(results: Results, out: Path, *, overwrite: bool) -> list[Path]:
    """Write each table of a run as CSV; return the paths."""
    targets = {name: out / f"{results.name}-{name}.csv" for name in results.tables}
    for target in targets.values():
        refuse_existing(target, overwrite=overwrite)
    out.mkdir(parents=True, exist_ok=True)
    for name, target in targets.items():
        with atomic(target) as file:
            results.table(name).write_csv(file)
    return list(targets.values())
