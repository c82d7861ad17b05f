"""The command `plot`: named plots of one or several runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from longhaul.cli.shared import InputError, Overwrite, Quiet, Width, out_option, refuse_existing
from longhaul.files import endings
from longhaul.files.names import nearest
from longhaul.results import open_runs


def plot(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [NAME]...",
            help="Run directories and names of plots, in any order; without a name, every plot.",
        ),
    ],
    out: Annotated[
        Path, out_option("Directory for the plots, or a file (.svg, .png, .pdf) for one.")
    ] = Path(),
    format: Annotated[str, typer.Option("--format", "-f", help="svg, png or pdf.")] = "svg",
    width: Width = None,
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
        Literal["algorithm", "label"],
        typer.Option(help="Attribute that colours distinguish: algorithm or label."),
    ] = "algorithm",
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

    ending = endings.check_format(format, endings.FIGURES)
    to_file = endings.is_file(out, endings.FIGURES)
    names = [word for word in what if word in plots.PLOTS]
    paths = [word for word in what if word not in plots.PLOTS]
    if (unknown := [p for p in paths if _looks_like_a_name(p)]) and (names or len(paths) > 1):
        if nearest(unknown[0], plots.PLOTS):
            plots.find(unknown[0])
        raise InputError(
            f"{unknown[0]}: no such run directory, and no plot of that name; "
            "`longhaul list plots` shows the names"
        )
    if not paths:
        raise InputError("expected a run directory: longhaul plot RUN... [NAME]...")
    runs = open_runs(paths)
    stem = "-".join(dict.fromkeys(run.name for run in runs))
    wanted = names or plots.suitable(runs)
    if not wanted:
        raise InputError(
            f"{', '.join(paths)}: no plot suits all of these runs; `longhaul list plots` shows all"
        )
    if to_file:
        targets = {_only(wanted, out): out}
    else:
        targets = {name: out / f"{stem}-{name}{ending}" for name in wanted}
    for target in targets.values():
        refuse_existing(target, overwrite=overwrite)
    if from_s is not None and to_s is not None and from_s >= to_s:
        raise InputError(f"--from {from_s:g} --to {to_s:g}: expected --from below --to")
    options = plots.Options(
        tuple(link or ()), colour_by, from_s, to_s, tuple(part or ()), overlay, width
    )
    plots.refuse_unused(wanted, options)
    drawings = {target: plots.figure(name, runs, options) for name, target in targets.items()}
    for target, drawing in drawings.items():
        plots.save(drawing, target, width)
        if not quiet:
            typer.echo(target)


def _only(names: list[str], file: Path) -> str:
    """Return the name of the only plot for `file`; raise an error if there are several."""
    if len(names) != 1:
        raise InputError(
            f"--out {file}: expected one plot for a file, found {len(names)} "
            f"({', '.join(names)}); name one, or give a directory"
        )
    return names[0]


def _looks_like_a_name(word: str) -> bool:
    """Return true if a word can only be the name of a plot: no path, and no existing file."""
    return "/" not in word and "." not in word and not Path(word).exists()
