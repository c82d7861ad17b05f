"""Commands to start with: new, list."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul.cli.printing import print_json, stdout
from longhaul.cli.shared import AsJson, InputError, Overwrite, refuse_existing
from longhaul.files.endings import SCENARIOS, check_file
from longhaul.files.names import nearest, suggestion, unknown
from longhaul.files.writing import write_text
from longhaul.guide import catalogue, examples

# Names of lists that users type by mistake, with the right names.
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
    """Write a commented scenario to start from.

    Files that the scenario names are written beside it. Without FILE, the command lists the
    examples.
    """
    if list or file is None:
        stdout().print(catalogue.table(catalogue.examples()))
        return
    check_file(file, SCENARIOS, "new")
    # Commands in the scenario's comments use the name of the new file.
    text = examples.read(source).replace(f"scenarios/{source}.toml", str(file))
    texts = {file.name: text, **examples.companions(source)}
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
        typer.Argument(
            metavar="[NAME]...", help="Entries of the list, or tables of keys, to show only those."
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """List algorithms and queues with their parameters, keys, columns, plots and more."""
    what = OTHER_NAMES.get(what, what)
    if what not in catalogue.LISTS:
        message = unknown("list", what, catalogue.LISTS, "longhaul list --help")
        raise InputError(f"{message}; analyses: longhaul analyze list")
    rows = catalogue.LISTS[what]()
    if names:
        rows = [row for name in names for row in _entries(rows, what, name)]
    if json:
        print_json(rows)
    else:
        stdout().print(catalogue.table(rows))


def _entries(rows: Sequence[dict[str, Any]], what: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of the list `what` that are named `name`; raise an error if there are none.

    In the list of keys, `name` may also be a table of scenario files, such as `bottleneck`; the
    result is then the rows of this table's keys.
    """
    found = [row for row in rows if row["name"] == name]
    if not found and what == "keys":
        found = [row for row in rows if f".{name}." in f".{row['name']}."]
    if found:
        return found
    known = [row["name"] for row in rows]
    end = suggestion(name, known, f"longhaul list {what}", nearest(name, known, cutoff=0.4))
    raise InputError(f"list {what}: no entry `{name}`{end}")
