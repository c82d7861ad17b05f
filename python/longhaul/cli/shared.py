"""Options that several commands share, and errors that end in a message and an exit code."""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import longhaul
from longhaul.cli import interrupts
from longhaul.cli.lazy import Group

BAD_INPUT = 2
FAILED = 1


class InputError(longhaul.LonghaulError):
    """Error for an argument of a command that cannot be used."""


def _scenario(file: Path) -> Path:
    """Return the path of a scenario file as given; raise an error for a run directory.

    For a missing file, raise an error only if a file with a similar name can be suggested. `load`
    reports other missing files.
    """
    if (file / "run.json").is_file():
        raise InputError(f"{file}: a run directory; its scenario is in {file / 'run.json'}")
    if not file.exists() and file.parent.is_dir():
        from longhaul.files.names import nearest

        near = nearest(file.name, [other.name for other in file.parent.glob(f"*{file.suffix}")])
        if near is not None:
            raise InputError(f"{file}: no such file (did you mean `{file.with_name(near)}`?)")
    return file


ScenarioFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", callback=_scenario, help="Scenario file (TOML or JSON)."),
]
RunDirs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a scenario's value, such as flows.LABEL.count=4, or by place "
        "flows.0.count=4; repeatable. A new `kind` keeps the other keys of its table, and is "
        "refused if it does not have them; `--set 'queue={ kind = \"red\" }'` replaces the table.",
    ),
]


def out_option(help: str, shown: bool | str = True, **more: Any) -> Any:  # noqa: ANN401
    """Return the option `--out` of a command, for the file or directory that it writes.

    `shown` describes the default value in the help, if it is a text.
    """
    return typer.Option("--out", "-o", help=help, show_default=shown, **more)


Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite existing output.")]
# Option for the run directory that `run` and `emulate` write.
RunDir = Annotated[Path | None, out_option("Run directory to write.", "runs/<FILE>")]
WorkerCount = Annotated[
    int | None, typer.Option(min=1, help="Worker processes.", show_default="one per core")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


# Inches per unit, and the inches of named widths: a column and a page of a two-column paper.
UNITS_IN = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
NAMED_IN = {"column": 85 / 25.4, "page": 178 / 25.4}
MIN_WIDTH_IN, MAX_WIDTH_IN = 1.5, 40.0


def _inches(width: str) -> float:
    """Return a width such as `85mm`, `3.5 in` or `column` in inches; raise an error for others."""
    if width in NAMED_IN:
        return NAMED_IN[width]
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(mm|cm|in)", width.strip())
    inches = float(found[1]) * UNITS_IN[found[2]] if found else 0.0
    if not MIN_WIDTH_IN <= inches <= MAX_WIDTH_IN:
        raise InputError(f"--width {width}: expected a length such as 85mm, 8.5cm or 3.5in, from "
                         "40 mm to 1 m, or one of column, page")  # fmt: skip
    return inches


# The option for the width, in inches, of every command that draws.
Width = Annotated[
    float | None,
    typer.Option(
        "--width",
        metavar="WIDTH",
        parser=_inches,
        help="Width of the plot: a length in mm, cm or in, such as 85mm; `column` (85 mm) or "
        "`page` (178 mm) of a paper in two columns.",
        show_default="each plot's own",
    ),
]


class Commands(Group):
    """The program's commands; errors that users can cause end in a message and an exit code."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Find a command; `plot window` is the former name of the command `window`."""
        if args[:2] == ["plot", "window"]:
            args = args[1:]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run a command and explain its errors."""
        interrupts.at_work()
        with _explained_errors():
            result = super().invoke(ctx)
            # Flush here, where a closed pipe can still be handled, not when the interpreter exits.
            sys.stdout.flush()
            return result


# Errors of exhausted resources, which no other input would avoid.
_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EROFS, errno.EMFILE)


@contextmanager
def _explained_errors() -> Iterator[None]:
    """Turn errors that a user can cause into a message and an exit code, without a traceback."""
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
        # The reader of the pipe, such as `head`, has closed it. The remaining output goes to
        # /dev/null, so that writing it does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except MemoryError:
        message = "out of memory"
    except OSError as error:
        code = FAILED if error.errno in _OUTSIDE else BAD_INPUT
        where = f"{error.filename}: " if error.filename else ""
        message = f"{where}{error.strerror or error}"
    from longhaul.cli.printing import print_error  # loads rich, which only errors need here

    print_error(message)
    raise typer.Exit(code)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise an error if a path exists and the user has not given `--overwrite`."""
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists; choose another name, or add --overwrite")
