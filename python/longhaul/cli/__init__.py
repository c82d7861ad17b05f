"""The command line: parse, call, print. What the verbs do lives in the modules they call.

One file per group of verbs; this one is their table.
"""

from typing import Annotated

import typer

from longhaul import _engine
from longhaul.cli import analyze, campaign, design, fluid, model, results, runs, start, study
from longhaul.cli.shared import Verbs

__all__ = ["app"]

app = typer.Typer(
    name="longhaul",
    cls=Verbs,
    help="Simulates TCP congestion control over long fat networks, packet by packet.\n\n"
    "Start with [bold]longhaul demo[/], or write a scenario of your own: "
    "[bold]longhaul new mine.toml[/], then [bold]longhaul run mine.toml[/].",
    epilog="Exit codes: 0 done, 2 bad input, 1 failed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

# In the order of the help: name, function, and an example of its arguments.
for name, verb, example in (
    ("run", runs.run, "scenarios/hstcp_beside_sack.toml --out r1 --set seed=2"),
    ("plot", results.plot, "r1 r2 cwnd queue --format png"),
    (
        "plot window",
        results.plot_window,
        "reno hstcp cubic --loss-every 10000 --set low_window=31",
    ),
    ("compare", results.compare, "r1 r2"),
    ("report", results.report, "r1 r2 --out red-or-droptail.html"),
    ("export", results.export, "runs/mesonet_small --out text"),
    ("calibrate", runs.calibrate, "scenarios/packmime.toml --load 0.85 --of forward"),
    ("check", runs.check, "mine.toml --set duration='\"10 s\"'"),
    ("explain", runs.explain, "mine.toml"),
    ("new", start.new, "mine.toml --from hstcp_beside_sack"),
    ("list", start.list_, "algorithms"),
    ("demo", start.demo, ""),
    ("design", design.design, "loss=1e-4,1e-3 rtt='20 ms,100 ms' buffer rate --runs 8"),
    ("campaign new", campaign.new, "mine.toml"),
    ("campaign plan", campaign.plan, "mine.toml"),
    ("campaign run", campaign.run, "mine.toml --workers 8"),
    ("campaign status", campaign.status, "mine.toml"),
    ("campaign resume", campaign.resume, "mine.toml"),
    ("campaign work", campaign.work, "mine.toml --shard 3/16"),
    ("campaign report", campaign.report, "mine.toml"),
    ("analyze", analyze.analyze, "mine.toml effects --response goodput_bps --out effects.svg"),
    ("study list", study.list_, ""),
    ("study run", study.run, "hstcp-2003 --scale quick"),
    (
        "study scenario",
        study.scenario,
        "nist-2010 N7-MAIN condition=8 algorithm=HSTCP --out mine.toml",
    ),
    ("study claims", study.claims, "hstcp-2003"),
    ("study report", study.report, "hstcp-2003 --out hstcp.html"),
    ("model response", model.response, "--out response.svg"),
    ("model parallel-tcp", model.parallel_tcp, "-n 20 -n 50"),
    ("model laws", fluid.laws, "reno cubic hstcp --rtt '200 ms'"),
    ("model path", fluid.path, "--rate '10 Gbps' --flows 1000"),
    ("model equilibrium", fluid.equilibrium, "cubic --rtt '300 ms' --buffer 50"),
    ("model fluid", fluid.fluid, "mine.toml --plot fluid.svg"),
    ("model hybrid", fluid.hybrid, "--buffer 25000 --routers shared --hours 1"),
):
    app.command(name=name, epilog=f"Example: longhaul {name} {example}".rstrip())(verb)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"longhaul {_engine.version()} (results {_engine.results_version()})")
        raise typer.Exit
