"""Printing of tables, JSON, warnings and errors."""

import json
import re
import sys
from collections.abc import Collection, Iterable
from typing import Any, TextIO, cast

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text


class _Unpadded:
    """Text stream that removes spaces and tabs at the ends of lines and of each written text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without these spaces; return the number of characters written."""
        return self._stream.write(re.sub(r"[ \t]+(?=\n|$)", "", text))

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class _Console(Console):
    """Console that leaves the error of a closed pipe to `_explained_errors`."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, as a plain write does; rich itself would exit with code 1."""
        raise BrokenPipeError


def stdout() -> Console:
    """Return a console for standard output.

    If the output is not a terminal, lines are wrapped only after 400 characters, and not padded.
    """
    console = _Console(highlight=False)
    if console.is_terminal:
        return console
    return _Console(highlight=False, width=400, file=cast(TextIO, _Unpadded(sys.stdout)))


def plain_table(
    heads: Iterable[str],
    rows: Iterable[Iterable[RenderableType]],
    right: Collection[int] = (),
) -> Table:
    """Return a table without lines; `right` are the numbers of right-aligned columns, from 0."""
    table = Table(*heads, box=None, pad_edge=False)
    for number in right:
        table.columns[number].justify = "right"
    for row in rows:
        table.add_row(*row)
    return table


def print_json(value: Any) -> None:  # noqa: ANN401
    """Print a value as JSON; numbers that are not finite are null."""
    finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
    sys.stdout.write(json.dumps(finite, indent=2) + "\n")


def warn(texts: list[str]) -> None:
    """Print warnings on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for text in texts:
        console.print(Text("warning: ", style="yellow") + Text(text))


def print_error(message: str) -> None:
    """Print the message of an error on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("error: ", style="bold red") + Text(message))
