"""The table of all commands.

A command parses its arguments, calls other modules, and prints. A file of commands is imported when
one of its commands is called. The file imports at its top the modules that all its commands need.
Modules that draw take longer to load than most commands run. Such modules are imported by the
functions that draw.
"""

from typing import Annotated

import typer

from longhaul import _engine
from longhaul.cli.lazy import MARKUP, Group, Row, add
from longhaul.cli.shared import Commands

__all__ = ["app"]

# Commands in the order in which the help lists them.
# fmt: off
ROOT: tuple[Row, ...] = (
    ("run", "runs.run",
     "Simulate a scenario and print a summary.",
     "scenarios/hstcp_beside_sack.toml --out r1 --set seed=2"),
    ("emulate", "emulate.emulate",
     "Run real programs over the network of a scenario, at the pace of the wall clock (Linux).",
     "scenarios/emulation.toml --in 'right iperf3 -s' -- iperf3 -c right -t 20"),
    ("plot", "plot.plot",
     "Draw named plots of one run, or of several on the same scales.",
     "r1 r2 cwnd queue --format png"),
    ("compare", "results.compare",
     "Compare runs: metrics side by side, changes from the first run, and scenario differences.",
     "r1 r2"),
    ("report", "report.report",
     "Write one HTML file with tables, plots and scenarios; it opens without a network.",
     "r1 r2 --out red-or-droptail.html"),
    ("explore", "pages.explore",
     "Write a page to explore results in a browser beyond the prepared plots.",
     "r1 r2 --out explorer.html"),
    ("animate", "pages.animate",
     "Write the replay of a run's network as an animation, for talks.",
     "r1 --measure queue_pkts --out r1.gif"),
    ("export", "results.export",
     "Write a run in the format of other programs: qlog, CSV, or the text files of MesoNet.",
     "r1 --format qlog"),
    ("window", "window.window",
     "Plot the congestion windows of algorithms per round trip, without a network.",
     "reno hstcp cubic --loss-every 10000 --set low_window=31"),
    ("calibrate", "runs.calibrate",
     "Find the rate of new connections that gives an offered load, on links ten times as fast.",
     "scenarios/packmime.toml --load 0.85 --of forward"),
    ("check", "scenarios.check",
     "Check a scenario without running it.",
     "mine.toml --set duration='\"10 s\"'"),
    ("explain", "scenarios.explain",
     "Print every value of a scenario, defaults included, with its origin.",
     "mine.toml"),
    ("new", "start.new",
     "Write a commented scenario to start from.",
     "mine.toml --from hstcp_beside_sack"),
    ("list", "start.list_",
     "List algorithms and queues with their parameters, keys, columns, plots and more.",
     "algorithms"),
    ("schema", "schema.schema",
     "Print the JSON Schema of scenario files, for editors that complete and check TOML.",
     "--out scenario.schema.json"),
    ("demo", "demo.demo",
     "Run HighSpeed TCP against standard TCP at 1 Gbit/s and 100 ms, with RED and drop-tail.",
     ""),
    ("design", "design.design",
     "Make an experimental design, and print its resolution, word lengths and aliases.",
     "loss=1e-4,1e-3 rtt='20 ms,100 ms' buffer rate --runs 8"),
    ("evaluate", "evaluate.evaluate",
     "Evaluate an algorithm by the criteria of RFC 9743, or a queue discipline by RFC 7928.",
     "hstcp --against cubic,reno"),
    ("analyze", "analyze.analyze",
     "Find out which factors matter, which competitors stand out, which responses correlate.",
     "mine.toml effects --response goodput_bps --out effects.svg"),
)
CAMPAIGN: tuple[Row, ...] = (
    ("new", "campaign.new",
     "Write a commented campaign file to start from.",
     "mine.toml"),
    ("plan", "campaign.plan",
     "Show the design of a campaign, its runs, expected packets, and finished runs.",
     "mine.toml"),
    ("run", "campaign.run",
     "Execute the runs that have not finished, and write the table of results.",
     "mine.toml --workers 8"),
    ("status", "campaign.status",
     "Show the finished, running, failed and pending runs of a campaign.",
     "mine.toml"),
    ("resume", "campaign.resume",
     "Resume a campaign that was stopped or killed; failed runs are retried.",
     "mine.toml"),
    ("work", "campaign.work",
     "Do part of a campaign alongside other processes: one task of an array job.",
     "mine.toml --shard 3/16"),
    ("report", "campaign.report",
     "Write the table of a campaign, and a page with the effects of its factors.",
     "mine.toml"),
)
STUDY: tuple[Row, ...] = (
    ("list", "study.list_",
     "List the installed studies, or the experiments of one.",
     ""),
    ("run", "study.run",
     "Run a study, judge its claims and write its report.",
     "hstcp-2003 --scale quick"),
    ("scenario", "study.scenario",
     "Write the scenario of one run of a study, to run or change it on its own.",
     "nist-2010 N7-MAIN condition=8 algorithm=HSTCP --out mine.toml"),
    ("adopt", "study.adopt",
     "Add runs that were made with `longhaul run` to the results of a study.",
     "nist-2010 runs/condition8-hstcp"),
    ("claims", "study.claims",
     "Print every claim of a study with the values measured in its last runs.",
     "hstcp-2003"),
    ("tables", "study.tables",
     "Update the numbers of a study's README from the results recorded with it.",
     "hstcp-2003 --check"),
    ("figures", "study.figures",
     "Write the figures of a study as files, from the last runs.",
     "hstcp-2003 6.5 --format pdf --width column"),
    ("report", "study.report",
     "Write one HTML page with the verdicts, and each figure next to the published one.",
     "hstcp-2003 --out hstcp.html"),
)
MODEL: tuple[Row, ...] = (
    ("response", "model.response",
     "Print response functions of standard and HighSpeed TCP, and a(w) and b(w).",
     "--out response.svg"),
    ("parallel-tcp", "model.parallel_tcp",
     "Print the modelled goodput of N parallel connections over drop-tail or RED.",
     "-n 20 -n 50"),
    ("laws", "fluid.laws",
     "Print response functions of loss-based algorithms: mean windows, crossover loss rates.",
     "reno cubic hstcp --rtt '200 ms'"),
    ("path", "fluid.path",
     "Print closed forms of a path: its BDP, buffer sizing rules, loss-free transfers.",
     "--rate '10 Gbps' --flows 1000"),
    ("equilibrium", "fluid.equilibrium",
     "Print equilibria of response functions and loss models: NIST SP 500-282, tables A-1 to A-3.",
     "cubic --rtt '300 ms' --buffer 50"),
    ("fluid", "fluid.fluid",
     "Print the equilibrium of a scenario's fluid model, and its stability.",
     "mine.toml --plot fluid.svg"),
    ("hybrid", "fluid.hybrid",
     "Simulate three sets of ten flows over Abilene (hybrid model; NIST SP 500-282, appendix B).",
     "--buffer 25000 --routers shared --hours 1"),
)
MODULE: tuple[Row, ...] = (
    ("build", "module.build",
     "Compile a congestion control module of Linux to an object that a scenario can name.",
     "tcp_mine.c --check"),
)
# fmt: on

app = typer.Typer(
    name="longhaul",
    cls=Commands,
    help="Simulates TCP congestion control over long fat networks, packet by packet.\n\n"
    "Start with [bold]longhaul demo[/], or write a scenario of your own: "
    "[bold]longhaul new mine.toml[/], then [bold]longhaul run mine.toml[/].",
    epilog="Exit codes: 0 done, 2 bad input, 1 failed; of evaluate also 3: a criterion fails.",
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
add(app, ROOT)
for group, about, rows in (
    ("campaign", "Plan, run and analyse many runs.", CAMPAIGN),
    ("study", "Repeat published evaluations and judge their claims.", STUDY),
    ("model", "Analytical models, without packets.", MODEL),
    ("module", "Congestion control modules of Linux.", MODULE),
):
    below = typer.Typer(cls=Group, help=about, no_args_is_help=True, rich_markup_mode=MARKUP)
    add(below, rows, f"longhaul {group}")
    app.add_typer(below, name=group)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"longhaul {_engine.version()} (results {_engine.results_version()})")
        raise typer.Exit
