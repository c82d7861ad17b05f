"""The command line: parse, call, print. What commands do lives in the modules they call.

One file per group of commands; this one is their table.
"""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from longhaul import _engine
from longhaul.cli import (
    analyze,
    campaign,
    design,
    evaluate,
    explore,
    fluid,
    model,
    module,
    results,
    runs,
    schema,
    start,
    study,
)
from longhaul.cli.shared import Commands

__all__ = ["app"]

app = typer.Typer(
    name="longhaul",
    cls=Commands,
    help="Simulates TCP congestion control over long fat networks, packet by packet.\n\n"
    "Start with [bold]longhaul demo[/], or write a scenario of your own: "
    "[bold]longhaul new mine.toml[/], then [bold]longhaul run mine.toml[/].",
    epilog="Exit codes: 0 done, 2 bad input, 1 failed; of evaluate also 3: a criterion fails.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# In the order of the help: name, function, and an example of its arguments.
for name, command, example in (
    ("run", runs.run, "scenarios/hstcp_beside_sack.toml --out r1 --set seed=2"),
    ("plot", results.plot, "r1 r2 cwnd queue --format png"),
    ("compare", results.compare, "r1 r2"),
    ("report", results.report, "r1 r2 --out red-or-droptail.html"),
    ("explore", explore.explore, "r1 r2 --out explorer.html"),
    ("animate", explore.animate, "r1 --measure queue_pkts --out r1.gif"),
    ("export", results.export, "r1 --format qlog"),
    ("window", results.window, "reno hstcp cubic --loss-every 10000 --set low_window=31"),
    ("calibrate", runs.calibrate, "scenarios/packmime.toml --load 0.85 --of forward"),
    ("check", runs.check, "mine.toml --set duration='\"10 s\"'"),
    ("explain", runs.explain, "mine.toml"),
    ("new", start.new, "mine.toml --from hstcp_beside_sack"),
    ("list", start.list_, "algorithms"),
    ("schema", schema.schema, "--out scenario.schema.json"),
    ("demo", start.demo, ""),
    ("design", design.design, "loss=1e-4,1e-3 rtt='20 ms,100 ms' buffer rate --runs 8"),
    ("evaluate", evaluate.evaluate, "hstcp --against cubic,reno"),
    ("analyze", analyze.analyze, "mine.toml effects --response goodput_bps --out effects.svg"),
):
    app.command(name=name, epilog=f"Example: longhaul {name} {example}".rstrip())(command)

# Groups of commands: name, subject, commands.
Command = tuple[str, Callable[..., Any], str]
CAMPAIGN: tuple[Command, ...] = (
    ("new", campaign.new, "mine.toml"),
    ("plan", campaign.plan, "mine.toml"),
    ("run", campaign.run, "mine.toml --workers 8"),
    ("status", campaign.status, "mine.toml"),
    ("resume", campaign.resume, "mine.toml"),
    ("work", campaign.work, "mine.toml --shard 3/16"),
    ("report", campaign.report, "mine.toml"),
)
STUDY: tuple[Command, ...] = (
    ("list", study.list_, ""),
    ("run", study.run, "hstcp-2003 --scale quick"),
    (
        "scenario",
        study.scenario,
        "nist-2010 N7-MAIN condition=8 algorithm=HSTCP --out mine.toml",
    ),
    ("adopt", study.adopt, "nist-2010 runs/condition8-hstcp"),
    ("claims", study.claims, "hstcp-2003"),
    ("tables", study.tables, "hstcp-2003 --check"),
    ("report", study.report, "hstcp-2003 --out hstcp.html"),
)
MODEL: tuple[Command, ...] = (
    ("response", model.response, "--out response.svg"),
    ("parallel-tcp", model.parallel_tcp, "-n 20 -n 50"),
    ("laws", fluid.laws, "reno cubic hstcp --rtt '200 ms'"),
    ("path", fluid.path, "--rate '10 Gbps' --flows 1000"),
    ("equilibrium", fluid.equilibrium, "cubic --rtt '300 ms' --buffer 50"),
    ("fluid", fluid.fluid, "mine.toml --plot fluid.svg"),
    ("hybrid", fluid.hybrid, "--buffer 25000 --routers shared --hours 1"),
)
MODULE: tuple[Command, ...] = (("build", module.build, "tcp_mine.c --check"),)
for group, about, commands in (
    ("campaign", "Plan, run and analyse many runs.", CAMPAIGN),
    ("study", "Repeat published evaluations and judge their claims.", STUDY),
    ("model", "Analytical models, without packets.", MODEL),
    ("module", "Congestion control modules of Linux.", MODULE),
):
    below = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode="rich")
    for name, of_group, example in commands:
        epilog = f"Example: longhaul {group} {name} {example}".rstrip()
        below.command(name=name, epilog=epilog)(of_group)
    app.add_typer(below, name=group)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"longhaul {_engine.version()} (results {_engine.results_version()})")
        raise typer.Exit
