"""Writer of the explorer's page: catalogue, data, script and style in one HTML file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from longhaul._engine import OutputError, results_version, version
from longhaul.explore.sources import Source, collect, open_source
from longhaul.explore.tables import Content
from longhaul.files.writing import write_text
from longhaul.plots import styles
from longhaul.reports import page


def explore(paths: Sequence[str | Path], out: str | Path, *, overwrite: bool = False) -> Path:
    """Write a page on which runs, campaigns and other tables can be explored, and return its path.

    `paths` are directories or Parquet files. If the file `out` exists and `overwrite` is false,
    raise OutputError.
    """
    target = Path(out)
    if target.exists() and not overwrite:
        raise OutputError(f"{target} already exists; choose another name, or allow overwriting")
    sources = [open_source(Path(path)) for path in paths]
    content = collect(sources)
    head = Head.of(sources)
    head.warnings.extend(
        f"This file has a sample of table {name}; `longhaul explore --serve` has all rows."
        for name in content.large
    )
    write_text(target, html(content, head))
    return target


@dataclass(frozen=True)
class Head:
    """Title, sources and warnings at the top of a page."""

    title: str
    sources: Sequence[str]
    """Sources of the numbers on the page, one line each."""
    warnings: list[str] = field(default_factory=list)
    """Warnings that users should read before they trust the numbers."""

    @classmethod
    def of(cls, sources: Sequence[Source]) -> "Head":
        """Return the head of a page on these sources."""
        titles = list(dict.fromkeys(source.title for source in sources))
        title = titles[0] if len(titles) == 1 else f"{len(sources)} results together"
        warnings = [text for source in sources for text in source.warnings]
        return cls(title, [source.provenance for source in sources], warnings)


def write(target: Path, content: Content, title: str, sources: Sequence[str]) -> Path:
    """Write a page with this content, and return `target`.

    `sources` has a line on each origin of the numbers.
    """
    write_text(target, html(content, Head(title, sources)))
    return target


def html(content: Content, head: Head, *, served: bool = False) -> str:
    """Return the page as HTML; a `served` page can request more rows from the server."""
    catalogue = {
        "title": head.title,
        "sources": head.sources,
        "warnings": head.warnings,
        "served": served,
        "version": f"Longhaul {version()}, results version {results_version()}",
        "tables": content.tables,
        "series": content.series,
        "networks": content.networks,
        "relations": content.relations,
        "colours": {name: style.colour for name, style in styles.ALGORITHMS.items()},
    }
    return page(
        "explorer.html",
        title=head.title,
        sources=head.sources,
        version=catalogue["version"],
        catalogue=_script_json(catalogue),
        blobs=[Markup(text) for text in content.blobs.texts],
        script=Markup(_built("explorer.js").replace("</script", "<\\/script")),
        style=Markup(_built("explorer-style.css")),
    )


def _script_json(value: object) -> Markup:
    """Return JSON that is safe inside a `script` element, for any texts.

    In a text, `</script` would end the element, and `<!-- <script` would hide its closing tag
    (HTML Living Standard, section 4.12.1.3).
    """
    return Markup(json.dumps(value).replace("<", "\\u003c"))


def _built(name: str) -> str:
    return files("longhaul.explore").joinpath("built", name).read_text(encoding="utf-8")
