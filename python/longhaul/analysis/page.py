"""The report of a campaign: one HTML page with its design, and which factor matters."""

from pathlib import Path

from longhaul.analysis.named import Options, analyse
from longhaul.analysis.table import ResponseTable
from longhaul.campaign.dataset import Dataset
from longhaul.reports import inline_svg
from longhaul.reports import page as rendered
from longhaul.writing import write_text


def write(dataset: Dataset, path: Path) -> Path:
    """Write the report; needs at least one finished run."""
    table = ResponseTable.of(dataset.frame, dataset.factors, dataset.responses)
    found = analyse("effects", table, Options())
    html = rendered(
        "campaign.html",
        facts=dataset.facts,
        packets=int(dataset.frame["data_packets"].sum()),
        sections=[
            {"title": text.title, "heads": text.heads, "rows": [_cells(r) for r in text.rows],
             "picture": inline_svg(draw(), text.title)}
            for text, draw in zip(found.tables, found.pictures.values(), strict=True)
        ],
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, html)
    return path


def _cells(row: tuple[object, ...]) -> list[str]:
    return [shown(cell) for cell in row]


def shown(cell: object) -> str:
    """A cell of a table as text."""
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
