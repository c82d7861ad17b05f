"""Report on one or several runs, as one HTML file without external files.

It begins with findings as text and a plot. Then it has the table, the other plots, the resolved
scenarios, and the provenance of the numbers.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from longhaul import comparison, plots
from longhaul._engine import OutputError
from longhaul.comparison.differences import same_figures
from longhaul.comparison.finding import findings
from longhaul.files.endings import PAGES, check_file
from longhaul.files.writing import write_text
from longhaul.plots.files import as_svg
from longhaul.results import Results, with_distinct_names

# Pixels per inch on a page, and maximum magnification of a plot.
PIXELS_PER_IN, LARGEST = 96, 1.2


def report(
    runs: Results | Sequence[Results],
    path: str | Path,
    *,
    title: str | None = None,
    names: Sequence[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write an HTML report of one or several runs to `path`.

    `names` are the plots; None means those that are usual for the kind of run. The default title is
    that of the first run. An existing file is replaced only with `overwrite`.
    """
    target = check_file(Path(path), PAGES, "report")
    if target.exists() and not overwrite:
        raise OutputError(f"{target} already exists; choose another name, or allow overwriting")
    given = [runs] if isinstance(runs, Results) else list(runs)
    several = with_distinct_names(given)
    # Refuses runs of different kinds, which the following code does not expect.
    table = comparison.table(several)
    if names is None:
        there = plots.suitable(several)
        names = [name for name in several[0].kind.report_plots if name in there]
        if len(several) == 1 and "shares" in names and len(several[0].algorithms()) < 2:
            # A plot with one bar would add nothing to the sentence.
            names.remove("shares")
    origins = [run.provenance() for run in several]
    html = page(
        "report.html",
        title=title or given[0].title,
        findings=findings(several),
        provenance=[(fact, [origin[fact] for origin in origins]) for fact in origins[0]],
        warnings=[(run.name, text) for run in several for text in run.warnings]
        + [(names, f"the same figures: {why}") for names, why in same_figures(several)],
        runs=several,
        table=table,
        plots=[_inline(name, several) for name in names],
        scenarios=[(run.name, json.dumps(run.scenario, indent=2)) for run in several],
    )
    write_text(target, html)
    return target


def card(run: Results) -> str:
    """Return HTML for a run in a notebook: the summary as a table, and a small plot."""
    there = plots.suitable([run])
    name = next((name for name in run.kind.report_plots if name in there and name != "shares"), "")
    drawn = _inline(name, [run])["svg"] if name else ""
    return page("card.html", run=run, table=comparison.table([run]), plot=drawn)


def page(template: str, **content: object) -> str:
    """Return the page that results from filling in a template."""
    environment = Environment(
        loader=PackageLoader("longhaul"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**content)


def _inline(name: str, runs: Sequence[Results]) -> dict[str, Any]:
    """Return the plot with this name for the page: an SVG element and its description."""
    words = plots.find(name).help
    svg = inline_svg(plots.figure(name, runs), name, f"{name}: {words}")
    return {"name": name, "help": words, "svg": svg}


def inline_svg(drawing: Figure, name: str, title: str = "") -> Markup:
    """Return a figure as an SVG element for HTML, with a maximum width.

    `title` is the alternative text for readers who cannot see the figure.
    """
    svg = as_svg(drawing, name)
    return embedded(svg, name, title, LARGEST * PIXELS_PER_IN * drawing.get_figwidth())


def embedded(svg: str, name: str, title: str = "", most_px: float | None = None) -> Markup:
    """Return the text of an SVG file as an element for a page, without superfluous parts.

    Names of groups are removed, and coordinates are cut off after two decimals. `most_px` is the
    maximum width in pixels; None for no limit.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r"<!--.*?-->|\n\s*(?=<)", "", svg)
    # The page describes the figure itself.
    svg = re.sub(r"<title>.*?</title>", "", svg)
    svg = _COORDINATES.sub(lambda found: _BEYOND_FINE.sub("", found[0]).replace(" \n", ""), svg)
    # Ids are unique only within a figure, so that they get its name as a prefix.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
    # If all texts have the same list of fonts, it is moved to the root element.
    families = set(_FAMILY.findall(svg))
    styles = [] if most_px is None else [f"max-width: {most_px:.0f}px"]
    if len(families) == 1:
        styles.append(f"font-family: {families.pop()}")
        svg = _FAMILY.sub("", svg)
    # The width is left to the page.
    view = re.search(r"viewBox=\"[^\"]*\"", svg)
    label = f' aria-label="{escape(title)}"' if title else ""
    style = f' style="{"; ".join(styles)}"' if styles else ""
    head = f"<svg {view[0] if view else ''} role='img'{label}{style}>"
    words = f"<title>{escape(title)}</title>" if title else ""
    return Markup(head + words + svg[svg.index(">") + 1 :])


_COORDINATES = re.compile(r' (?:d|x|y|transform)="[^"]*"')
_BEYOND_FINE = re.compile(r"(?<=\.\d\d)\d+")
_FAMILY = re.compile(r"font-family: ([^;\"]+)(?:; )?")
