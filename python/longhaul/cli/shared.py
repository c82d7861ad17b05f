"""What all commands share: options, output, and errors that end in a message and an exit code."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

import longhaul
from longhaul.cli import interrupts

BAD_INPUT = 2
FAILED = 1

ScenarioFile = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (TOML or JSON).")]
RunDirs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a scenario's value, such as flows.LABEL.count=4, or by place "
        "flows.0.count=4; repeatable. A new `kind` keeps the keys beside it, and is refused if it "
        "lacks them; "
        "`--set 'queue={ kind = \"red\" }'` replaces the table.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite existing output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


class InputError(longhaul.LonghaulError):
    """An argument that cannot be used."""


class _Unpadded:
    """A stream whose lines have no spaces at their ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text of whole lines."""
        return self._stream.write(re.sub(r"[ \t]+(?=\n|$)", "", text))

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class _Console(Console):
    """A console that leaves a closed pipe to `_explained_errors`."""

    def on_broken_pipe(self) -> None:
        """Raise what a plain write raises, where rich would exit with 1."""
        raise BrokenPipeError


def stdout() -> Console:
    """Standard output: wide enough for any table and without padding if it is not a terminal."""
    console = _Console(highlight=False)
    if console.is_terminal:
        return console
    return _Console(highlight=False, width=400, file=cast(TextIO, _Unpadded(sys.stdout)))


def print_json(value: Any) -> None:  # noqa: ANN401
    """Print a value as JSON; what is not finite is null."""
    finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
    sys.stdout.write(json.dumps(finite, indent=2) + "\n")


def warn(texts: list[str]) -> None:
    """Print warnings on the error stream."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for text in texts:
        console.print(Text("warning: ", style="yellow") + Text(text))


class Commands(TyperGroup):
    """The commands; an error that a user can cause ends in a message and an exit code."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Find a command; `plot window` is the former name of `window`."""
        if args[:2] == ["plot", "window"]:
            args = args[1:]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run a command."""
        interrupts.at_work()
        with _explained_errors():
            result = super().invoke(ctx)
            # Here, where a closed pipe can still be handled, not when the interpreter exits.
            sys.stdout.flush()
            return result


# Resources that a system has run out of: not the input's fault.
_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EROFS, errno.EMFILE)


@contextmanager
def _explained_errors() -> Iterator[None]:
    """Turn what a user can cause into one message and an exit code, never a traceback."""
    code = FAILED
    try:
        yield
        return
    except KeyboardInterrupt as interrupt:
        message = str(interrupt) or "interrupted"
    except longhaul.RunError as error:
        message = str(error)
    except longhaul.LonghaulError as error:
        code, message = BAD_INPUT, str(error)
    except BrokenPipeError:
        # The reader, `head` say, has closed the pipe; what is still buffered must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except MemoryError:
        message = "out of memory"
    except OSError as error:
        code = FAILED if error.errno in _OUTSIDE else BAD_INPUT
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror or error}"
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("error: ", style="bold red") + Text(message))
    raise typer.Exit(code)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is."""
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists; choose another name, or add --overwrite")
