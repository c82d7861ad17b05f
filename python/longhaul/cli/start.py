"""Commands to start with: new, list."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul.cli.printing import print_json, stdout
from longhaul.cli.shared import AsJson, InputError, Overwrite, refuse_existing
from longhaul.files.endings import SCENARIOS, check_file
from longhaul.files.writing import write_text
from longhaul.guide import catalogue, examples

# Other names of lists that people type.
OTHER_NAMES = {
    "scenarios": "examples",
    "disciplines": "queues",
    "qdiscs": "queues",
    "congestion": "algorithms",
    "parameters": "keys",
    "options": "keys",
}


def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Scenario file to write.")
    ] = None,
    source: Annotated[
        str, typer.Option("--from", metavar="EXAMPLE", help="Example to start from.")
    ] = examples.TEMPLATE,
    list: Annotated[bool, typer.Option("--list", help="List the examples.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a commented scenario to start from."""
    if list or file is None:
        stdout().print(catalogue.table(catalogue.examples()))
        return
    check_file(file, SCENARIOS, "new")
    texts = {file.name: examples.read(source), **examples.companions(source)}
    for name in texts:
        refuse_existing(file.with_name(name), overwrite=overwrite)
    for name, text in texts.items():
        write_text(file.with_name(name), text)
    typer.echo(f"{file}: edit it, then: longhaul run {file}")


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[WHAT]",
            help="One of: algorithms, slow-starts, state, queues, keys, traffic, profiles, "
            "mesonet, columns, plots, figures, responses, examples.",
        ),
    ] = "algorithms",
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Entries of the list, to show only those."),
    ] = None,
    json: AsJson = False,
) -> None:
    """List algorithms and queues with their parameters, keys, columns, plots and more."""
    what = OTHER_NAMES.get(what, what)
    if what not in catalogue.LISTS:
        near = difflib.get_close_matches(what, catalogue.LISTS, n=1)
        hint = f" (did you mean `{near[0]}`?)" if near else ""
        there = ", ".join(catalogue.LISTS)
        raise InputError(
            f"unknown list `{what}`{hint}; available: {there}; analyses: longhaul analyze list"
        )
    rows = catalogue.LISTS[what]()
    if names:
        rows = [_entry(rows, what, name) for name in names]
    if json:
        print_json(rows)
    else:
        stdout().print(catalogue.table(rows))


def _entry(rows: Sequence[dict[str, Any]], what: str, name: str) -> dict[str, Any]:
    """Return the entry of a list of that name."""
    for row in rows:
        if row["name"] == name:
            return row
    known = [row["name"] for row in rows]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f" (did you mean `{near[0]}`?)" if near else ""
    raise InputError(f"list {what}: no entry `{name}`{hint}; `longhaul list {what}` shows all")
