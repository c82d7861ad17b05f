"""What the source prints."""

import csv
from pathlib import Path


def printed(table: str = "") -> list[dict[str, str]]:
    """The rows of Tables 2.1 to 3.2, or of one of them."""
    rows = read("tables")
    return [row for row in rows if table in ("", row["table"])]


def read(name: str) -> list[dict[str, str]]:
    """The rows of a file of this folder."""
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))
