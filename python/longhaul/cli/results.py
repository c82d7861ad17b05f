"""Commands about results: plot, compare, report, export; and window, which needs none."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from longhaul import _engine
from longhaul.cli.shared import (
    AsJson,
    InputError,
    Overwrite,
    Quiet,
    RunDirs,
    print_json,
    refuse_existing,
    stdout,
    warn,
)
from longhaul.comparison import compare as compare_runs
from longhaul.comparison import differences
from longhaul.results import Results, open_runs


class ColourBy(Enum):
    """What colours distinguish: algorithms or labels."""

    algorithm = "algorithm"
    label = "label"


# Suffixes that only a picture has: a directory was not meant.
PICTURES = (".svg", ".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".html")

# What draws is loaded by the commands that draw: it takes longer than checking a scenario.


def plot(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [NAME]...",
            help="Run directories and names of plots, in any order; without a name, every plot.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Directory for the plots, or a file (.svg, .png) for one."
        ),
    ] = Path(),
    format: Annotated[str, typer.Option("--format", "-f", help="svg or png.")] = "svg",
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="NAME",
            help="Link that plots of links show; repeatable.",
            show_default="the busy ones",
        ),
    ] = None,
    colour_by: Annotated[
        ColourBy, typer.Option(help="What colours distinguish: algorithms or labels.")
    ] = ColourBy.algorithm,
    from_s: Annotated[
        float | None,
        typer.Option(
            "--from",
            metavar="S",
            help="MesoNet and captures: first second to show.",
            show_default="all",
        ),
    ] = None,
    to_s: Annotated[
        float | None,
        typer.Option(
            "--to",
            metavar="S",
            help="MesoNet and captures: last second to show.",
            show_default="all",
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="MesoNet: flow, class or router to show, such as L1, DD or K0a; repeatable. "
            "time-sequence: address and port of a sender.",
            show_default="all, or the fullest routers",
        ),
    ] = None,
    overlay: Annotated[
        bool,
        typer.Option(
            "--overlay", help="MesoNet: one line per run, one panel per flow, class or router."
        ),
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draw named plots of one run, or of several on the same scales.

    `longhaul list plots` shows the names. With --from and --to, a part of a run of MesoNet is drawn
    at full resolution, and time-sequence shows a part of a capture.
    """
    from longhaul import plots

    if format not in ("svg", "png"):
        raise InputError(f"--format {format}: expected svg or png")
    names = [word for word in what if word in plots.PLOTS]
    paths = [word for word in what if word not in plots.PLOTS]
    if (unknown := [p for p in paths if _looks_like_a_name(p)]) and (names or len(paths) > 1):
        if plots.nearest(unknown[0]):
            plots.find(unknown[0])
        raise InputError(
            f"{unknown[0]}: no such run directory, and no plot of that name; "
            "`longhaul list plots` shows the names"
        )
    if not paths:
        raise InputError("expected a run directory: longhaul plot RUN... [NAME]...")
    runs = open_runs(paths)
    stem = "-".join(dict.fromkeys(run.path.name for run in runs))
    wanted = names or plots.suitable(runs)
    if out.suffix in PICTURES and not out.is_dir():
        targets = {_only(wanted, out): out}
    else:
        targets = {name: out / f"{stem}-{name}.{format}" for name in wanted}
    for target in targets.values():
        refuse_existing(target, overwrite=overwrite)
    if from_s is not None and to_s is not None and from_s >= to_s:
        raise InputError(f"--from {from_s:g} --to {to_s:g}: expected --from below --to")
    options = plots.Options(
        tuple(link or ()), colour_by.value, from_s, to_s, tuple(part or ()), overlay
    )
    plots.refuse_unused(wanted, options)
    drawings = {target: plots.figure(name, runs, options) for name, target in targets.items()}
    for target, drawing in drawings.items():
        plots.save(drawing, target)
        if not quiet:
            typer.echo(target)


def _only(names: list[str], file: Path) -> str:
    """The one plot that goes to a file."""
    if file.suffix not in (".svg", ".png"):
        raise InputError(f"--out {file}: expected a directory, or a file that ends in .svg or .png")
    if len(names) != 1:
        raise InputError(
            f"--out {file}: expected one plot for a file, found {len(names)} "
            f"({', '.join(names)}); name one, or give a directory"
        )
    return names[0]


def window(
    kinds: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND...",
            help="Algorithms: names that `longhaul list` shows, my_cc.py:MyCC, or tcp_mine.so.",
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
    seed: Annotated[int, typer.Option(help="Seed of the random losses of --loss.", min=0)] = 1,
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
    """Plot the congestion windows of algorithms per round trip, without a network.

    Each round trip acknowledges one window; a lost segment reduces it. Prints the mean window and
    what the response function gives. With --json prints every round, and draws only if --out is
    given.
    """
    from longhaul.models import windows

    experiment = windows.Experiment(
        loss_every, loss, rounds, rtt_s=_engine.seconds(rtt), cwnd=cwnd, seed=seed
    )
    target = out
    if target is None and not json:
        stem = "-".join(kind.rpartition(":")[2] for kind in kinds)
        target = Path(f"window-{stem}.svg")
    if target is not None:
        if target.suffix not in (".svg", ".png", ".html"):
            raise InputError(f"--out {target}: expected a name that ends in .svg, .png or .html")
        refuse_existing(target, overwrite=overwrite)
    drawn = windows.trajectories(kinds, experiment, set or ())
    if json:
        print_json(
            [
                trajectory.figures() | trajectory.rounds.to_dict(as_series=False)
                for trajectory in drawn
            ]
        )
    else:
        stdout().print(_window_table([trajectory.figures() for trajectory in drawn]))
    if target is not None:
        windows.save(drawn, experiment, target)
        if not json:
            typer.echo(target)


def _window_table(rows: list[dict[str, Any]]) -> Table:
    heads = ("", "mean cwnd", "min", "max", "reductions", "response function")
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


def compare(
    runs: RunDirs,
    model: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="fluid", help="Run a scenario FILE, and compare with its fluid model."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="With fluid: picture of both, .svg or .png.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also show differences that follow from others, as defaults."),
    ] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Compare runs: figures side by side, changes, and differences between the scenarios.

    With `--with fluid`, compares a scenario with its fluid model.
    """
    if model is not None:
        from longhaul.cli.fluid import beside_packets

        beside_packets(runs, model, plot, overwrite=overwrite, json=json)
        return
    if plot is not None:
        raise InputError(f"--plot {plot}: expected --with fluid")
    opened = open_runs(runs)
    warn(differences.warnings(opened))
    if json:
        print_json([results.as_json() for results in opened])
    else:
        stdout().print(compare_runs(opened, every=every))


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

    refuse_existing(out, overwrite=overwrite)
    write_report(open_runs(runs), out, title=title, overwrite=overwrite)
    if not quiet:
        typer.echo(out)


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the files.")] = Path(),
    format: Annotated[
        str | None,
        typer.Option(
            help="qlog: a file for qvis, with a trace for each flow; mesonet: the text files of "
            "the original MesoNet. Default: qlog for runs of TCP, mesonet for runs of MesoNet."
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a run in the format of other programs: qlog, or the text files of MesoNet."""
    from longhaul.mesonet.export import export as write_files
    from longhaul.results import qlog

    results = Results(run)
    fitting = "qlog" if results.is_tcp else "mesonet"
    if format not in (None, "qlog", "mesonet"):
        raise InputError(f"--format {format}: expected qlog or mesonet")
    if format not in (None, fitting):
        kind = "TCP" if results.is_tcp else "MesoNet"
        raise InputError(f"--format {format}: {run} is a run of {kind}; expected {fitting}")
    if fitting == "mesonet":
        target = write_files(results, out, overwrite=overwrite)
    else:
        target = out / f"{results.name}.qlog"
        refuse_existing(target, overwrite=overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        qlog.write(results, target)
    if not quiet:
        typer.echo(target)
