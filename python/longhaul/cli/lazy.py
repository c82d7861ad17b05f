"""Commands that are imported when they are called.

The table of commands has each command's place and its line of help, so that the program starts,
lists its commands and completes their names without loading what any of them needs.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command_from_info
from typer.models import CommandInfo

# Name, function in `longhaul.cli` as `module.function`, line of help, and example arguments.
Row = tuple[str, str, str, str]
MARKUP: Final = "rich"


class Group(TyperGroup):
    """A group of commands that starts without what only reads other values than names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the arguments; an option that is a flag and not given is false.

        Flags that Typer adds, for help and completion, are None instead. To make that a bool, it
        loads a library that takes longer to load than everything else that `--version` needs.
        """
        for option in self.get_params(ctx):
            if isinstance(option, TyperOption) and option.is_flag and option.default is None:
                option.default = False
        return super().parse_args(ctx, args)


class Deferred(TyperCommand):
    """The name and help of a command; the command itself takes over when its arguments are read."""

    place: str

    def loaded(self) -> TyperCommand:
        """Import the function and return its command."""
        module, function = self.place.split(".")
        info = CommandInfo(
            name=self.name,
            callback=getattr(import_module(f"longhaul.cli.{module}"), function),
            epilog=self.epilog,
        )
        command = get_command_from_info(
            info, pretty_exceptions_short=False, rich_markup_mode=MARKUP
        )
        assert isinstance(command, TyperCommand)
        return command

    def make_context(self, *args: Any, **more: Any) -> Any:  # noqa: ANN401
        """Read the arguments with the command itself: for a call, for help and for completion."""
        return self.loaded().make_context(*args, **more)


def add(app: typer.Typer, rows: Iterable[Row], path: str = "longhaul") -> None:
    """Give an application the commands of a table."""
    for name, place, line, example in rows:
        epilog = f"Example: {path} {name} {example}".rstrip()
        kind = type("Deferred", (Deferred,), {"place": place})
        app.command(name=name, help=line, epilog=epilog, cls=kind)(_nothing)


def _nothing() -> None:
    """Stand for the function of a command that is not imported yet."""
