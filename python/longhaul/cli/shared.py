"""What all verbs share: options, output, and errors that end in a message and an exit code."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

import longhaul

BAD_INPUT = 2
FAILED = 1

ScenarioFile = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file (TOML or JSON).")]
RunDirs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a value of the scenario; repeatable."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is already there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


class InputError(longhaul.LonghaulError):
    """An argument that cannot be used."""


def stdout() -> Console:
    """Standard output, wide enough for any table when it is not a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=400)


def print_json(value: Any) -> None:  # noqa: ANN401
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def warn(texts: list[str]) -> None:
    """Print warnings on the error stream."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for text in texts:
        console.print(Text("warning: ", style="yellow") + Text(text))


class Verbs(TyperGroup):
    """The verbs; whatever a user can cause in one ends in a message and an exit code."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Find a verb: one of two words, or of one."""
        if " ".join(args[:2]) in self.commands:
            args = [" ".join(args[:2]), *args[2:]]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run a verb."""
        with _explained_errors():
            return super().invoke(ctx)


@contextmanager
def _explained_errors() -> Iterator[None]:
    """Turn what a user can cause into one message and an exit code, never a traceback."""
    code = FAILED
    try:
        yield
        return
    except KeyboardInterrupt as interrupt:
        message = str(interrupt) or "interrupted; nothing was written"
    except longhaul.RunError as error:
        message = str(error)
    except longhaul.LonghaulError as error:
        code, message = BAD_INPUT, str(error)
    except OSError as error:
        code, message = BAD_INPUT, f"{error.filename}: {error.strerror}"
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("error: ", style="bold red") + Text(message))
    raise typer.Exit(code)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is."""
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists; choose another name, or add --overwrite")
