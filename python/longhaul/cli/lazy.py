"""Commands that are imported only when they are called.

The table of commands has the module and the line of help of each command. Thus the program can
start, list its commands and complete their names without importing any command's module.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

import typer
from typer._click.exceptions import NoSuchOption
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

# Name, function as `module.function` in `longhaul.cli`, line of help, and example arguments.
Row = tuple[str, str, str, str]
MARKUP: Final = "rich"
# Names of commands and options in other programs, and Longhaul's names for them.
MEANT = {
    "simulate": "run", "sim": "run", "draw": "plot", "graph": "plot", "validate": "check",
    "init": "new", "create": "new", "sweep": "campaign", "batch": "campaign", "diff": "compare",
    "analyse": "analyze", "show": "explain", "start": "run",
}  # fmt: skip
OTHER_NAMES = {
    "--bandwidth": "--rate", "--capacity": "--rate", "--latency": "--rtt", "--delay": "--rtt",
    "--output": "--out", "--directory": "--out", "--outdir": "--out", "--jobs": "--workers",
    "--parallel": "--workers", "--force": "--overwrite", "--type": "--format",
    "--timeout": "--limit", "--repeat": "--replications", "--size": "--width",
}  # fmt: skip
# Scenario keys that users try as options, with the `--set` value to suggest.
_LINK = "topology.dumbbell.bottleneck"
KEYS = {
    **dict.fromkeys(("--bandwidth", "--rate", "--capacity"), f"{_LINK}.rate='5 Mbps'"),
    **dict.fromkeys(("--delay", "--latency", "--rtt"), f"{_LINK}.delay='25 ms'"),
    **dict.fromkeys(("--buffer", "--queue"), f"{_LINK}.queue.limit='1 BDP'"),
    **dict.fromkeys(("--algorithm", "--congestion", "--cc"), "flows.0.congestion.kind=cubic"),
    "--loss": f"{_LINK}.loss.bernoulli=1e-4",
    "--duration": "duration='10 s'",
    "--flows": "flows.0.count=4",
    "--seed": "seed=2",
    "--profile": "profile=linux",
}


class Group(TyperGroup):
    """Group of commands that suggests Longhaul's command for a name from another program."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Find a command; for another program's command such as `sweep`, suggest the equivalent."""
        meant = MEANT.get(args[0]) if args else None
        if meant in self.commands and args[0] not in self.commands:
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{meant}'?")
        return super().resolve_command(ctx, args)


class Deferred(TyperCommand):
    """Command with name and help, whose module is imported when its arguments are parsed."""

    place: str

    def loaded(self) -> TyperCommand:
        """Import the command's function, and return the complete command."""
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
        """Import the complete command, and let it parse the arguments.

        The error for an unknown option gets a hint, if there is one.
        """
        command = self.loaded()
        try:
            return command.make_context(*args, **more)
        except NoSuchOption as refused:
            refused.message += _instead(refused.option_name, command)
            raise


def _instead(option: str, command: TyperCommand) -> str:
    """Return a hint about an unknown option, such as the one to use in its place; empty if none."""
    options = {name for parameter in command.params for name in parameter.opts}
    other = OTHER_NAMES.get(option)
    if option == "--replications" and command.name == "run":
        return ". A campaign has replications: longhaul campaign new FILE"
    if other in options:
        return f". Did you mean {other}?"
    if "--set" in options and option in KEYS:
        return f". It is a key of the scenario: --set {KEYS[option]}"
    return ""


def add(app: typer.Typer, rows: Iterable[Row], path: str = "longhaul") -> None:
    """Add the commands of a table to an application.

    `path` is the command line in front of the names of the commands.
    """
    for name, place, line, example in rows:
        epilog = f"Example: {path} {name} {example}".rstrip()
        kind = type("Deferred", (Deferred,), {"place": place})
        app.command(name=name, help=line, epilog=epilog, cls=kind)(_nothing)


def _nothing() -> None:
    """Do nothing; this is a command's function until the command is imported."""
