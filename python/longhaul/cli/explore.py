"""The command `explore`."""

from pathlib import Path
from typing import Annotated

import typer

from longhaul.cli.shared import Overwrite, Quiet


def explore(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Directories of runs or of campaigns; several are shown in one page.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page.", show_default="DIR-explorer.html")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a page to find in a browser what no prepared plot shows.

    One file that opens without a network: parallel coordinates, scatter plots, curves over time,
    distributions, which factor matters, residuals, a heat map, a table, and the network as a
    picture that can be played. What is selected in one view is selected in all; the link of a view
    restores it, and the selected rows are kept as CSV or Parquet.
    """  # fmt: skip
    from longhaul.explore import explore as write

    first = sources[0].parent if sources[0].is_file() else sources[0]
    target = out or Path(f"{first.resolve().name}-explorer.html")
    page = write(sources, target, overwrite=overwrite)
    if not quiet:
        size = page.stat().st_size / 1e6
        typer.echo(f"Explorer: {page} ({size:.1f} MB); open it in a browser")
