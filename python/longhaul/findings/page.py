"""Report of a campaign as a page: findings, effects of factors, means by condition, the design."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longhaul.analysis import levels
from longhaul.analysis.table import ResponseTable
from longhaul.campaign.dataset import Dataset
from longhaul.files.writing import write_text
from longhaul.findings import Findings, Options, Text, analyse
from longhaul.findings.labels import factor_label, in_row_unit
from longhaul.findings.shares import of_several_labels
from longhaul.reports import inline_svg
from longhaul.reports import page as rendered

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# Maximum number of responses with a sentence at the beginning of the report.
MOST = 4


def write(dataset: Dataset, path: Path) -> Path:
    """Write the report to `path`; at least one run of the campaign must have finished."""
    table = dataset.table()
    # With a single factor, cells and effects are the same.
    names = ("effects", "cells") if len(table.varying) > 1 else ("effects",)
    analyses = {name: analyse(name, table, Options()) for name in names}
    responses = [text.title for text in analyses["effects"].tables]
    html = rendered(
        "campaign.html",
        facts=dataset.facts,
        packets=int(dataset.frame["data_packets"].sum()),
        findings=[text for name in responses[:MOST] if (text := _finding(table, name))],
        sections=[
            *_shares(table),
            *(
                {
                    "title": response,
                    "parts": [_part(name, response, analyses[name]) for name in analyses],
                }
                for response in responses
            ),
        ],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, html)
    return path


def _finding(table: ResponseTable, response: str) -> str:
    """Return a sentence on the factor with the largest effect on a response; may be empty."""
    factors = levels.factor_means(table, response)
    first = factors[0] if factors else None
    if first is None or not first.share:
        return ""
    means = [mean.mean for mean in first.means]
    words, scale = in_row_unit(table.place(response), means)
    least, most = int(np.argmin(means)), int(np.argmax(means))
    chance = "" if first.p is None or first.p < 0.05 else ", no more than chance may do"
    return (
        f"{words}: {scale * means[most]:.3g} at {factor_label(first.factor)} {first.levels[most]}, "
        f"{scale * means[least]:.3g} at {first.levels[least]}; this factor explains "
        f"{100 * first.share:.0f} % of the variance{chance}."
    )


def _shares(table: ResponseTable) -> list[dict[str, Any]]:
    """Return a list with a section on the labels' shares of the total goodput.

    The list is empty if the campaign's responses are of a single label.
    """
    if not of_several_labels(table):
        return []
    found = analyse("shares", table, Options())
    each = zip(found.tables, found.plots.items(), strict=False)
    parts = [_filled(name, "means", text, draw) for text, (name, draw) in each]
    return [{"title": "Who gets what", "parts": parts}]


def _part(name: str, response: str, findings: Findings) -> dict[str, Any]:
    """Return the table of one response from the analysis `name`, and its plot if there is one."""
    text = next(text for text in findings.tables if text.title == response)
    return _filled(f"{name}-{response}", name, text, findings.plots.get(f"{name}-{response}"))


def _filled(
    plot: str, name: str, text: Text, draw: "Callable[[], Figure] | None"
) -> dict[str, Any]:
    """Return the data of a table on the page; `draw` makes the plot below it, if any.

    `plot` is the name of the plot, and `name` that of the analysis.
    """
    title = f"{name}: {text.heading or text.title}"
    return {
        "name": title,
        "heads": text.heads,
        "rows": text.printed(),
        "note": text.note,
        "plot": inline_svg(draw(), plot, title) if draw else None,
    }
