"""Commands about results that draw nothing: compare, export."""

from pathlib import Path
from typing import Annotated

import typer

from longhaul.cli.printing import print_json, stdout, warn
from longhaul.cli.shared import AsJson, InputError, Overwrite, Quiet, RunDirs, refuse_existing
from longhaul.comparison import compare as compare_runs
from longhaul.comparison import differences
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
        Path | None, typer.Option("--plot", help="With fluid: picture of both, .svg or .png.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also show differences that follow from others, as defaults."),
    ] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Compare runs: figures side by side, changes, and differences between the scenarios.

    With `--with fluid`, compares a scenario with its fluid model.
    """
    if model is not None:
        from longhaul.cli.fluid import beside_packets

        beside_packets(runs, model, plot, overwrite=overwrite, json=json)
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
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the files.")] = Path(),
    format: Annotated[
        str | None,
        typer.Option(
            help="qlog: a file for qvis, with a trace for each flow; mesonet: the text files of "
            "the original MesoNet. Default: qlog for runs of TCP, mesonet for runs of MesoNet."
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a run in the format of other programs: qlog, or the text files of MesoNet."""
    results = Results(run)
    fitting = "qlog" if results.is_tcp else "mesonet"
    if format not in (None, "qlog", "mesonet"):
        raise InputError(f"--format {format}: expected qlog or mesonet")
    if format not in (None, fitting):
        kind = "TCP" if results.is_tcp else "MesoNet"
        raise InputError(f"--format {format}: {run} is a run of {kind}; expected {fitting}")
    if fitting == "mesonet":
        target = write_files(results, out, overwrite=overwrite)
    else:
        target = out / f"{results.name}.qlog"
        refuse_existing(target, overwrite=overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        qlog.write(results, target)
    if not quiet:
        typer.echo(target)
