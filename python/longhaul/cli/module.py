"""The subcommands of `longhaul module`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from longhaul import modules
from longhaul.cli.printing import print_json, stdout
from longhaul.cli.shared import AsJson, Overwrite, out_option, refuse_existing
from longhaul.files.endings import check_file
from longhaul.modules import Built


def build(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.c...", help="The module's sources.")],
    out: Annotated[Path | None, out_option("Object to write.", "<FILE>.so")] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Congestion control to build, if the files register several."),
    ] = None,
    hz: Annotated[
        int, typer.Option(help="Clock ticks per second of the kernel: 100, 250, 300 or 1000.")
    ] = 250,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Also run the module in generated connections under the compiler's sanitizers.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Compile a congestion control module of Linux to an object that a scenario can name.

    The module is built unchanged, with headers of Longhaul in place of the kernel's. It runs as
    native code in the simulation, so a fault in the module ends the process.
    """
    target = out or Path(files[0]).with_suffix(".so").name
    check_file(Path(target), (".so",))
    refuse_existing(Path(target), overwrite=overwrite)
    built = modules.build(files, Path(target), name=name, hz=hz)
    checked = modules.check(files, name=name, hz=hz) if check else None
    if json:
        print_json({**asdict(built), "object": str(built.object), "checked": checked})
        return
    _print(built)
    if checked is not None:
        stdout().print(f"checked: {checked}; nothing found")
    stdout().print(f'In a scenario: congestion = {{ module = "{built.object}" }}', markup=False)


def _print(built: "Built") -> None:
    needs = ", ".join(built.needs) or "nothing beyond what every flow has"
    for line in (
        f"{built.object}: {built.name}", f"hooks: {', '.join(built.hooks)}", f"needs: {needs}",
        f"clock: {built.hz} ticks per second",
    ):  # fmt: skip
        stdout().print(line, markup=False)
    if not built.parameters:
        stdout().print("parameters: none")
        return
    table = Table("parameter", "type", "default")
    for parameter in built.parameters:
        table.add_row(*parameter)
    stdout().print(table)
