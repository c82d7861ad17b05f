"""The command `schema`; editors use its output to complete and check scenario files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from longhaul import _engine
from longhaul.cli.shared import Overwrite, refuse_existing
from longhaul.files.endings import check_file
from longhaul.files.writing import write_text


def schema(
    out: Annotated[Path | None, typer.Option(help="File to write instead of printing.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Print the JSON Schema of scenario files, for editors that complete and check TOML."""
    text = json.dumps(json.loads(_engine.schema()), indent=2, ensure_ascii=False)
    if out is not None:
        check_file(out, (".json",))
    if out is None:
        typer.echo(text)
        return
    refuse_existing(out, overwrite=overwrite)
    write_text(out, text + "\n")
    typer.echo(f"{out}: name it in the first line of a scenario: #:schema {out}")
