"""Commands that show results in a browser or as an animation: explore, animate."""

from pathlib import Path
from typing import Annotated

import typer

from longhaul.campaign.file import read_campaign
from longhaul.cli.places import folder_of, latest, write_table
from longhaul.cli.shared import InputError, Overwrite, Quiet, out_option, refuse_existing
from longhaul.cli.tables import CAMPAIGN, is_run, study_named, table_file
from longhaul.files.endings import ANIMATIONS, PAGES, check_file


def explore(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Directories of runs, campaigns or results of studies, files of campaigns, names "
            "of studies, or any Parquet files; several are shown in one page.",
        ),
    ],
    out: Annotated[Path | None, out_option("The page.", "DIR-explorer.html")] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Serve the page on the loopback address instead, until Ctrl-C: for tables of more "
            "rows than a file holds.",
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(metavar="N", help="Port to serve on.", show_default="a free one")
    ] = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a page to explore results in a browser beyond the prepared plots.

    The page is one file that opens without a network. It has parallel coordinates, scatter plots,
    curves over time, distributions, the influence of factors, residuals, a heat map, a table, and a
    picture of the network that can be played. A selection applies to all views. The link of a view
    restores the view. The selected rows can be saved as CSV or Parquet.
    """  # fmt: skip
    if out is not None:
        check_file(out, PAGES)
    name = _name(sources[0])
    if serve:
        if out is not None:
            raise InputError("--out: a page that is served is not written; leave one of them out")
        _serve([_opened(source) for source in sources], port)
        return
    target = out or Path(f"{name}-explorer.html")
    page = _write(sources, target, overwrite=overwrite)
    if not quiet:
        size = page.stat().st_size / 1e6
        typer.echo(f"Explorer: {page} ({size:.1f} MB); open it in a browser")


def _write(sources: list[Path], target: Path, *, overwrite: bool) -> Path:
    """Write the page for `sources`; the page of a single study has a table per experiment."""
    source, *others = sources
    is_other = others or is_run(source) or (source / CAMPAIGN).is_file()
    if not is_other and (named := study_named(source)) is not None:
        from longhaul.studies.exploration import write_explorer

        refuse_existing(target, overwrite=overwrite)
        study, scale = named
        _, record = latest(study, None, scale)
        if (page := write_explorer(study, record, target)) is not None:
            return page
    from longhaul.explore import explore as write

    return write([_opened(source) for source in sources], target, overwrite=overwrite)


def _name(source: Path) -> str:
    """Return the name of a page: the name of its source's directory or campaign file."""
    if source.suffix == ".toml":
        return source.stem
    return (source.parent if source.is_file() else source).resolve().name


def _opened(source: Path) -> Path:
    """Return the path of the results of `source`, which is a path, a campaign file, or a study.

    If a campaign has no table yet, the table is written.
    """
    if source.suffix == ".toml":
        campaign = read_campaign(source)
        folder = folder_of(campaign, None)
        if not (folder / CAMPAIGN).is_file():
            write_table(campaign, None)
        return folder
    if source.exists():
        return source
    file = table_file(source)
    return file.parent if file.is_file() else source


def _serve(sources: list[Path], port: int) -> None:
    from longhaul.explore.server import Server

    with Server(sources, port) as server:
        typer.echo(f"Explorer: {server.address} until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped", err=True)


def animate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")],
    out: Annotated[
        Path | None,
        out_option("The animation: .gif, or .mp4 where ffmpeg is installed.", "RUN.gif"),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Metric that colours links or routers, such as loss_share.",
            show_default="loss_share of routers, queue_pkts of links",
        ),
    ] = None,
    from_s: Annotated[
        float | None,
        typer.Option("--from", metavar="S", help="First second to show.", show_default="all"),
    ] = None,
    to_s: Annotated[
        float | None,
        typer.Option("--to", metavar="S", help="Last second to show.", show_default="all"),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.5, max=120, help="Length of the animation in seconds.")
    ] = 10.0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the replay of a run's network as an animation, for talks.

    Colours of the links or routers show a metric over time. Curves show this metric for the links
    or routers with the largest means.
    """
    from longhaul.explore.animation import animate as write

    target = out or Path(f"{run.resolve().name}.gif")
    check_file(target, ANIMATIONS)
    refuse_existing(target, overwrite=overwrite)
    write(run, target, measure=measure, from_s=from_s, to_s=to_s, seconds=seconds)
    if not quiet:
        typer.echo(f"Animation: {target} ({target.stat().st_size / 1e6:.1f} MB)")
