"""The command `emulate`: real programs over the network of a scenario."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from longhaul._engine import RunError, Scenario
from longhaul.cli.printing import print_json, stdout, warn
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overrides,
    Overwrite,
    Quiet,
    RunDir,
    refuse_existing,
)
from longhaul.comparison import compare
from longhaul.emulation.execution import Emulation, Program, address, hosts
from longhaul.emulation.execution import emulate as run_programs
from longhaul.emulation.guard import continue_in_child
from longhaul.emulation.mahimahi import CLIENT, translate
from longhaul.files.endings import check_directory
from longhaul.running.loading import load


def emulate(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE -- COMMAND...",
            help="Scenario file, and the program to run with its arguments.",
        ),
    ],
    out: RunDir = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="NODE",
            help="Node at which COMMAND runs.",
            show_default="where the first flow's data comes from",
        ),
    ] = None,
    inside: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="'NODE COMMAND'",
            help="Run a command line of the shell in the background at a node, such as a server; "
            "COMMAND begins when the server listens. Repeatable.",
        ),
    ] = None,
    shell: Annotated[
        str | None,
        typer.Option(metavar="NODE", help="Open a shell at a node, in place of COMMAND."),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="mahimahi",
            help="Take a command line of mahimahi in place of FILE and COMMAND: mm-link, mm-delay "
            "and mm-loss become a scenario, which is printed. Without a program, nothing is run.",
        ),
    ] = None,
    background: Annotated[
        bool,
        typer.Option("--background", help="Let the scenario's own flows share the network."),
    ] = False,
    sysctl: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Kernel setting of all hosts, such as net.ipv4.tcp_congestion_control=bbr; "
            "repeatable.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the packets of all hosts to FILE (pcapng)."),
    ] = None,
    set: Overrides = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Run real programs over the network of a scenario, at the pace of the wall clock (Linux).

    Nodes at which programs run and the ends of the first flow become hosts, each with its own
    network stack. Hosts know each other by the names of their nodes; those of a dumbbell are left
    and right. Links, queues and impairments are the simulator's. The run directory is like that of
    `run`; each direction of a connection that carries data is a flow. The emulation ends with
    COMMAND, or after the scenario's duration. The command needs root, and changes nothing outside
    of its hosts. Exit code 1: a program has failed. Exit code 2: the machine or the scenario does
    not allow the emulation.
    """
    if like is not None:
        text, command = _translated(like, words)
        at, name = at or CLIENT, like
        if not command and shell is None:
            return
        # Paths of traces are relative to the user's working directory.
        scenario = load(text, set or (), beside=Path.cwd())
    else:
        file, command = Path(words[0]), words[1:]
        scenario, name = load(file, set or ()), file.stem
    target = check_directory(out or Path("runs") / name)
    warn(scenario.warnings)
    refuse_existing(target, overwrite=overwrite)
    program = _program(command, at, shell, scenario)
    others = [_other(text) for text in inside or ()]
    if not (quiet or json):
        _announce(scenario, [program, *others])
    sys.stdout.flush()
    continue_in_child()
    emulation = run_programs(
        scenario,
        program,
        out=target,
        others=others,
        background=background,
        sysctls=dict(_setting(text) for text in sysctl or ()),
        pcap=pcap,
        overwrite=overwrite,
    )
    _tell(emulation, quiet=quiet, json=json)


def _tell(emulation: Emulation, *, quiet: bool, json: bool) -> None:
    """Print warnings and a summary of an emulation.

    If the emulation was stopped or a program failed, raise an error that names the run directory.
    """
    warn(emulation.warnings)
    results = emulation.results
    if json:
        print_json(results.as_json() | {"emulation": emulation.circumstances})
    elif not quiet:
        console = stdout()
        late = Text(str(emulation.lateness))
        if emulation.lateness.is_excessive:
            late.stylize("bold red")
            console.print(late)
        console.print(Text(results.title, style="bold"))
        console.print(results.headline())
        if not emulation.lateness.is_excessive:
            console.print(late)
        if len(results.flows):
            console.print(compare([results]))
        console.print(f"Tables: {results.path}")
        console.print(f"Next:   longhaul plot {results.path}   or   longhaul report {results.path}")
    if emulation.stopped is not None:
        where = f"the recorded part is in {results.path}"
        raise type(emulation.stopped)(f"{results.stopped}; {where}") from None
    if emulation.failed:
        raise RunError(f"{'; '.join(emulation.failed)}; what was recorded is in {results.path}")


def _translated(like: str, words: list[str]) -> tuple[str, list[str]]:
    """Translate the command line of the tool `like` into a scenario, and print the scenario.

    Return the scenario as TOML, and the program to run. The only known tool is `mahimahi`.
    """
    if like != "mahimahi":
        raise InputError(f"--like: expected mahimahi, found {like}")
    shells = translate(words)
    text = shells.scenario()
    typer.echo(text, err=bool(shells.command))
    return text, shells.command


def _program(command: list[str], at: str | None, shell: str | None, scenario: Scenario) -> Program:
    """Return the program that runs in the foreground, with its node."""
    if shell is not None:
        if command:
            raise InputError(f"--shell {shell} takes the place of COMMAND, found {command[0]} too")
        return Program(shell, (os.environ.get("SHELL", "/bin/sh"),))
    if not command:
        raise InputError("expected a program behind the scenario: FILE -- COMMAND, or --shell NODE")
    return Program(at or scenario.ends[0], tuple(command))


def _other(text: str) -> Program:
    """Parse a program for the background: the name of a node, then a shell command line."""
    node, _, line = text.strip().partition(" ")
    if not line.strip():
        raise InputError(f"--in: expected 'NODE COMMAND', found '{text}'")
    return Program(node, ("/bin/sh", "-c", line.strip()))


def _setting(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not value or not name.startswith("net."):
        raise InputError(f"--sysctl: expected NAME=VALUE with a name in net, found {text}")
    return name, value


def _announce(scenario: Scenario, programs: list[Program]) -> None:
    """Print the hosts, and the programs that run on each, on standard error."""
    nodes = hosts(scenario, programs)
    for node in nodes:
        lines = [shlex.join(program.arguments) for program in programs if program.node == node]
        what = f": {'; '.join(lines)}" if lines else ""
        typer.echo(f"{node} ({address(nodes, node)}){what}", err=True)
