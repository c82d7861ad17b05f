"""The report of a campaign: its design, which factor matters, and every cell, on one HTML page."""

from pathlib import Path
from typing import Any

from longhaul.campaign.dataset import Dataset
from longhaul.files.writing import write_text
from longhaul.findings import Findings, Options, analyse
from longhaul.reports import inline_svg
from longhaul.reports import page as rendered


def write(dataset: Dataset, path: Path) -> Path:
    """Write the report; needs at least one finished run."""
    table = dataset.table()
    analyses = {name: analyse(name, table, Options()) for name in ("effects", "cells")}
    responses = [text.title for text in analyses["effects"].tables]
    html = rendered(
        "campaign.html",
        facts=dataset.facts,
        packets=int(dataset.frame["data_packets"].sum()),
        sections=[
            {
                "title": response,
                "parts": [_part(name, response, analyses[name]) for name in analyses],
            }
            for response in responses
        ],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, html)
    return path


def _part(name: str, response: str, findings: Findings) -> dict[str, Any]:
    """The table and the plot, if there is one, of an analysis of a response."""
    text = next(text for text in findings.tables if text.title == response)
    plot = f"{name}-{response}"
    draw = findings.plots.get(plot)
    return {
        "name": name,
        "heads": text.heads,
        "rows": text.printed(),
        "note": text.note,
        "plot": inline_svg(draw(), plot) if draw else None,
    }
