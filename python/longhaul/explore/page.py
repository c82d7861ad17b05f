"""The page: catalogue, blobs, script and style in one HTML file."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from longhaul._engine import OutputError, results_version, version
from longhaul.explore.sources import collect, open_source
from longhaul.explore.tables import Content
from longhaul.files.writing import write_text
from longhaul.plots import styles
from longhaul.reports import page


def explore(paths: Sequence[str | Path], out: str | Path, *, overwrite: bool = False) -> Path:
    """Write a page that explores runs or campaigns together.

    A file that is there is replaced only with `overwrite`.
    """
    target = Path(out)
    if target.exists() and not overwrite:
        raise OutputError(f"{target} already exists; choose another name, or allow overwriting")
    sources = [open_source(Path(path)) for path in paths]
    titles = list(dict.fromkeys(source.title for source in sources))
    title = titles[0] if len(titles) == 1 else f"{len(sources)} results together"
    warnings = [text for source in sources for text in source.warnings]
    lines = [source.provenance for source in sources]
    return write(target, collect(sources), title, lines, warnings)


def write(
    target: Path,
    content: Content,
    title: str,
    sources: Sequence[str],
    warnings: Sequence[str] = (),
) -> Path:
    """Write a page of this content; `sources` say where it comes from, a line each."""
    catalogue = {
        "title": title,
        "sources": sources,
        "warnings": warnings,
        "version": f"Longhaul {version()}, results version {results_version()}",
        "tables": content.tables,
        "series": content.series,
        "networks": content.networks,
        "colours": {name: style.colour for name, style in styles.ALGORITHMS.items()},
    }
    html = page(
        "explorer.html",
        title=title,
        sources=sources,
        version=catalogue["version"],
        # `</script>` within a text would end the element.
        catalogue=Markup(json.dumps(catalogue).replace("</", "<\\/")),
        blobs=[Markup(text) for text in content.blobs.texts],
        script=Markup(_built("explorer.js").replace("</script", "<\\/script")),
        style=Markup(_built("explorer-style.css")),
    )
    write_text(target, html)
    return target


def _built(name: str) -> str:
    return files("longhaul.explore").joinpath("built", name).read_text(encoding="utf-8")
