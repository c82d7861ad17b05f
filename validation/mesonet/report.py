"""`report.json`: every row with its part, as the last run of each part left it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from validation.mesonet.rows import HERE, Row

REPORT = HERE / "report.json"


def read() -> dict[str, list[Row]]:
    """The rows of the last time, by part."""
    parts: dict[str, list[Row]] = {}
    if REPORT.exists():
        for plain in json.loads(REPORT.read_text(encoding="utf-8")):
            parts.setdefault(plain.pop("part"), []).append(Row(**plain))
    return parts


def write(parts: Mapping[str, Sequence[Row]]) -> None:
    """Write the rows of all parts."""
    plain = [{"part": name, **row.to_json()} for name, rows in parts.items() for row in rows]
    REPORT.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
