"""The command line: parse, call, print. What the verbs do lives in the modules they call."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

import longhaul
from longhaul import _engine, examples
from longhaul.comparison import compare as compare_runs
from longhaul.results import Results, open_runs
from longhaul.run import load, run_loaded

# What draws is loaded by the verbs that draw: it takes longer than checking a scenario.

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


def _out() -> Console:
    """Standard output, wide enough for any table when it is not a terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=400)


def _print_json(value: Any) -> None:  # noqa: ANN401
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _warn(texts: list[str]) -> None:
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
    except KeyboardInterrupt:
        message = "interrupted; nothing was written"
    except longhaul.RunError as error:
        message = str(error)
    except longhaul.LonghaulError as error:
        code, message = BAD_INPUT, str(error)
    except OSError as error:
        code, message = BAD_INPUT, f"{error.filename}: {error.strerror}"
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text("error: ", style="bold red") + Text(message))
    raise typer.Exit(code)


def _refuse_existing(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists; choose another name, or add --overwrite")


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


@app.command(epilog="Example: longhaul run scenarios/hstcp_beside_sack.toml --out r1 --set seed=2")
def run(
    file: ScenarioFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory to write.", show_default="runs/<FILE>"),
    ] = None,
    set: Overrides = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Simulate a scenario and print a summary."""
    scenario = load(file, set or ())
    _warn(scenario.warnings)
    target = out or Path("runs") / file.stem
    _refuse_existing(target, overwrite=overwrite)
    results = run_loaded(scenario, out=target, progress=not (quiet or json), overwrite=overwrite)
    if json:
        _print_json(results.as_json())
    elif not quiet:
        _print_summary(results, target)


def _print_summary(results: Results, target: Path) -> None:
    console = _out()
    console.print(Text(results.title, style="bold"))
    console.print(results.headline())
    console.print(compare_runs([results]))
    console.print(f"Tables: {target}")
    picture = "flow-states" if results.is_mesonet else "cwnd"
    console.print(f"Next:   longhaul plot {target} {picture}   or   longhaul report {target}")


@app.command(epilog="Example: longhaul plot r1 r2 cwnd queue --format png")
def plot(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [NAME]...",
            help="Run directories and names of plots, in any order; without a name, every plot.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the pictures.")] = Path(),
    format: Annotated[str, typer.Option("--format", "-f", help="svg or png.")] = "svg",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw named plots of one run, or of several on the same scales.

    `longhaul list plots` shows the names.
    """
    from longhaul import plots

    if format not in ("svg", "png"):
        raise InputError(f"--format {format}: plots are written as svg or png")
    names = [word for word in what if word in plots.PLOTS]
    paths = [word for word in what if word not in plots.PLOTS]
    if not paths:
        raise InputError("no run directory is given: longhaul plot RUN... [NAME]...")
    if len(paths) > 1 and (unknown := [p for p in paths if _looks_like_a_name(p)]):
        plots.find(unknown[0])
    runs = open_runs(paths)
    stem = "-".join(dict.fromkeys(run.path.name for run in runs))
    targets = {name: out / f"{stem}-{name}.{format}" for name in names or plots.suitable(runs)}
    for target in targets.values():
        _refuse_existing(target, overwrite=overwrite)
    drawings = {target: plots.figure(name, runs) for name, target in targets.items()}
    out.mkdir(parents=True, exist_ok=True)
    for target, drawing in drawings.items():
        plots.save(drawing, target)
        if not quiet:
            typer.echo(target)


@app.command(
    name="plot window",
    epilog="Example: longhaul plot window reno hstcp cubic --loss-every 10000 --set low_window=31",
)
def plot_window(
    kinds: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND...",
            help="Algorithms: names that `longhaul list` shows, or my_cc.py:MyCC.",
        ),
    ],
    loss_every: Annotated[
        int | None, typer.Option(metavar="N", help="Lose every N-th segment.")
    ] = None,
    loss: Annotated[
        float | None, typer.Option(metavar="P", help="Lose each segment with this probability.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Round trips.")] = 300,
    rtt: Annotated[str, typer.Option(help="Round-trip time, with its unit.")] = "100 ms",
    cwnd: Annotated[
        float | None,
        typer.Option(
            metavar="SEGMENTS",
            help="Begin in congestion avoidance with this window.",
            show_default="slow start",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the losses of --loss.", min=0)] = 1,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=VALUE",
            help="Give a parameter to every KIND that has it; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Picture: .svg, .png or .html.", show_default="window-<KIND>.svg"
        ),
    ] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Draw the windows of algorithms round by round, with no network.

    Each round trip acknowledges one window; a lost segment cuts it. Prints the mean window beside
    what the response function gives. With --json prints every round, and draws only if --out is
    given.
    """
    from longhaul import windows

    experiment = windows.Experiment(
        loss_every, loss, rounds, rtt_s=_engine.seconds(rtt), cwnd=cwnd, seed=seed
    )
    target = out
    if target is None and not json:
        stem = "-".join(kind.rpartition(":")[2] for kind in kinds)
        target = Path(f"window-{stem}.svg")
    if target is not None:
        if target.suffix not in (".svg", ".png", ".html"):
            raise InputError(f"--out {target}: pictures are written as .svg, .png or .html")
        _refuse_existing(target, overwrite=overwrite)
    found = windows.courses(kinds, experiment, set or ())
    if json:
        _print_json([course.figures() | course.rounds.to_dict(as_series=False) for course in found])
    else:
        _out().print(_window_table([course.figures() for course in found]))
    if target is not None:
        windows.save(found, experiment, target)
        if not json:
            typer.echo(target)


def _window_table(rows: list[dict[str, Any]]) -> Table:
    heads = ("", "mean window", "least", "largest", "cuts", "response function")
    table = Table(*heads, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        cells = [row["cwnd_mean_pkts"], row["cwnd_min_pkts"], row["cwnd_max_pkts"]]
        response = row["response_pkts"]
        table.add_row(
            row["name"],
            *(f"{cell:,.1f}" for cell in cells),
            f"{row['cuts']:,}",
            "" if response is None else f"{response:,.1f}",
        )
    return table


def _looks_like_a_name(word: str) -> bool:
    """Whether a word was meant as a plot's name: it is no path, and nothing of that name exists."""
    return "/" not in word and "." not in word and not Path(word).exists()


@app.command(epilog="Example: longhaul compare r1 r2")
def compare(runs: RunDirs, json: AsJson = False) -> None:
    """Print runs side by side in one table."""
    opened = open_runs(runs)
    if json:
        _print_json([results.as_json() for results in opened])
    else:
        _out().print(compare_runs(opened))


@app.command(epilog="Example: longhaul report r1 r2 --out red-or-droptail.html")
def report(
    runs: RunDirs,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write one HTML file with tables, plots and scenarios; it opens without a network."""
    from longhaul.reports import report as write_report

    _refuse_existing(out, overwrite=overwrite)
    write_report(open_runs(runs), out, title=title)
    if not quiet:
        typer.echo(out)


@app.command(epilog="Example: longhaul export runs/mesonet_small --out text")
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the files.")] = Path(),
    format: Annotated[str, typer.Option("--format", help="mesonet.")] = "mesonet",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the text files that the original MesoNet leaves, from a run of MesoNet."""
    from longhaul.mesonet.export import export as write_files

    if format != "mesonet":
        raise InputError(f"--format {format}: there is mesonet")
    target = write_files(Results(run), out, overwrite=overwrite)
    if not quiet:
        typer.echo(target)


@app.command(epilog="Example: longhaul calibrate scenarios/packmime.toml --load 0.85 --of forward")
def calibrate(
    file: ScenarioFile,
    load: Annotated[float, typer.Option(help="Wanted share of the link's rate, 0.85 say.")],
    link: Annotated[str, typer.Option(help="Link whose load it is.")] = "bottleneck",
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of", metavar="LABEL", help="Flows whose rates change, all by default; repeatable."
        ),
    ] = None,
    set: Overrides = None,
    json: AsJson = False,
) -> None:
    """Find the rate of new connections that gives a load, with all links ten times as fast."""
    from longhaul.calibration import calibrate as find_rates

    found = find_rates(file, load=load, link=link, labels=of, set=set or ())
    if json:
        _print_json(found.as_json())
        return
    table = Table("factor", "load", box=None, pad_edge=False)
    for factor, measured in found.steps:
        table.add_row(f"{factor:.4f}", f"{measured:.2%}")
    _out().print(table)
    for key, value in found.settings.items():
        typer.echo(f"--set {key}={value}")


@app.command(epilog="Example: longhaul check mine.toml --set duration='\"10 s\"'")
def check(file: ScenarioFile, set: Overrides = None, quiet: Quiet = False) -> None:
    """Check a scenario without running it."""
    scenario = load(file, set or ())
    _warn(scenario.warnings)
    if not quiet:
        typer.echo(f"{file}: fine ({scenario.title}; {scenario.duration_s:g} s)")


@app.command(epilog="Example: longhaul explain mine.toml")
def explain(
    file: ScenarioFile,
    set: Overrides = None,
    json: AsJson = False,
) -> None:
    """Print every value of a scenario, defaults included, and where each comes from."""
    rows = load(file, set or ()).explain()
    if json:
        _print_json(
            [{"path": path, "value": value, "origin": origin} for path, value, origin in rows]
        )
        return
    table = Table("value", "", "from", box=None, pad_edge=False)
    for path, value, origin in rows:
        table.add_row(path, Text(value), Text(origin, style="dim"))
    _out().print(table)


@app.command(epilog="Example: longhaul new mine.toml --from hstcp_beside_sack")
def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Scenario file to write.")
    ] = None,
    source: Annotated[
        str, typer.Option("--from", metavar="EXAMPLE", help="Example to start from.")
    ] = examples.TEMPLATE,
    list: Annotated[bool, typer.Option("--list", help="List the examples.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a commented scenario to start from."""
    if list or file is None:
        from longhaul import catalogue

        _out().print(catalogue.table(catalogue.examples()))
        return
    text = examples.read(source)
    _refuse_existing(file, overwrite=overwrite)
    file.write_text(text, encoding="utf-8")
    typer.echo(f"{file}: edit it, then: longhaul run {file}")


@app.command(name="list", epilog="Example: longhaul list algorithms")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[WHAT]",
            help="One of: algorithms, slow-starts, queues, mesonet, plots, examples.",
        ),
    ] = "algorithms",
    json: AsJson = False,
) -> None:
    """List algorithms and queues with their parameters, slow starts, keys, plots, or examples."""
    from longhaul import catalogue

    if what not in catalogue.LISTS:
        raise InputError(
            f"nothing to list is called `{what}`; there are: {', '.join(catalogue.LISTS)}"
        )
    rows = catalogue.LISTS[what]()
    if json:
        _print_json(rows)
    else:
        _out().print(catalogue.table(rows))


@app.command(epilog="Example: longhaul demo")
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for runs and report.")] = Path(
        "demo-report"
    ),
    overwrite: Overwrite = False,
) -> None:
    """Run HighSpeed TCP beside standard TCP at 1 Gbit/s and 100 ms, under RED+ECN and DropTail.

    Prints one table and leaves an HTML report; takes less than a minute.
    """
    from longhaul.demo import demo as run_demo

    runs, page = run_demo(out, overwrite=overwrite)
    console = _out()
    console.print(compare_runs(runs))
    console.print(f"Report: {page}")


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"longhaul {_engine.version()} (results {_engine.results_version()})")
        raise typer.Exit
